"""Airframes: the schema of the YAML files in `airframes/`, which are checked before a flight."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from skyloop.core.quantities import Acceleration, Length, Lever, NonNegative, Positive, Seconds, Speed
from skyloop.vehicle import airframe_estimates as estimates
from skyloop.vehicle.kernel_records import MAX_CONTACTS, MAX_ROTORS
from skyloop.world.atmosphere import SEA_LEVEL_DENSITY, density
from skyloop.world.earth import Earth
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array

NonNegativeVector = tuple[NonNegative, NonNegative, NonNegative]

STRICT = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

log = logging.getLogger(__name__)

LEAST_THRUST_TO_WEIGHT = 1.1
LEAST_RESERVE = 0.3
"""The share of each rotor's thrust that a hover should leave for turning, climbing and wind."""
LEFT_OUT = "estimated: by skyloop, because the file leaves it out"
"""The origin of numbers that an airframe file does not give."""
Origin = Annotated[str, Field(pattern=r"^(measured|data sheet|estimated)(: \S.*)?$")]

DragModel = Literal["none", "linear", "box", "rotor", "rotor-linear", "rotor-lumped"]


class Rotor(BaseModel):
    """One rotor."""

    model_config = STRICT

    position: Lever
    """m, the centre of the rotor, from the body origin."""
    spin: Literal["ccw", "cw"]
    """The direction it turns, seen from above."""


class Motor(BaseModel):
    """Motor, speed controller and propeller; all rotors of an airframe are alike."""

    model_config = STRICT

    thrust_coefficient: Positive
    """N/(rad/s)², thrust per squared rotor speed at sea level."""
    torque_ratio: Length
    """m, the drag torque of the propeller per thrust."""
    max_speed: Positive
    """rad/s, the highest rotor speed with a full battery."""
    idle_speed: NonNegative = 0.0
    """rad/s, the rotor speed when the vehicle is armed and no thrust is asked for."""
    radius: Length
    """m, the radius of the propeller."""
    tau_up: Seconds = Field(default_factory=lambda known: estimates.tau_up(known["radius"]))
    """s, the first-order time constant while the rotor speeds up; left out, it is estimated from the radius."""
    tau_down: Seconds = Field(default_factory=lambda known: estimates.tau_down(known["tau_up"]))
    """s, the first-order time constant while the rotor slows down; left out, it is estimated from `tau_up`."""
    inertia: NonNegative = 0.0
    """kg m², the moment of inertia of one propeller and rotor about the rotor's axis."""
    lag: Literal["speed", "thrust"] = "speed"
    """What follows the command with the time constants: the rotor speed, or the thrust as in AirSim."""
    throttle: Literal["speed", "thrust"] = "speed"
    """What a throttle of 0 to 1 from an external controller is proportional to."""


class Drag(BaseModel):
    """One model is flown; the airframe carries the numbers of all, so that a scenario may choose."""

    model_config = STRICT

    model: DragModel = "rotor"
    """The drag model: none, linear (eq. 5), box (AirSim's faces), rotor (eq. 6 and 10), rotor-linear (eq. 9), rotor-
    lumped (eq. 13). The equations are those of the rotor-drag paper."""
    linear: NonNegativeVector = (0.0, 0.0, 0.0)
    """N/(m/s), the linear drag along each body axis."""
    box: NonNegativeVector = (0.0, 0.0, 0.0)
    """N/(m/s)², the quadratic drag along each body axis at sea level."""
    rotor: NonNegative = 0.0
    """√N/(m/s), the coefficient c_d1 of eq. (6)."""
    sqrt_slope: NonNegative | None = None
    """1/√N, the slope k of eq. (7); left out, it is fitted around hover."""
    sqrt_offset: NonNegative | None = None
    """√N, the offset b of eq. (7); left out, it is fitted around hover."""
    parasitic: NonNegativeVector = (0.0, 0.0, 0.0)
    """N/(m/s)², the drag of the frame at sea level, times |v| v; it is added to any model."""
    ground_effect: NonNegative = 0.0
    """The strength of the ground effect: 1 is the thrust gain of Cheeseman and Bennett, 0 is none."""
    translational_lift: NonNegative = 0.0
    """N/(m/s)², the extra thrust of a rotor per squared speed in its plane."""
    axial_inflow: NonNegative = 0.0
    """N/(rad/s)/(m/s), the thrust a rotor loses by climbing."""


class Battery(BaseModel):
    """The battery pack."""

    model_config = STRICT

    cells: Annotated[int, Field(ge=1, le=1000)]
    """Cells in series."""
    capacity_ah: Positive
    """The capacity of the pack."""
    resistance: Positive
    """Ω, the internal resistance of the whole pack."""
    cell_full: Positive = 4.2
    """V, the voltage of a full cell."""
    cell_empty: Positive = 3.3
    """V, the voltage of an empty cell."""
    efficiency: Annotated[float, Field(gt=0, le=1)] = 0.41
    """Ideal induced power over electrical power: the propeller's figure of merit times the drive's efficiency."""
    hotel_power: NonNegative = 5.0
    """W, the power that everything but the motors takes."""


class ContactConfig(BaseModel):
    """The points that touch the ground and other objects, and how they do."""

    model_config = STRICT

    legs: Annotated[list[Lever], Field(min_length=3)]
    """m, the points the vehicle stands on, from the body origin."""
    body: list[Lever] = []
    """m, the points that touch when it tips over, from the body origin. Where rotors, arms or the hull stick out of
    these and the legs, points are added."""
    friction: NonNegative = 0.7
    """The coefficient of Coulomb friction."""
    sink: Length = 0.001
    """m, how far the legs give way under the weight at rest; it sets their stiffness."""
    damping_ratio: Positive = 0.5
    """The damping ratio of one leg on the ground; 1 is critical."""
    restitution: Annotated[float, Field(ge=0, le=1)] = 0.3
    """The share of the closing speed at which it bounces back from solid objects; below 0.5 m/s it does not bounce."""
    crash_speed: Speed | None = 4.0
    """m/s, the closing speed at which the body or a rotor breaks and all rotors stop; null: never."""


class Gains(BaseModel):
    """The gains of the cascade controller, in the order x, y, z or roll, pitch, yaw. Those left out are computed from
    the motors' time constants."""

    model_config = STRICT

    position_p: NonNegativeVector | None = None
    """1/s, velocity asked for per position error; x and y alike, because the target is approached along a straight
    line."""
    velocity_p: NonNegativeVector | None = None
    """1/s, acceleration asked for per velocity error."""
    velocity_i: NonNegativeVector | None = None
    """1/s², acceleration asked for per integral of the velocity error."""
    attitude_p: NonNegativeVector | None = None
    """1/s, angular velocity asked for per attitude error."""
    rate_p: NonNegativeVector | None = None
    """1/s, angular acceleration asked for per angular velocity error."""
    rate_i: NonNegativeVector | None = None
    """1/s², angular acceleration asked for per integral of the angular velocity error."""
    rate_d: NonNegativeVector | None = None
    """Angular acceleration subtracted per measured angular acceleration; a ratio."""

    @model_validator(mode="after")
    def _approach_is_straight(self) -> Gains:
        if self.position_p is not None and self.position_p[0] != self.position_p[1]:
            raise ValueError(f"position_p {self.position_p} must have the same x and y")
        return self


class SimpleFlightGains(BaseModel):
    """AirSim's gains: each stage asks for a share of the next stage's limit per unit of error; velocities are in body
    axes."""

    model_config = STRICT

    position_p: NonNegativeVector = (0.25, 0.25, 0.25)
    """1/m, share of the velocity limit per position error."""
    velocity_p: NonNegativeVector = (0.2, 0.2, 2.0)
    """s/m, share of the tilt limit, along z of half the throttle, per velocity error."""
    velocity_i: NonNegativeVector = (0.0, 0.0, 2.0)
    """1/m, the same share per integral of the velocity error."""
    attitude_p: NonNegativeVector = (2.5, 2.5, 2.5)
    """1/rad, share of the rate limit per attitude error."""
    rate_p: NonNegativeVector = (0.25, 0.25, 0.25)
    """s/rad, throttle added to or taken from the rotors per angular velocity error."""


class Limits(BaseModel):
    """What the cascade controller asks for at most; SimpleFlight keeps AirSim's own limits of tilt, acceleration, roll
    rate and pitch rate."""

    model_config = STRICT

    speed: Speed = 12.0
    """m/s, the highest horizontal speed."""
    cruise_speed: Speed = 5.0
    """m/s, the speed at which it flies to a goal."""
    climb: Speed = 3.0
    """m/s, the highest speed upwards."""
    descent: Speed = 2.0
    """m/s, the highest speed downwards."""
    acceleration: Acceleration = 5.0
    """m/s², the highest acceleration that feedback asks for; the acceleration of a trajectory is added to it."""
    tilt_deg: Annotated[float, Field(gt=0, lt=85)] = 50.0
    """The largest tilt from level."""
    rates_deg: tuple[Positive, Positive, Positive] = (360.0, 360.0, 120.0)
    """deg/s, the highest angular velocity about roll, pitch and yaw."""


class Airframe(BaseModel):
    """A multirotor: geometry, mass, motors, air, battery, legs and the gains that fly it."""

    model_config = STRICT

    name: str
    """The name that messages show."""
    sources: list[str]
    """Where the numbers come from, and which of them are estimates."""
    provenance: dict[str, Origin] = {}
    """Where a number comes from, by its key, such as `motor.tau_up`: `measured`, `data sheet` or `estimated`, with
    details after a colon. What skyloop estimates is added."""
    mass: Positive
    """kg, the mass of the vehicle with everything on board."""
    rotors: Annotated[list[Rotor], Field(min_length=3, max_length=MAX_ROTORS)]
    """Where the rotors sit and which way they turn."""
    motor: Motor
    """The motor and propeller; all rotors have the same."""
    inertia: tuple[Positive, Positive, Positive] = Field(
        default_factory=lambda known: estimates.inertia(known["mass"], hubs_of(known["rotors"]))
    )
    """kg m², the moments of inertia about the centre of mass; the principal axes are the body axes. Left out, they are
    estimated from mass and rotors."""
    centre_of_mass: Lever = (0.0, 0.0, 0.0)
    """m, the centre of mass, from the body origin."""
    drag: Drag = Field(
        default_factory=lambda known: Drag(**estimated_drag(known["mass"], known["rotors"], known["motor"]))
    )
    """The air resistance; left out, it is estimated from size and rotors."""
    battery: Battery | None = None
    """The battery; null: thrust never falls, and the reported voltage is 0."""
    contact: ContactConfig
    """The points that touch the ground and other objects."""
    controller: Literal["cascade", "simpleflight"] = "cascade"
    """The controller the vehicle flies with, unless the scenario names another."""
    gains: Gains = Gains()
    """The gains of the cascade controller."""
    simpleflight_gains: SimpleFlightGains = SimpleFlightGains()
    """The gains of the SimpleFlight controller."""
    limits: Limits = Limits()
    """The largest speeds, accelerations and angles the controller asks for."""

    @property
    def left_out(self) -> list[str]:
        """The keys that its file leaves out, whose numbers are estimated."""
        return [key for key, origin in self.provenance.items() if origin == LEFT_OUT]

    @property
    def max_thrust(self) -> float:
        """N, of all rotors together at sea level."""
        return len(self.rotors) * self.motor.thrust_coefficient * self.motor.max_speed**2

    def hover_thrust(self, gravity: float = 9.80665) -> float:
        """N per rotor."""
        return self.mass * gravity / len(self.rotors)

    def check_lift(self, name: str, earth: Earth) -> None:
        """Raises an error if the air at this altitude is too thin to lift the vehicle, and warns if it hardly can."""
        altitude = earth.config.altitude
        thrust = self.max_thrust * float(density(altitude)) / SEA_LEVEL_DENSITY
        weight = self.mass * earth.gravity
        if thrust < LEAST_THRUST_TO_WEIGHT * weight:
            raise ScenarioError(
                f"{name}: the rotors of '{self.name}' cannot lift it here: {thrust:.2f} N at most in the air at "
                f"{altitude:g} m, and it weighs {weight:.2f} N; "
                "lower earth.altitude or earth.gravity, or change airframe"
            )
        hover = self.mixer() @ (weight, 0.0, 0.0, 0.0) / (thrust / len(self.rotors))
        worst = int(np.argmax(hover))
        if hover[worst] > 1.0 - LEAST_RESERVE:
            x, y, _ = self.rotors[worst].position
            log.warning(
                "%s: hovering takes %.0f %% of the thrust of the rotor at (%g, %g) of '%s', so turns, climbs and wind "
                "may sink it; move centre_of_mass to the middle, lower mass or raise motor.max_speed",
                name, 100.0 * hover[worst], x, y, self.name,
            )  # fmt: skip

    def tell_estimates(self, name: str, drag: Drag) -> None:
        """Says which numbers skyloop made up, and warns of a flight through air that nobody feels."""
        if self.left_out:
            log.info("%s: '%s' leaves out %s: estimated from size, mass and rotors", name, self.name,
                     ", ".join(self.left_out))  # fmt: skip
        used = drag.rotor if drag.model.startswith("rotor") else sum(dict(drag).get(drag.model, ()))
        if drag.model != "none" and used + sum(drag.parasitic) == 0.0:
            log.warning(
                "%s: '%s' feels no wind, because its drag for model '%s' is 0; leave out drag to have it estimated, or "
                "say model: none", name, self.name, drag.model,
            )  # fmt: skip

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

    @model_validator(mode="after")
    def _numbers_have_an_origin(self) -> Airframe:
        for key in self.provenance:
            part: object = self
            for name in key.split("."):
                if not isinstance(part, BaseModel) or name not in type(part).model_fields:
                    raise ValueError(f"provenance: '{key}' is no key of an airframe; write it as motor.tau_up")
                part = dict(part)[name]
        given = self.model_fields_set | {f"motor.{name}" for name in self.motor.model_fields_set}
        missing = [key for key in ("inertia", "motor.tau_up", "motor.tau_down", "drag") if key not in given]
        missing += [] if self.contact.body else ["contact.body"]
        for key in missing:
            self.provenance.setdefault(key, LEFT_OUT)
        return self


def hubs_of(rotors: Sequence[Rotor]) -> Array:
    """(n, 3) m, from the body origin."""
    return np.array([rotor.position for rotor in rotors])


def estimated_drag(mass: float, rotors: Sequence[Rotor], motor: Motor) -> dict[str, Any]:
    return estimates.drag(mass, hubs_of(rotors), motor.thrust_coefficient, motor.radius)


def sqrt_line(drag: Drag, hover: float) -> tuple[float, float]:
    """k and b of eq. (7): as given, or the least-squares line of √T over 0.25 to 2 times the hover thrust per rotor."""
    if drag.sqrt_slope is not None and drag.sqrt_offset is not None:
        return drag.sqrt_slope, drag.sqrt_offset
    thrust = np.linspace(0.25 * hover, 2.0 * hover, 50)
    slope, offset = np.polyfit(thrust, np.sqrt(thrust), 1)
    return (
        float(slope) if drag.sqrt_slope is None else drag.sqrt_slope,
        float(offset) if drag.sqrt_offset is None else drag.sqrt_offset,
    )


def drag_per_mass(airframe: Airframe, drag: Drag) -> tuple[float, float, float]:
    """1/s: the drag acceleration per speed that the controller feeds forward, linearised at hover."""
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
