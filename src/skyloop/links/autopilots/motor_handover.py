"""Gives an external autopilot the motors of a vehicle: motor order, arming, and events about the link."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from skyloop.core.frames import quat_ned_frd_from_enu_flu, rotate, rotate_inverse
from skyloop.links.link_gate import Link, Summary
from skyloop.links.loop.targets import Target
from skyloop.links.sockets import SocketLine
from skyloop.sim.simulation_port import SimulationPort
from skyloop.sim.vehicle_port import VehiclePort
from skyloop_client.errors import LinkError
from skyloop_client.messages import Arm, Array, Disarm, EventKind, Motors
from skyloop_client.streams import NS_PER_S, Mount, Rate

QUADRANTS = ((1, -1, 1), (-1, 1, 1), (1, 1, -1), (-1, -1, -1))
"""Forward, left, spin (1: anticlockwise) of QUAD X motors 1 to 4: front right, rear left, front left, rear right."""


def motor_order(positions: Array, spins: Array, airframe: str = "the airframe") -> list[int]:
    """The autopilot output of each rotor: by position for quads, in the airframe's own order otherwise."""
    if len(positions) != 4:
        return list(range(len(positions)))
    centred = np.asarray(positions)[:, :2] - np.mean(np.asarray(positions)[:, :2], axis=0)
    found = [
        (*np.sign(position).astype(int).tolist(), int(np.sign(spin)))
        for position, spin in zip(centred, spins, strict=True)
    ]
    if sorted(found) != sorted(QUADRANTS):
        raise LinkError(f"{airframe}: its four rotors are not a QUAD X whose front right rotor turns anticlockwise")
    return [QUADRANTS.index(position) for position in found]


# ---- handover, arming, events


MOST_NEWS = 1000
WATCH_S = 0.2
"""Wall s between checks of the process."""


def ned_quat(quat: Array) -> list[float]:
    """ned_from_frd with w ≥ 0, from enu_from_flu."""
    turned: list[float] = quat_ned_frd_from_enu_flu(quat).tolist()
    return turned if turned[0] >= 0.0 else [-value for value in turned]


ORIENTATIONS = {
    25: (0.0, 0.0, -1.0), 24: (0.0, 0.0, 1.0), 0: (1.0, 0.0, 0.0), 2: (0.0, -1.0, 0.0), 4: (-1.0, 0.0, 0.0),
    6: (0.0, 1.0, 0.0),
}  # fmt: skip
"""MAV_SENSOR_ORIENTATION by the direction of the beam, body axes forward, left, up."""


def orientation_of(mount: Mount) -> int:
    """The nearest MAV_SENSOR_ORIENTATION of a sensor that looks along its +x axis."""
    beam = rotate(mount.quat_wxyz, np.array([1.0, 0.0, 0.0]))
    return max(ORIENTATIONS, key=lambda way: float(beam @ np.array(ORIENTATIONS[way])))


class MotorHandover:
    """Turns an autopilot's outputs into commands. The autopilot commands under its own name."""

    def __init__(self, port: VehiclePort, by: str, outputs: int = 16) -> None:
        self.port = port
        self.news: list[str] = []
        """Events of the link, for people."""
        geometry = port.geometry
        if geometry.n_rotors > outputs:
            raise LinkError(f"{port.name} has {geometry.n_rotors} rotors, this autopilot drives {outputs}")
        self._order = motor_order(geometry.rotor_positions, geometry.rotor_spins, port.name)
        self.gone = ""
        """Why nobody commands it any more: the flight is no success."""
        self._has_ended = False
        self._by = by
        self._armed = False
        port.announce_link()
        port.reserve(by)

    @property
    def is_armed(self) -> bool:
        return self.port.status.armed

    def specific_force(self) -> Array:
        """(3,) m/s², body axes, at the body origin."""
        truth = self.port.truth
        up = np.array([0.0, 0.0, self.port.geometry.gravity])
        return rotate_inverse(truth.quat_wxyz, truth.acceleration_world + up)

    def drive(self, outputs: Array, armed: bool) -> None:
        """Throttles 0..1 in the autopilot's order. A value that is not finite counts as 0.

        After a crash the vehicle arms again only once the autopilot has disarmed. If arming is refused, it is tried
        again."""
        self.gone = self.gone if self._has_ended else ""
        self.port.reserve(self._by)
        if armed != self._armed:
            self.port.send(Arm() if armed else Disarm(), by=self._by)
            self._armed = armed and self.is_armed
        if armed and self.is_armed:
            throttle = np.clip(np.nan_to_num(outputs[self._order], nan=0.0, posinf=0.0, neginf=0.0), 0.0, 1.0)
            self.port.send(Motors(throttle), by=self._by)

    def tell(self, kind: EventKind, text: str) -> None:
        """Publish an event on `link/<vehicle>`."""
        self.port.tell(kind, text)
        if len(self.news) < MOST_NEWS:
            self.news.append(f"{self.port.now_ns / NS_PER_S:.3f} s {self.port.name} {kind}: {text}")

    def let_go(self, kind: EventKind, why: str) -> None:
        """The autopilot is gone: the vehicle hovers and then lands, unless the autopilot comes back."""
        self.tell(kind, why)
        self.gone, self._has_ended = why, self._has_ended or kind == EventKind.ENDED
        self._armed = False
        self.port.reserve("")
        self.port.release(self._by)


class VehicleLink(Link):
    """A link of one vehicle to one autopilot. It is gone with the flight."""

    _handover: MotorHandover

    def __init__(self, vehicle: str, line: SocketLine, target: Target | None) -> None:
        self.vehicle = vehicle
        self.target = target
        """The autopilot's process, started when the simulation is ready."""
        self._line = line

    def finish(self, why: str) -> None:
        self.close()

    def _told(self) -> Summary:
        """What the summaries of all autopilots have."""
        gone = {"gone": self._handover.gone} if self._handover.gone else {}
        return {"vehicle": self.vehicle, **gone, "news": self._handover.news}

    def close(self) -> None:
        self._line.close()
        if self.target is not None:
            self.target.stop()


class ProcessWatch:
    """Checks from time to time the process of the autopilot, if we started one."""

    def __init__(self, target: Target | None, name: str) -> None:
        self.has_ended = False
        self._target = target
        self._name = name
        self._looked = time.perf_counter()

    def look(self, *, was_heard: bool) -> str | None:
        """How it ended, once. Raises an error if it ended before it was heard."""
        if self._target is None or self.has_ended or time.perf_counter() - self._looked < WATCH_S:
            return None
        self._looked = time.perf_counter()
        how = self._target.ended()
        self.has_ended = how is not None
        if self.has_ended and not was_heard:
            raise LinkError(f"{self._name} ended before it sent anything, {how}")
        return how


class Ticks:
    """Calls `act(t_ns)` at an exact rate, after all other events of an instant. It continues when time is set back."""

    def __init__(self, port: SimulationPort, rate: Rate, act: Callable[[int], None]) -> None:
        self.set_back = False
        """Time was set back since the last tick."""
        self._port = port
        self._rate = rate
        self._act = act
        self._seen_ns = port.now_ns
        self._round = 0
        self._enter(self._seen_ns)

    def stop_at(self, t_ns: int) -> int:
        """Must be called before time advances."""
        now = self._port.now_ns
        if now < self._seen_ns or now > self._due_ns:
            # a restored schedule no longer holds the entries of links
            self.set_back = self.set_back or now < self._seen_ns
            self._enter(now)
        self._seen_ns = now
        return min(t_ns, self._due_ns)

    def _enter(self, now_ns: int) -> None:
        self._round += 1
        self._due_ns = self._rate.due_ns(self._rate.count_until(now_ns + 1))
        mine = self._round
        self._port.at(self._due_ns, lambda: self._fire(mine))

    def _fire(self, mine: int) -> None:
        if mine != self._round:
            return
        now = self._seen_ns = self._port.now_ns
        self._enter(now)
        self._act(now)
        self.set_back = False
