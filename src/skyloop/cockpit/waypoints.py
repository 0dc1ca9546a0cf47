"""Waypoints that a vehicle flies to one after the other."""

from __future__ import annotations

from dataclasses import dataclass, field

from skyloop.cockpit.wire import Fields
from skyloop.vehicle.behaviours import GoTo, Situation
from skyloop_client.messages import GoalStatus, Message

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
    _leg: GoTo | None = None
    """To the first one, unless a planner flies there."""

    def replace(self, points: list[dict[str, float]]) -> None:
        """The page sends the whole list after each change (added, moved, deleted); `call_bodies` has checked it."""
        self.is_flying = self.is_flying and self.points[:1] == points[:1]
        self.points = points

    def on_message(self, message: Message) -> None:
        """Sees every message of the bus; remembers if the planner has ended the present waypoint."""
        data = message.data
        if not (self.planned and isinstance(data, GoalStatus) and message.stream.startswith(f"{self.vehicle}/")):
            return
        if data.state in ENDED and self.points and _is_at(data, self.points[0]):
            self._ended = f"{data.state}{': ' if data.reason else ''}{data.reason}"

    def due(self, now: Situation) -> dict[str, float] | None:
        """The waypoint to fly to now, if the one before has ended."""
        if not self.planned and self.points:
            self._leg = self._leg or GoTo([self.points[0][axis] for axis in "xyz"])
            self._leg.update(now)  # its goal was ordered, and recorded, as any other order of a person is
            if self._leg.failed:
                # somebody else has taken over, or it is blocked; the list stays for the person to go on with
                self.last_news, self.is_flying = "given up", False
            elif self._leg.done:
                self._ended = "reached"
        if self._ended:
            self.last_news, self._ended = self._ended, ""
            self.points, self.is_flying = self.points[1:], False
            return self.start() if self.points else None
        return None

    def start(self) -> dict[str, float] | None:
        if not self.points:
            return None
        self.is_flying, self._ended, self._leg = True, "", None
        return self.points[0]

    def plain(self) -> Fields:
        return {"points": self.points, "flying": self.is_flying, "told": self.last_news}


def _is_at(status: GoalStatus, point: dict[str, float]) -> bool:
    """A planner may still tell the end of a goal before this one."""
    x, y = (float(value) for value in status.goal[:2])
    return abs(x - point["x"]) + abs(y - point["y"]) < 1e-6
