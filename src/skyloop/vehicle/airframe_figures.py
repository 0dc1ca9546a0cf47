"""What an airframe can do, computed from its numbers: for a first look before anything flies."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from skyloop.vehicle.airframe import Airframe, sqrt_line
from skyloop.world.atmosphere import SEA_LEVEL_DENSITY

GRAVITY = 9.80665
LAST_CHARGE = 0.15
"""The charge at which the endurance ends; by default the autopilot lands there."""
FASTEST = 200.0
"""m/s, beyond which a top speed is not looked for."""


@dataclass(frozen=True, slots=True)
class Figures:
    """At sea level, in still air, with a full battery."""

    hover_throttle: float
    """What an external controller gives all rotors in hover, 0 to 1."""
    thrust_to_weight: float
    hover_power_w: float | None
    """W drawn in hover; None without a battery."""
    endurance_s: float | None
    """s of hover until 15 % of the charge are left; None without a battery."""
    top_speed_m_s: float | None
    """m/s in level flight, whatever `limits.speed` says; None: nothing brakes it."""
    top_speed_tilt_deg: float
    """The tilt at the top speed."""
    headroom: tuple[float, ...]
    """By rotor: the share of its thrust that a hover leaves."""


def figures_of(airframe: Airframe) -> Figures:
    weight = airframe.mass * GRAVITY
    share = weight / airframe.max_thrust
    top, tilt = _top_speed(airframe, weight)
    hover = airframe.mixer() @ (weight, 0.0, 0.0, 0.0) / (airframe.max_thrust / len(airframe.rotors))
    return Figures(
        hover_throttle=share if airframe.motor.throttle == "thrust" else math.sqrt(share),
        thrust_to_weight=1.0 / share,
        hover_power_w=None if airframe.battery is None else _power(airframe, weight),
        endurance_s=_endurance(airframe, weight),
        top_speed_m_s=top,
        top_speed_tilt_deg=math.degrees(tilt),
        headroom=tuple(1.0 - hover),
    )


def _power(airframe: Airframe, thrust: float) -> float:
    """W at a thrust of all rotors, shared equally, as `rotors.drain_battery`."""
    assert airframe.battery is not None
    n, disc = len(airframe.rotors), math.pi * airframe.motor.radius**2
    induced = n * math.sqrt((thrust / n) ** 3 / (2.0 * SEA_LEVEL_DENSITY * disc))
    return airframe.battery.hotel_power + induced / airframe.battery.efficiency


def _current(airframe: Airframe, power: float, charge: float) -> float | None:
    """A at a charge of 0 to 1; None: the cells cannot give this power."""
    assert airframe.battery is not None
    battery = airframe.battery
    voltage = battery.cells * (battery.cell_empty + charge * (battery.cell_full - battery.cell_empty))
    spread = voltage**2 - 4.0 * battery.resistance * power
    return None if spread < 0.0 else (voltage - math.sqrt(spread)) / (2.0 * battery.resistance)


def _endurance(airframe: Airframe, weight: float) -> float | None:
    if airframe.battery is None:
        return None
    power, seconds, step = _power(airframe, weight), 0.0, (1.0 - LAST_CHARGE) / 200
    for k in range(200):
        current = _current(airframe, power, 1.0 - (k + 0.5) * step)
        if current is None:
            break
        seconds += step * 3600.0 * airframe.battery.capacity_ah / current
    return seconds


def _most_thrust(airframe: Airframe, thrust: float) -> float:
    """N that the rotors can give while they give `thrust`, which lowers the voltage of a full battery."""
    if airframe.battery is None:
        return airframe.max_thrust
    current = _current(airframe, _power(airframe, thrust), 1.0)
    full = airframe.battery.cells * airframe.battery.cell_full
    return 0.0 if current is None else airframe.max_thrust * (1.0 - airframe.battery.resistance * current / full) ** 2


def _drag(airframe: Airframe, ahead: float, up: float, thrust: float) -> tuple[float, float]:
    """N along the body's x and z axes at a velocity through the air, against it; as the kernels have it."""
    drag, n = airframe.drag, len(airframe.rotors)
    speed = math.hypot(ahead, up)
    x, z = drag.parasitic[0] * speed * ahead, drag.parasitic[2] * speed * up
    if drag.model == "linear":
        return x + drag.linear[0] * ahead, z + drag.linear[2] * up
    if drag.model == "box":
        return x + drag.box[0] * ahead**2, z + drag.box[2] * up**2
    if drag.model == "rotor":
        return x + drag.rotor * math.sqrt(n * thrust) * ahead, z
    if drag.model != "none":
        slope, offset = sqrt_line(drag, airframe.hover_thrust())
        return x + drag.rotor * (slope * thrust + n * offset) * ahead, z
    return x, z


def _top_speed(airframe: Airframe, weight: float) -> tuple[float | None, float]:
    """m/s and rad: the fastest level flight up to the largest tilt and the most thrust. In it weight and drag balance
    along the body's axes: drag is weight·sin(tilt), and thrust less the drag against it is weight·cos(tilt)."""
    best: tuple[float | None, float] = 0.0, 0.0
    for tilt in np.radians(np.arange(0.5, airframe.limits.tilt_deg + 0.25, 0.5)).tolist():
        low, high = 0.0, FASTEST
        for _ in range(40):
            speed = 0.5 * (low + high)
            ahead, up = speed * math.cos(tilt), speed * math.sin(tilt)
            thrust = weight * math.cos(tilt) + _drag(airframe, ahead, up, weight)[1]
            brakes = _drag(airframe, ahead, up, thrust)[0] > weight * math.sin(tilt)
            low, high = (low, speed) if brakes else (speed, high)
        if thrust > _most_thrust(airframe, thrust):
            return best
        if low > 0.999 * FASTEST:
            return None, tilt
        best = (low, tilt)
    return best
