"""The scores of a run for each table, from the simulator's truth and its record of questions and answers."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from skyloop.campaigns.size import OUTPUT, sut_result
from skyloop.core.frames import matrix_from_quat, yaw_from_quat
from skyloop.sim.scenario import Scenario
from skyloop_client.errors import LinkError
from skyloop_client.messages import Array
from skyloop_papers.sync_hil.plan import ESTIMATE, OSCILLATIONS, POSITION, PRECISION, SAMPLES, TIME

BOARD_THICKNESS = 0.04
"""m by which the front of the anchor stands out from its wall."""


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """One finished run."""

    result: dict[str, Any]
    """The software's own result."""
    times: Array
    """(n,) s."""
    positions: Array
    """(n, 3) m, true."""
    quats: Array
    """(n, 4) world_from_body, true."""
    asked: float
    """s, simulated, at which the first question took effect."""
    answered: float
    """s, simulated, of the last answer before the task's end."""
    ended: float
    """s, simulated, at which the question after the task's end took effect."""

    @property
    def started(self) -> float:
        """s, simulated, of the task's first line."""
        return float(self.result["start_ns"]) / 1e9

    @property
    def lasted(self) -> float:
        return self.ended - self.started

    def position(self, t: float) -> Array:
        return np.array([np.interp(t, self.times, column) for column in self.positions.T])

    def attitude(self, t: float) -> Array:
        """(3, 3) world_from_body at the nearest sample of the truth."""
        return matrix_from_quat(self.quats[int(np.argmin(np.abs(self.times - t)))])

    def yaw(self, t: float) -> float:
        return float(yaw_from_quat(self.quats[int(np.argmin(np.abs(self.times - t)))]))


def read_run(folder: Path, summary: dict[str, Any]) -> FinishedRun:
    """Read a run folder. Raises LinkError with the reason if the software did not finish."""
    result = sut_result(folder / OUTPUT)
    if not result:
        raise LinkError(f"no result within {summary['simulated_s']:.0f} s of simulated time")
    events = [event for vehicle in summary["vehicles"].values() for event in vehicle["events"]]
    if crash := next((event for event in events if " crash" in event), ""):
        raise LinkError(crash)
    names = ("t_ns", *(f"position_{k}" for k in range(3)), *(f"quat_wxyz_{k}" for k in range(4)))
    truth = np.array(
        [[float(row[name]) for name in names] for row in _rows(folder / "streams" / "truth" / "drone.csv")]
    )
    asked = _rows(folder / "timeline.csv")
    # the last question comes after the task: its hover
    before, last = asked[-2], asked[-1]
    stamps = asked[0]["st_acted_ns"], before["st_replied_ns"], last["st_acted_ns"]
    return FinishedRun(
        result, truth[:, 0] / 1e9, truth[:, 1:4], truth[:, 4:8], *(float(stamp) / 1e9 for stamp in stamps)
    )


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def board_front(scenario: Scenario) -> Array:
    """(3,) m: the middle of the anchor's front, on a side wall of the corridor."""
    x, y, z = scenario.world.options["anchor"]
    return np.array([x, y - math.copysign(BOARD_THICKNESS, y), z])


def sensor_characterisation(flown: FinishedRun, scenario: Scenario) -> dict[str, float]:
    got = int(flown.result["got"])
    if got < SAMPLES:
        raise LinkError(f"{got} of {SAMPLES} answers held a sample")
    # the transfer of the last sample is in neither stamp, so one is left out
    return {"acquiring a sample (s)": (flown.ended - flown.asked) / (got - 1)}


def relative_position(flown: FinishedRun, scenario: Scenario) -> dict[str, float]:
    """Compared with the position of the board's front in the true camera, at the image's instant."""
    at = float(flown.result["image_ns"]) / 1e9
    body = flown.attitude(at)
    camera = np.array(scenario.vehicles[0].sensors["front"].mount.position)
    ahead, left, up = body.T @ (board_front(scenario) - flown.position(at)) - camera
    off = math.remainder(float(flown.result["angle"]) - math.atan2(left, ahead), math.tau)
    return {
        "angle error (deg)": abs(math.degrees(off)),
        "distance error (m)": abs(float(flown.result["distance"]) - math.sqrt(ahead**2 + left**2 + up**2)),
        TIME: flown.lasted,
        "computing (s)": flown.ended - flown.answered,
    }


def face_anchor(flown: FinishedRun, scenario: Scenario) -> dict[str, float]:
    """An oscillation: the anchor passes the forward direction and exceeds the precision on the other side."""
    during = (flown.times >= flown.started) & (flown.times <= flown.ended)
    away = board_front(scenario) - flown.positions[during]
    bearings = np.arctan2(away[:, 1], away[:, 0])
    yaws = np.array([yaw_from_quat(quat) for quat in flown.quats[during]])
    off = np.arctan2(np.sin(bearings - yaws), np.cos(bearings - yaws))
    sides = np.sign(off[np.abs(off) > PRECISION])
    return {OSCILLATIONS: float(np.sum(sides[1:] != sides[:-1])), TIME: flown.lasted}


def move_forward(flown: FinishedRun, scenario: Scenario) -> dict[str, float]:
    """From the point abeam of the anchor, on the line from the start along the initial heading."""
    start, stop = flown.position(flown.started), flown.positions[-1]
    heading = flown.yaw(flown.started)
    ahead, left = np.array([math.cos(heading), math.sin(heading)]), np.array([-math.sin(heading), math.cos(heading)])
    along = float((stop - board_front(scenario))[:2] @ ahead)
    across = float((stop - start)[:2] @ left)
    return {
        POSITION: math.hypot(along, across),
        "along (m)": along,
        "across (m)": across,
        TIME: flown.lasted,
    }


def closed_path(flown: FinishedRun, scenario: Scenario) -> dict[str, float]:
    """The distance from the start, and the software's error in measuring it."""
    moved = float(np.linalg.norm((flown.position(flown.ended) - flown.position(flown.started))[:2]))
    return {POSITION: moved, ESTIMATE: abs(float(flown.result["displacement"]) - moved), TIME: flown.lasted}


SCORES: dict[str, Callable[[FinishedRun, Scenario], dict[str, float]]] = {
    "sensor-characterisation": sensor_characterisation,
    "relative-position": relative_position,
    "face-anchor": face_anchor,
    "move-forward": move_forward,
    "closed-path": closed_path,
}
