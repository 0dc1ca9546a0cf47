"""What the 3-D view and the panes show, seen in their pixels: a recording has a record of every kind."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from cockpit_rig import CockpitRig, opened, until
from shown_recording import write_recording
from skyloop.sim.scenario import load_scenario

pytestmark = [pytest.mark.processes, pytest.mark.needs("chromium")]

PIXELS = "name => cockpit.seen.view.pixelsOf(name)"
LAYERS = ["world", "ceilings", "tracks", "estimates", "clouds", "maps", "paths", "detections", "marks", "wind"]
EAST = "cockpit.seen.numbers.get('truth/drone')?.position[0]"
PICTURES = ["drone/cam", "drone/depth", "truth/drone/cam", "drone/radar/image"]
COLOUR = """([stream, x, y]) => {
  const canvas = document.querySelector(`canvas[aria-label="pictures of ${stream}"]`);
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d');
  copy.drawImage(canvas, 0, 0);
  return [...copy.getImageData(Math.floor(x * canvas.width), Math.floor(y * canvas.height), 1, 1).data];
}"""


@pytest.fixture(scope="module")
def page(browser: Any, rig: CockpitRig) -> Any:
    """The page with the recording, paused at its fourth second."""
    if not (shown := rig.folder.parent / "datasets" / "shown").exists():  # the rig outlives this page
        write_recording(shown)
    viewer = rig.viewer()
    assert viewer.call("/api/player/start", {"run": "shown", "root": "datasets"}) == {"run": "shown"}
    until(lambda: rig.get("/api/about").get("live") is False and rig.get("/api/about")["scenario"] == "shown")
    made = opened(browser, rig, 1100, 700)
    # from place to place, so that there is a track
    for t in (1.0, 2.0, 3.0, 4.0):
        viewer.call("/api/time", {"seek": t, "paused": True})
        until(partial(made.evaluate, f"{EAST} > {0.2 * t - 0.01} && {EAST} < {0.2 * t + 0.01}"))
    viewer.close()
    until(lambda: len(made.evaluate("cockpit.seen.view.contents().layers")) >= 11)
    yield made
    assert made.faults == []
    made.close()


def test_every_layer_is_drawn_and_can_be_hidden(page: Any) -> None:
    contents = page.evaluate("cockpit.seen.view.contents()")
    kinds = {layer["stream"]: layer["kind"] for layer in contents["layers"]}
    assert kinds["drone/distance"] == "maps" and kinds["drone/radar/detections"] == "detections"
    assert contents["marks"] == 1
    page.locator(".layers summary").click()
    assert page.locator(".layers input").count() == len(LAYERS)
    page.click("#camera-orbit")
    for name in LAYERS:
        # the room has no ceiling; the slow suite looks at a hall
        assert page.evaluate(PIXELS, name) > 5 or name == "ceilings", name
        # the box acts on this layer and on no other
        box = page.locator(f"#layer-{name}")
        others = page.evaluate("cockpit.seen.view.shown")
        box.click()
        assert page.evaluate("cockpit.seen.view.shown") == {**others, name: not others[name]}
        shown = {layer["kind"]: layer["visible"] for layer in page.evaluate("cockpit.seen.view.contents().layers")}
        assert all(visible == {**others, name: not others[name]}[kind] for kind, visible in shown.items())
        box.click()
    page.locator(".layers summary").click()


def test_cameras_look_from_where_they_should(page: Any) -> None:
    x, y, z = page.evaluate("cockpit.seen.numbers.get('truth/drone').position")
    seen = {}
    for mode in ("follow", "orbit", "top", "onboard"):
        page.click(f"#camera-{mode}")
        page.evaluate("cockpit.seen.view.pixels()")
        seen[mode] = page.evaluate("cockpit.seen.view.contents().camera")
    assert seen["top"][2] > z + 15 and abs(seen["top"][0] - x) < 0.1
    assert abs(seen["onboard"][0] - x - 0.25) < 0.05 and abs(seen["onboard"][2] - z) < 0.05
    # a drag in orbit turns the camera about the vehicle, and on board it leaves the seat
    distance = [sum((a - b) ** 2 for a, b in zip(seen["orbit"], (x, y, z), strict=True))]
    for mode in ("orbit", "onboard"):
        page.click(f"#camera-{mode}")
        page.mouse.move(300, 400)
        page.mouse.down()
        page.mouse.move(420, 420, steps=3)
        page.mouse.up()
        assert page.locator("#camera-orbit").get_attribute("aria-pressed") == "true"
        if mode == "orbit":
            moved = page.evaluate("cockpit.seen.view.contents().camera")
            assert moved != seen["orbit"]
            distance.append(sum((a - b) ** 2 for a, b in zip(moved, (x, y, z), strict=True)))
    assert abs(distance[0] - distance[1]) < 0.1


def test_pictures_classes_boxes_and_range_doppler(page: Any) -> None:
    page.click("#tab-cameras")
    for stream in PICTURES:
        if page.locator(f"canvas[aria-label='pictures of {stream}']").count() == 0:
            page.select_option("#pane-choice", stream)
            page.click("#add-pane")
    for stream in PICTURES:
        name = page.locator(".card", has=page.get_by_label(f"pictures of {stream}", exact=True)).locator(".card-name")
        until(partial(lambda caption: " s" in caption.inner_text(), name))
    until(lambda: page.evaluate("cockpit.seen.desk.boxesOf('drone/cam')") == 1)
    until(lambda: page.evaluate("cockpit.seen.desk.boxesOf('truth/drone/cam')") == 1)
    for name, told in (("drone/cam", "person 0.90"), ("truth/drone/cam", "person 3 m")):
        assert told in page.locator(f".card:has(canvas[aria-label='pictures of {name}']) text").text_content()
    left, right = (page.evaluate(COLOUR, ["drone/cam", x, 0.5]) for x in (0.2, 0.8))
    assert left[0] > 200 and right[0] < 60
    sky, thing = (page.evaluate(COLOUR, ["truth/drone/cam", x, 0.6]) for x in (0.8, 0.3))
    assert max(abs(a - b) for a, b in zip(sky, thing, strict=True)) > 60
    # the one strong cell of the radar's image is bright: range 20 of 32 upwards, speed 10 of 16
    peak, floor = (page.evaluate(COLOUR, ["drone/radar/image", x, y]) for x, y in ((0.66, 1 - 0.64), (0.2, 0.8)))
    assert peak[1] > 180 and floor[1] < 60
    assert "m/s across" in page.locator(".card", has=page.get_by_label("pictures of drone/radar/image")).inner_text()


def test_time_of_a_recording(page: Any, rig: CockpitRig) -> None:
    """Played on, its rotors turn and its pose moves; a mark of its event is on the timeline."""
    assert page.locator(".marks i").count() == 1
    before = page.evaluate("cockpit.seen.view.contents().angles.drone")
    page.locator("#timeline").evaluate("item => { item.value = 1; item.oninput() }")
    until(lambda: abs(page.evaluate("cockpit.seen.numbers.get('truth/drone').position")[0] - 0.2) < 0.01)
    page.click("#pause")
    until(lambda: page.evaluate("cockpit.seen.numbers.get('truth/drone').position")[0] > 0.35)
    assert page.evaluate("cockpit.seen.view.contents().angles.drone") != before
    page.click("#tab-log")
    until(lambda: "contact: touched a box" in page.locator(".events").inner_text())
    page.select_option("#log-filter", "log")
    assert "touched a box" not in page.locator(".events").inner_text()
    page.select_option("#log-filter", "all")


@pytest.mark.slow("five flights, with a detector and a radar")
@pytest.mark.renders
def test_of_real_flights(browser: Any, rig: CockpitRig) -> None:
    """People found in images, a radar that sees one walk, distances to walls, people that move, and a crash."""
    rig.fly(load_scenario("park-people"), 300.0)
    page = opened(browser, rig)
    assert page.evaluate("cockpit.seen.view.contents().moving") > 100
    page.click("#tab-cameras")
    until(lambda: page.evaluate("cockpit.seen.desk.boxesOf('drone/front')") > 0, 300.0)
    rig.fly(load_scenario("radar-walk"), 300.0)
    until(lambda: page.evaluate("cockpit.seen.about.scenario") == "radar-walk")
    page.select_option("#pane-choice", "drone/radar/range_doppler")
    page.click("#add-pane")
    until(lambda: "m/s across" in page.locator("#pictures").inner_text(), 300.0)
    rig.fly(load_scenario("room-map"), 300.0)
    layers = "cockpit.seen.view.contents().layers.map(layer => layer.stream)"
    until(lambda: any("distance" in name for name in page.evaluate(layers)), 300.0)
    rig.fly({"name": "fall", "world": "blocks", "vehicles": [{"name": "drone", "position": [0, 0, 6]}]}, 300.0)
    until(lambda: page.evaluate("cockpit.seen.view.contents().marks") > 0, 300.0)
    rig.fly({"name": "hall", "world": "warehouse", "vehicles": [{"name": "drone"}]}, 300.0)
    until(
        lambda: page.evaluate("cockpit.seen.about.scenario") == "hall" and page.evaluate("cockpit.seen.view.hasWorld()")
    )
    assert page.evaluate(PIXELS, "ceilings") > 100
    assert page.faults == []
    page.close()
