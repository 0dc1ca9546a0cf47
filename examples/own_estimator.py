"""An estimator of your own: IMU, GNSS, barometer and magnetometer in a fixed-gain filter that a vehicle flies on.

It needs only numpy and skyloop_client, so the same file runs in the simulator's process and on a target."""

from collections import deque

import numpy as np

from skyloop_client.estimator import EstimatorSetup
from skyloop_client.messages import Array, Estimate, GnssFix, ImuSample, MagnetometerSample, Message, Number

UP = np.array([0.0, 0.0, 1.0])


class GnssIns:
    """The IMU predicts the state; all other sensors correct it. Its attributes hold its whole state."""

    def __init__(self, setup: EstimatorSetup, pull: float = 0.15, still_s: float = 1.0) -> None:
        """pull: gain on a GNSS innovation; still_s: s at rest before it starts."""
        self.imu, self.gnss = setup.infos["imu"], setup.infos["gnss"]
        self.pull, self.still_s = pull, still_s
        self.start = setup.start
        self.down = np.array([0.0, 0.0, -setup.start.gravity])
        self.body_from_imu = matrix(self.imu.mount.quat_wxyz)
        self.position, self.velocity = np.array(setup.start.position), np.zeros(3)
        self.quat, self.gyro_bias, self.rates = np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(3), np.zeros(3)
        self.at_rest: list[Array] = []
        self.field = np.zeros(3)
        self.aligned = False
        self.height_offset: float | None = None
        self.past: deque[tuple[int, Array, Array]] = deque(maxlen=400)
        self.t_ns, self.fix_ns, self.fix_sd = 0, -1, np.full(3, 1e3)

    def on_message(self, message: Message) -> object:
        """Gets every message of the inputs in order of arrival. Returns estimates."""
        data = message.data
        if isinstance(data, ImuSample):
            return self.on_imu(data)
        if isinstance(data, MagnetometerSample):
            self.field = data.field_tesla
            if self.aligned:
                self.turn(0.02 * self.heading_error() * UP)
        elif isinstance(data, GnssFix) and self.aligned and data.fix_type == 3:
            return self.on_fix(data)
        elif hasattr(data, "pressure"):
            self.on_height(data.altitude)
        return None

    def on_imu(self, sample: ImuSample) -> Estimate:
        gyro, force = self.body_from_imu @ sample.angular_velocity, self.body_from_imu @ sample.specific_force
        step, self.t_ns = (sample.t_ns - self.t_ns) * 1e-9, sample.t_ns
        if not self.aligned:
            self.align(gyro, force)
            return Estimate.unknown(sample.t_ns, "stands still to align")
        self.rates = gyro - self.gyro_bias
        self.quat = product(self.quat, small_turn(self.rates * step))
        acceleration = matrix(self.quat) @ force + self.down
        self.position = self.position + self.velocity * step + 0.5 * acceleration * step**2
        self.velocity = self.velocity + acceleration * step
        self.past.append((sample.t_ns, self.position, self.velocity))
        reason = "" if 0 <= sample.t_ns - self.fix_ns < 2_000_000_000 and self.fix_ns >= 0 else "no GNSS fix"
        sd = np.full(3, 0.2), np.full(3, 0.02)
        return Estimate(
            sample.t_ns, self.position, self.velocity, self.quat, self.rates, self.fix_sd, *sd, valid=not reason,
            gyro_bias=self.body_from_imu.T @ self.gyro_bias, reason=reason,
        )  # fmt: skip

    def align(self, gyro: Array, force: Array) -> None:
        """Level from the mean force at rest, heading from the magnetic field, gyro bias from the mean rate."""
        self.at_rest.append(np.concatenate([gyro, force]))
        if self.t_ns * 1e-9 < self.still_s or not self.field.any():
            return
        mean = np.mean(self.at_rest, axis=0)
        self.at_rest.clear()
        self.gyro_bias, up = mean[:3], mean[3:] / np.linalg.norm(mean[3:])
        self.quat = unit(np.array([1.0 + up @ UP, *np.cross(up, UP)]))
        self.turn(self.heading_error() * UP)
        self.aligned = True

    def on_fix(self, fix: GnssFix) -> list[object]:
        """Compare with the position at the fix's own instant, because a fix arrives late by the receiver's latency."""
        _, position, velocity = min(self.past, key=lambda row: abs(row[0] - fix.t_ns), default=(0, None, None))
        if position is None or velocity is None:
            return []
        off = self.enu(fix) - matrix(self.quat) @ self.gnss.mount.position - position
        too_slow = fix.velocity_enu - velocity
        off[2] = 0.0  # the height comes from the barometer
        self.fix_ns, self.fix_sd = fix.t_ns, np.array([fix.horizontal_sd, fix.horizontal_sd, 1.0])
        self.position = self.position + self.pull * off
        self.velocity = self.velocity + self.pull * too_slow
        # a tilt error makes gravity look like acceleration, so a growing velocity error reveals it
        tilt = 0.1 * self.pull * np.cross(-self.down, too_slow) / self.start.gravity**2
        self.turn(tilt)
        self.gyro_bias = self.gyro_bias - 0.05 * matrix(self.quat).T @ tilt
        return [("gnss_innovation", Number(fix.t_ns, float(np.hypot(*off[:2])), "m"))]

    def on_height(self, altitude: float) -> None:
        """The zero of the pressure altitude is arbitrary. It is set at rest on the ground."""
        if not self.aligned:
            self.height_offset = altitude - self.start.position[2]
        elif self.height_offset is not None:
            off = altitude - self.height_offset - self.position[2]
            self.position = self.position + 0.05 * off * UP
            self.velocity = self.velocity + 0.05 * off * UP

    def heading_error(self) -> float:
        """rad about up that brings the measured magnetic field onto the known one."""
        seen, known = matrix(self.quat) @ self.field, self.start.magnetic_field_world
        return float(np.arctan2(seen[0] * known[1] - seen[1] * known[0], seen[:2] @ known[:2]))

    def turn(self, world: Array) -> None:
        """Rotate by a rotation vector, rad, world axes."""
        self.quat = product(small_turn(world), self.quat)

    def enu(self, fix: GnssFix) -> Array:
        """m from home, accurate to millimetres within some hundred metres."""
        sine = np.sin(np.radians(self.start.latitude_deg))
        curve = 1.0 - 6.69437999014e-3 * sine**2
        across = 6378137.0 / np.sqrt(curve) + self.start.altitude
        along = 6378137.0 * (1.0 - 6.69437999014e-3) / curve**1.5 + self.start.altitude
        north = along * np.radians(fix.latitude_deg - self.start.latitude_deg)
        east = across * np.sqrt(1.0 - sine**2) * np.radians(fix.longitude_deg - self.start.longitude_deg)
        return np.array([east, north, fix.altitude - self.start.altitude])


def unit(quat: Array) -> Array:
    return quat / np.linalg.norm(quat)


def small_turn(rotation: Array) -> Array:
    return unit(np.array([1.0, *(0.5 * rotation)]))


def product(a: Array, b: Array) -> Array:
    w, v = a[0] * b[0] - a[1:] @ b[1:], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])
    return unit(np.array([w, *v]))


def matrix(quat: Array) -> Array:
    """The rotation matrix of a quaternion."""
    w, x, y, z = quat
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + 2.0 * w * cross + 2.0 * cross @ cross
