"""Two drones fly at each other: each sees, ranges and hits the other, and none of them sees itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from same_object_flights import distance_to_triangles, unit
from skyloop.core.frames import matrix_from_quat
from skyloop.sim.assembly import build
from skyloop.sim.scenario import make_scenario
from skyloop.world.semantics import CLASS_ID
from skyloop.world.views import Pinhole
from skyloop_client.messages import Arm, TakeOff, Velocity
from skyloop_client.streams import NS_PER_S

pytestmark = pytest.mark.renders
WIDTH, HEIGHT, FOV_DEG = 240, 160, 70.0
LENS = Pinhole.from_fov(WIDTH, HEIGHT, np.radians(FOV_DEG))
CAMERA = {
    "kind": "camera", "rate_hz": 4.0, "width": WIDTH, "height": HEIGHT, "horizontal_fov_deg": FOV_DEG,
    "quality": "low", "truth": ["depth", "instances", "classes"],
}  # fmt: skip
LIDAR = {
    "kind": "lidar", "preset": "perfect", "rate_hz": 4.0, "channels": 64, "points_per_second": 4.0 * 64 * 720,
    "vertical_fov_deg": [-16.0, 16.0], "horizontal_fov_deg": [-180.0, 180.0],
}  # fmt: skip
OTHER = {"east": "west", "west": "east"}


class Meeting:
    """What was published, and the true poses at the stamps."""

    def __init__(self) -> None:
        vehicles = [
            {"name": name, "airframe": "iris", "position": [x, y], "yaw_deg": yaw, "state": "truth",
             "sensors": {"camera": CAMERA, "lidar": LIDAR}}
            for name, x, y, yaw in (("west", -2.0, 0.0, 0.0), ("east", 2.0, 0.12, 180.0))
        ]  # fmt: skip
        self.poses: dict[tuple[str, int], Any] = {}
        with build(
            make_scenario({"truth_rate_hz": 100.0, "world": {"name": "blocks"}, "vehicles": vehicles})
        ) as simulation:
            self.model = simulation.fleet.solids.model
            names = ("camera", "lidar", "events")
            streams = {(v, n): simulation.subscribe(f"{v}/{n}") for v in OTHER for n in names}
            streams |= {(v, "truth"): simulation.subscribe(f"truth/{v}/camera") for v in OTHER}
            states = {v: simulation.subscribe(f"truth/{v}") for v in OTHER}
            for vehicle in OTHER:
                simulation.send(Arm(), TakeOff(1.0), vehicle=vehicle)
            simulation.run_until(2.5)
            for k in range(22):
                for vehicle, way in (("west", 1.0), ("east", -1.0)):
                    simulation.send(Velocity(np.array([1.5 * way, 0.0, 0.0]), frame="world"), vehicle=vehicle)
                simulation.run_until(2.5 + 0.1 * (k + 1))
            self.data = {key: [message.data for message in stream] for key, stream in streams.items()}
            for vehicle, stream in states.items():
                for message in stream:
                    self.poses[vehicle, message.data.t_ns] = message.data
        self.instance = {v: next(k for k, t in enumerate(self.model.objects) if t.name == v) for v in OTHER}
        self.hits = {
            v: [e for e in self.data[v, "events"] if e.kind == "contact" and e.contact.instance == self.instance[o]]
            for v, o in OTHER.items()
        }

    def corners(self, vehicle: str, t_ns: int) -> Any:
        """(n, 3, 3) of a vehicle's full shape at a stamp."""
        [row] = self.model.objects[self.instance[vehicle]].rows
        mesh, state = self.model.shapes[self.model.part_shape[row]].lods[0], self.poses[vehicle, t_ns]
        return (mesh.positions.astype(float) @ matrix_from_quat(state.quat_wxyz).T + state.position)[mesh.faces]

    def before_contact(self, vehicle: str, stream: str) -> list[Any]:
        """Samples of the second before they meet."""
        end = self.hits[vehicle][0].t_ns
        return [sample for sample in self.data[vehicle, stream] if end - NS_PER_S <= sample.t_ns < end]


@pytest.fixture(scope="module")
def meeting() -> Iterator[Meeting]:
    yield Meeting()


def covered(triangles: Any) -> Any:
    """(HEIGHT, WIDTH) whether a pixel's centre lies in one of (n, 3, 2) triangles in pixels."""
    out = np.zeros((HEIGHT, WIDTH), bool)
    for triangle in triangles:
        (u0, v0), (u1, v1) = np.ceil(triangle.min(axis=0)).astype(int), np.floor(triangle.max(axis=0)).astype(int)
        v, u = np.mgrid[max(v0, 0) : min(v1, HEIGHT - 1) + 1, max(u0, 0) : min(u1, WIDTH - 1) + 1]
        ends = np.roll(triangle, -1, axis=0)
        sides = [(b[0] - a[0]) * (v - a[1]) - (b[1] - a[1]) * (u - a[0]) for a, b in zip(triangle, ends, strict=True)]
        out[v, u] |= (np.min(sides, axis=0) >= 0.0) | (np.max(sides, axis=0) <= 0.0)
    return out


@pytest.mark.parametrize("vehicle", OTHER)
def test_each_sees_the_other_where_it_is(meeting: Meeting, vehicle: str) -> None:
    """The pixels that show it are those whose centres its projected triangles cover, but for a few on its outline."""
    other = meeting.instance[OTHER[vehicle]]
    truths = meeting.before_contact(vehicle, "truth")
    assert len(truths) >= 3
    for truth in truths:
        corners = meeting.corners(OTHER[vehicle], truth.t_ns)
        local = (corners - truth.position) @ matrix_from_quat(truth.quat_wxyz)
        pixels = local[..., :2] / local[..., 2:] * (LENS.fx, LENS.fy) + (LENS.cx, LENS.cy)
        seen, expected = truth.instances == other, covered(pixels)
        assert (seen ^ expected).sum() <= 0.01 * expected.sum()
        assert expected.sum() > 50
        assert (truth.classes[seen] == CLASS_ID["vehicle"]).all()
        nearest, farthest = local[..., 2].min(), local[..., 2].max()
        assert nearest - 1e-3 <= truth.depth[seen].min() <= truth.depth[seen].max() <= farthest + 1e-3


@pytest.mark.parametrize("vehicle", OTHER)
def test_each_ranges_the_other(meeting: Meeting, vehicle: str) -> None:
    """Returns that name it lie on its triangles, and their beams are the ones that the picture shows it in."""
    other = meeting.instance[OTHER[vehicle]]
    for scan in meeting.before_contact(vehicle, "lidar"):
        state = meeting.poses[vehicle, scan.t_ns]
        mine = scan.points[scan.instances == other].astype(float)
        assert len(mine) >= 20
        assert (scan.classes[scan.instances == other] == CLASS_ID["vehicle"]).all()
        corners = meeting.corners(OTHER[vehicle], scan.t_ns)
        for point in mine[:: 1 + len(mine) // 40] @ matrix_from_quat(state.quat_wxyz).T + state.position:
            assert distance_to_triangles(point, corners) < 1e-3
        [truth] = [t for t in meeting.data[vehicle, "truth"] if t.t_ns == scan.t_ns]
        ahead = unit(mine)
        u, v = (np.rint(c - f * ahead[:, k] / ahead[:, 0]).astype(int) for c, f, k in
                ((LENS.cx, LENS.fx, 1), (LENS.cy, LENS.fy, 2)))  # fmt: skip
        shown = (u >= 1) & (v >= 1) & (u < WIDTH - 1) & (v < HEIGHT - 1)
        around = [truth.instances[(v + b)[shown], (u + a)[shown]] == other for a in (-1, 0, 1) for b in (-1, 0, 1)]
        assert np.any(around, axis=0).all()


def test_each_hits_the_other_at_one_place_and_time(meeting: Meeting) -> None:
    west, east = (meeting.hits[v][0] for v in ("west", "east"))
    assert west.t_ns == east.t_ns
    assert (west.contact.position).tolist() == (east.contact.position).tolist()
    assert (west.contact.normal).tolist() == (-east.contact.normal).tolist()
    # they met half way at twice 1.5 m/s, less what is lost in getting going
    assert abs(west.contact.position[0]) < 0.3
    assert 2.0 < west.contact.speed < 3.3
    # carried back to the last stamp with the vehicle it lies on, that place is on its shape
    gaps = []
    for vehicle in OTHER:
        stamp = max(t for v, t in meeting.poses if v == vehicle and t <= west.t_ns)
        state = meeting.poses[vehicle, stamp]
        moved = west.contact.position - state.velocity_world * (west.t_ns - stamp) / NS_PER_S
        gaps.append(distance_to_triangles(moved, meeting.corners(vehicle, stamp)))
    assert min(gaps) < 5e-3


@pytest.mark.parametrize("vehicle", OTHER)
def test_none_sees_itself(meeting: Meeting, vehicle: str) -> None:
    """Both sensors sit in the middle of the fuselage."""
    own = meeting.instance[vehicle]
    assert all((truth.instances != own).all() for truth in meeting.data[vehicle, "truth"])
    assert all((scan.instances != own).all() for scan in meeting.data[vehicle, "lidar"])
    assert len(meeting.data[vehicle, "truth"]) == len(meeting.data[vehicle, "lidar"]) >= 10
