"""A vehicle in the hands of a foreign autopilot: motors, arming, and what becomes of it when that one is gone."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from skyloop.core.frames import quat_ned_frd_from_enu_flu, rotate_inverse
from skyloop.links.loop.targets import Target
from skyloop_client.errors import LinkError
from skyloop_client.messages import Arm, Array, Disarm, Event, Hover, Land, Message, Motors
from skyloop_client.streams import NS_PER_S, Rate, StreamInfo

if TYPE_CHECKING:
    from skyloop.sim.simulation import Simulation

HOVER_BEFORE_LANDING_S = 5.0
"""Simulated s the built-in controller hovers for the autopilot to come back."""
MOST_NEWS = 1000
WATCH_S = 0.2
"""Wall s between looks at the process."""
QUADRANTS = ((1, -1, 1), (-1, 1, 1), (1, 1, -1), (-1, -1, -1))
"""Forward, left, spin (ccw 1) of motors 1 to 4 of a QUAD X: front right, rear left, front left, rear right."""


def motor_order(positions: Array, spins: Array, airframe: str = "the airframe") -> list[int]:
    """Which output of the autopilot drives rotor i; quads by where their rotors are, all others in their own order."""
    if len(positions) != 4:
        return list(range(len(positions)))
    centred = np.asarray(positions)[:, :2] - np.mean(np.asarray(positions)[:, :2], axis=0)
    found = [
        (*np.sign(place).astype(int).tolist(), int(np.sign(spin))) for place, spin in zip(centred, spins, strict=True)
    ]
    if sorted(found) != sorted(QUADRANTS):
        raise LinkError(f"{airframe}: its four rotors are no QUAD X with the front right one turning anticlockwise")
    return [QUADRANTS.index(place) for place in found]


def ned_quat(quat: Array) -> list[float]:
    """ned_from_frd with w ≥ 0, from enu_from_flu."""
    turned: list[float] = quat_ned_frd_from_enu_flu(quat).tolist()
    return turned if turned[0] >= 0.0 else [-value for value in turned]


class MotorHandover:
    """All a link does to its vehicle, and what it tells of it on `link/<vehicle>`."""

    def __init__(self, simulation: Simulation, vehicle: str, outputs: int = 16) -> None:
        self.vehicle = vehicle
        self.news: list[str] = []
        """What happened to the link, for people."""
        self.in_hand = False
        """The foreign autopilot flies."""
        self.autopilot = simulation.autopilots[vehicle]
        index = self.autopilot.index
        params = simulation.fleet.params[index]
        n = int(params["n_rotors"])
        if n > outputs:
            raise LinkError(f"{vehicle} has {n} rotors, this autopilot drives {outputs}")
        self._order = motor_order(params["rotor_position"][:n], params["rotor_spin"][:n], vehicle)
        self._simulation = simulation
        self._index = index
        self._armed = False
        self.gravity = float(params["gravity"])
        self._stream = f"link/{vehicle}"
        if self._stream not in simulation.bus.infos:
            simulation.bus.advertise(StreamInfo(self._stream, "Event", None, vehicle))

    @property
    def now_ns(self) -> int:
        return self._simulation.clock.now_ns

    @property
    def is_armed(self) -> bool:
        return self.autopilot.status(self.now_ns).armed

    def truth(self) -> Any:
        return self._simulation.fleet.state(self._index, self.now_ns)

    def specific_force(self) -> Array:
        """(3,) m/s², body axes, at the body origin."""
        truth = self.truth()
        return rotate_inverse(truth.quat_wxyz, truth.acceleration_world + np.array([0.0, 0.0, self.gravity]))

    def battery(self) -> Any:
        return self._simulation.fleet.battery(self._index, self.now_ns)

    def drive(self, outputs: Array, armed: bool) -> None:
        """Throttles 0..1 in the autopilot's order; what is not finite stands for 0.

        A vehicle that has crashed is armed again only after the autopilot has disarmed; one that may not be armed yet
        is tried again.
        """
        self.in_hand = True
        if armed != self._armed:
            self._simulation.send(Arm() if armed else Disarm(), vehicle=self.vehicle)
            self._armed = armed and self.is_armed
        if armed and self.is_armed:
            throttle = np.clip(np.nan_to_num(outputs[self._order], nan=0.0, posinf=0.0, neginf=0.0), 0.0, 1.0)
            self._simulation.send(Motors(throttle), vehicle=self.vehicle)

    def tell(self, kind: str, text: str) -> None:
        """An event on `link/<vehicle>`."""
        bus, now = self._simulation.bus, self.now_ns
        bus.publish(Message(self._stream, bus.counts[self._stream], now, now, Event(now, kind, text)))
        if len(self.news) < MOST_NEWS:
            self.news.append(f"{now / NS_PER_S:.3f} s {self.vehicle} {kind}: {text}")

    def let_go(self, kind: str, why: str) -> None:
        """The built-in controller hovers, then lands, unless the autopilot comes back."""
        self.tell(kind, why)
        self.in_hand = self._armed = False
        if not self.is_armed:
            return
        self._simulation.send(Hover(), vehicle=self.vehicle)

        def land() -> None:
            if not self.in_hand and self.is_armed:
                self._simulation.send(Land(), vehicle=self.vehicle)

        self._simulation.schedule.at(self.now_ns + round(HOVER_BEFORE_LANDING_S * NS_PER_S), land)


class ProcessWatch:
    """A look at the autopilot's own process, if we started one, now and then."""

    def __init__(self, target: Target | None, name: str) -> None:
        self.has_ended = False
        self._target = target
        self._name = name
        self._looked = time.perf_counter()

    def look(self, *, was_heard: bool) -> str | None:
        """How it ended, once; an error when that was before it was heard."""
        if self._target is None or self.has_ended or time.perf_counter() - self._looked < WATCH_S:
            return None
        self._looked = time.perf_counter()
        how = self._target.ended()
        self.has_ended = how is not None
        if self.has_ended and not was_heard:
            raise LinkError(f"{self._name} ended before it was heard, {how}")
        return how


class Ticks:
    """Calls `act(t_ns)` at an exact rate, after all else of an instant; goes on when time is set back."""

    def __init__(self, simulation: Simulation, rate: Rate, act: Callable[[int], None]) -> None:
        self.set_back = False
        """Time was set back since the last tick."""
        self._simulation = simulation
        self._rate = rate
        self._act = act
        self._seen_ns = simulation.clock.now_ns
        self._round = 0
        self._enter(self._seen_ns)

    def stop_at(self, t_ns: int) -> int:
        """To be asked before time passes."""
        now = self._simulation.clock.now_ns
        if now < self._seen_ns or now > self._due_ns:
            # a restored schedule has forgotten what links had entered
            self.set_back = self.set_back or now < self._seen_ns
            self._enter(now)
        self._seen_ns = now
        return min(t_ns, self._due_ns)

    def _enter(self, now_ns: int) -> None:
        self._round += 1
        self._due_ns = self._rate.due_ns(self._rate.count_until(now_ns + 1))
        mine = self._round
        self._simulation.schedule.at(self._due_ns, lambda: self._fire(mine))

    def _fire(self, mine: int) -> None:
        if mine != self._round:
            return
        now = self._seen_ns = self._simulation.clock.now_ns
        self._enter(now)
        self._act(now)
        self.set_back = False
