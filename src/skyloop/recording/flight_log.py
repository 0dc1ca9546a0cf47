"""Collects the data for a run's summary and plot during the flight, in memory that does not grow with time.

Sums and extremes use every message. Curves are thinned to a fixed number of rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Generic, TypeVar

import numpy as np

from skyloop.core.bus import Bus
from skyloop.core.frames import yaw_from_quat
from skyloop_client.messages import Array, Contact, Event, EventKind, Message, VehicleState
from skyloop_client.streams import NS_PER_S, StreamInfo

T = TypeVar("T")

Item = TypeVar("Item")

WRONG = (EventKind.CONTACT, EventKind.CRASH, EventKind.FAILSAFE, EventKind.FAULT)
"""Kinds of events that a reader must not miss."""
Tell = Callable[[str, Event], None]
"""Called with a vehicle's name and an event that is worth telling, as it happens."""

MOST_ROWS = 2400
"""Of a curve: several per pixel of its axis. An even number, so that thinning keeps the spacing."""
MOST_EVENTS = 1000
"""Events kept per vehicle. Further ones are only counted."""
MOST_WAITING = 256
"""Messages of a stream that wait for one of the same instant on another stream."""
LEVEL, SLIDING = 0.7, 2.0
"""The least upward part of the normal of what legs can stand on, and m/s along it from which they do not stand."""


class Curve:
    """Rows of numbers, with time first. When full, it drops every second row and then accepts half as many."""

    def __init__(self, columns: int, most: int = MOST_ROWS) -> None:
        self._rows = np.empty((most, columns))
        self._count = self._seen = 0
        self._stride = 1
        self._last: tuple[float, ...] | None = None

    def add(self, *numbers: float) -> None:
        if self._seen % self._stride == 0:
            if self._count == len(self._rows):
                kept = self._rows[::2].copy()
                self._rows[: len(kept)] = kept
                self._count, self._stride = len(kept), 2 * self._stride
            self._rows[self._count] = numbers
            self._count += 1
        self._seen += 1
        self._last = numbers

    @property
    def rows(self) -> Array:
        """(n, columns). The last row is always included."""
        rows = self._rows[: self._count]
        if self._last is not None and rows[-1, 0] != self._last[0]:
            return np.vstack([rows, self._last])
        return rows.copy()


class ThinnedList(Generic[Item]):
    """At most a given number of items (even), spread over all that came."""

    def __init__(self, most: int) -> None:
        self.items: list[Item] = []
        self._most, self._seen, self._stride = most, 0, 1

    def add(self, item: Item) -> None:
        if self._seen % self._stride == 0:
            if len(self.items) == self._most:
                del self.items[1::2]
                self._stride *= 2
            self.items.append(item)
        self._seen += 1


class Distances:
    """Distances between two streams of positions at equal instants, in any order of arrival."""

    def __init__(self) -> None:
        self.count = 0
        self.farthest = 0.0
        self._squares = 0.0
        self.curve = Curve(2)
        """s, m. A row with NaN is a gap: there was no position to compare with."""
        self._waiting: tuple[dict[int, Array], dict[int, tuple[Array, bool]]] = {}, {}

    def add_truth(self, t_ns: int, position: Array) -> None:
        truths, others = self._waiting
        truths[t_ns] = position
        if t_ns in others:
            self._meet(t_ns, position, *others.pop(t_ns))
        _forget_first(truths)

    def add(self, t_ns: int, position: Array, counts: bool = True) -> None:
        """With `counts` False it is only in the curve and not in the statistics."""
        truths, others = self._waiting
        if t_ns in truths:
            self._meet(t_ns, truths[t_ns], position, counts)
        else:
            others[t_ns] = position, counts
            _forget_first(others)

    def add_gap(self, t_ns: int) -> None:
        """There is no second position from here on, until the next `add`."""
        self.curve.add(t_ns / NS_PER_S, math.nan)

    def _meet(self, t_ns: int, truth: Array, position: Array, counts: bool) -> None:
        distance = math.dist(truth, position)
        self.curve.add(t_ns / NS_PER_S, distance)
        if counts:
            self.count += 1
            self._squares += distance * distance
            self.farthest = max(self.farthest, distance)

    @property
    def rms(self) -> float | None:
        """m. None if no distance counted."""
        return math.sqrt(self._squares / self.count) if self.count else None


def _forget_first(waiting: dict[int, T]) -> None:
    if len(waiting) > MOST_WAITING:
        del waiting[next(iter(waiting))]


class VehicleLog:
    """The log of one vehicle."""

    def __init__(self) -> None:
        self.motion = Curve(8)
        """s; m east, north, up; m/s; tilt in degrees; slowest and fastest rotor, rad/s."""
        self.flown = self.fastest = 0.0
        """m, m/s."""
        self.highest = -math.inf
        """m, world."""
        self.reference = Curve(4)
        """s; m east, north, up of the controller's reference. NaN while it has no position."""
        self.off_reference = Distances()
        """Distance from the reference. Only setpoints of a pilot count, not the steps of take-off and landing."""
        self.estimates: dict[str, tuple[Curve, Distances]] = {}
        """By stream: s; m east, north, up, NaN while not valid. Then the error while valid."""
        self.events: list[Event] = []
        self.events_left_out = 0
        self.told: list[Event] = []
        """Those of the events that are worth telling."""
        self.crashed = False
        self.contacts = self.failsafes = 0
        """Contacts in the air, while armed and by more than legs that stand on something; times a failsafe began."""
        self.first: dict[str, Event] = {}
        """The first event of each of `crashed`, `contacts` and `failsafes`."""
        self._armed = False
        self.start: VehicleState | None = None
        self.end: VehicleState | None = None

    def on_truth(self, message: Message) -> None:
        state = message.data
        position, velocity, quat, rotors = state.position, state.velocity_world, state.quat_wxyz, state.rotor_speeds
        x, y, z = position.tolist()
        speed = math.hypot(*velocity.tolist())
        upright = 1.0 - 2.0 * (float(quat[1]) ** 2 + float(quat[2]) ** 2)
        tilt = math.degrees(math.acos(min(max(upright, -1.0), 1.0)))
        slowest, fastest = (float(rotors.min()), float(rotors.max())) if rotors.size else (0.0, 0.0)
        self.motion.add(state.t_ns / NS_PER_S, x, y, z, speed, tilt, slowest, fastest)
        if self.end is None:
            self.start = state
        else:
            self.flown += math.dist(position, self.end.position)
        self.end = state
        self.highest = max(self.highest, z)
        self.fastest = max(self.fastest, speed)
        self.off_reference.add_truth(state.t_ns, position)
        for _, distances in self.estimates.values():
            distances.add_truth(state.t_ns, position)

    @property
    def off_start(self) -> float:
        """m between where it began and where it is, seen from above."""
        return (
            0.0 if self.start is None or self.end is None else math.dist(self.start.position[:2], self.end.position[:2])
        )

    def off_anchor(self, anchor: Array) -> dict[str, float]:
        """rad between its heading and an anchor, seen from above; m to the point abeam of the anchor, on the line from
        the start along the first heading."""
        if self.start is None or self.end is None:
            return {}
        away = anchor - self.end.position
        off_nose = math.remainder(math.atan2(away[1], away[0]) - float(yaw_from_quat(self.end.quat_wxyz)), math.tau)
        heading = float(yaw_from_quat(self.start.quat_wxyz))
        ahead, left = (math.cos(heading), math.sin(heading)), (-math.sin(heading), math.cos(heading))
        across = (self.end.position - self.start.position)[:2] @ left
        return {"anchor_off_rad": abs(off_nose), "abeam_off_m": math.hypot(away[:2] @ ahead, across)}

    def on_setpoint(self, message: Message) -> None:
        setpoint = message.data
        self.reference.add(setpoint.t_ns / NS_PER_S, *setpoint.position.tolist())
        if setpoint.kind == "position":
            self.off_reference.add(setpoint.t_ns, setpoint.position, setpoint.mode == "setpoint")
        else:
            self.off_reference.add_gap(setpoint.t_ns)

    def on_estimate(self, message: Message) -> None:
        estimate = message.data
        curve, distances = self.estimates[message.stream]
        position = estimate.position.tolist() if estimate.valid else (math.nan,) * 3
        curve.add(estimate.t_ns / NS_PER_S, *position)
        if estimate.valid:
            distances.add(estimate.t_ns, estimate.position)
        else:
            distances.add_gap(estimate.t_ns)

    def on_event(self, event: Event) -> bool:
        """Whether it is worth telling: all but contacts on the ground, or of legs that stand on something."""
        in_air = event.contact is not None and self._armed and not _stands(event.contact)
        if event.kind in (EventKind.ARMED, EventKind.DISARMED):
            self._armed = event.kind == EventKind.ARMED
        elif event.kind == EventKind.CRASH:
            self.crashed = True
            self.first.setdefault("crashed", event)
        elif event.kind == EventKind.FAILSAFE:
            self.failsafes += 1
            self.first.setdefault("failsafes", event)
        elif in_air:
            self.contacts += 1
            self.first.setdefault("contacts", event)
        if len(self.events) < MOST_EVENTS:
            self.events.append(event)
        else:
            self.events_left_out += 1
        worth_telling = in_air or event.kind != EventKind.CONTACT
        if worth_telling and len(self.told) < MOST_EVENTS:
            self.told.append(event)
        return worth_telling


def _stands(contact: Contact) -> bool:
    along = math.sqrt(max(contact.speed**2 - contact.closing**2, 0.0))
    return contact.part == "legs" and float(contact.normal[2]) > LEVEL and along < SLIDING


class FlightLog:
    """The logs of all vehicles, by name."""

    def __init__(self, bus: Bus, vehicles: list[str], tell: Tell = lambda vehicle, event: None) -> None:
        self.vehicles = {name: VehicleLog() for name in vehicles}
        self._bus = bus
        self._tell = tell
        bus.on_new(self._watch)

    def _watch(self, info: StreamInfo) -> None:
        log = self.vehicles.get(info.vehicle)
        if log is None:
            return
        takers: dict[str, Callable[[Message], None]] = {
            f"truth/{info.vehicle}": log.on_truth,
            f"{info.vehicle}/events": lambda message: self._on_event(info.vehicle, message.data),
            f"{info.vehicle}/setpoint": log.on_setpoint,
        }
        if info.name in takers:
            self._bus.on(info.name, takers[info.name])
        elif info.message == "Estimate":
            log.estimates[info.name] = Curve(4), Distances()
            self._bus.on(info.name, log.on_estimate)

    def _on_event(self, vehicle: str, event: Event) -> None:
        if self.vehicles[vehicle].on_event(event):
            self._tell(vehicle, event)
