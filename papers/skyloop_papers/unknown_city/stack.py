"""The localisers and the pilot of `skyloop reproduce unknown-city`, with their processor time counted.

At the other end of the link, each question and answer is stamped with the machine's clock and the execution time."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from skyloop_autonomy.grid_slam.kiss_localiser import KissLocaliser
from skyloop_autonomy.grid_slam.localiser import GridLocaliser
from skyloop_autonomy.pilots.unknown_city import CityPilot
from skyloop_client import connect
from skyloop_client.bundle import Bundle
from skyloop_client.estimator import Answer, EstimatorSetup
from skyloop_client.messages import Array, Estimate, GridMap, LidarScan, Message
from skyloop_client.onboard import run_onboard
from skyloop_client.streams import NS_PER_S
from skyloop_papers.flight_watch import clocked
from skyloop_papers.processes import given_task


class ClockedLocaliser(GridLocaliser):
    def on_message(self, message: Message) -> Answer:
        return clocked("SLAM and maps", super().on_message, message)

    def map(self, t_ns: int, height: float) -> GridMap:
        grid: GridMap = clocked("maps", super().map, t_ns, height)
        return grid


class ClockedKissLocaliser(ClockedLocaliser, KissLocaliser):
    """The same with kiss-icp."""


STAMPS: list[tuple[float, float, float]] = []
"""Of each sweep: when its processing began (s of the machine's clock), s of processor time until the pilot had decided
on it, and when that was."""
_BEGUN: list[tuple[float, float]] = []


class StampedLocaliser(ClockedLocaliser):
    def on_message(self, message: Message) -> Answer:
        if isinstance(message.data, LidarScan):
            _BEGUN[:] = [(time.perf_counter(), time.thread_time())]
        return super().on_message(message)


class LosingLocaliser(ClockedLocaliser):
    """Its estimates are not valid from one instant to another."""

    def __init__(self, setup: EstimatorSetup, *, lost: tuple[float, float], **more: Any) -> None:
        """lost: s."""
        super().__init__(setup, **more)
        self._lost = [round(instant * NS_PER_S) for instant in lost]

    def on_message(self, message: Message) -> Answer:
        answer = super().on_message(message)
        begin, end = self._lost
        if isinstance(answer, Estimate) and begin <= answer.t_ns < end:
            return replace(answer, valid=False, reason="lost on purpose")
        return answer


class ClockedCityPilot(CityPilot):
    """Also keeps the newest map and the plans."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.grid: GridMap | None = None
        self.paths: list[Array] = []

    def __call__(self, bundle: Bundle) -> Any:
        grid = bundle.get("slam_map", None)
        is_new, self.grid = grid is not self.grid, grid
        reply = clocked("planning", super().__call__, bundle)
        if is_new and self.way is not None:
            self.paths.append(self.way)
        return reply


class StampedPilot(ClockedCityPilot):
    def __call__(self, bundle: Bundle) -> Any:
        reply = super().__call__(bundle)
        if _BEGUN and reply is not None:
            began, spent = _BEGUN.pop()
            STAMPS.append((began, time.thread_time() - spent, time.perf_counter()))
        return reply


# ---- the whole stack as a client under test (CUT): localiser, map, planner and pilot in one program

PATIENCE_S = 300.0
RATE_HZ = 10.0
"""Of the pilot, as in the scenario."""


class StampedSession:
    """A session that notes when it asks and when it has the answer."""

    def __init__(self, session: Any, lidar: str) -> None:
        self._session, self._lidar = session, lidar
        self.rows: list[list[float]] = []
        """Of each question: asked and answered in s of the machine's clock, the same in ns of execution time, whether
        it sends a setpoint, and whether the answer brings a sweep."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def ask(self, *send: Any, **how: Any) -> Any:
        before = self._session.now()
        asked = time.perf_counter()
        bundle = self._session.ask(*send, **how)
        answered = time.perf_counter()
        sweep = any(message.stream == self._lidar for message in bundle.arrived)
        self.rows.append([asked, answered, before, self._session.now(), bool(send), sweep])
        return bundle


def client() -> dict[str, Any]:
    task = given_task()
    pilot = ClockedCityPilot(**task["options"])
    how = {"clock": "cpu", "speed": task["speed"], "timeout": PATIENCE_S}
    with connect(task["address"], estimator="slam", role="pilot", **how) as session:
        stamped: Any = StampedSession(session, "drone/lidar")
        run_onboard(stamped, GridLocaliser, pilot, RATE_HZ)
    return {"rows": stamped.rows, "doing": pilot.doing, "reached": pilot.reached, "retreats": pilot.retreats}
