"""Converts the sensors of settings.json into sensors of a scenario."""

from __future__ import annotations

import math
from typing import Any

from skyloop.links.airsim.options import SensorOptions
from skyloop.links.airsim.settings_keys import (
    BAROMETER,
    DISTANCE,
    GPS,
    IDLE_WITH_SENSORS,
    IMU,
    LIDAR,
    MAGNETOMETER,
    SENSOR,
)
from skyloop.links.airsim.settings_reader import Reader
from skyloop_client.errors import ScenarioError

DEFAULT_SENSORS: dict[str, dict[str, Any]] = {
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

Config = dict[str, Any]


def sensor_settings(
    reader: Reader, sensors: dict[str, Any], where: str
) -> tuple[dict[str, Config], dict[str, SensorOptions]]:
    """By the scenario's names, and by AirSim's names."""
    made: dict[str, Config] = {}
    names: dict[str, SensorOptions] = {}
    for name, value in sensors.items():
        at = f"{where}.{name}"
        if not isinstance(value, dict):
            raise ScenarioError(f"{reader.place}: {at} must be a map of keys to values")
        kind = value.get("SensorType")
        if value.get("Enabled", True) is False:
            continue
        if kind in OTHERS:
            reader.warnings.append(f"{reader.place}: {at}: there is no sensor of type {OTHERS[kind]} here")
            continue
        if kind not in _MAKERS:
            raise ScenarioError(f"{reader.place}: {at}.SensorType is {kind!r}; give 1 to 6, or 8")
        keys, stream_kind, make = _MAKERS[kind]
        own = reader.part(value, (*SENSOR, *keys), at, IDLE_WITH_SENSORS.get(stream_kind, ()))
        slug = _slug(name, stream_kind, made)
        x, y, z = reader.numbers(own, "X Y Z", at)
        roll, pitch, yaw = reader.numbers(own, "Roll Pitch Yaw", at)
        mount = {"position": [x, -y, -z], "rotation_deg": [roll, -pitch, -yaw]}
        config = {"kind": stream_kind, "mount": mount, **make(reader, own, at)}
        made[slug] = {key: entry for key, entry in config.items() if entry is not None}
        local = str(own.get("DataFrame", "VehicleInertialFrame")) == "SensorLocalFrame"
        is_drawn = bool(own.get("DrawDebugPoints", False))
        names[name] = SensorOptions("gpu lidar" if kind == 8 else stream_kind, slug, local or kind == 8, is_drawn)
    return made, names


def _slug(name: str, kind: str, taken: dict[str, Any]) -> str:
    letters = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in name.lower())
    slug = letters if letters[:1].isalpha() else f"{kind}_{letters}"
    k, free = 1, slug
    while free in taken:
        k += 1
        free = f"{slug}_{k}"
    return free


def _given(reader: Reader, own: Config, key: str, at: str, factor: float = 1.0) -> float | None:
    return factor * reader.number(own, key, 0.0, at) if key in own else None


def _imu(reader: Reader, own: Config, at: str) -> Config:
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


def _gps(reader: Reader, own: Config, at: str) -> Config:
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


def _barometer(reader: Reader, own: Config, at: str) -> Config:
    return {
        "rate_hz": reader.number(own, "UpdateFrequency", 50.0, at),
        "latency": _given(reader, own, "UpdateLatency", at),
        "preset": "ms5611",
        "factor_sd": _given(reader, own, "PressureFactorSigma", at),
        "factor_tau": _given(reader, own, "PressureFactorTau", at),
        "noise_sd": _given(reader, own, "UncorrelatedNoiseSigma", at),
    }


def _magnetometer(reader: Reader, own: Config, at: str) -> Config:
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


def _distance(reader: Reader, own: Config, at: str) -> Config:
    return {
        "rate_hz": reader.number(own, "UpdateFrequency", 50.0, at),
        "latency": _given(reader, own, "UpdateLatency", at),
        "preset": "airsim",
        "min_range": _given(reader, own, "MinDistance", at),
        "max_range": _given(reader, own, "MaxDistance", at),
        "noise_sd": _given(reader, own, "UncorrelatedNoiseSigma", at),
    }


def _lidar(reader: Reader, own: Config, at: str) -> Config:
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


def _gpu_lidar(reader: Reader, own: Config, at: str) -> Config:
    """Cosys-AirSim's LiDAR with intensities."""
    return {**_lidar(reader, own, at), "intensity": True}


_MAKERS = {
    1: (BAROMETER, "barometer", _barometer),
    2: (IMU, "imu", _imu),
    3: (GPS, "gnss", _gps),
    4: (MAGNETOMETER, "magnetometer", _magnetometer),
    5: (DISTANCE, "rangefinder", _distance),
    6: (LIDAR, "lidar", _lidar),
    8: (LIDAR, "lidar", _gpu_lidar),
}
