"""The animation of a growing map: frames that grow, in bounded memory, with the same bytes each time."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageSequence

from skyloop.core.bus import Bus
from skyloop_autonomy.reports.map_animation import MAP_COLOURS, MOST_BYTES, draw_growth
from skyloop_autonomy.reports.map_growth import (
    FREE,
    MOST_CELLS,
    MOST_FRAMES,
    OCCUPIED,
    UNKNOWN,
    MapGrowth,
    VehicleGrowth,
)
from skyloop_client.messages import GoalStatus, GridMap, Message, VehicleState
from skyloop_client.messages import Path as Way
from skyloop_client.streams import NS_PER_S, StreamInfo

ZERO, LEVEL = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
KINDS = {
    "truth/drone": "VehicleState",
    "drone/maps/ground": "GridMap",
    "drone/way": "Path",
    "drone/status": "GoalStatus",
}


class Flight:
    """A vehicle that flies east at 0.1 m/s and sees 1 m more to the east in each second."""

    def __init__(self, kinds: dict[str, str] = KINDS) -> None:
        self.bus = Bus()
        self.growth = MapGrowth(self.bus)
        for name, record in kinds.items():
            self.bus.advertise(StreamInfo(name, record, None, "drone"))

    def put(self, stream: str, t: float, record: object) -> None:
        t_ns = round(t * NS_PER_S)
        self.bus.publish(Message(stream, 0, t_ns, t_ns, record))

    def fly(self, seconds: int, side: int = 100, cell: float = 0.2) -> VehicleGrowth:
        cells = np.full((side, side), -1, np.int8)
        goal = np.array([8.0, 0.0, 1.5])
        for k in range(5 * seconds):
            t = 0.2 * k
            position = np.array([0.1 * t, 0.0, 1.5])
            self.put("truth/drone", t, VehicleState(round(t * NS_PER_S), position, ZERO, LEVEL, *[ZERO] * 6))
            seen = min(1 + int(t / cell), side)
            cells[40:60, :seen] = 0
            cells[40, :seen] = 100
            self.put(
                "drone/maps/ground", t, GridMap(round(t * NS_PER_S), cells.copy(), cell, np.array([-2.0, -10.0, 1.5]))
            )
            self.put("drone/way", t, Way(round(t * NS_PER_S), np.array([position, goal])))
            self.put("drone/status", t, GoalStatus(round(t * NS_PER_S), 0, "flying", goal, goal))
        self.put("drone/status", seconds, GoalStatus(seconds * NS_PER_S, 0, "reached", goal, goal))
        return self.growth.vehicles["drone"]


def test_known_area_grows_from_frame_to_frame() -> None:
    frames = Flight().fly(12).frames
    areas = [frame.known for frame in frames]
    assert len(frames) == 13 and all(a < b for a, b in pairwise(areas))
    assert areas[0] == pytest.approx(20 * 0.04) and areas[-1] == pytest.approx(20 * 60 * 0.04)
    assert [frame.t for frame in frames[:3]] == [0.0, 1.0, 2.0] and frames[-1].t == pytest.approx(11.8)
    # cropped to what is known
    np.testing.assert_allclose(frames[0].corner, [-2.0, -2.0])
    assert frames[0].cells.shape == (20, 1) and (frames[0].cells[:, 0] == [OCCUPIED, *[FREE] * 19]).all()
    np.testing.assert_allclose(frames[5].way, [[0.5, 0.0], [8.0, 0.0]], atol=0.05)
    assert frames[5].goal is not None and frames[5].goal[0] == 8.0


def test_memory_is_bounded_in_time_and_in_cells() -> None:
    growth = Flight().fly(300, side=100, cell=3.0)
    frames = growth.frames
    assert 30 <= len(frames) <= MOST_FRAMES
    assert frames[0].t == 0.0 and frames[-1].t == pytest.approx(299.8)
    flight = Flight()
    cells = np.zeros((900, 700), np.int8)
    cells[450, 10] = 100
    flight.put("drone/maps/ground", 0.0, GridMap(0, cells, 0.25, np.zeros(3)))
    (frame,) = flight.growth.vehicles["drone"].frames
    assert max(frame.cells.shape) <= MOST_CELLS and frame.cell == 0.75
    assert np.argwhere(frame.cells == OCCUPIED).tolist() == [[150, 3]], "a single occupied cell is not lost"


def test_the_animation_shows_it_in_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one.gif", "two.gif"):
        draw_growth(tmp_path / name, "a flight", Flight().fly(10))
    assert (tmp_path / "one.gif").read_bytes() == (tmp_path / "two.gif").read_bytes()
    assert (tmp_path / "one.gif").stat().st_size < MOST_BYTES // 10
    with Image.open(tmp_path / "one.gif") as image:
        shown = [np.asarray(frame.convert("RGB")) for frame in ImageSequence.Iterator(image)]
    assert len(shown) == 11
    free = [int((picture[24:-24] == MAP_COLOURS[FREE]).all(axis=2).sum()) for picture in shown]
    assert all(a < b for a, b in pairwise(free)), "white grows"
    assert (shown[0][24:-24] == MAP_COLOURS[UNKNOWN]).all(axis=2).mean() > 0.7


def test_without_maps_there_is_no_animation() -> None:
    without = {name: kind for name, kind in KINDS.items() if kind != "GridMap"}
    flight = Flight(without)
    flight.put("drone/status", 0.0, GoalStatus(0, 0, "flying", ZERO, ZERO))
    assert flight.growth.vehicles == {}
    nothing_known = Flight()
    nothing_known.put("drone/maps/ground", 0.0, GridMap(0, np.full((5, 5), -1, np.int8), 0.2, ZERO))
    assert nothing_known.growth.vehicles == {}
