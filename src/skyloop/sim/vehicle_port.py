"""One vehicle for software outside the simulation: links, cockpit and gym read it and command it through this only.

Everything happens at the present instant, between two events, and everything changed here is in a snapshot.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from skyloop.core.clock import Clock
from skyloop.sensors.camera_effects import GimbalAim
from skyloop.sim.parts import Context, Instrument
from skyloop.sim.vehicle_faults import VehicleFaults
from skyloop.vehicle.airframe import Limits
from skyloop.vehicle.autopilot import Autopilot
from skyloop.vehicle.behaviour_flight import situation_of
from skyloop.vehicle.behaviours import Behaviour, Order, Situation, Steps
from skyloop.vehicle.failsafes import Failsafes
from skyloop.vehicle.kernel_packing import pack_limits
from skyloop.vehicle.kernel_records import CONTROL_SIMPLEFLIGHT
from skyloop_client.errors import ScenarioError, SetpointError, unknown_name
from skyloop_client.messages import (
    ActuatorState,
    Array,
    BatteryState,
    Estimate,
    Event,
    EventKind,
    Message,
    Request,
    Setpoint,
    VehicleState,
    VehicleStatus,
)
from skyloop_client.streams import NS_PER_S, StreamInfo

HOVER_BEFORE_LANDING = 5.0
"""s a vehicle hovers for its commander to come back before it lands, unless the link says otherwise."""
NOT_STEERED = ("battery low", "estimate lost")
"""Failsafes during which the autopilot takes no orders."""
GAINS = ("position_p", "velocity_p", "velocity_i", "attitude_p", "rate_p")
"""Of the SimpleFlight cascade; its other stages have none."""


@dataclass(frozen=True, slots=True, eq=False)
class VehicleGeometry:
    """What a vehicle is made of; nothing here changes in flight."""

    mass: float
    """kg."""
    gravity: float
    """m/s² at home."""
    rotor_positions: Array
    """(n, 3) m, body axes, from the body origin."""
    rotor_spins: Array
    """(n,) +1 counter-clockwise seen from above, -1 clockwise."""
    max_rotor_thrust: float
    """N of one rotor, in the air at home."""
    torque_ratio: float
    """N m of a rotor's drag per N of its thrust."""
    voltage_full: float
    """V of a full battery; 0 without one."""
    voltage_empty: float
    """V of an empty battery; 0 without one."""

    @property
    def n_rotors(self) -> int:
        return len(self.rotor_spins)

    @property
    def max_thrust(self) -> float:
        """N of all rotors."""
        return self.n_rotors * self.max_rotor_thrust

    @property
    def hover_throttle(self) -> float:
        """Share of `max_thrust` that carries the vehicle."""
        return self.mass * self.gravity / self.max_thrust


class VehiclePort:
    """What may be known of a vehicle, changed on it and asked of it from outside."""

    def __init__(self, name: str, autopilot: Autopilot, context: Context, clock: Clock) -> None:
        self.name = name
        self._autopilot = autopilot
        self._fleet = context.fleet
        self._bus = context.bus
        self._user_streams = context.user_streams
        self._instruments = context.instruments
        self.faults = VehicleFaults(name, autopilot.index, context, clock, autopilot.tell)
        """What may go wrong with it, at once."""
        self._clock = clock
        self._reserved_for = ""
        row = self._fleet.params[autopilot.index]
        self._own_power = float(row["hotel_power"])
        n = int(row["n_rotors"])
        self.geometry = VehicleGeometry(
            mass=float(row["mass"]),
            gravity=float(row["gravity"]),
            rotor_positions=row["rotor_position"][:n].copy(),
            rotor_spins=row["rotor_spin"][:n].copy(),
            max_rotor_thrust=float(row["max_rotor_thrust"]),
            torque_ratio=float(row["torque_ratio"]),
            voltage_full=float(row["voltage_full"]),
            voltage_empty=float(row["voltage_empty"]),
        )

    # ---- what it is doing

    @property
    def index(self) -> int:
        """Its number among the vehicles; the world editor takes it."""
        return self._autopilot.index

    @property
    def now_ns(self) -> int:
        return self._clock.now_ns

    @property
    def truth(self) -> VehicleState:
        """The exact state now."""
        return self._fleet.state(self.index, self.now_ns)

    @property
    def belief(self) -> VehicleState | Estimate:
        """The state the controller flies on: the truth or an estimate."""
        return self._autopilot.state(self.now_ns)

    @property
    def flies_on_estimate(self) -> bool:
        return self._autopilot.on_estimate

    @property
    def knows_where(self) -> bool:
        """Its estimate is valid and fresh; on truth always."""
        belief = self.belief
        if not isinstance(belief, Estimate):
            return True
        return bool(belief.valid) and self.now_ns - belief.t_ns <= self.failsafes.estimate_timeout * NS_PER_S

    @property
    def status(self) -> VehicleStatus:
        return self._autopilot.status(self.now_ns)

    @property
    def situation(self) -> Situation:
        """What a behaviour is told."""
        return situation_of(self._autopilot, self.now_ns)

    @property
    def is_flying(self) -> bool:
        """Armed and off the ground, or about to be."""
        status = self.status
        return status.armed and not status.landed and status.mode != "idle"

    @property
    def battery(self) -> BatteryState:
        return self._fleet.battery(self.index, self.now_ns)

    @property
    def actuators(self) -> ActuatorState:
        return self._fleet.actuators(self.index, self.now_ns)

    @property
    def thrust_wanted(self) -> float:
        """N that the controller asks of all rotors together."""
        return float(self._fleet.states[self.index]["thrust_wanted"])

    @property
    def setpoint(self) -> Setpoint | None:
        """What it tries to reach now; None while disarmed or idle."""
        return self._autopilot.present_setpoint(self.now_ns)

    def contacts(self, known: int) -> tuple[int, list[Event]]:
        """Contacts and crashes beyond the first `known`, and how many there were; the last few are kept."""
        return self._fleet.touches(self.index, known)

    @property
    def n_contacts(self) -> int:
        """Contacts since the start."""
        return int(self._fleet.states[self.index]["n_hits"])

    # ---- what may be set

    @property
    def home(self) -> Array | None:
        """World position it goes home to; None until it was armed or set."""
        return self._autopilot.memory.home

    def set_home(self, position: Array) -> None:
        """It goes home to there from now on, wherever it is armed."""
        memory = self._autopilot.memory
        memory.home, memory.home_is_chosen = np.array(position, np.float64), True

    @property
    def limits(self) -> Limits:
        return self._autopilot.limits

    def set_limits(self, **changes: float) -> None:
        """Fields of `Limits`; the controller keeps them from now on."""
        limits = Limits.model_validate({**self.limits.model_dump(), **changes})
        self._autopilot.limits = limits
        pack_limits(self._fleet.params[self.index], limits)

    @property
    def failsafes(self) -> Failsafes:
        return self._autopilot.failsafes

    def set_failsafes(self, **changes: float | str) -> None:
        """Fields of `Failsafes`."""
        self._autopilot.failsafes = Failsafes.model_validate({**self.failsafes.model_dump(), **changes})

    def set_computer_power(self, watts: float) -> None:
        """W that computers of software under test draw from its battery, besides what the airframe itself needs."""
        self._fleet.params[self.index]["hotel_power"] = self._own_power + watts

    def set_gain(self, name: str, values: Array) -> None:
        """(3,) of `GAINS`, body axes; of the SimpleFlight cascade only."""
        params = self._fleet.params[self.index]
        if params["control"] != CONTROL_SIMPLEFLIGHT:
            raise ScenarioError("these gains are the SimpleFlight cascade's; this vehicle has another controller")
        if name not in GAINS:
            raise unknown_name("gain", name, GAINS)
        params[name] = values

    def aim_camera(self, stream: str, pitch: float, yaw: float, *, follows: bool) -> None:
        """Turn a camera on a gimbal: rad below the horizon, rad anticlockwise from the heading (or from east)."""
        self._instrument(stream).aim(GimbalAim(pitch, yaw, follows))

    def camera_aim(self, stream: str) -> tuple[float, float, bool] | None:
        """What `aim_camera` takes, as it is now; None where the camera is on no gimbal."""
        return self._instrument(stream).present_aim()

    def _instrument(self, stream: str) -> Instrument:
        if stream not in self._instruments:
            raise unknown_name("sensor", stream, self._instruments)
        return self._instruments[stream]

    # ---- who commands

    @property
    def commander(self) -> str:
        """Whose order was obeyed last; empty when nobody commands."""
        return self._autopilot.memory.commander

    @property
    def overruled_by(self) -> str:
        """The failsafe that lets nobody steer now, or nothing; one that ended in a landing is past."""
        status = self.status
        return status.failsafe if status.armed and status.failsafe in NOT_STEERED else ""

    def send(self, *items: Setpoint | Request, by: str) -> str:
        """Setpoints and requests; `by` commands the vehicle as soon as one is obeyed, and relieves whoever did.

        Returns why the last refused one was refused; empty if all are obeyed.
        """
        refusal = ""
        if self._reserved_for not in ("", by):
            return f"{self._reserved_for} flies {self.name}; command it through {self._reserved_for}"
        for item in items:
            self._autopilot.send(item, self.now_ns, by)
            refusal = self._autopilot.refusal or refusal
        return refusal

    def fly(self, *steps: Behaviour | Order, by: str = "script") -> None:
        """Fly these one after another, as a `Steps`, from the autopilot's next tick on. The pilot is relieved."""
        if self._reserved_for not in ("", by):
            raise SetpointError(f"{self._reserved_for} flies {self.name}; command it through {self._reserved_for}")
        self.relieve_pilot()
        self.claim(by)
        memory = self._autopilot.memory
        memory.behaviour, memory.behaviour_by = Steps(*steps), by

    @property
    def behaviour(self) -> Behaviour | None:
        """What `fly` was given last; it says whether it is `done`, and whether it has `failed`."""
        return self._autopilot.memory.behaviour

    def reserve(self, by: str) -> None:
        """Nobody else may command from now on, because `by` drives the motors itself; with no name, anybody may."""
        self._reserved_for = by

    def claim(self, by: str) -> None:
        """Take command before the first order; whoever commanded gives way."""
        if not by:
            raise SetpointError("a commander needs a name")
        self._autopilot.claim(by)

    @property
    def is_pilot_relieved(self) -> bool:
        return self._autopilot.memory.is_pilot_relieved

    def relieve_pilot(self, relieved: bool = True) -> None:
        """The scenario's pilot is not called while it is relieved, so that a person can fly in its place."""
        self._autopilot.memory.is_pilot_relieved = relieved

    def release(self, by: str, hover: float = HOVER_BEFORE_LANDING, then: str = "land") -> bool:
        """Give up command: the vehicle hovers for `hover` s, then lands or goes home, unless somebody claims it.

        Nothing happens, and False is returned, when somebody else commands.
        """
        if self.commander != by:
            return False
        self._autopilot.release(self.now_ns, hover, then)
        return True

    def return_to_start(self, saved: object) -> None:
        """Modes, home, limits and failsafes as they were when `modes` was called; the editor moves the body."""
        self._autopilot.restore(saved)

    def modes(self) -> object:
        """Everything its autopilot remembers, for `return_to_start`."""
        return self._autopilot.snapshot()

    # ---- reports

    def on_event(self, call: Callable[[Event], None]) -> None:
        """Call with each event of the vehicle, at the instant it is published."""
        self._bus.on(f"{self.name}/events", lambda message: call(message.data))

    def publish(self, name: str, record: object, *, sender: str, latency_ns: int = 0) -> StreamInfo:
        """Put a record on the stream `<vehicle>/<name>`; a StreamError says in one line why it is not accepted."""
        return self._user_streams.publish(self.name, name, record, self.now_ns, sender=sender, latency_ns=latency_ns)

    def announce_link(self) -> None:
        """Advertise `link/<vehicle>`, before anything is recorded; may be called by several links."""
        stream = f"link/{self.name}"
        if stream not in self._bus.infos:
            self._bus.advertise(StreamInfo(stream, "Event", None, self.name))

    def tell(self, kind: EventKind, text: str) -> None:
        """Publish an event of the vehicle's link on `link/<vehicle>`."""
        self.announce_link()
        stream, now = f"link/{self.name}", self.now_ns
        self._bus.publish(Message(stream, self._bus.counts[stream], now, now, Event(now, kind, text)))
