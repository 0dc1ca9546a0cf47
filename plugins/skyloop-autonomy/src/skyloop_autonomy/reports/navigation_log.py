"""What came of a flight to goals: each goal's end by the truth, the ways that were planned, and the room kept free."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skyloop.core.bus import Bus
from skyloop.recording.flight_log import Curve, ThinnedList
from skyloop_client.messages import Array, EventKind, GoalStatus, GridMap, Message, Path
from skyloop_client.streams import NS_PER_S, StreamInfo

ENDS = ("reached", "refused", "given up")
MOST_PATHS = 200
"""Planned ways that are kept for the picture."""


@dataclass(slots=True)
class GoalEnd:
    """How the flight to a goal ended."""

    t: float
    """s."""
    state: str
    goal: Array
    off: float
    """m from the goal, by the truth."""
    reason: str


@dataclass(slots=True)
class VehicleNavigation:
    """Of one vehicle that flies to goals."""

    track: Curve = field(default_factory=lambda: Curve(6, 12000))
    """s; m east, north, up; m/s; 1 while it flies to a goal, otherwise 0. All true."""
    ends: list[GoalEnd] = field(default_factory=list)
    paths: ThinnedList[Path] = field(default_factory=lambda: ThinnedList(MOST_PATHS))
    ground: GridMap | None = None
    """The newest map from above."""
    fastest: float = 0.0
    """m/s while flying to goals."""
    touches: list[str] = field(default_factory=list)
    """What it touched between take-off and landing."""
    holds: list[tuple[float, str]] = field(default_factory=list)
    """s and why it did not fly to its goal, whenever the reason changed."""
    movers: list[tuple[float, Array]] = field(default_factory=list)
    """s and (n, 3) m, world: the objects that move, as the vehicle found them."""
    is_flying: bool = False
    goal: Array | None = None
    """m, where it flies to; None while it has no goal."""

    def knew_of(self, t: float, position: Array, within: float = 1.0, before: float = 2.0) -> bool:
        """Whether it found something that moves near a position shortly before an instant."""
        return any(
            t - before <= when <= t and bool((np.linalg.norm(positions[:, :2] - position[:2], axis=1) < within).any())
            for when, positions in self.movers
        )


class NavigationLog:
    """Follows every vehicle that publishes a GoalStatus."""

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self.vehicles: dict[str, VehicleNavigation] = {}
        self._positions: dict[str, Array] = {}
        bus.on_new(self._watch)

    def _watch(self, info: StreamInfo) -> None:
        takers = {
            "GoalStatus": self._on_status, "GridMap": self._on_grid, "Event": self._on_event,
            "Movers": self._on_movers, "Path": self._on_path,
        }  # fmt: skip
        if info.message in takers:
            self._bus.on(info.name, takers[info.message])
        elif info.name == f"truth/{info.vehicle}":
            self._bus.on(info.name, self._on_truth)

    def _on_status(self, message: Message) -> None:
        status: GoalStatus = message.data
        vehicle = message.stream.split("/")[0]
        log = self.vehicles.setdefault(vehicle, VehicleNavigation())
        log.is_flying = status.state == "flying"
        log.goal = status.goal if log.is_flying else None
        t = status.t_ns / NS_PER_S
        if status.state in ENDS:
            position = self._positions.get(vehicle, status.goal)
            log.ends.append(GoalEnd(t, status.state, status.goal, math.dist(position, status.goal), status.reason))
        if status.reason and (not log.holds or log.holds[-1][1] != status.reason):
            log.holds.append((t, status.reason))

    def _on_truth(self, message: Message) -> None:
        vehicle = message.stream.removeprefix("truth/")
        state = message.data
        self._positions[vehicle] = state.position
        log = self.vehicles.get(vehicle)
        if log is not None:
            speed = math.hypot(*state.velocity_world.tolist())
            log.track.add(state.t_ns / NS_PER_S, *state.position.tolist(), speed, float(log.is_flying))
            if log.is_flying:
                log.fastest = max(log.fastest, speed)

    def _on_path(self, message: Message) -> None:
        log = self.vehicles.get(message.stream.split("/")[0])
        if log is not None:
            log.paths.add(message.data)

    def _on_movers(self, message: Message) -> None:
        log, movers = self.vehicles.get(message.stream.split("/")[0]), message.data
        if log is not None and len(movers.ids):
            log.movers.append((movers.t_ns / NS_PER_S, movers.positions))

    def _on_grid(self, message: Message) -> None:
        log = self.vehicles.get(message.stream.split("/")[0])
        if log is not None:
            log.ground = message.data

    def _on_event(self, message: Message) -> None:
        log, event = self.vehicles.get(message.stream.split("/")[0]), message.data
        if log is not None and log.is_flying and event.kind in (EventKind.CONTACT, EventKind.CRASH):
            log.touches.append(f"{event.t_ns / NS_PER_S:.2f} s {event.text}")

    def summary(self, vehicle: str, clearance: Array | None) -> dict[str, Any]:
        """clearance: (n,) m, along the track, NaN where it was not measured."""
        log = self.vehicles[vehicle]
        flying = log.track.rows[:, 5] > 0.0
        goals = [
            {
                "t": end.t, "state": end.state, "off_m": end.off, "reason": end.reason,
                "goal": [round(float(x), 3) for x in end.goal],
            }
            for end in log.ends
        ]  # fmt: skip
        reached = [end for end in log.ends if end.state == "reached"]
        out: dict[str, Any] = {
            "goals": goals,
            "goals_reached": len(reached),
            "goals_not_reached": len(log.ends) - len(reached),
            "farthest_from_goal_m": max((end.off for end in reached), default=None),
            "fastest_m_s": log.fastest,
            "collisions": len(log.touches),
            "touches": log.touches[:20],
        }
        if clearance is not None and flying.any() and np.isfinite(clearance[flying]).any():
            out["least_clearance_m"] = float(np.nanmin(clearance[flying]))
        return out
