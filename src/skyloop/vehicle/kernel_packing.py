"""Writes an airframe and its options into one record of the kernels' memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, Field, model_validator

from skyloop.core.keyed_random import stream_key
from skyloop.core.plugins import Registry
from skyloop.core.quantities import Instant, NonNegative, Vector
from skyloop.vehicle.airframe import (
    STRICT,
    Airframe,
    Drag,
    Gains,
    Limits,
    Motor,
    drag_per_mass,
    sqrt_line,
)
from skyloop.vehicle.hull import added_contacts
from skyloop.vehicle.kernel_records import (
    CONTROL_CASCADE,
    CONTROL_EXTERNAL,
    CONTROL_SIMPLEFLIGHT,
    DRAG_BOX,
    DRAG_LINEAR,
    DRAG_NONE,
    DRAG_ROTOR,
    DRAG_ROTOR_LINEAR,
    DRAG_ROTOR_LUMPED,
    FAULT_LOST,
    FAULT_SLOW,
    FAULT_STUCK,
    MAX_EDGES,
    MAX_POINTS,
    MAX_ROTORS,
    MAX_SCHEDULED,
    PARAMS,
    PART_BODY,
    PART_LEG,
    PART_ROTOR,
    Records,
)
from skyloop.world.atmosphere import Wind, density
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array

DRAG_CODES = {
    "none": DRAG_NONE,
    "linear": DRAG_LINEAR,
    "box": DRAG_BOX,
    "rotor": DRAG_ROTOR,
    "rotor-linear": DRAG_ROTOR_LINEAR,
    "rotor-lumped": DRAG_ROTOR_LUMPED,
}


@dataclass(frozen=True, slots=True)
class CompiledController:
    """A controller that is part of the flight kernel."""

    code: int
    """Of `params["control"]`."""


CASCADE = CompiledController(CONTROL_CASCADE)
SIMPLEFLIGHT = CompiledController(CONTROL_SIMPLEFLIGHT)
CONTROLLERS: Registry[CompiledController | Callable[..., Any]] = Registry("controllers", "controller")

FAULT_CODES = {"lost": FAULT_LOST, "stuck": FAULT_STUCK, "slow": FAULT_SLOW}

FOREVER = 1e12


class Wrench(BaseModel):
    """A force and a torque that act on the centre of mass for some time."""

    model_config = STRICT

    start: Instant
    """s, the simulated time at which it begins."""
    end: Instant
    """s, the simulated time at which it ends."""
    force: Vector = (0.0, 0.0, 0.0)
    """N, the force."""
    torque: Vector = (0.0, 0.0, 0.0)
    """N m, the torque."""
    frame: Literal["world", "body"] = "world"
    """The axes of the force and the torque."""

    @model_validator(mode="after")
    def _ends_after_it_starts(self) -> Wrench:
        if self.end <= self.start:
            raise ValueError(f"a wrench that ends at {self.end} s must start before, not at {self.start} s")
        return self


class RotorFault(BaseModel):
    """A propeller that lost thrust, a speed controller that is stuck, or a slow motor."""

    model_config = STRICT

    rotor: Annotated[int, Field(ge=0, lt=MAX_ROTORS)]
    """The index in the airframe's list of rotors, from 0."""
    kind: Literal["lost", "stuck", "slow"]
    """`lost`: the propeller lost thrust; `stuck`: the speed controller is stuck; `slow`: the motor is slow."""
    start: Instant
    """s, the simulated time at which it begins."""
    end: Instant | None = None
    """s, the simulated time at which it ends; left out: never."""
    value: NonNegative = 0.0
    """`lost`: the share of thrust that is left; `stuck`: the share of full speed; `slow`: the factor on the time
    constants."""

    @model_validator(mode="after")
    def _fits_together(self) -> RotorFault:
        if self.end is not None and self.end <= self.start:
            raise ValueError(
                f"a rotor fault '{self.kind}' that ends at {self.end} s must start before, not at {self.start} s"
            )
        if self.kind == "slow" and self.value <= 1.0:
            raise ValueError(f"a slow motor needs a value above 1, the factor on its time constants, not {self.value}")
        if self.kind != "slow" and self.value > 1.0:
            raise ValueError(f"the value of a rotor fault '{self.kind}' is a share of 0 to 1, not {self.value}")
        return self


@dataclass(frozen=True, slots=True)
class Flying:
    """Everything the kernels need to know about one vehicle besides its airframe."""

    gravity: float
    home_altitude: float
    drag: Drag
    controller: str
    control_divider: int
    seed: int
    name: str
    wind: Wind | None = None
    wrenches: Sequence[Wrench] = ()
    rotor_faults: Sequence[RotorFault] = ()
    has_battery: bool = True


def pack(airframe: Airframe, flying: Flying) -> Records:
    """One record of PARAMS."""
    p = np.zeros(1, PARAMS)
    _pack_body(p, airframe, flying)
    _pack_air(p, airframe, flying)
    _pack_contact(p, airframe, flying.gravity)
    _pack_battery(p, airframe, flying)
    _pack_schedules(p, airframe, flying)
    _pack_controller(p, airframe, flying)
    return p


def _pack_body(p: Records, airframe: Airframe, flying: Flying) -> None:
    n = len(airframe.rotors)
    motor = airframe.motor
    p["mass"] = airframe.mass
    p["inertia"] = airframe.inertia
    p["centre_of_mass"] = airframe.centre_of_mass
    p["gravity"] = flying.gravity
    p["home_altitude"] = flying.home_altitude
    p["n_rotors"] = n
    p["rotor_position"][0, :n] = [np.subtract(r.position, airframe.centre_of_mass) for r in airframe.rotors]
    p["rotor_spin"][0, :n] = [1.0 if r.spin == "ccw" else -1.0 for r in airframe.rotors]
    p["rotor_radius"] = motor.radius
    p["thrust_coefficient"] = motor.thrust_coefficient
    p["torque_ratio"] = motor.torque_ratio
    p["rotor_inertia"] = motor.inertia
    p["max_speed"] = motor.max_speed
    p["idle_speed"] = motor.idle_speed
    p["tau_up"] = motor.tau_up
    p["tau_down"] = motor.tau_down
    p["lag_on_thrust"] = motor.lag == "thrust"
    p["throttle_is_thrust"] = motor.throttle == "thrust"


def _pack_air(p: Records, airframe: Airframe, flying: Flying) -> None:
    drag = flying.drag
    p["drag_model"] = DRAG_CODES[drag.model]
    p["linear_drag"] = drag.linear
    p["box_drag"] = drag.box
    p["rotor_drag"] = drag.rotor
    p["sqrt_slope"], p["sqrt_offset"] = sqrt_line(drag, airframe.hover_thrust(flying.gravity))
    p["parasitic"] = drag.parasitic
    p["ground_effect"] = drag.ground_effect
    p["translational_lift"] = drag.translational_lift
    p["axial_inflow"] = drag.axial_inflow
    p["wind_key"] = stream_key(flying.seed, f"wind/{flying.name}")
    if flying.wind is not None and flying.wind.kind == "dryden":
        p["gusts"] = 1
        p["w20"] = flying.wind.w20_kt * 0.514444
        p["airspeed_floor"] = flying.wind.airspeed_floor


def _pack_contact(p: Records, airframe: Airframe, gravity: float) -> None:
    added, of_rotors = added_contacts(airframe)
    points = [*airframe.contact.legs, *airframe.contact.body, *added]
    legs, n = len(airframe.contact.legs), len(points)
    places = np.subtract(points, airframe.centre_of_mass)
    p["n_contacts"] = n
    p["contact_position"][0, :n] = places
    p["contact_is_leg"][0, :legs] = 1.0
    stiffness = airframe.mass * gravity / (legs * airframe.contact.sink)
    p["contact_stiffness"] = stiffness
    p["contact_damping"] = 2.0 * airframe.contact.damping_ratio * np.sqrt(stiffness * airframe.mass / legs)
    p["friction"] = airframe.contact.friction
    p["bounding_radius"] = np.linalg.norm(places, axis=1).max() + 0.1
    _pack_hull(p, airframe, places)
    first = n - len(added)
    p["point_part"][0, first : first + of_rotors] = PART_ROTOR


def _pack_hull(p: Records, airframe: Airframe, contacts: Array) -> None:
    """The hull for collisions: the contact points and the rotors, with edges along rims, arms and legs."""
    legs, n, rotors = len(airframe.contact.legs), len(contacts), len(airframe.rotors)
    around = min(8, (MAX_POINTS - n) // rotors - 1)
    angle = 2.0 * np.pi * np.arange(around) / around
    rim = airframe.motor.radius * np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
    points, edges = list(contacts), []
    for rotor in airframe.rotors:
        hub, first = np.subtract(rotor.position, airframe.centre_of_mass), len(points) + 1
        points += [hub, *(hub + rim)]
        edges += [(first + k, first + (k + 1) % around) for k in range(around)]
        edges.append((first - 1, first + int(np.argmax(rim @ hub))))
    hubs = [n + k * (around + 1) for k in range(rotors)]
    apart = np.linalg.norm(np.array(points)[:, None] - np.array(points)[hubs], axis=2)
    # arms from hub to hub through the body, and from each leg to the nearest hub
    across = [(hub, hubs[int(np.argmax(apart[hub]))]) for hub in hubs]
    edges += sorted({(min(pair), max(pair)) for pair in across})
    edges += [(k, hubs[int(np.argmin(apart[k]))]) for k in range(legs)]
    edges = edges[:MAX_EDGES]
    p["n_points"] = len(points)
    p["point_position"][0, : len(points)] = points
    p["point_part"][0, : len(points)] = PART_ROTOR
    p["point_part"][0, :n] = PART_BODY
    p["point_part"][0, :legs] = PART_LEG
    p["n_edges"] = len(edges)
    p["edge"][0, : len(edges)] = edges
    p["hull_radius"] = np.linalg.norm(points, axis=1).max()
    p["restitution"] = airframe.contact.restitution
    crash_speed = airframe.contact.crash_speed
    p["crash_speed"] = np.inf if crash_speed is None else crash_speed


def _pack_battery(p: Records, airframe: Airframe, flying: Flying) -> None:
    battery = airframe.battery
    if battery is None:
        return
    p["has_battery"] = flying.has_battery
    p["capacity"] = battery.capacity_ah * 3600.0
    p["voltage_full"] = battery.cells * battery.cell_full
    p["voltage_empty"] = battery.cells * battery.cell_empty
    p["resistance"] = battery.resistance
    p["power_efficiency"] = battery.efficiency
    p["hotel_power"] = battery.hotel_power


def _pack_schedules(p: Records, airframe: Airframe, flying: Flying) -> None:
    for what, items in (("wrenches", flying.wrenches), ("rotor_faults", flying.rotor_faults)):
        if len(items) > MAX_SCHEDULED:
            raise ScenarioError(f"{flying.name}: {len(items)} {what}, at most {MAX_SCHEDULED} are possible")
    p["n_wrenches"] = len(flying.wrenches)
    for k, wrench in enumerate(flying.wrenches):
        p["wrench_start"][0, k], p["wrench_end"][0, k] = wrench.start, wrench.end
        p["wrench_force"][0, k], p["wrench_torque"][0, k] = wrench.force, wrench.torque
        p["wrench_in_body"][0, k] = wrench.frame == "body"
    p["n_rotor_faults"] = len(flying.rotor_faults)
    for k, fault in enumerate(flying.rotor_faults):
        if fault.rotor >= len(airframe.rotors):
            raise ScenarioError(
                f"{flying.name}: rotor_faults[{k}].rotor is {fault.rotor}, "
                f"but '{airframe.name}' has rotors 0 to {len(airframe.rotors) - 1}"
            )
        pack_rotor_fault(p[0], k, fault)


def pack_rotor_fault(row: np.void, slot: int, fault: RotorFault) -> None:
    """Writes one fault into a vehicle's row, at the start or in flight."""
    row["fault_rotor"][slot], row["fault_kind"][slot] = fault.rotor, FAULT_CODES[fault.kind]
    row["fault_start"][slot] = fault.start
    row["fault_end"][slot] = FOREVER if fault.end is None else fault.end
    row["fault_value"][slot] = fault.value


def complete_gains(gains: Gains, motor: Motor) -> Gains:
    """Computes the gains that the YAML leaves out, so that each loop is a few times slower than the one inside it."""
    tau = 0.5 * (motor.tau_up + motor.tau_down)
    derivative = 0.3 if tau < 0.03 else 1.0
    # plant 1/(s(τs+1)) with derivative feedback: damping 0.8 at this proportional gain
    rate = min(22.0, (1.0 + derivative) ** 2 / (4.0 * 0.64 * tau))
    attitude = rate / 2.6
    velocity = min(3.5, attitude / 2.2)
    position = velocity / 2.6
    computed = {
        "position_p": (position, position, position),
        "velocity_p": (velocity, velocity, velocity * 1.2),
        "velocity_i": (velocity * 0.8, velocity * 0.8, velocity),
        "attitude_p": (attitude, attitude, attitude * 0.4),
        "rate_p": (rate, rate, rate * 0.5),
        "rate_i": (rate * 0.5, rate * 0.5, rate * 0.3),
        "rate_d": (derivative, derivative, 0.0),
    }
    return Gains(**{**computed, **gains.model_dump(exclude_none=True)})


def unpack_rotor_fault(row: np.void, slot: int) -> RotorFault:
    """What `pack_rotor_fault` wrote."""
    kinds = {code: kind for kind, code in FAULT_CODES.items()}
    return RotorFault.model_validate({
        "rotor": int(row["fault_rotor"][slot]), "kind": kinds[int(row["fault_kind"][slot])],
        "start": float(row["fault_start"][slot]), "value": float(row["fault_value"][slot]),
    })  # fmt: skip


def _pack_controller(p: Records, airframe: Airframe, flying: Flying) -> None:
    compiled = CONTROLLERS.get(flying.controller)
    simple = compiled is SIMPLEFLIGHT
    gains = airframe.simpleflight_gains if simple else complete_gains(airframe.gains, airframe.motor)
    limits = airframe.limits
    at_home = airframe.motor.thrust_coefficient * float(density(flying.home_altitude)) / 1.225
    p["control"] = compiled.code if isinstance(compiled, CompiledController) else CONTROL_EXTERNAL
    p["control_divider"] = flying.control_divider
    p["mixer"][0, : len(airframe.rotors)] = airframe.mixer()
    p["thrust_per_speed_squared"] = at_home
    p["max_rotor_thrust"] = at_home * airframe.motor.max_speed**2
    for name, value in gains.model_dump().items():
        p[name] = value
    p["drag_feedforward"] = drag_per_mass(airframe, flying.drag)
    pack_limits(p, limits)


def pack_limits(p: Records | np.void, limits: Limits) -> None:
    """Writes the controller's limits into a vehicle's row, at the start or in flight."""
    p["max_speed_horizontal"] = limits.speed
    p["max_speed_up"] = limits.climb
    p["max_speed_down"] = limits.descent
    p["max_acceleration"] = limits.acceleration
    p["max_tilt"] = np.radians(limits.tilt_deg)
    p["max_rate"] = np.radians(limits.rates_deg)
