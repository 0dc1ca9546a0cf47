"""Waypoints that a vehicle flies to one after the other."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from skyloop_client.errors import LinkError
from skyloop_client.messages import Event, EventKind, GoalStatus, Message

MOST = 200
ENDED = ("reached", "refused", "given up")


@dataclass
class Waypoints:
    """The list of one vehicle. The first one is being flown to while `is_flying`."""

    vehicle: str
    planned: bool
    """A planner tells when a goal has ended; otherwise the autopilot does."""
    points: list[dict[str, float]] = field(default_factory=list)
    is_flying: bool = False
    last_news: str = ""
    """How the last one ended."""
    _ended: str = ""

    def replace(self, points: list[Any]) -> None:
        """The page sends the whole list after each change: added, moved, deleted."""
        if not isinstance(points, list) or len(points) > MOST:
            raise LinkError(f"give a list of up to {MOST} waypoints")
        checked = []
        for point in points:
            if not isinstance(point, dict) or set(point) != {"x", "y", "z"}:
                raise LinkError("a waypoint has x, y and z, in m")
            if not all(isinstance(value, int | float) and abs(value) < 1e5 for value in point.values()):
                raise LinkError("x, y and z of a waypoint are numbers in m")
            checked.append({axis: float(point[axis]) for axis in "xyz"})
        present = self.points[0] if self.is_flying and self.points else None
        self.points = checked
        if present is not None and (not checked or checked[0] != present):
            self.is_flying = False

    def clear(self) -> None:
        self.points, self.is_flying, self._ended = [], False, ""

    def on_message(self, message: Message) -> None:
        """Sees every message of the bus; remembers if the present waypoint has ended."""
        if not self.is_flying or not message.stream.startswith(f"{self.vehicle}/"):
            return
        data = message.data
        if isinstance(data, GoalStatus) and self.planned:
            if data.state in ENDED and self.points and _is_at(data, self.points[0]):
                self._ended = f"{data.state}{': ' if data.reason else ''}{data.reason}"
        elif isinstance(data, Event) and not self.planned and data.kind == EventKind.ARRIVED:
            self._ended = "reached"

    def due(self) -> dict[str, float] | None:
        """The waypoint to fly to now, if the one before has ended."""
        if self._ended:
            self.last_news, self._ended = self._ended, ""
            self.points, self.is_flying = self.points[1:], False
            return self.start() if self.points else None
        return None

    def start(self) -> dict[str, float] | None:
        if not self.points:
            return None
        self.is_flying = True
        return self.points[0]

    def plain(self) -> dict[str, Any]:
        return {"points": self.points, "flying": self.is_flying, "told": self.last_news}


def _is_at(status: GoalStatus, point: dict[str, float]) -> bool:
    """A planner may still tell the end of a goal before this one."""
    x, y = (float(value) for value in status.goal[:2])
    return abs(x - point["x"]) + abs(y - point["y"]) < 1e-6
