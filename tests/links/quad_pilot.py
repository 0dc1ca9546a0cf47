"""A small autopilot for peers in tests: NED and FRD throughout, as PX4 and ArduPilot have it, and none of our code."""

from __future__ import annotations

import math

GRAVITY = 9.80665
MASS = 1.535
INERTIA = (0.0300, 0.0295, 0.0564)
ARM_X, ARM_Y = 0.13, 0.21
TORQUE_RATIO = 0.06
THRUST_PER_SPEED_SQUARED = 5.84e-6
MAX_SPEED = 1100.0

# torque signs (roll right, nose up, yaw right) of motors 1 to 4: front right CCW, rear left CCW, front left CW, rear
# right CW; a rotor that turns anticlockwise pushes the body clockwise, to the right
SIGNS = ((-1, 1, 1), (1, -1, 1), (1, 1, -1), (-1, -1, -1))


class QuadPilot:
    """PD cascade of an iris: position to attitude to torques to throttles."""

    def __init__(self, target: tuple[float, float, float], yaw: float) -> None:
        self.target = target
        self.yaw_target = yaw
        self.position = [0.0, 0.0, 0.0]
        self.velocity = [0.0, 0.0, 0.0]
        self.roll = self.pitch = 0.0
        self.yaw = yaw

    def integrate_gyro(self, gyro: tuple[float, float, float], dt: float) -> None:
        """Euler angles from rates; good for a level vehicle that does not turn over."""
        p, q, r = gyro
        sr, cr, tp, cp = math.sin(self.roll), math.cos(self.roll), math.tan(self.pitch), math.cos(self.pitch)
        self.roll += dt * (p + tp * (q * sr + r * cr))
        self.pitch += dt * (q * cr - r * sr)
        self.yaw += dt * (q * sr + r * cr) / cp

    def set_attitude(self, w: float, x: float, y: float, z: float) -> None:
        """From ned_from_frd."""
        self.roll = math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
        self.pitch = math.asin(max(-1.0, min(1.0, 2 * (w * y - z * x))))
        self.yaw = math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))

    def throttles(self, gyro: tuple[float, float, float]) -> list[float]:
        wanted = [
            max(-3.0, min(3.0, 1.5 * (goal - at) - 2.0 * speed))
            for goal, at, speed in zip(self.target, self.position, self.velocity, strict=True)
        ]
        north, east, down = wanted
        forward = math.cos(self.yaw) * north + math.sin(self.yaw) * east
        right = -math.sin(self.yaw) * north + math.cos(self.yaw) * east
        thrust = MASS * (GRAVITY - down) / max(0.5, math.cos(self.roll) * math.cos(self.pitch))
        turn = (self.yaw_target - self.yaw + math.pi) % (2.0 * math.pi) - math.pi
        errors = (right / GRAVITY - self.roll, -forward / GRAVITY - self.pitch, turn)
        gains = ((60.0, 14.0), (60.0, 14.0), (8.0, 5.0))
        torque = [i * (p * e - d * w) for i, (p, d), e, w in zip(INERTIA, gains, errors, gyro, strict=True)]
        levers = (4.0 * ARM_Y, 4.0 * ARM_X, 4.0 * TORQUE_RATIO)
        outputs = []
        for signs in SIGNS:
            lift = thrust / 4.0 + sum(s * t / lever for s, t, lever in zip(signs, torque, levers, strict=True))
            outputs.append(min(1.0, math.sqrt(max(0.0, lift) / THRUST_PER_SPEED_SQUARED) / MAX_SPEED))
        return outputs
