"""The page in a real browser: the world appears, a click is a waypoint, the vehicle flies there, recordings play."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from cockpit_rig import CockpitRig, opened, until
from skyloop.sim.scenario import load_scenario

pytestmark = [pytest.mark.processes, pytest.mark.needs("chromium")]

Points = list[tuple[float, float]]
POINTS: Points = [(1.2, 0.0), (1.2, 0.8), (0.4, 0.8)]
ROOM = {"name": "room", "world": "room", "duration": 600, "vehicles": [{"name": "drone"}]}
LAYOUT = """[...document.querySelectorAll('.card')].map(card => [
  card.querySelector('.card-name').textContent.split(' ')[0], card.classList.contains('floating'),
  Math.round(card.offsetWidth)])"""


def click_points(page: Any, points: Points = POINTS) -> None:
    page.click("#camera-top")
    for number, (x, y) in enumerate(points, 1):
        page.mouse.click(*page.evaluate("([x, y]) => cockpit.seen.view.screenOf(x, y, 0)", [x, y]))
        until(partial(_has, page, number))


def _has(page: Any, number: int) -> bool:
    return bool(page.locator(".waypoints li").count() == number)


def fly_on(page: Any) -> None:
    """To all points that were clicked."""
    page.click("#fly")
    until(lambda: page.locator(".waypoints li").count() == 0, 300.0)


def position(page: Any) -> list[float]:
    found: list[float] = page.evaluate("cockpit.seen.numbers.get('truth/drone')?.position ?? [9, 9, 9]")
    return found


def text_of(page: Any, what: str) -> str:
    return str(page.locator(what).inner_text())


def places(page: Any) -> list[str]:
    return [text.split(" m")[0] for text in page.locator(".waypoints li").all_inner_texts()]


def test_click_and_fly_pause_step_back_and_replay(browser: Any, rig: CockpitRig) -> None:
    """Straight, for no planner flies here."""
    rig.fly(ROOM)
    page = opened(browser, rig)
    page.select_option("#speed", "10")
    page.click("#order-take_off")
    until(lambda: text_of(page, "dd[data-name=mode]") == "hover")
    assert text_of(page, "dd[data-name='commanded by']") == "cockpit"
    # the list: the last one first, then one less
    click_points(page)
    first = places(page)
    page.get_by_role("button", name="move waypoint 3 up").click()
    until(lambda: places(page) == [first[0], first[2], first[1]])
    page.get_by_role("button", name="delete waypoint 2").click()
    until(lambda: places(page) == first[:2])
    page.get_by_role("button", name="Clear").click()
    until(lambda: places(page) == [])
    # an instant to come back to
    page.click("#snapshots summary")
    page.click("#snapshot")
    until(lambda: "yours" in text_of(page, "#snapshots .menu"))
    page.click("#snapshots summary")
    click_points(page)
    fly_on(page)
    x, y, _ = position(page)
    assert abs(x - POINTS[-1][0]) < 0.5 and abs(y - POINTS[-1][1]) < 0.5
    page.click("#pause")
    until(lambda: text_of(page, "#factor") == "paused")
    before = text_of(page, "#simulated")
    page.click("#step")
    until(lambda: text_of(page, "#simulated") != before)
    # back: the vehicle hovers over its start again, paused, in a run folder of its own
    page.click("#snapshots summary")
    page.locator(".snapshot", has_text="yours").click()
    until(lambda: rig.get("/api/about")["folder"] == "room-002")
    until(lambda: text_of(page, "#factor") == "paused" and abs(position(page)[0]) < 0.3)
    page.click("#tab-log")
    assert "took off" in text_of(page, ".events")
    # the same page plays what was flown, to its end
    page.click("#tab-studio")
    page.click("#stop")
    until(lambda: (rig.folder / "room-002" / "summary.json").exists())
    page.click("#refresh")
    page.locator("button[title='play room-001']").click()
    until(lambda: page.locator("#timeline").is_visible())
    end = float(page.locator("#timeline").get_attribute("max"))
    page.locator("#timeline").evaluate("(item, end) => { item.value = end; item.oninput() }", end)
    until(lambda: abs(position(page)[0] - POINTS[-1][0]) < 0.5)
    assert page.faults == []
    page.close()


def test_panes_move_and_survive_a_reload(browser: Any, rig: CockpitRig) -> None:
    rig.fly(ROOM)
    page = opened(browser, rig)
    page.click("#tab-plots")
    page.select_option("#plot-stream", "drone/battery")
    until(lambda: page.locator("#plot-path option").count() > 0)
    page.select_option("#plot-path", "voltage")
    page.click("#add-plot")
    until(lambda: len(page.evaluate("cockpit.seen.desk.pointsOf('drone/battery', 'voltage')")) > 5)
    times, values = zip(*page.evaluate("cockpit.seen.desk.pointsOf('drone/battery', 'voltage')"), strict=True)
    assert list(times) == sorted(times) and all(9.0 < value < 13.0 for value in values)
    # the lower one up with the keyboard, then out over the view with the mouse
    handle = page.get_by_label("drone/battery · voltage: move")
    handle.focus()
    page.keyboard.press("ArrowUp")
    until(lambda: [name for name, *_ in page.evaluate(LAYOUT)] == ["drone/battery", "truth/drone"])
    grip = handle.bounding_box()
    page.mouse.move(grip["x"] + 20, grip["y"] + 5)
    page.mouse.down()
    page.mouse.move(200, 250, steps=4)
    page.mouse.up()
    until(lambda: page.evaluate(LAYOUT)[0][1])
    # larger at its corner, and the side panel wider with the keyboard
    box = page.locator(".card.floating").bounding_box()
    page.mouse.move(box["x"] + box["width"] - 4, box["y"] + box["height"] - 4)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] + 60, box["y"] + box["height"] + 40, steps=4)
    page.mouse.up()
    until(lambda: page.locator(".card.floating").bounding_box()["width"] > box["width"] + 30)
    side = page.locator("aside").bounding_box()["width"]
    page.locator(".splitter").focus()
    page.keyboard.press("ArrowLeft")
    until(lambda: page.locator("aside").bounding_box()["width"] > side)
    page.click("#camera-orbit")
    left = [page.evaluate(LAYOUT), page.locator("aside").bounding_box()["width"]]
    page.reload()
    until(lambda: page.evaluate("!!(window.cockpit && cockpit.seen.loaded && cockpit.seen.view.hasWorld())"))
    until(lambda: [page.evaluate(LAYOUT), page.locator("aside").bounding_box()["width"]] == left)
    assert page.locator("#tab-plots").get_attribute("aria-selected") == "true"
    assert page.locator("#camera-orbit").get_attribute("aria-pressed") == "true"
    page.locator(".card.floating").get_by_role("button", name="Dock").click()
    until(lambda: page.locator(".card.floating").count() == 0)
    assert page.faults == []
    page.close()


def test_pickers_and_reports_on_the_page(browser: Any, rig: CockpitRig) -> None:
    """A world, weather, a sensor, its quality and a seed are picked and flown; a dataset's report opens."""
    rig.fly()
    (rig.folder.parent / "datasets" / "park-001").mkdir(parents=True)
    (rig.folder.parent / "datasets" / "park-001" / "report.html").write_text("<p>images of a park</p>")
    page = opened(browser, rig)
    page.click("#tab-studio")
    until(lambda: page.locator("#pick-world option").count() > 3)
    page.select_option("#scenario", "hover")
    until(lambda: "name: hover" in page.locator("#scenario-text").input_value())
    page.select_option("#pick-world", "blocks")
    until(lambda: "world: blocks" in page.locator("#scenario-text").input_value())
    page.select_option("#pick-weather", "rain")
    page.select_option("#pick-sensor", "camera")
    until(lambda: "rain: 10" in page.locator("#scenario-text").input_value())
    page.click("#add-sensor")
    until(lambda: page.locator("#pick-quality").is_enabled())
    page.select_option("#pick-quality", "high")
    until(lambda: "quality: high" in page.locator("#scenario-text").input_value())
    page.get_by_role("button", name="take out sensor camera").click()
    until(lambda: "kind: camera" not in page.locator("#scenario-text").input_value())
    page.locator("#pick-seed").fill("12")
    page.locator("#pick-seed").press("Enter")
    until(lambda: "seed: 12" in page.locator("#scenario-text").input_value())
    page.click("#start")
    until(lambda: rig.get("/api/about").get("seed") == 12 and rig.get("/api/about")["world"] == "blocks")
    page.click("#refresh")
    item = page.locator(".runs li", has_text="park-001")
    assert "dataset" in item.inner_text()
    with page.expect_popup() as shown:
        item.get_by_role("button", name="report.html").click()
    until(lambda: "images of a park" in shown.value.content())
    assert page.faults == []
    page.close()


CONTRAST = """() => {
  const parse = (text) => { const n = text.match(/[0-9.]+/g).map(Number); return n.length < 4 ? [...n, 1] : n; };
  const part = (v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = (c) => { const [r, g, b] = c.map(part);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const out = [];
  for (const item of document.querySelectorAll('body *')) {
    const own = [...item.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || !item.checkVisibility() || item.disabled || item.closest('svg')) continue;
    let back = item, fill = [0, 0, 0, 0];
    while (back && fill[3] < 1) { fill = parse(getComputedStyle(back).backgroundColor); back = back.parentElement; }
    const [a, b] = [light(parse(getComputedStyle(item).color).slice(0, 3)), light(fill.slice(0, 3))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const text = item.textContent.trim().slice(0, 20);
    if (ratio < 4.5) out.push(`${item.tagName}#${item.id} "${text}" ${ratio.toFixed(2)}`);
  }
  return out;
}"""
NAMELESS = """[...document.querySelectorAll('button, select, input, textarea, a, canvas[role=img], [tabindex="0"]')]
  .filter(item => !(item.textContent.trim() || item.title || item.getAttribute('aria-label') || item.ariaLabel
    || item.labels?.length))
  .map(item => item.outerHTML)"""


def test_everybody_can_use_it(browser: Any, rig: CockpitRig) -> None:
    """Every control has a name, the keyboard reaches them, and text stands out: WCAG's 4.5 to 1, light and dark."""
    rig.fly(ROOM)
    page = opened(browser, rig, color_scheme="light")
    reached = set()
    for _ in range(45):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id"))
    assert {"pause", "step", "speed", "tab-fly", "order-take_off", "order-kill", "height", "fly"} <= reached
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        until(partial(page.evaluate, f"document.documentElement.dataset.theme === '{scheme}'"))
        for tab in ("fly", "cameras", "plots", "log", "studio"):
            page.click(f"#tab-{tab}")
            assert page.evaluate(CONTRAST) == [], (scheme, tab)
            assert page.evaluate(NAMELESS) == []
    assert page.faults == []
    page.close()


PAD = """window.sticks = [0, 0, 0, 0];
navigator.getGamepads = () => [{ axes: window.sticks, buttons: [], connected: true, id: 'scripted', index: 0 }];"""


def test_keys_and_a_gamepad_fly_it(browser: Any, rig: CockpitRig) -> None:
    """The browser's Gamepad API is scripted: no gamepad is plugged into a machine that tests."""
    rig.fly(ROOM)
    page = browser.new_page(viewport={"width": 900, "height": 560}, device_scale_factor=0.5)
    page.add_init_script(PAD)
    page.goto(rig.url)
    until(lambda: page.evaluate("!!(window.cockpit && cockpit.seen.loaded)"))
    until(lambda: text_of(page, "dd[data-name=mode]") == "disarmed")
    page.locator("body").press("1")
    until(lambda: text_of(page, "dd[data-name=mode]") == "hover")
    page.evaluate("sticks[3] = -0.6")
    until(lambda: position(page)[0] > 0.4)
    page.evaluate("sticks[3] = 0")
    until(lambda: text_of(page, "dd[data-name=mode]") == "hover")
    page.keyboard.down("h")
    until(lambda: text_of(page, "dd[data-name=mode]") == "setpoint")
    page.keyboard.up("h")
    until(lambda: text_of(page, "dd[data-name=mode]") == "hover")
    orders = [row.split(",")[2] for row in (rig.run / "commands.csv").read_text().splitlines()[1:]]
    assert orders[0] == "take_off" and orders.count("velocity") > 4 and orders[-1] == "hover"
    page.close()


@pytest.mark.slow("stereo odometry and mapping of a whole flight")
def test_through_the_planner(browser: Any, rig: CockpitRig) -> None:
    rig.fly(load_scenario("room-nav"), 300.0)
    page = opened(browser, rig)
    page.select_option("#speed", "unlimited")
    until(lambda: text_of(page, "dd[data-name=mode]") == "setpoint", 300.0)
    # a hover as fast as it can would only take the browser's time
    page.select_option("#speed", "1")
    click_points(page)
    page.select_option("#speed", "unlimited")
    fly_on(page)
    x, y, _ = position(page)
    assert abs(x - POINTS[-1][0]) < 0.6 and abs(y - POINTS[-1][1]) < 0.6
    assert page.faults == []
    page.close()
