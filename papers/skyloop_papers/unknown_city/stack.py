"""The localisers and the pilot of `skyloop reproduce unknown-city`, with their processor time counted."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from skyloop_autonomy.grid_slam.kiss_localiser import KissLocaliser
from skyloop_autonomy.grid_slam.localiser import GridLocaliser
from skyloop_autonomy.pilots.unknown_city import CityPilot
from skyloop_client.bundle import Bundle
from skyloop_client.estimator import Answer, EstimatorSetup
from skyloop_client.messages import Array, Estimate, GridMap, LidarScan, Message
from skyloop_client.streams import NS_PER_S
from skyloop_papers.flight_watch import clocked


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
