"""Exact trajectories, the sensor messages a vehicle on them would send, and the EKF's errors along them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.signal import lfilter
from scipy.spatial.transform import Rotation

from skyloop.core.frames import GeoPoint, LocalFrame
from skyloop.vehicle.estimation.ekf import EkfConfig
from skyloop.vehicle.estimation.localisation import EkfLocaliser
from skyloop_client.messages import Array, BarometerSample, Estimate, GnssFix, ImuSample, MagnetometerSample, Message
from skyloop_client.streams import Mount, Rate, StreamInfo

HOME = GeoPoint(22.3, 114.2, 40.0)
FIELD = np.array([-1.9e-6, 37.6e-6, -24.5e-6])
GRAVITY = 9.80665
UP_FORCE = np.array([0.0, 0.0, GRAVITY])
IMU_HZ, GNSS_HZ, BARO_HZ, MAG_HZ = 200, 10, 25, 20
GNSS_LATENCY = 0.12
MPU6000 = {
    "gyro_noise_density": 8.73e-5,
    "gyro_random_walk": 9.97e-7,
    "accel_noise_density": 2.354e-3,
    "accel_random_walk": 1.25e-5,
    "gyro_turn_on_sd": 0.0,
    "accel_turn_on_sd": 0.0,
}
COARSE = {**MPU6000, "gyro_turn_on_sd": 0.0087, "accel_turn_on_sd": 0.196}


# ---- trajectories: position and yaw as functions of time, at rest until t = 3 s


def smooth(u: Array) -> Array:
    """0 to 1 with three continuous derivatives."""
    u = np.clip(u, 0.0, 1.0)
    return u**4 * (35.0 - 84.0 * u + 70.0 * u**2 - 20.0 * u**3)


def hover(t: Array) -> tuple[Array, Array]:
    height = 5.0 * smooth((t - 3.0) / 4.0)
    return np.stack([np.full_like(t, 2.0), np.full_like(t, -1.0), height], axis=-1), np.full_like(t, 0.7)


def circle(t: Array) -> tuple[Array, Array]:
    """Radius 10 m at 5 m/s, reached within 6 s, nose along the track, climbing to 8 m."""
    u = np.clip((t - 3.0) / 6.0, 0.0, 1.0)
    ramp = 6.0 * (7.0 * u**5 - 14.0 * u**6 + 10.0 * u**7 - 2.5 * u**8)  # the integral of smooth()
    angle = 0.5 * (ramp + np.maximum(t - 9.0, 0.0))
    position = np.stack([10.0 * np.sin(angle), 10.0 - 10.0 * np.cos(angle), 8.0 * smooth((t - 3.0) / 5.0)], axis=-1)
    return position, angle


Trajectory = Callable[[Array], tuple[Array, Array]]


def acceleration(trajectory: Trajectory, t: Array, h: float = 1e-3) -> Array:
    return (trajectory(t + h)[0] - 2.0 * trajectory(t)[0] + trajectory(t - h)[0]) / h**2


def attitude(trajectory: Trajectory, t: Array) -> Rotation:
    """A quadrotor's: up along the specific force, heading along yaw."""
    up = acceleration(trajectory, t) + UP_FORCE
    up /= np.linalg.norm(up, axis=-1, keepdims=True)
    yaw = trajectory(t)[1]
    left = np.cross(up, np.stack([np.cos(yaw), np.sin(yaw), 0.0 * yaw], axis=-1))
    left /= np.linalg.norm(left, axis=-1, keepdims=True)
    return Rotation.from_matrix(np.stack([np.cross(left, up), left, up], axis=-1))


def rates(trajectory: Trajectory, t: Array, h: float = 1e-3) -> Array:
    turn = attitude(trajectory, t - h).inv() * attitude(trajectory, t + h)
    return turn.as_rotvec() / (2.0 * h)


# ---- sensors


@dataclass
class Sensors:
    """Streams of one flight; faults are edits of the arrays before the messages are made."""

    trajectory: Trajectory
    duration: float
    seed: int
    details: dict[str, float] = field(default_factory=lambda: dict(MPU6000))
    imu_mount: Mount = field(default_factory=Mount)
    antenna: Array = field(default_factory=lambda: np.zeros(3))
    magnetometer_mount: Mount = field(default_factory=Mount)

    def __post_init__(self) -> None:
        rng = np.random.default_rng(self.seed)
        details, n = self.details, int(self.duration * IMU_HZ)
        self.t = np.arange(n) / IMU_HZ
        lever, self.body_from_imu = self.imu_mount.position, rotation(self.imu_mount.quat_wxyz)
        self.rates = rates(self.trajectory, self.t)
        self.attitude = attitude(self.trajectory, self.t)
        h = 1e-3
        spin = (rates(self.trajectory, self.t + h) - rates(self.trajectory, self.t - h)) / (2.0 * h)
        force = self.attitude.inv().apply(acceleration(self.trajectory, self.t) + UP_FORCE)
        force += np.cross(spin, lever) + np.cross(self.rates, np.cross(self.rates, lever))

        def walk(density: float, turn_on: float) -> Array:
            steps = rng.normal(0.0, density / np.sqrt(IMU_HZ), (n, 3))
            return turn_on * rng.normal(size=3) + np.cumsum(steps, axis=0)

        self.gyro_bias = walk(details["gyro_random_walk"], details["gyro_turn_on_sd"])
        self.accel_bias = walk(details["accel_random_walk"], details["accel_turn_on_sd"])
        noise = rng.normal(0.0, np.sqrt(IMU_HZ), (2, n, 3))
        into_sensor = self.body_from_imu.inv().apply
        self.gyro = into_sensor(self.rates) + self.gyro_bias + details["gyro_noise_density"] * noise[0]
        self.accel = into_sensor(force) + self.accel_bias + details["accel_noise_density"] * noise[1]
        self._make_gnss(rng)
        self._make_others(rng)
        self.imu_lost = np.zeros(n, dtype=bool)

    def _make_gnss(self, rng: np.random.Generator) -> None:
        n = int(self.duration * GNSS_HZ)
        self.gnss_t = np.arange(n) / GNSS_HZ
        decay = np.exp(-1.0 / (GNSS_HZ * 30.0))  # 1 m (1.5 m up) of error, correlated over 30 s
        drive = rng.normal(size=(n, 3)) * np.sqrt(1.0 - decay**2)
        drive[0] /= np.sqrt(1.0 - decay**2)
        slow = lfilter([1.0], [1.0, -decay], drive, axis=0) * [1.0, 1.0, 1.5]
        self.gnss_position = self._antenna(self.gnss_t) + slow + rng.normal(0.0, 0.1, (n, 3))
        velocity = (self._antenna(self.gnss_t + 1e-3) - self._antenna(self.gnss_t - 1e-3)) / 2e-3
        self.gnss_velocity = velocity + rng.normal(0.0, 0.1, (n, 3))
        self.fix_type = np.full(n, 3)

    def _antenna(self, t: Array) -> Array:
        return self.trajectory(t)[0] + attitude(self.trajectory, t).apply(self.antenna)

    def _make_others(self, rng: np.random.Generator) -> None:
        n = int(self.duration * BARO_HZ)
        self.baro_t = np.arange(n) / BARO_HZ
        drift = np.cumsum(rng.normal(0.0, 0.05 / np.sqrt(BARO_HZ), n))
        self.baro = self.trajectory(self.baro_t)[0][:, 2] + 63.0 + drift + rng.normal(0.0, 0.25, n)
        self.mag_t = np.arange(int(self.duration * MAG_HZ)) / MAG_HZ
        sensor_from_world = (attitude(self.trajectory, self.mag_t) * rotation(self.magnetometer_mount.quat_wxyz)).inv()
        self.mag = sensor_from_world.apply(FIELD) + rng.normal(0.0, 5e-7, (len(self.mag_t), 3))

    def infos(self) -> dict[str, StreamInfo]:
        latency = round(GNSS_LATENCY * 1e9)
        return {
            "a/imu": StreamInfo("a/imu", "ImuSample", Rate(IMU_HZ), mount=self.imu_mount, details=self.details),
            "a/gnss": StreamInfo(
                "a/gnss", "GnssFix", Rate(GNSS_HZ), latency_ns=latency, mount=Mount(position=self.antenna)
            ),
            "a/barometer": StreamInfo("a/barometer", "BarometerSample", Rate(BARO_HZ)),
            "a/magnetometer": StreamInfo(
                "a/magnetometer", "MagnetometerSample", Rate(MAG_HZ), mount=self.magnetometer_mount
            ),
        }

    def messages(self) -> Iterator[Message]:
        """In order of arrival."""
        frame = LocalFrame(HOME)
        rows: list[tuple[float, str, int]] = []
        rows += [(t, "imu", i) for i, t in enumerate(self.t.tolist()) if not self.imu_lost[i]]
        rows += [(t + GNSS_LATENCY, "gnss", i) for i, t in enumerate(self.gnss_t.tolist())]
        rows += [(t, "barometer", i) for i, t in enumerate(self.baro_t.tolist())]
        rows += [(t, "magnetometer", i) for i, t in enumerate(self.mag_t.tolist())]
        fixes = frame.geodetic_array_from_enu(self.gnss_position)
        for arrival, kind, i in sorted(rows):
            data: Any
            if kind == "imu":
                data = ImuSample(_ns(arrival), self.gyro[i], self.accel[i])
            elif kind == "gnss":
                latitude, longitude, altitude = fixes[i].tolist()
                data = GnssFix(
                    _ns(arrival - GNSS_LATENCY), latitude, longitude, altitude, self.gnss_velocity[i], self.fix_type[i],
                    hdop=1.0, vdop=1.5, satellites=10, horizontal_sd=1.0, vertical_sd=1.5, speed_sd=0.1,
                )  # fmt: skip
            elif kind == "barometer":
                data = BarometerSample(_ns(arrival), 1e5, float(self.baro[i]), 288.0)
            else:
                data = MagnetometerSample(_ns(arrival), self.mag[i])
            yield Message(f"a/{kind}", i, data.t_ns, _ns(arrival), data)


def _ns(t: float) -> int:
    return round(t * 1e9)


def rotation(quat_wxyz: Array) -> Rotation:
    return Rotation.from_quat(quat_wxyz, scalar_first=True)


# ---- flights


@dataclass
class Flight:
    """Errors (estimate minus truth) at every estimate."""

    t: Array
    position: Array
    velocity: Array
    attitude: Array
    """Rotation vector, world axes."""
    rates: Array
    sd: Array
    """(n, 9) position, velocity, attitude."""
    valid: Array
    localiser: EkfLocaliser

    def after(self, start: float, end: float = np.inf) -> Flight:
        keep = (self.t >= start) & (self.t < end)
        names = ("t", "position", "velocity", "attitude", "rates", "sd", "valid")
        return replace(self, **{name: getattr(self, name)[keep] for name in names})

    def nees(self) -> Array:
        """(3,) mean of error² over variance, of position, velocity, attitude: 1 when consistent."""
        errors = np.concatenate([self.position, self.velocity, self.attitude], axis=1)
        return ((errors / self.sd) ** 2).mean(axis=0).reshape(3, 3).mean(axis=1)


def rms(errors: Array) -> float:
    """Of the vector's length."""
    return float(np.sqrt((errors**2).sum(axis=-1).mean()))


def fly(sensors: Sensors, localiser: EkfLocaliser | None = None) -> Flight:
    localiser = localiser or EkfLocaliser(EkfConfig(), sensors.infos(), HOME, FIELD)
    estimates: list[Estimate] = [
        estimate for message in sensors.messages() if (estimate := localiser.on_message(message)) is not None
    ]
    t = np.array([e.t_ns for e in estimates]) * 1e-9
    rows = np.round(t * IMU_HZ).astype(int)
    truth = sensors.attitude[rows]
    turned = rotation(np.array([e.quat_wxyz for e in estimates])) * truth.inv()
    velocity = (sensors.trajectory(t + 1e-4)[0] - sensors.trajectory(t - 1e-4)[0]) / 2e-4
    return Flight(
        t,
        np.array([e.position for e in estimates]) - sensors.trajectory(t)[0],
        np.array([e.velocity_world for e in estimates]) - velocity,
        turned.as_rotvec(),
        np.array([e.angular_velocity_body for e in estimates]) - sensors.rates[rows],
        np.array([np.concatenate([e.position_sd, e.velocity_sd, e.attitude_sd]) for e in estimates]),
        np.array([e.valid for e in estimates]),
        localiser,
    )
