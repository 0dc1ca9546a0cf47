"""Reads the JSON of a settings.json, and knows all keys that AirSim reads, to report misspelt and ineffective ones."""

from __future__ import annotations

import json
import re
from typing import Any

from skyloop.links.airsim.pixels import NOISE_KEYS
from skyloop_client.errors import ScenarioError, nearest_name

POSE = ("X", "Y", "Z", "Roll", "Pitch", "Yaw")
ROOT = (
    "SettingsVersion", "SimMode", "ClockType", "ClockSpeed", "LocalHostIp", "ApiServerPort", "RecordUIVisible",
    "LogMessagesVisible", "ShowLosDebugLines", "ViewMode", "RpcEnabled", "EnableRpc", "EngineSound",
    "PhysicsEngineName", "SpeedUnitFactor", "SpeedUnitLabel", "Wind", "OriginGeopoint", "TimeOfDay", "Recording",
    "CameraDirector", "CameraDefaults", "SegmentationSettings", "SubWindows", "PawnPaths", "Vehicles",
    "ExternalCameras", "DefaultSensors", "SeeDocsAt", "see_docs_at", "Weather", "MaterialListFile", "Annotation",
    "InitialInstanceSegmentation", "MoveWorldOrigin", "Beacons", "PassiveEchoBeacons",
)  # fmt: skip
"""The last few belong to Cosys-AirSim."""
VEHICLE = (
    "VehicleType", "DefaultVehicleState", "AutoCreate", "PawnPath", "EnableCollisionPassthrogh",
    "EnableCollisionPassthrough", "EnableCollisions", "AllowAPIAlways", "EnableTrace", "IsFpvVehicle", "RC", "Cameras",
    "Sensors", *POSE, "Model", "Logs", "SerialPort", "SerialBaudRate", "UseSerial", "UseTcp", "TcpPort", "LockStep",
    "Parameters", "UdpIp", "UdpPort", "ControlIp", "ControlPort", "ControlPortLocal", "ControlPortRemote", "SitlIp",
    "SitlPort", "LocalHostIp", "QgcHostIp", "QgcPort", "LogViewerHostIp", "LogViewerPort", "LogViewerSendPort",
    "SimSysID", "SimCompID", "VehicleSysID", "VehicleCompID", "OffboardSysID", "OffboardCompID", "BarometerSettings",
)  # fmt: skip
CAMERA = (
    "CaptureSettings", "NoiseSettings", "Gimbal", *POSE, "UnrealEngine", "External", "ExternalLocal", "DrawSensor",
)  # fmt: skip
CAPTURE = (
    "ImageType", "Width", "Height", "FOV_Degrees", "AutoExposureSpeed", "AutoExposureBias",
    "AutoExposureMaxBrightness", "AutoExposureMinBrightness", "MotionBlurAmount", "TargetGamma", "ProjectionMode",
    "OrthoWidth", "AutoExposureMethod", "AutoExposureCompensation", "AutoExposureHistogramLogMin",
    "AutoExposureHistogramLogMax", "LumenGIEnable", "LumenReflectionEnable", "LumenFinalQuality",
    "LumenSceneDetail", "LumenSceneLightningDetail", "ChromaticAberrationScale", "IgnoreMarked", "MotionBlurMax",
)  # fmt: skip
NOISE = ("Enabled", "ImageType", *NOISE_KEYS)
SEGMENTATION = ("InitMethod", "MeshNamingMethod", "OverrideExisting")
ANNOTATION = ("Name", "Type", "Default", "SetDirect", "TexturePath", "TexturePrefix", "ViewDistance", "ShowByDefault")
GIMBAL = ("Stabilization", "Pitch", "Roll", "Yaw")
RECORDING = ("RecordOnMove", "RecordInterval", "Folder", "Enabled", "Cameras")
TIME_OF_DAY = ("Enabled", "StartDateTime", "CelestialClockSpeed", "StartDateTimeDst", "UpdateIntervalSecs", "MoveSun")
SENSOR = ("SensorType", "Enabled", *POSE)
IMU = (
    "AngularRandomWalk", "GyroBiasStabilityTau", "GyroBiasStability", "VelocityRandomWalk", "AccelBiasStabilityTau",
    "AccelBiasStability", "GenerateNoise",
)  # fmt: skip
GPS = (
    "EPH_TimeConstant", "EPV_TimeConstant", "EphTimeConstant", "EpvTimeConstant", "EphInitial", "EpvInitial",
    "EphFinal", "EpvFinal", "EphMin3d", "EphMin2d", "UpdateLatency", "UpdateFrequency", "StartupDelay", "GenerateNoise",
)  # fmt: skip
BAROMETER = (
    "PressureFactorSigma", "PressureFactorTau", "UncorrelatedNoiseSigma", "UpdateLatency", "UpdateFrequency",
    "StartupDelay",
)  # fmt: skip
MAGNETOMETER = ("NoiseSigma", "ScaleFactor", "NoiseBias", "UpdateLatency", "UpdateFrequency", "StartupDelay")
DISTANCE = (
    "MinDistance", "MaxDistance", "UncorrelatedNoiseSigma", "UpdateLatency", "UpdateFrequency", "StartupDelay",
    "DrawDebugPoints", "ExternalController",
)  # fmt: skip
LIDAR = (
    "NumberOfChannels", "Range", "PointsPerSecond", "RotationsPerSecond", "HorizontalFOVStart", "HorizontalFOVEnd",
    "VerticalFOVUpper", "VerticalFOVLower", "DataFrame", "ExternalController", "DrawDebugPoints", "External",
    "UpdateFrequency", "MeasurementsPerCycle", "GenerateNoise", "MinNoiseStandardDeviation", "NoiseDistanceScale",
    "DrawSensor", "RandomSeed", "Limit", "limit_points", "Resolution", "IgnoreMarked", "DrawMode", "GenerateIntensity",
    "RangeMaxLambertianPercentage", "RainMaxIntensity", "RainConstantA", "RainConstantB", "GenerateGroundTruth",
    "rangeMaxLambertianPercentage", "rainMaxIntensity", "rainConstantA", "rainConstantB", "GroundTruth",
    "ExternalLocal",
)  # fmt: skip
"""The last six are as the example settings of Cosys-AirSim spell them."""

IDLE = frozenset((
    # of Unreal's window, sound and engine
    "ClockType", "RecordUIVisible", "LogMessagesVisible", "ShowLosDebugLines", "ViewMode", "RpcEnabled", "EnableRpc",
    "EngineSound", "PhysicsEngineName", "SpeedUnitFactor", "SpeedUnitLabel", "CameraDirector", "MeshNamingMethod",
    "OverrideExisting", "SubWindows", "PawnPaths", "Weather", "MaterialListFile", "InitialInstanceSegmentation",
    "MoveWorldOrigin", "Beacons", "PassiveEchoBeacons",
    # of vehicles
    "PawnPath", "EnableCollisionPassthrogh", "EnableCollisionPassthrough", "AllowAPIAlways", "IsFpvVehicle", "RC",
    # of cameras
    "UnrealEngine", "External", "ExternalLocal", "OrthoWidth", "AutoExposureMethod", "AutoExposureHistogramLogMin",
    "AutoExposureHistogramLogMax", "LumenGIEnable", "LumenReflectionEnable", "LumenFinalQuality", "LumenSceneDetail",
    "LumenSceneLightningDetail", "ChromaticAberrationScale", "IgnoreMarked", "MotionBlurMax",
    # of sensors
    "EPV_TimeConstant", "EpvTimeConstant", "EphInitial", "EpvInitial", "ExternalController",
    "NoiseDistanceScale", "DrawSensor", "RandomSeed", "Limit", "limit_points", "Resolution", "DrawMode",
    "GenerateIntensity", "RangeMaxLambertianPercentage", "RainMaxIntensity", "RainConstantA", "RainConstantB",
    "GenerateGroundTruth", "rangeMaxLambertianPercentage", "rainMaxIntensity", "rainConstantA", "rainConstantB",
    "GroundTruth",
))  # fmt: skip
"""Keys that are read but have no effect; docs/how-to/airsim.md lists them."""
IDLE_WITH_SENSORS = {
    "barometer": ("StartupDelay",), "magnetometer": ("StartupDelay",), "rangefinder": ("StartupDelay",),
    "gnss": ("GenerateNoise",), "lidar": ("UpdateFrequency",),
}  # fmt: skip
"""Keys that have an effect only with sensors of other kinds."""


# ---- reading


Keys = dict[str, Any]
"""A map of a settings.json. Its values are checked where they are read."""


class SettingsReader:
    """One pass over a settings.json."""

    def __init__(self, text: str, place: str) -> None:
        self.place, self.warnings = place, list[str]()
        self._idle: dict[str, None] = {}
        """Keys without an effect, in the order they came."""
        try:
            data = json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE)) if text.strip() else {}
        except ValueError as error:
            raise ScenarioError(f"{place} is no JSON: {error}") from None
        if not isinstance(data, dict):
            raise ScenarioError(f"{place}: settings are a map of keys to values")
        self.root: Keys = data

    def part(self, value: object, known: tuple[str, ...], where: str, idle: tuple[str, ...] = ()) -> Keys:
        """A map without NaN values, which AirSim treats as not given. Unknown keys give a warning."""
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise ScenarioError(f"{self.place}: {where} must be a map of keys to values")
        for key in value:
            if key not in known:
                at = f"{where}.{key}" if where else key
                line = f"{self.place}: unknown key '{at}'; {nearest_name(key, known)}"
                # the defaults of cameras are read once per camera
                if line not in self.warnings:
                    self.warnings.append(line)
            elif (key in IDLE or key in idle) and not _is_blank(value[key]):
                self.idle(key)
        return {key: entry for key, entry in value.items() if entry == entry}

    def idle(self, key: str) -> None:
        """Warn that this key has no effect."""
        self._idle[key] = None

    def all_warnings(self) -> list[str]:
        if self._idle:
            return [*self.warnings, f"{self.place}: these keys change nothing here: {', '.join(self._idle)}"]
        return self.warnings

    def number(self, data: Keys, key: str, default: float, where: str) -> float:
        value = data.get(key, default)
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = float("nan")
        if not -1e12 < number < 1e12:
            raise ScenarioError(f"{self.place}: {where}.{key} is {value!r}; give a number")
        return number

    def numbers(self, data: Keys, keys: str, where: str) -> tuple[float, float, float]:
        x, y, z = (self.number(data, key, 0.0, where) for key in keys.split())
        return x, y, z


def _is_blank(value: object) -> bool:
    return value in ("", None, {}, []) or value != value
