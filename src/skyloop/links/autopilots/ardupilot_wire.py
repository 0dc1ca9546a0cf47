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

from skyloop.core.frames import frd_from_flu, ned_from_enu, rotate_inverse
from skyloop.links.autopilots.motor_handover import ned_quat, orientation_of
from skyloop_client.messages import Array, BatteryState, RangeSample, VehicleState
from skyloop_client.streams import Mount

CHANNELS = {18458: 16, 29569: 32}
"""By magic number."""
HEADER = struct.Struct("<HHI")
LOWEST, HIGHEST = 1000.0, 2000.0
"""µs at which a motor stops and runs at full speed."""
RANGEFINDERS = 6
FARTHEST, NOTHING_SEEN = 300.0, 10_000.0
"""m: ArduPilot is told that its rangefinders reach so far, and what is sent for one that sees nothing."""


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
    ranges: Sequence[RangeSample | None] = (),
    *,
    no_lockstep: bool = False,
) -> bytes:
    """One line of sensor data. The battery is left out if the airframe has none.

    A rangefinder that sees nothing is sent as beyond its range, because ArduPilot keeps the last value of what is left
    out; one that stands too near is sent as 0."""
    wind = ned_from_enu(truth.wind_world)
    through_air = ned_from_enu(truth.velocity_world) - wind
    forward, right, _ = frd_from_flu(rotate_inverse(truth.quat_wxyz, truth.velocity_world - truth.wind_world)).tolist()
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
    for number, sample in enumerate(ranges[:RANGEFINDERS], 1):
        if sample is not None:
            fields[f"rng_{number}"] = (
                NOTHING_SEEN if math.isnan(sample.distance) else round(max(sample.distance, 0.0), 6)
            )
    # after velocity, whose name is a part of this one's
    fields["velocity_wind"] = _plain(wind)
    # as it blows on the vehicle: 0 from the front, then clockwise
    fields["windvane"] = {
        "direction": round(math.atan2(right, forward), 6),
        "speed": round(math.hypot(forward, right), 6),
    }
    fields["airspeed"] = round(float(np.linalg.norm(through_air)), 6)
    if battery.voltage > 0.0:
        fields["battery"] = {"voltage": round(battery.voltage, 6), "current": round(battery.current, 6)}
    if no_lockstep:
        fields["no_lockstep"] = 1
    return b"\n" + json.dumps(fields, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def _plain(values: Array) -> list[float]:
    return [round(value, 9) for value in values.tolist()]


def rangefinder_parameters(mounts: Sequence[Mount]) -> dict[str, float]:
    """ArduPilot's parameters for rangefinders whose distances come over this interface."""
    found: dict[str, float] = {}
    for number, mount in enumerate(mounts[:RANGEFINDERS], 1):
        own = f"RNGFND{number}_"
        # MAX since ArduPilot 4.7, MAX_CM before
        found |= {f"{own}TYPE": 100, f"{own}ORIENT": orientation_of(mount), f"{own}MAX": FARTHEST}
        found[f"{own}MAX_CM"] = 100.0 * FARTHEST
    return found
