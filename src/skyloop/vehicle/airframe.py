"""What an airframe is made of: the YAML in `airframes/`, checked before anything flies."""

from __future__ import annotations

import math
from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from skyloop.vehicle.layout import MAX_CONTACTS, MAX_ROTORS
from skyloop.world.atmosphere import SEA_LEVEL_DENSITY, density
from skyloop.world.earth import Earth
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array

Vector = tuple[float, float, float]
Positive = Annotated[float, Field(gt=0)]
NonNegative = Annotated[float, Field(ge=0)]
NonNegativeVector = tuple[NonNegative, NonNegative, NonNegative]

STRICT = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

LEAST_THRUST_TO_WEIGHT = 1.1

DragModel = Literal["none", "linear", "box", "rotor", "rotor-linear", "rotor-lumped"]


class Rotor(BaseModel):
    model_config = STRICT

    position: Vector
    """m from the body origin."""
    spin: Literal["ccw", "cw"]
    """Seen from above."""


class Motor(BaseModel):
    """Motor, speed controller and propeller; all rotors of an airframe are alike."""

    model_config = STRICT

    thrust_coefficient: Positive
    """N/(rad/s)² at sea level."""
    torque_ratio: Positive
    """m: drag torque of the propeller per thrust."""
    max_speed: Positive
    """rad/s with a full battery."""
    idle_speed: NonNegative = 0.0
    """rad/s when armed and asked for nothing."""
    tau_up: Positive
    """s, first-order time constant while speeding up."""
    tau_down: Positive
    """s, while slowing down."""
    radius: Positive
    """m, propeller radius."""
    inertia: NonNegative = 0.0
    """kg m² of one propeller and rotor about its axis."""
    lag: Literal["speed", "thrust"] = "speed"
    """What follows the command at first order: rotor speed, or thrust as in AirSim."""
    throttle: Literal["speed", "thrust"] = "speed"
    """What an external controller's throttle 0..1 is linear in."""


class Drag(BaseModel):
    """One model is flown; the airframe carries the numbers of all, so that a scenario may choose."""

    model_config = STRICT

    model: DragModel = "rotor"
    """none; linear (eq. 5); box (AirSim's faces); rotor (eq. 6/10); rotor-linear (eq. 9); rotor-lumped (eq. 13)."""
    linear: NonNegativeVector = (0.0, 0.0, 0.0)
    """N/(m/s), body axes."""
    box: NonNegativeVector = (0.0, 0.0, 0.0)
    """N/(m/s)² at sea level, body axes."""
    rotor: NonNegative = 0.0
    """c_d1 of eq. (6), √N/(m/s)."""
    sqrt_slope: NonNegative | None = None
    """k of eq. (7), 1/√N; fitted around hover when left out."""
    sqrt_offset: NonNegative | None = None
    """b of eq. (7), √N; fitted around hover when left out."""
    parasitic: NonNegativeVector = (0.0, 0.0, 0.0)
    """N/(m/s)² of the frame at sea level, times |v| v; added to any model."""
    ground_effect: NonNegative = 0.0
    """1 is Cheeseman and Bennett's thrust gain near the ground, 0 none."""
    translational_lift: NonNegative = 0.0
    """N/(m/s)² of extra thrust per rotor by speed in its plane."""
    axial_inflow: NonNegative = 0.0
    """N/(rad/s)/(m/s) of thrust lost per rotor by climbing."""


class Battery(BaseModel):
    model_config = STRICT

    cells: Annotated[int, Field(ge=1)]
    capacity_ah: Positive
    """Ampere hours."""
    resistance: Positive
    """Ohm, whole pack."""
    cell_full: Positive = 4.2
    """V."""
    cell_empty: Positive = 3.3
    """V."""
    efficiency: Annotated[float, Field(gt=0, le=1)] = 0.41
    """Ideal induced power per electrical power: figure of merit of the propeller times efficiency of the drive."""
    hotel_power: NonNegative = 5.0
    """W for everything but the motors."""


class Contact(BaseModel):
    model_config = STRICT

    legs: Annotated[list[Vector], Field(min_length=3)]
    """m from the body origin; the points it stands on."""
    body: list[Vector] = []
    """m from the body origin; points that touch when it tips over."""
    friction: NonNegative = 0.7
    """Coulomb coefficient."""
    sink: Positive = 0.001
    """m the legs give under the weight at rest; sets the stiffness."""
    damping_ratio: Positive = 0.5
    restitution: Annotated[float, Field(ge=0, le=1)] = 0.3
    """Share of the closing speed it bounces back with from solid things; not at less than 0.5 m/s."""
    crash_speed: Positive | None = 4.0
    """m/s of closing speed at which the body or a rotor breaks and all rotors stop; null: never."""


class Gains(BaseModel):
    """Left out: computed from the motors' time constants. Order: x, y, z or roll, pitch, yaw."""

    model_config = STRICT

    position_p: NonNegativeVector | None = None
    """1/s; x and y alike, because the target is approached along a straight line."""
    velocity_p: NonNegativeVector | None = None
    """1/s."""
    velocity_i: NonNegativeVector | None = None
    """1/s²."""
    attitude_p: NonNegativeVector | None = None
    """1/s."""
    rate_p: NonNegativeVector | None = None
    """1/s."""
    rate_i: NonNegativeVector | None = None
    """1/s²."""
    rate_d: NonNegativeVector | None = None
    """Dimensionless: angular acceleration taken back per angular acceleration seen."""

    @model_validator(mode="after")
    def _approach_is_straight(self) -> Gains:
        if self.position_p is not None and self.position_p[0] != self.position_p[1]:
            raise ValueError(f"position_p {self.position_p} must have the same x and y")
        return self


class SimpleFlightGains(BaseModel):
    """AirSim's: shares of the next stage's limit per unit of error, velocities in body axes."""

    model_config = STRICT

    position_p: NonNegativeVector = (0.25, 0.25, 0.25)
    """1/m."""
    velocity_p: NonNegativeVector = (0.2, 0.2, 2.0)
    """s/m."""
    velocity_i: NonNegativeVector = (0.0, 0.0, 2.0)
    """1/m."""
    attitude_p: NonNegativeVector = (2.5, 2.5, 2.5)
    """1/rad."""
    rate_p: NonNegativeVector = (0.25, 0.25, 0.25)
    """s/rad."""


class Limits(BaseModel):
    """Of the cascade; SimpleFlight has AirSim's own for tilt, acceleration, roll and pitch rate."""

    model_config = STRICT

    speed: Positive = 12.0
    """m/s, horizontal."""
    cruise_speed: Positive = 5.0
    """m/s towards a goal."""
    climb: Positive = 3.0
    """m/s."""
    descent: Positive = 2.0
    """m/s."""
    acceleration: Positive = 5.0
    """m/s² that feedback may ask for; a trajectory's own acceleration comes on top."""
    tilt_deg: Annotated[float, Field(gt=0, lt=85)] = 50.0
    rates_deg: tuple[Positive, Positive, Positive] = (360.0, 360.0, 120.0)
    """Degrees per second."""


class Airframe(BaseModel):
    """A multirotor: geometry, mass, motors, air, battery, legs and the gains that fly it."""

    model_config = STRICT

    name: str
    sources: list[str]
    """Where the numbers come from, and which are estimated."""
    mass: Positive
    """kg, everything included."""
    inertia: tuple[Positive, Positive, Positive]
    """kg m² about the centre of mass, principal axes along the body axes."""
    centre_of_mass: Vector = (0.0, 0.0, 0.0)
    """m from the body origin."""
    rotors: Annotated[list[Rotor], Field(min_length=3, max_length=MAX_ROTORS)]
    motor: Motor
    drag: Drag = Drag()
    battery: Battery | None = None
    contact: Contact
    controller: Literal["cascade", "simpleflight"] = "cascade"
    """The controller it flies with unless the scenario says otherwise."""
    gains: Gains = Gains()
    simpleflight_gains: SimpleFlightGains = SimpleFlightGains()
    limits: Limits = Limits()

    @property
    def max_thrust(self) -> float:
        """N of all rotors together at sea level."""
        return len(self.rotors) * self.motor.thrust_coefficient * self.motor.max_speed**2

    def hover_thrust(self, gravity: float = 9.80665) -> float:
        """N per rotor."""
        return self.mass * gravity / len(self.rotors)

    def check_lift(self, name: str, earth: Earth) -> None:
        """Complain when the air up there is too thin for it."""
        altitude = earth.config.altitude
        thrust = self.max_thrust * float(density(altitude)) / SEA_LEVEL_DENSITY
        weight = self.mass * earth.gravity
        if thrust < LEAST_THRUST_TO_WEIGHT * weight:
            raise ScenarioError(
                f"{name}: the rotors of '{self.name}' cannot lift it here: {thrust:.2f} N at most in the air at "
                f"{altitude:g} m, and it weighs {weight:.2f} N; "
                "lower earth.altitude or earth.gravity, or change airframe"
            )

    def mixer(self) -> Array:
        """(n_rotors, 4) rotor thrusts from (collective, roll, pitch, yaw torque): the geometry's pseudo-inverse."""
        effect = np.zeros((4, len(self.rotors)))
        for i, rotor in enumerate(self.rotors):
            x, y, _ = np.subtract(rotor.position, self.centre_of_mass)
            yaw = -self.motor.torque_ratio if rotor.spin == "ccw" else self.motor.torque_ratio
            effect[:, i] = 1.0, y, -x, yaw
        return np.asarray(np.linalg.pinv(effect), dtype=np.float64)

    @model_validator(mode="after")
    def _can_fly(self) -> Airframe:
        weight = self.mass * 9.80665
        if self.max_thrust < LEAST_THRUST_TO_WEIGHT * weight:
            raise ValueError(
                f"rotors that cannot lift it: {len(self.rotors)} rotors give {self.max_thrust:.2f} N at most, "
                f"the weight is {weight:.2f} N; raise motor.max_speed or motor.thrust_coefficient, or lower mass"
            )
        largest, others = max(self.inertia), sum(self.inertia) - max(self.inertia)
        if largest > others:
            raise ValueError(
                f"inertia {self.inertia} belongs to no rigid body: the largest must not exceed the sum of the others"
            )
        if np.linalg.matrix_rank(self.mixer()) < 4:
            raise ValueError(
                "these rotor positions and spins cannot make roll, pitch, yaw and thrust independently; "
                "check positions (not all on one line) and spins (both cw and ccw)"
            )
        points = len(self.contact.legs) + len(self.contact.body)
        if points > MAX_CONTACTS:
            raise ValueError(f"{points} contact points, at most {MAX_CONTACTS} are possible")
        if self.motor.idle_speed >= self.motor.max_speed:
            raise ValueError("motor.idle_speed must be below motor.max_speed")
        return self


def sqrt_line(drag: Drag, hover: float) -> tuple[float, float]:
    """k and b of eq. (7): given, or the least-squares line of √T over 0.25 to 2 times the hover thrust per rotor."""
    if drag.sqrt_slope is not None and drag.sqrt_offset is not None:
        return drag.sqrt_slope, drag.sqrt_offset
    thrust = np.linspace(0.25 * hover, 2.0 * hover, 50)
    slope, offset = np.polyfit(thrust, np.sqrt(thrust), 1)
    return (
        float(slope) if drag.sqrt_slope is None else drag.sqrt_slope,
        float(offset) if drag.sqrt_offset is None else drag.sqrt_offset,
    )


def complete_gains(gains: Gains, motor: Motor) -> Gains:
    """Fill what the YAML left out so that each loop is a few times slower than the one inside it."""
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


def drag_per_mass(airframe: Airframe, drag: Drag) -> tuple[float, float, float]:
    """1/s: the drag acceleration per speed the controller feeds forward, linearised at hover."""
    hover = airframe.hover_thrust()
    n = len(airframe.rotors)
    slope, offset = sqrt_line(drag, hover)
    per_speed = {
        "linear": drag.linear,
        "rotor": (drag.rotor * math.sqrt(hover) * n,) * 2 + (0.0,),
        "rotor-linear": (drag.rotor * (slope * hover + offset) * n,) * 2 + (0.0,),
        "rotor-lumped": (drag.rotor * (slope * hover + offset) * n,) * 2 + (0.0,),
    }.get(drag.model, (0.0, 0.0, 0.0))
    return (per_speed[0] / airframe.mass, per_speed[1] / airframe.mass, per_speed[2] / airframe.mass)
