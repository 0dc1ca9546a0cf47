"""ArduPilot's JSON interface: decodes servo packets and encodes the line of sensor data.

ArduPilot's parser searches for substrings. It needs compact JSON in a fixed order, and no key may contain the name of a
later one."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from skyloop.core.frames import frd_from_flu, ned_from_enu
from skyloop.links.autopilots.motor_handover import ned_quat
from skyloop_client.messages import Array, BatteryState, VehicleState

CHANNELS = {18458: 16, 29569: 32}
"""By magic number."""
HEADER = struct.Struct("<HHI")
LOWEST, HIGHEST = 1000.0, 2000.0
"""µs at which a motor stops and runs at full speed."""
RANGEFINDERS = 6


@dataclass(frozen=True, slots=True)
class Servos:
    rate_hz: int
    """The step rate that ArduPilot asks for."""
    count: int
    """0 at its start. A repeated packet has the same count."""
    pwm: Array
    """(16 or 32,) µs. 0: no pulse."""

    @property
    def throttle(self) -> Array:
        """(16 or 32,) 0..1."""
        return np.clip((self.pwm - LOWEST) / (HIGHEST - LOWEST), 0.0, 1.0)


def servos_from(data: bytes) -> Servos | None:
    """None if this is not a servo packet."""
    if len(data) < HEADER.size:
        return None
    magic, rate, count = HEADER.unpack_from(data)
    channels = CHANNELS.get(magic)
    if channels is None or len(data) != HEADER.size + 2 * channels:
        return None
    return Servos(rate, count, np.frombuffer(data, "<u2", offset=HEADER.size).astype(np.float64))


def line_from(
    t_ns: int,
    truth: VehicleState,
    specific_force: Array,
    battery: BatteryState,
    ranges: Sequence[float] = (),
    *,
    no_lockstep: bool = False,
) -> bytes:
    """One line of sensor data. NaN ranges are left out, and so is the battery if the airframe has none."""
    fields: dict[str, object] = {
        "timestamp": t_ns / 1e9,
        "imu": {
            "gyro": _plain(frd_from_flu(truth.angular_velocity_body)),
            "accel_body": _plain(frd_from_flu(specific_force)),
        },
        "position": _plain(ned_from_enu(truth.position)),
        "quaternion": [round(value, 9) for value in ned_quat(truth.quat_wxyz)],
        "velocity": _plain(ned_from_enu(truth.velocity_world)),
    }
    for number, distance in enumerate(ranges[:RANGEFINDERS], 1):
        if math.isfinite(distance):
            fields[f"rng_{number}"] = round(distance, 6)
    if battery.voltage > 0.0:
        fields["battery"] = {"voltage": round(battery.voltage, 6), "current": round(battery.current, 6)}
    if no_lockstep:
        fields["no_lockstep"] = 1
    return b"\n" + json.dumps(fields, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def _plain(values: Array) -> list[float]:
    return [round(value, 9) for value in values.tolist()]
