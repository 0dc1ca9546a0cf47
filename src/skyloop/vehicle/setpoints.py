"""Setpoints for the kernels: checked, written into a vehicle's row of inputs, and read back from it."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from math import nan

import numpy as np

from skyloop.core.frames import yaw_from_quat
from skyloop.vehicle.controller import MAX_EXTRAPOLATION
from skyloop.vehicle.kernel_records import (
    SET_ATTITUDE,
    SET_DESCEND,
    SET_IDLE,
    SET_MOTORS,
    SET_POSITION,
    SET_RATES,
    SET_VELOCITY_BODY,
    SET_VELOCITY_WORLD,
)
from skyloop_client.errors import SetpointError
from skyloop_client.messages import Array, Attitude, Goal, Motors, Position, Rates, Setpoint, SetpointState, Velocity
from skyloop_client.streams import NS_PER_S

UNLIMITED = 1e9
KINDS = {
    SET_IDLE: "idle", SET_POSITION: "position", SET_VELOCITY_WORLD: "velocity", SET_VELOCITY_BODY: "velocity",
    SET_DESCEND: "velocity", SET_ATTITUDE: "attitude", SET_RATES: "rates", SET_MOTORS: "motors",
}  # fmt: skip
"""The names of the kernels' setpoint kinds."""
SCALARS = ("yaw", "yaw_rate", "thrust", "speed")
UNTRACKED, UNTRACKED_QUAT = np.full(3, nan), np.full(4, nan)
UNTRACKED.flags.writeable = UNTRACKED_QUAT.flags.writeable = False


def write_setpoint(row: np.void, setpoint: Setpoint, t_ns: int) -> None:
    """Makes the vehicle follow this setpoint from the next controller step on."""
    row["t"] = t_ns / NS_PER_S
    row["speed_limit"] = UNLIMITED
    match setpoint:
        case Position():
            row["kind"] = SET_POSITION
            row["position"], row["velocity"] = setpoint.position, setpoint.velocity
            row["acceleration"], row["jerk"], row["snap"] = setpoint.acceleration, setpoint.jerk, setpoint.snap
            _write_yaw(row, setpoint.yaw, setpoint.yaw_rate)
        case Goal():
            write_setpoint(row, Position(setpoint.position, setpoint.yaw), t_ns)
        case Velocity():
            row["kind"] = SET_VELOCITY_BODY if setpoint.frame == "body" else SET_VELOCITY_WORLD
            row["velocity"] = setpoint.velocity
            _write_yaw(row, setpoint.yaw, setpoint.yaw_rate)
        case Attitude():
            row["kind"] = SET_ATTITUDE
            row["quat"] = np.asarray(setpoint.quat_wxyz) / np.linalg.norm(setpoint.quat_wxyz)
            row["thrust"], row["yaw_rate"] = setpoint.thrust, setpoint.yaw_rate
        case Rates():
            row["kind"] = SET_RATES
            row["rates"], row["thrust"] = setpoint.angular_velocity_body, setpoint.thrust
        case Motors():
            row["kind"] = SET_MOTORS
            row["throttle"][: len(setpoint.throttle)] = setpoint.throttle


def setpoint_in(row: np.void) -> Setpoint:
    """What an autopilot's own mode has written: a point to hold, or a descent."""
    if row["kind"] == SET_DESCEND:
        return Velocity(row["velocity"].copy())
    return Position(row["position"].copy(), float(row["yaw"]), velocity=row["velocity"].copy())


def _write_yaw(row: np.void, yaw: float | None, yaw_rate: float) -> None:
    row["absolute_yaw"] = yaw is not None
    row["yaw"] = 0.0 if yaw is None else yaw
    row["yaw_rate"] = yaw_rate


def tracked(row: np.void, mode: str, armed: bool, attitude: Callable[[], Array], t_ns: int) -> SetpointState:
    """The setpoint that the kernel's controller follows at an instant; `attitude` gives the vehicle's quaternion."""
    kind = KINDS[int(row["kind"])] if armed else "idle"
    position = velocity = rates = UNTRACKED
    quat = UNTRACKED_QUAT
    yaw = yaw_rate = thrust = nan
    if kind == "position":
        age = min(max(t_ns / NS_PER_S - float(row["t"]), 0.0), MAX_EXTRAPOLATION)
        v, a, j = row["velocity"], row["acceleration"], row["jerk"]
        if v.any() or a.any() or j.any():
            position = row["position"] + age * (v + age * (0.5 * a + age * j / 6.0))
            velocity = v + age * (a + 0.5 * age * j)
        else:  # at rest, as most of the time
            position, velocity = row["position"].copy(), v.copy()
    elif row["kind"] == SET_VELOCITY_BODY and armed:
        forward, left, up = row["velocity"].tolist()
        heading = float(yaw_from_quat(attitude()))
        c, s = math.cos(heading), math.sin(heading)
        velocity = np.array([c * forward - s * left, s * forward + c * left, up])
    elif kind == "velocity":
        velocity = row["velocity"].copy()
    elif kind == "attitude":
        quat, thrust = row["quat"].copy(), float(row["thrust"])
    elif kind == "rates":
        rates, thrust = row["rates"].copy(), float(row["thrust"])
    if kind in ("position", "velocity"):
        yaw = float(row["yaw"]) if row["absolute_yaw"] else nan
    if kind in ("position", "velocity", "attitude"):
        yaw_rate = float(row["yaw_rate"])
    return SetpointState(t_ns, mode, kind, position, velocity, yaw, yaw_rate, quat, rates, thrust)


def needs_refreshing(setpoint: Setpoint) -> bool:
    """False for a position at rest and for a goal. Every other setpoint would move the vehicle on and on."""
    if isinstance(setpoint, Position):
        return any((*setpoint.velocity, *setpoint.acceleration, setpoint.yaw_rate))
    return not isinstance(setpoint, Goal)


def check_setpoint(setpoint: Setpoint, n_rotors: int) -> None:
    """Raises a SetpointError that names the field, unless all numbers are finite and all lengths right."""
    lengths = {"quat_wxyz": 4, "throttle": n_rotors}
    for field in dataclasses.fields(setpoint):
        value = getattr(setpoint, field.name)
        if field.name == "frame" or (value is None and field.name in ("yaw", "speed")):
            continue
        field_path = f"{type(setpoint).__name__}.{field.name}"
        shape = () if field.name in SCALARS else (lengths.get(field.name, 3),)
        try:
            array = np.asarray(value, dtype=np.float64)
        except (TypeError, ValueError):
            raise SetpointError(f"{field_path} is {value!r}; give numbers") from None
        if array.shape != shape:
            raise SetpointError(f"{field_path} has shape {array.shape}, expected {shape}")
        if not math.isfinite(sum(array.ravel().tolist())):
            raise SetpointError(f"{field_path} is {value}; every number must be finite")
    if isinstance(setpoint, Velocity) and setpoint.frame not in ("world", "body"):
        raise SetpointError(f"Velocity.frame is '{setpoint.frame}'; write 'world' or 'body'")
    if isinstance(setpoint, Goal) and setpoint.speed is not None and not setpoint.speed > 0.0:
        raise SetpointError(f"Goal.speed is {setpoint.speed}; give a positive speed in m/s, or None to cruise")
    if isinstance(setpoint, Attitude) and np.linalg.norm(setpoint.quat_wxyz) < 1e-6:
        raise SetpointError("Attitude.quat_wxyz is zero; give a unit quaternion")
