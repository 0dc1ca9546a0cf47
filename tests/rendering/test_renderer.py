"""The renderer process: what it answers, and how it and its client part."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from painted_world import panel, shape
from photography import looking, number_of, shot, weather
from skyloop.core.frames import matrix_from_quat
from skyloop.rendering import client, shadows
from skyloop.rendering.client import Renderer
from skyloop.world.model import Model
from skyloop.world.rays import RayTracer
from skyloop.world.views import Pinhole, View, ViewRequest
from skyloop_client.errors import RendererError

pytestmark = pytest.mark.renders

LENS = Pinhole.from_fov(96, 72, 1.4)
SKY = weather()


def request(eye: Any, target: Any, quality: str = "low", t: float = 0.0, **options: Any) -> ViewRequest:
    return ViewRequest(options.pop("lens", LENS), looking(eye, target, t), quality, **options)


def same(a: View, b: View) -> bool:
    return a.colour.tobytes() == b.colour.tobytes() and a.surface.tobytes() == b.surface.tobytes()


def small_model() -> Model:
    model = Model()
    model.place(shape(panel((6.0, 0.0, 0.0), (0.0, -4.0, 0.0), (0.0, 0.0, 4.0))), is_a="wall", name="wall")
    model.freeze()
    return model


@pytest.fixture(scope="module")
def small() -> Model:
    return small_model()


@pytest.fixture(scope="module")
def small_renderer(small: Model) -> Iterator[Renderer]:
    renderer = Renderer(small)
    yield renderer
    renderer.close()


AHEAD = request((0.0, 0.0, 0.0), (1.0, 0.0, 0.0))


# ---- what it answers


@pytest.mark.parametrize("quality", ["low", "medium", "epic"])
def test_the_same_request_gives_the_same_bytes(renderer: Renderer, quality: str) -> None:
    asked = [request((-9.0, -8.0, 3.0), (10.0, 4.0, 0.0), quality, 1.5)]
    raining = weather(rain=30.0, snow=1.0)
    first = renderer.render(asked, raining)[0]
    renderer.render([request((5.0, 0.0, 9.0), (0.0, 1.0, 0.0), quality)], SKY)
    assert same(first, renderer.render(asked, raining)[0])


def test_views_asked_together_equal_views_asked_alone(renderer: Renderer) -> None:
    asked = [
        request((-9.0, -8.0, 3.0), (10.0, 4.0, 0.0), "medium", 1.0),
        request((0.0, 0.0, 1.5), (12.0, 1.0, 2.0), "high", 2.0),
        request((0.0, 0.0, 30.0), (0.1, 0.0, 0.0), "low", 1.0, lens=Pinhole.from_fov(50, 41, 0.9)),
        request((0.0, 0.0, 1.5), (12.0, 1.0, 2.0), "low", 2.0, exposure=2.0),
    ]
    together = renderer.render(asked, SKY)
    for one, view in zip(asked, together, strict=True):
        assert same(view, renderer.render([one], SKY)[0])


def test_more_views_than_targets_are_kept(renderer: Renderer) -> None:
    asked = [request((0.0, 0.0, 2.0), (np.cos(a), np.sin(a), 1.9)) for a in np.linspace(0.0, 6.0, 40)]
    for k, view in enumerate(renderer.render(asked, SKY)):
        if k % 13 == 0:
            assert same(view, renderer.render([asked[k]], SKY)[0])


def test_movers_are_where_each_instant_has_them(renderer: Renderer, model: Model) -> None:
    asked = [request((0.0, 0.0, 3.0), (1.0, 0.0, 3.0), t=t) for t in (0.5, 1.5, 2.5)]
    number = number_of(model, "passing")
    columns = []
    for view in renderer.render(asked, SKY):
        seen = np.nonzero(view.instances == number)
        expected = LENS.cx - LENS.fx * (-6.0 + 4.0 * view.pose.t_ns / 1e9) / 12.0
        assert seen[1].mean() == pytest.approx(expected, abs=1.5)
        columns.append(seen[1].mean())
    assert columns == sorted(columns, reverse=True)


def test_hidden_rows_are_looked_through(renderer: Renderer, model: Model) -> None:
    number = number_of(model, "passing")
    row = model.objects[number].rows[0]
    shown, hidden, without = renderer.render(
        [
            request((0.0, 0.0, 3.0), (1.0, 0.0, 3.0), t=1.5),
            request((0.0, 0.0, 3.0), (1.0, 0.0, 3.0), t=1.5, hidden_parts=(row, row + 1)),
            request((0.0, 0.0, 3.0), (1.0, 0.0, 3.0), t=60.0),
        ],
        SKY,
    )
    mine = shown.instances == number
    assert mine.sum() > 50
    assert not (hidden.instances == number).any()
    assert np.array_equal(hidden.surface, without.surface)
    assert np.array_equal(hidden.instances[~mine], shown.instances[~mine])


@pytest.mark.parametrize(
    ("eye", "target"), [((-9.0, -8.0, 3.0), (10.0, 4.0, 0.0)), ((30.0, 30.0, 25.0), (0.0, 0.0, 0.0))]
)
def test_nothing_visible_is_culled(renderer: Renderer, model: Model, eye: Any, target: Any) -> None:
    """Against rays through every pixel's centre."""
    t, lens = 1.5, Pinhole.from_fov(192, 120, 1.5)
    asked = request(eye, target, "cinematic", t, lens=lens)
    view = renderer.render([asked], SKY)[0]
    along = lens.rays().reshape(-1, 3) @ matrix_from_quat(asked.pose.quat_wxyz).T
    size = np.linalg.norm(along, axis=1)
    start = np.broadcast_to(asked.pose.position, along.shape)
    hits = RayTracer(model).cast(start, along / size[:, None], 1e4, model.motion(round(t * 1e9)))
    rows = hits.row.reshape(view.instances.shape)
    objects = np.where(rows < 0, 0, model.part_object[rows])
    alike = objects == view.instances
    assert alike.mean() > 0.99
    depth = (hits.distance / size).reshape(rows.shape)
    both = alike & (objects > 0) & (depth < 30.0)
    error = np.abs(view.depth[both] - depth[both])
    # a stack's blocks have edges inside one object's outline
    assert np.mean(error < 1e-3) > 0.995
    assert len(np.unique(objects)) > 12
    numbers, pixels = np.unique(objects, return_counts=True)
    assert set(numbers[pixels > 4].tolist()) <= set(np.unique(view.instances).tolist())


def test_depth_far_from_the_origin() -> None:
    model = Model()
    place = np.array([1400.3, -1430.7, 55.1])
    model.place(shape(panel((10.0, 0.0, 0.0), (0.0, -9.0, 0.0), (2.0, 0.0, 9.0))), place, is_a="wall")
    model.freeze()
    renderer = Renderer(model)
    try:
        view = renderer.render([request(place, np.add(place, [1.0, 0.0, 0.0]))], SKY)[0]
    finally:
        renderer.close()
    v = LENS.rays()[..., 1]
    expected = 10.0 / (1.0 + v * 2.0 / 9.0)
    near = np.isfinite(view.depth) & (expected < 10.5)
    assert near.mean() > 0.3
    np.testing.assert_allclose(view.depth[near], expected[near], rtol=0.0, atol=1e-3)


def test_a_view_does_not_depend_on_where_the_camera_was(model: Model, renderer: Renderer) -> None:
    """Shadow maps are kept from place to place."""
    asked = [request((-9.0, -8.0, 3.0), (10.0, 4.0, 0.0), "medium")]
    for x in np.arange(-60.0, 200.0, 13.0):
        renderer.render([request((x, 0.3 * x, 6.0), (x + 10.0, 5.0, 0.0), "medium")], SKY)
    after = renderer.render(asked, SKY)[0]
    fresh = Renderer(model)
    try:
        assert same(after, fresh.render(asked, SKY)[0])
    finally:
        fresh.close()


def test_shadow_maps_are_few_and_join_without_a_jump() -> None:
    sun = weather().sun_direction
    axes = shadows._axes(sun)
    cell = 2.0 * shadows.HALF_SIDE / shadows.CELLS
    cells = {shadows._snapped(np.array([x, 0.2 * x, 8.0]), axes, shadows.HALF_SIDE)[1] for x in np.arange(0, 180, 0.1)}
    assert len(cells) <= 3 * (180.0 / cell)
    for size in (2048, 4096):
        for half, texels in ((shadows.HALF_SIDE, size), (shadows.MOVING_HALF_SIDE, size // 2)):
            step = 2.0 * half / shadows.CELLS
            assert (step / (2.0 * half / texels)).is_integer()
    middle, _ = shadows._snapped(np.array([31.0, -7.0, 12.0]), axes, shadows.HALF_SIDE)
    assert np.abs(axes[:2] @ (middle - [31.0, -7.0, 12.0])).max() <= 0.5 * cell + 1e-9


# ---- asking and misuse


def test_answers_come_in_the_order_asked(renderer: Renderer) -> None:
    asked = [[request((0.0, 0.0, 2.0), (np.cos(a), np.sin(a), 1.8), t=a)] for a in range(5)]
    alone = [renderer.render(one, SKY)[0] for one in asked]
    renderer.submit(asked[0], SKY)
    for k in range(1, 5):
        renderer.submit(asked[k], SKY)
        with pytest.raises(RendererError, match="two requests are under way already"):
            renderer.submit(asked[0], SKY)
        assert same(renderer.collect()[0], alone[k - 1])
    assert same(renderer.collect()[0], alone[4])
    with pytest.raises(RendererError, match="no request is under way"):
        renderer.collect()


def test_requests_may_grow(small_renderer: Renderer) -> None:
    renderer = small_renderer
    tiny, large = (request((0, 0, 0), (1, 0, 0), lens=Pinhole.from_fov(n, n, 1.2)) for n in (16, 200))
    for asked in (tiny, large, tiny):
        view = renderer.render([asked], SKY)[0]
        assert view.depth[asked.lens.height // 2, asked.lens.width // 2] == pytest.approx(6.0, abs=1e-4)
    renderer.submit([tiny], SKY)
    renderer.submit([large] * 3, SKY)
    for sizes in ([16], [200] * 3):
        views = renderer.collect()
        assert [len(view.depth) for view in views] == sizes
        assert all(view.depth[sizes[0] // 2, sizes[0] // 2] == pytest.approx(6.0, abs=1e-4) for view in views)
    assert renderer.render([], SKY) == []


def test_views_that_are_kept_stay_as_they_are(renderer: Renderer) -> None:
    """More of them than slots are lent, and bigger ones in between."""
    asked = [request((0.0, 0.0, 2.0), (np.cos(a), np.sin(a), 1.8), t=a) for a in range(9)]
    kept, copies = [], []
    for number, one in enumerate(asked):
        view = renderer.render([one] * (1 + number % 3), SKY)[-1]
        kept.append(view)
        copies.append(view.surface.copy())
    assert all(np.array_equal(view.surface, copy) for view, copy in zip(kept, copies, strict=True))
    assert len({copy.tobytes() for copy in copies}) == len(copies)


def test_an_error_meanwhile_leaves_the_next_picture_right(renderer: Renderer) -> None:
    first, second = (request((0.0, 0.0, 2.0), (np.cos(a), np.sin(a), 1.8)) for a in (0, 2))
    right = renderer.render([second], SKY)[0]

    def fails(answered: object) -> None:
        raise ValueError("the link broke")

    size = renderer._memory.size
    for _ in range(8):
        renderer.meanwhile = fails
        try:
            with pytest.raises(ValueError, match="the link broke"):
                renderer.render([first], SKY)
        finally:
            renderer.meanwhile = None
        assert same(renderer.render([second], SKY)[0], right)
    assert renderer._memory.size <= 2 * size, "slots are used again"


def test_an_unknown_quality_names_those_there_are(renderer: Renderer) -> None:
    with pytest.raises(RendererError, match="no quality 'ultra'; choose one of low, medium"):
        renderer.render([request((0, 0, 1), (1, 0, 1), "ultra")], SKY)
    assert len(renderer.render([AHEAD], SKY)) == 1


def test_trouble_while_painting_is_reported_and_forgotten(renderer: Renderer) -> None:
    with pytest.raises(RendererError, match="the renderer could not paint: ") as caught:
        renderer.render([request((0, 0, 1), (1, 0, 1), lens=Pinhole(0, 8, 5.0, 5.0, 0.0, 0.0))], SKY)
    assert "\n" not in str(caught.value)
    assert renderer.render([AHEAD], SKY)[0].colour.any()


# ---- life and death


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def within(seconds: float, happened: Callable[[], bool]) -> bool:
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        if happened():
            return True
        time.sleep(0.02)
    return happened()


def test_a_killed_process_is_reported(small: Model) -> None:
    before = open_files()
    renderer = Renderer(small)
    renderer.render([AHEAD], SKY)
    # stopped, so that it is surely dead before it could answer
    os.kill(renderer.process_id, signal.SIGSTOP)
    renderer.submit([AHEAD], SKY)
    os.kill(renderer.process_id, signal.SIGKILL)
    with pytest.raises(RendererError, match="the renderer process ended by signal 9; run `skyloop doctor`") as caught:
        renderer.collect()
    assert "\n" not in str(caught.value)
    assert not Path(f"/proc/{renderer.process_id}").exists()
    with pytest.raises(RendererError, match="was closed or has died"):
        renderer.render([AHEAD], SKY)
    renderer.close()
    del caught
    assert open_files() == before


def test_renderers_leave_nothing_behind(small: Model) -> None:
    before = open_files()
    renderer = Renderer(small)
    pid = renderer.process_id
    renderer.render([AHEAD], SKY)
    renderer.close()
    renderer.close()
    assert not Path(f"/proc/{pid}").exists()
    with pytest.raises(RendererError, match="was closed"):
        renderer.render([AHEAD], SKY)
    assert open_files() == before


SCRIPT = """
import os, sys
sys.path.insert(0, {tests!r})
print("imported", flush=True)
from test_renderer import AHEAD, SKY, Renderer, small_model
renderer = Renderer(small_model())
print(renderer.process_id, renderer.render([AHEAD], SKY)[0].colour.shape, flush=True)
"""


def script(path: Path, end: str) -> Path:
    here = Path(__file__).parent
    head = f"import sys\nsys.path.insert(0, {str(here.parent)!r})\n"
    path.write_text(head + SCRIPT.format(tests=str(here)) + end)
    return path


def test_a_script_without_a_main_guard_works_and_its_renderer_dies_with_it(tmp_path: Path) -> None:
    path = script(tmp_path / "mine.py", "import time\ntime.sleep(60)\n")
    client = subprocess.Popen([sys.executable, str(path)], stdout=subprocess.PIPE, text=True)
    assert client.stdout is not None
    # a second import of the script, by the renderer, would say so twice
    assert client.stdout.readline() == "imported\n"
    pid, size = client.stdout.readline().split(maxsplit=1)
    assert size.strip() == "(72, 96, 3)"
    assert is_running(int(pid))
    client.kill()
    client.wait()
    client.stdout.close()
    assert within(5.0, lambda: not is_running(int(pid)))


def test_it_does_not_load_the_compiler_of_our_kernels(small_renderer: Renderer) -> None:
    """Numba is a second of every start, and the renderer calls no kernel."""
    small_renderer.wait_ready()
    assert "llvmlite" not in Path(f"/proc/{small_renderer.process_id}/maps").read_text()


def test_ctrl_c_is_the_clients_affair(small_renderer: Renderer) -> None:
    small_renderer.wait_ready()
    os.kill(small_renderer.process_id, signal.SIGINT)
    assert small_renderer.render([AHEAD], SKY)[0].colour.any()


def test_what_is_smaller_than_pixels_is_left_out_at_low_quality_only(renderer: Renderer, model: Model) -> None:
    number = number_of(model, "passing")
    for quality, seen in (("low", False), ("cinematic", True)):
        # at 1.5 s the box is right in the middle, 1.4 px wide
        view = shot(renderer, (-230.0, 0.0, 3.0), (0.0, 0.0, 3.0), quality, t=1.5, fov=1.0, size=(161, 121))
        assert (view.instances[60, 80] == number) == seen


@pytest.fixture
def stopped(model: Model, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> Iterator[Renderer]:
    """A renderer that stands still; the log has said so and that it was ended."""
    renderer = Renderer(model)
    try:
        renderer.wait_ready()
        monkeypatch.setattr(client, "LOOK_S", 0.02)
        os.kill(renderer.process_id, signal.SIGSTOP)
        yield renderer
        assert not is_running(renderer.process_id)
    finally:
        renderer.close()
    said = [record.getMessage() for record in caplog.get_records("call")]
    assert "has given no picture for" in said[0] and "there are no pictures any more" in said[-1]


def test_a_renderer_that_is_stopped_is_reported_and_ended(stopped: Renderer) -> None:
    """Also while the client does other work until it answers, as the links do."""
    looks = []

    def meanwhile(ready: Callable[[], bool]) -> None:
        while not ready():
            looks.append("round")
            time.sleep(0.01)

    stopped.meanwhile = meanwhile
    with pytest.raises(RendererError, match="gave no answer for"):
        stopped.render([AHEAD], SKY)
    assert looks


@pytest.mark.slow("waits for a renderer that stands still")
def test_a_stopped_renderer_is_noticed_by_a_client_that_only_asks_now_and_then(stopped: Renderer) -> None:
    """As `skyloop serve` does, which flies on while images are painted."""
    stopped.submit([AHEAD], SKY)
    for _ in range(2000):
        if stopped.has_answered():
            break
        time.sleep(0.005)
    else:
        os.kill(stopped.process_id, signal.SIGKILL)
    with pytest.raises(RendererError, match="gave no answer for"):
        stopped.collect()
