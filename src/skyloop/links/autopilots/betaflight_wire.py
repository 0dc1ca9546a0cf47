"""Betaflight SITL's packets: state and RC to it, motors from it, and the part of MSP that sets it up.

The axes were checked on the 4.6 build with different values for all axes: rates are FRD, the quaternion is
ned_from_frd, and the acceleration is minus the specific force in FLU (its own source calls it NED)."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

import numpy as np

from skyloop.core.frames import frd_from_flu
from skyloop.links.autopilots.motor_handover import ned_quat
from skyloop_client.messages import Array, VehicleState

STATE = struct.Struct("<18d")
RC = struct.Struct("<d16H")
MOTORS = struct.Struct("<4f")
CHANNELS = 16
LOW, MIDDLE, HIGH = 1000, 1500, 2000
"""µs of an RC channel."""

SET_MODE_RANGE, SET_FAILSAFE = 35, 76
ARM_BOX, ANGLE_BOX = 0, 1
ON_STEPS = (32, 48)
"""1700 to 2100 µs in steps of 25 from 900."""


def state_packet(
    t_s: float,
    truth: VehicleState,
    rates: Array,
    specific_force: Array,
    position: Sequence[float],
    velocity_enu: Array,
    pressure: float,
) -> bytes:
    """Rates and force in body axes; `position` is latitude and longitude in degrees, altitude in m; pressure in Pa."""
    latitude, longitude, altitude = position
    return STATE.pack(
        t_s, *frd_from_flu(rates).tolist(), *(-np.asarray(specific_force)).tolist(), *ned_quat(truth.quat_wxyz),
        *velocity_enu.tolist(), longitude, latitude, altitude, pressure,
    )  # fmt: skip


def rc_packet(t_s: float, channels: Sequence[int]) -> bytes:
    """Roll, pitch, throttle, yaw, then the switches. Missing channels are low."""
    padded = [*channels, *[LOW] * (CHANNELS - len(channels))]
    return RC.pack(t_s, *(min(max(round(value), 0), 65535) for value in padded))


def motors_from(data: bytes) -> Array | None:
    """(4,) 0..1 in the order of QUAD X. None if this is not a motor packet."""
    if len(data) != MOTORS.size:
        return None
    values = np.array(MOTORS.unpack(data), dtype=np.float64)
    return values if np.isfinite(values).all() else None


def pressure_at(altitude: float) -> float:
    """Pa, of the standard atmosphere below 11 km, for vehicles without a barometer."""
    return 101325.0 * math.pow(max(0.0, 1.0 - 2.25577e-5 * altitude), 5.25588)


def msp(command: int, payload: bytes = b"") -> bytes:
    """A request of MSP version 1."""
    body = bytes([len(payload), command]) + payload
    check = 0
    for byte in body:
        check ^= byte
    return b"$M<" + body + bytes([check])


def settings() -> list[bytes]:
    """Requests that put arming on the first switch and angle mode on the second, and lengthen the failsafe delay.

    A stall of the machine makes Betaflight's clock jump, which must not look like a lost transmitter."""
    boxes = enumerate((ARM_BOX, ANGLE_BOX))
    modes = [msp(SET_MODE_RANGE, bytes([slot, box, slot, *ON_STEPS])) for slot, box in boxes]
    # in 0.1 s: delay, motors-off delay; µs of throttle; kind of switch, low-throttle delay, procedure drop
    return [*modes, msp(SET_FAILSAFE, struct.pack("<BBHBHB", 200, 10, LOW, 0, 100, 1))]


def stick(share: float) -> int:
    """µs for -1..1."""
    return round(MIDDLE + 500.0 * min(max(share, -1.0), 1.0))


def stick_for_rate(wanted: float, centre: float = 70.0, most: float = 670.0) -> float:
    """Stick -1..1 for a share `wanted` (-1..1) of the fastest rate, with Betaflight's default "actual" rates.

    The rate is centre·x + (most - centre)·x·|x|."""
    curve, asked = most - centre, abs(min(max(wanted, -1.0), 1.0)) * most
    return math.copysign((math.sqrt(centre * centre + 4.0 * curve * asked) - centre) / (2.0 * curve), wanted)
