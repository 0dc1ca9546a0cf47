"""Flights to goals: the real vehicle, pilot and planners, with known maps in place of a depth camera."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from skyloop.sim.assembly import build
from skyloop.sim.parts import PilotPart
from skyloop.sim.scenario import Scenario, make_scenario
from skyloop_client.messages import Goal, GoalStatus

MAPS = str(Path(__file__).parent / "known_maps.py")
WALL = ((7.0, 0.0, 7.4, 9.0),)
"""Across a hall of 16 m, with a gap of 7 m in the north."""
SHUT = ((7.0, 9.0, 7.4, 16.0),)


def scenario(goals: Any, maps: dict[str, Any] | None = None, **changes: Any) -> Scenario:
    """A drone at (2, 2) in a hall of 16 by 16 m; changes: of the pilot, or of the estimate with `lost_at`."""
    position, wrenches = changes.pop("position", [2.0, 2.0]), changes.pop("wrenches", [])
    lost_at = changes.pop("lost_at", None)
    duration = changes.pop("duration", 60.0)
    estimators = {"maps": {"kind": f"{MAPS}:KnownMaps", "inputs": ["state"], "options": maps or {}}}
    if lost_at is not None:
        gap = {"kind": f"{MAPS}:TruthWithAGap", "inputs": ["truth/drone"], "options": {"lost_at": lost_at}}
        estimators = {"gap": gap, **estimators}
    drone = {
        "position": position,
        "wrenches": wrenches,
        "state": "truth" if lost_at is None else "gap",
        "estimators": estimators,
        "pilot": {"kind": "navigate", "goals": goals, **changes},
    }
    return make_scenario({"duration": duration, "vehicles": [drone]})


class Flown:
    """What was published in a flight."""

    def __init__(self, told: Any, at: dict[float, tuple[str, Any]] | None = None) -> None:
        """at: by second, a sender and a goal that it publishes."""
        self.statuses: list[GoalStatus] = []
        self.paths: list[Any] = []
        self.events: list[Any] = []
        self.goals: list[Goal] = []
        self.setpoints: list[Any] = []
        track: list[tuple[float, ...]] = []
        with build(told) as simulation:
            bus = simulation.bus
            bus.on("truth/drone", lambda m: track.append((m.t_ns * 1e-9, *m.data.position, *m.data.velocity_world)))
            bus.on("drone/events", lambda m: self.events.append(m.data))
            bus.on("drone/setpoint", lambda m: self.setpoints.append(m.data))
            bus.on_new(self._listen(bus))
            (pilot,) = simulation.parts_of(PilotPart)
            waiting = dict(at or {})
            while simulation.now < told.duration and not pilot.done:
                for t in [t for t in waiting if t <= simulation.now]:
                    sender, goal = waiting.pop(t)
                    simulation.port.vehicle().publish("goal", goal, sender=sender)
                simulation.step()
        self.rows = np.array(track)

    def _listen(self, bus: Any) -> Any:
        def on_new(info: Any) -> None:
            taker = {"GoalStatus": self.statuses, "Path": self.paths, "Goal": self.goals}.get(info.message)
            if taker is not None:
                bus.on(info.name, lambda message: taker.append(message.data))

        return on_new

    def place(self, t: float) -> np.ndarray:
        return self.rows[np.searchsorted(self.rows[:, 0], t), 1:4]

    @property
    def ends(self) -> list[GoalStatus]:
        return [status for status in self.statuses if status.state in ("reached", "refused", "given up")]

    @property
    def fastest(self) -> float:
        """m/s on the way to goals; take-off and landing are the autopilot's."""
        t = self.rows[:, 0]
        under_way = (t > self.statuses[0].t_ns * 1e-9 + 0.5) & (t < self.ends[-1].t_ns * 1e-9)
        return float(np.linalg.norm(self.rows[under_way, 4:7], axis=1).max())

    def speed(self, t: float) -> float:
        return float(np.linalg.norm(self.rows[np.searchsorted(self.rows[:, 0], t), 4:7]))
