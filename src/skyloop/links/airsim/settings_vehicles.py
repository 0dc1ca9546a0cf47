"""Sensors and autopilots of a vehicle in settings.json, as sensors of a scenario and as the port of an autopilot."""

from __future__ import annotations

import math

from skyloop.links.airsim.options import ForeignAutopilot, SensorOptions
from skyloop.links.airsim.settings_reader import (
    BAROMETER,
    DISTANCE,
    GPS,
    IMU,
    LIDAR,
    MAGNETOMETER,
    RADAR,
    Keys,
    SettingsReader,
)
from skyloop.links.autopilots import ardupilot, px4
from skyloop.links.sockets import BAUD
from skyloop_client.errors import ScenarioError

DEFAULT_SENSORS: dict[str, Keys] = {
    "imu": {"SensorType": 2},
    "magnetometer": {"SensorType": 4},
    "gps": {"SensorType": 3},
    "barometer": {"SensorType": 1},
}
GRAVITY = 9.80665
TESLA_PER_GAUSS = 1e-4
IMU_HZ = 200.0
"""AirSim's IMU runs at the rate of the physics, but clients cannot read it that fast over RPC."""
OTHERS = {7: "Echo", 10: "UWB", 11: "WiFi"}
"""Sensors of Cosys-AirSim that skyloop lacks."""


def sensor_settings(
    reader: SettingsReader, sensors: Keys, where: str
) -> tuple[dict[str, Keys], dict[str, SensorOptions]]:
    """By the scenario's names, and by AirSim's names."""
    built: dict[str, Keys] = {}
    names: dict[str, SensorOptions] = {}
    for name, value in sensors.items():
        at = f"{where}.{name}"
        if not isinstance(value, dict):
            raise ScenarioError(f"{reader.source}: {at} must be a map of keys to values")
        kind = value.get("SensorType")
        if value.get("Enabled", True) is False:
            continue
        if kind in OTHERS:
            reader.warnings.append(f"{reader.source}: {at}: there is no sensor of type {OTHERS[kind]} here")
            continue
        if kind not in _MAKERS:
            raise ScenarioError(f"{reader.source}: {at}.SensorType is {kind!r}; give 1 to 6, 8 or 12")
        keys, stream_kind, make = _MAKERS[kind]
        own = reader.part(value, keys, at)
        slug = _slug(name, stream_kind, built)
        x, y, z = reader.numbers(own, "X Y Z", at)
        roll, pitch, yaw = reader.numbers(own, "Roll Pitch Yaw", at)
        mount = {"position": [x, -y, -z], "rotation_deg": [roll, -pitch, -yaw]}
        config = {"kind": stream_kind, "mount": mount, **make(reader, own, at)}
        built[slug] = {key: entry for key, entry in config.items() if entry is not None}
        local = str(own.get("DataFrame", "VehicleInertialFrame")) == "SensorLocalFrame"
        is_drawn = bool(own.get("DrawDebugPoints", False))
        names[name] = SensorOptions("gpu lidar" if kind == 8 else stream_kind, slug, local or kind == 8, is_drawn)
    return built, names


def _slug(name: str, kind: str, taken: Keys) -> str:
    letters = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in name.lower())
    slug = letters if letters[:1].isalpha() else f"{kind}_{letters}"
    k, free = 1, slug
    while free in taken:
        k += 1
        free = f"{slug}_{k}"
    return free


def _given(reader: SettingsReader, own: Keys, key: str, at: str, factor: float = 1.0) -> float | None:
    return factor * reader.number(own, key, 0.0, at) if key in own else None


def _imu(reader: SettingsReader, own: Keys, at: str) -> Keys:
    """AirSim's units are degrees per root hour, degrees per hour, milli-g per root Hz and micro-g."""
    gyro = _given(reader, own, "GyroBiasStability", at, math.radians(1.0) / 3600.0)
    accel = _given(reader, own, "AccelBiasStability", at, 1e-6 * GRAVITY)
    gyro_tau = reader.number(own, "GyroBiasStabilityTau", 500.0, at)
    accel_tau = reader.number(own, "AccelBiasStabilityTau", 800.0, at)
    return {
        "rate_hz": IMU_HZ,
        "preset": "mpu6000" if own.get("GenerateNoise", True) else "perfect",
        "gyro_noise_density": _given(reader, own, "AngularRandomWalk", at, math.radians(1.0) / 60.0),
        "gyro_random_walk": None if gyro is None else gyro / math.sqrt(gyro_tau),
        "accel_noise_density": _given(reader, own, "VelocityRandomWalk", at, 1e-3 * GRAVITY),
        "accel_random_walk": None if accel is None else accel / math.sqrt(accel_tau),
    }


def _gps(reader: SettingsReader, own: Keys, at: str) -> Keys:
    tau = "EPH_TimeConstant" if "EPH_TimeConstant" in own else "EphTimeConstant"
    final = reader.number(own, "EphFinal", 0.1, at), reader.number(own, "EpvFinal", 0.1, at)
    return {
        "rate_hz": reader.number(own, "UpdateFrequency", 50.0, at),
        "latency": reader.number(own, "UpdateLatency", 0.2, at),
        "preset": "airsim",
        "startup_delay": _given(reader, own, "StartupDelay", at),
        "acquisition_tau": _given(reader, own, tau, at),
        "reported_position_sd": list(final) if "EphFinal" in own or "EpvFinal" in own else None,
        "eph_3d": _given(reader, own, "EphMin3d", at),
        "eph_2d": _given(reader, own, "EphMin2d", at),
    }


def _barometer(reader: SettingsReader, own: Keys, at: str) -> Keys:
    return {
        "rate_hz": reader.number(own, "UpdateFrequency", 50.0, at),
        "latency": _given(reader, own, "UpdateLatency", at),
        "preset": "airsim",
        "factor_sd": _given(reader, own, "PressureFactorSigma", at),
        "factor_tau": _given(reader, own, "PressureFactorTau", at),
        "noise_sd": _given(reader, own, "UncorrelatedNoiseSigma", at),
    }


def _magnetometer(reader: SettingsReader, own: Keys, at: str) -> Keys:
    scale = _given(reader, own, "ScaleFactor", at)
    return {
        "rate_hz": reader.number(own, "UpdateFrequency", 50.0, at),
        "latency": _given(reader, own, "UpdateLatency", at),
        "preset": "hmc5883",
        "noise_sd": _given(reader, own, "NoiseSigma", at, TESLA_PER_GAUSS),
        # AirSim draws it uniformly within ± NoiseBias
        "turn_on_sd": _given(reader, own, "NoiseBias", at, TESLA_PER_GAUSS / math.sqrt(3.0)),
        "scale": None if scale is None else [scale] * 3,
    }


def _distance(reader: SettingsReader, own: Keys, at: str) -> Keys:
    return {
        "rate_hz": reader.number(own, "UpdateFrequency", 50.0, at),
        "latency": _given(reader, own, "UpdateLatency", at),
        "preset": "airsim",
        "min_range": _given(reader, own, "MinDistance", at),
        "max_range": _given(reader, own, "MaxDistance", at),
        "noise_sd": _given(reader, own, "UncorrelatedNoiseSigma", at),
    }


def _lidar(reader: SettingsReader, own: Keys, at: str) -> Keys:
    """AirSim's horizontal angles run clockwise from forward."""
    start = reader.number(own, "HorizontalFOVStart", 0.0, at)
    end = reader.number(own, "HorizontalFOVEnd", 359.0, at)
    lower = reader.number(own, "VerticalFOVLower", -45.0, at)
    upper = reader.number(own, "VerticalFOVUpper", -15.0, at)
    width = (end - start) % 360.0 or 360.0
    turns, channels = (
        reader.number(own, "RotationsPerSecond", 10.0, at),
        int(reader.number(own, "NumberOfChannels", 16, at)),
    )
    points = reader.number(own, "PointsPerSecond", 100_000.0, at)
    if "MeasurementsPerCycle" in own and "PointsPerSecond" not in own:
        # Cosys-AirSim counts the columns per turn
        points = reader.number(own, "MeasurementsPerCycle", 512, at) * channels * turns
    return {
        "rate_hz": turns,
        "preset": "airsim",
        "channels": channels,
        "range_noise_sd": (
            _given(reader, own, "MinNoiseStandardDeviation", at) if own.get("GenerateNoise", False) else None
        ),
        "max_range": _given(reader, own, "Range", at),
        "points_per_second": points,
        "horizontal_fov_deg": [-start - width, -start],
        "vertical_fov_deg": [min(lower, upper), max(lower, upper)],
    }


def _gpu_lidar(reader: SettingsReader, own: Keys, at: str) -> Keys:
    """Cosys-AirSim's LiDAR with intensities."""
    return {**_lidar(reader, own, at), "intensity": True}


def _radar(reader: SettingsReader, own: Keys, at: str) -> Keys:
    """A 60 GHz radar as AirLoop configures it. AirSim has none, so the number of its type is ours."""

    def count(key: str) -> int | None:
        return int(reader.number(own, key, 0.0, at)) if key in own else None

    return {
        "rate_hz": reader.number(own, "UpdateFrequency", 7.0, at),
        "preset": "bgt60tr13c-real" if own.get("GenerateNoise", False) else "bgt60tr13c",
        "horizontal_fov_deg": _given(reader, own, "HorizontalFOV", at),
        "width": count("Width"),
        "height": count("Height"),
        "n_chirps": count("NumberOfChirps"),
        "n_samples": count("NumberOfSamples"),
        "n_rx": count("NumberOfReceivers"),
        "bandwidth": _given(reader, own, "Bandwidth", at),
        "lower_frequency": _given(reader, own, "LowerFrequency", at),
        "chirp_duration": _given(reader, own, "ChirpDuration", at),
        "classes": own.get("Classes"),
    }


_MAKERS = {
    1: (BAROMETER, "barometer", _barometer),
    2: (IMU, "imu", _imu),
    3: (GPS, "gnss", _gps),
    4: (MAGNETOMETER, "magnetometer", _magnetometer),
    5: (DISTANCE, "rangefinder", _distance),
    6: (LIDAR, "lidar", _lidar),
    8: (LIDAR, "lidar", _gpu_lidar),
    12: (RADAR, "radar", _radar),
}


# ---- autopilots


KINDS = {"PX4Multirotor": "px4", "ArduCopter": "ardupilot"}


def foreign_autopilot(
    reader: SettingsReader, vehicle: Keys, kind: str, number: int, where: str
) -> ForeignAutopilot | None:
    """None for the built-in controller. `number` counts the earlier vehicles of the same kind."""
    if kind not in KINDS:
        return None
    host, lockstep = str(vehicle.get("LocalHostIp") or "127.0.0.1"), bool(vehicle.get("LockStep", True))
    if kind == "ArduCopter":
        usual = ardupilot.PORT + ardupilot.PORTS_APART * number
        port = _port(reader, vehicle, "ControlPort", usual, where)
        return ForeignAutopilot("ardupilot", host, port, lockstep=lockstep)
    if vehicle.get("Parameters"):
        reader.warnings.append(
            f"{reader.source}: {where}.Parameters are PX4's own; set them there, e.g. PX4_PARAM_NAME=value"
        )
    if vehicle.get("UseSerial", False):
        device = str(vehicle.get("SerialPort") or "*")
        if device == "*":
            raise ScenarioError(f"{reader.source}: {where}.SerialPort: name the board's device, e.g. /dev/ttyACM0")
        baud = int(reader.number(vehicle, "SerialBaudRate", BAUD, where))
        return ForeignAutopilot("px4-serial", device=device, baud=baud, lockstep=False)
    if vehicle.get("UseTcp", True) is False:
        reader.warnings.append(f"{reader.source}: {where}.UseTcp is false; PX4 is awaited on TCP all the same")
    port = _port(reader, vehicle, "TcpPort", px4.PORT + number, where)
    return ForeignAutopilot("px4", host, port, lockstep=lockstep)


def _port(reader: SettingsReader, vehicle: Keys, key: str, usual: int, where: str) -> int:
    port = reader.number(vehicle, key, usual, where)
    if not (0 <= port < 65536 and port == int(port)):
        raise ScenarioError(f"{reader.source}: {where}.{key} is {port:g}; give a port, or 0 for any free one")
    return int(port)
