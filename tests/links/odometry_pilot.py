"""PX4's side of the wire without GNSS: it flies on ODOMETRY and the gyroscope, and knows nothing of our code.

A real PX4 has an EKF that fuses ODOMETRY with its IMU. This stand-in takes position, velocity and attitude from each
message as they are, and turns the attitude on with the gyroscope until the next one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from px4_peer import Peer
from quad_pilot import QuadPilot

TIMEOUT_US = 400_000
"""After which PX4's EKF stops to use vision."""
SINK = 0.5
"""m/s, at which it goes down without ODOMETRY."""


def turned(q: Sequence[float], v: Sequence[float]) -> list[float]:
    w, x, y, z = q
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    return [sum(a * b for a, b in zip(row, v, strict=True)) for row in rows]


def on_odometry(way: Sequence[tuple[float, tuple[float, float, float]]]) -> Callable[..., None]:
    """way: from which second on, which place, in local axes forward, right, down. It arms with the first of them."""
    pilot = QuadPilot((0.0, 0.0, 0.0), 0.0)
    memory: dict[str, int] = {"t": 0, "seen": -1}

    def listen(message: Any) -> None:
        pilot.position = [message.x, message.y, message.z]
        pilot.velocity = turned(message.q, (message.vx, message.vy, message.vz))
        pilot.set_attitude(*message.q)
        memory["seen"] = memory["t"]

    def answer(peer: Peer, message: Any) -> None:
        kind = message.get_type()
        assert kind not in ("HIL_GPS", "HIL_STATE_QUATERNION"), "it must not know its position from anything else"
        if kind == "ODOMETRY":
            listen(message)
        if kind != "HIL_SENSOR":
            return
        t_us = message.time_usec
        gyro = (message.xgyro, message.ygyro, message.zgyro)
        if memory["t"]:
            pilot.integrate_gyro(gyro, (t_us - memory["t"]) * 1e-6)
        memory["t"] = t_us
        begun = [place for second, place in way if t_us >= second * 1e6]
        armed = bool(begun) and memory["seen"] >= 0
        if begun:
            pilot.target = begun[-1]
        if t_us - memory["seen"] > TIMEOUT_US:
            # no position any more: level, and down
            pilot.target, pilot.position, pilot.velocity = (0.0, 0.0, 0.0), [0.0] * 3, [0.0, 0.0, -SINK]
        peer.actuate(t_us, pilot.throttles(gyro) if armed else [], armed=armed)

    return answer
