"""Reads the JSON of a settings.json, and knows all keys that AirSim reads, to report misspelt and ineffective ones."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from skyloop.links.airsim.pixels import NOISE_KEYS
from skyloop_client.errors import ScenarioError, nearest_name


@dataclass(frozen=True, slots=True)
class Known:
    """The keys of one map."""

    effective: tuple[str, ...]
    idle: tuple[str, ...]
    """Read but without an effect; docs/how-to/airsim.md lists them."""


def known(effective: str, *, idle: str = "") -> Known:
    return Known(tuple(effective.split()), tuple(idle.split()))


POSE = "X Y Z Roll Pitch Yaw"
SENSOR = f"SensorType Enabled {POSE}"
ROOT = known(
    "SettingsVersion SimMode ClockSpeed LocalHostIp ApiServerPort Wind OriginGeopoint TimeOfDay Recording "
    "CameraDefaults SegmentationSettings Vehicles ExternalCameras DefaultSensors SeeDocsAt see_docs_at "
    "Annotation",
    idle="ClockType RecordUIVisible LogMessagesVisible ShowLosDebugLines ViewMode RpcEnabled EnableRpc EngineSound "
    "PhysicsEngineName SpeedUnitFactor SpeedUnitLabel CameraDirector SubWindows PawnPaths Weather "
    "MaterialListFile InitialInstanceSegmentation MoveWorldOrigin Beacons PassiveEchoBeacons",
)
VEHICLE = known(
    POSE + " VehicleType DefaultVehicleState AutoCreate EnableCollisions EnableTrace Cameras Sensors Model Logs "
    "SerialPort SerialBaudRate UseSerial UseTcp TcpPort LockStep Parameters UdpIp UdpPort ControlIp "
    "ControlPort ControlPortLocal ControlPortRemote SitlIp SitlPort LocalHostIp QgcHostIp QgcPort "
    "LogViewerHostIp LogViewerPort LogViewerSendPort SimSysID SimCompID VehicleSysID VehicleCompID "
    "OffboardSysID OffboardCompID BarometerSettings",
    idle="PawnPath EnableCollisionPassthrogh EnableCollisionPassthrough AllowAPIAlways IsFpvVehicle RC",
)
CAMERA = known(POSE + " CaptureSettings NoiseSettings Gimbal", idle="UnrealEngine External ExternalLocal DrawSensor")
CAPTURE = known(
    "ImageType Width Height FOV_Degrees AutoExposureSpeed AutoExposureBias AutoExposureMaxBrightness "
    "AutoExposureMinBrightness MotionBlurAmount TargetGamma ProjectionMode AutoExposureCompensation",
    idle="OrthoWidth AutoExposureMethod AutoExposureHistogramLogMin AutoExposureHistogramLogMax LumenGIEnable "
    "LumenReflectionEnable LumenFinalQuality LumenSceneDetail LumenSceneLightningDetail "
    "ChromaticAberrationScale IgnoreMarked MotionBlurMax",
)
SEGMENTATION = known("InitMethod", idle="MeshNamingMethod OverrideExisting")
ANNOTATION = known("Name", idle="Type Default SetDirect TexturePath TexturePrefix ViewDistance ShowByDefault")
GIMBAL = known("Stabilization Pitch Roll Yaw")
RECORDING = known("RecordOnMove RecordInterval Folder Enabled Cameras")
TIME_OF_DAY = known("Enabled StartDateTime CelestialClockSpeed StartDateTimeDst UpdateIntervalSecs MoveSun")
IMU = known(
    SENSOR + " AngularRandomWalk GyroBiasStabilityTau GyroBiasStability VelocityRandomWalk AccelBiasStabilityTau "
    "AccelBiasStability GenerateNoise",
)
GPS = known(
    SENSOR + " EPH_TimeConstant EphTimeConstant EphFinal EpvFinal EphMin3d EphMin2d UpdateLatency UpdateFrequency "
    "StartupDelay",
    idle="EPV_TimeConstant EpvTimeConstant EphInitial EpvInitial GenerateNoise",
)
BAROMETER = known(
    SENSOR + " PressureFactorSigma PressureFactorTau UncorrelatedNoiseSigma UpdateLatency UpdateFrequency",
    idle="StartupDelay",
)
MAGNETOMETER = known(SENSOR + " NoiseSigma ScaleFactor NoiseBias UpdateLatency UpdateFrequency", idle="StartupDelay")
DISTANCE = known(
    SENSOR + " MinDistance MaxDistance UncorrelatedNoiseSigma UpdateLatency UpdateFrequency DrawDebugPoints",
    idle="StartupDelay ExternalController",
)
LIDAR = known(
    SENSOR + " NumberOfChannels Range PointsPerSecond RotationsPerSecond HorizontalFOVStart HorizontalFOVEnd "
    "VerticalFOVUpper VerticalFOVLower DataFrame DrawDebugPoints MeasurementsPerCycle GenerateNoise "
    "MinNoiseStandardDeviation",
    idle="ExternalController External UpdateFrequency NoiseDistanceScale DrawSensor RandomSeed Limit limit_points "
    "Resolution IgnoreMarked DrawMode GenerateIntensity RangeMaxLambertianPercentage RainMaxIntensity "
    "RainConstantA RainConstantB GenerateGroundTruth rangeMaxLambertianPercentage rainMaxIntensity "
    "rainConstantA rainConstantB GroundTruth ExternalLocal",
)
"""Some of these are as the example settings of Cosys-AirSim spell them."""
RADAR = known(
    SENSOR + " HorizontalFOV Width Height NumberOfChirps NumberOfSamples NumberOfReceivers Bandwidth LowerFrequency "
    "ChirpDuration UpdateFrequency GenerateNoise Classes",
)
"""Of a sensor that AirSim has not."""
NOISE = known(f"Enabled ImageType {' '.join(NOISE_KEYS)}")
POINT, VECTOR = known("Latitude Longitude Altitude"), known("X Y Z")


# ---- reading


Keys = dict[str, Any]
"""A map of a settings.json. Its values are checked where they are read."""


class SettingsReader:
    """One pass over a settings.json."""

    def __init__(self, text: str, source: str) -> None:
        self.source, self.warnings = source, list[str]()
        self._idle: dict[str, None] = {}
        """Keys without an effect, in the order they came."""
        try:
            data = json.loads(re.sub(r"^\s*//.*$", "", text, flags=re.MULTILINE)) if text.strip() else {}
        except ValueError as error:
            raise ScenarioError(f"{source} is no JSON: {error}") from None
        if not isinstance(data, dict):
            raise ScenarioError(f"{source}: settings are a map of keys to values")
        self.root: Keys = data

    def part(self, value: object, keys: Known, where: str) -> Keys:
        """A map without NaN values, which AirSim treats as not given. Unknown keys give a warning."""
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise ScenarioError(f"{self.source}: {where} must be a map of keys to values")
        for key in value:
            if key not in (*keys.effective, *keys.idle):
                at = f"{where}.{key}" if where else key
                line = f"{self.source}: unknown key '{at}'; {nearest_name(key, (*keys.effective, *keys.idle))}"
                # the defaults of cameras are read once per camera
                if line not in self.warnings:
                    self.warnings.append(line)
            elif key in keys.idle and not _is_blank(value[key]):
                self.idle(key)
        return {key: entry for key, entry in value.items() if entry == entry}

    def idle(self, key: str) -> None:
        """Warn that this key has no effect."""
        self._idle[key] = None

    def all_warnings(self) -> list[str]:
        if self._idle:
            return [*self.warnings, f"{self.source}: these keys change nothing here: {', '.join(self._idle)}"]
        return self.warnings

    def number(self, data: Keys, key: str, default: float, where: str) -> float:
        value = data.get(key, default)
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = float("nan")
        if not -1e12 < number < 1e12:
            raise ScenarioError(f"{self.source}: {where}.{key} is {value!r}; give a number")
        return number

    def numbers(self, data: Keys, keys: str, where: str) -> tuple[float, float, float]:
        x, y, z = (self.number(data, key, 0.0, where) for key in keys.split())
        return x, y, z


def _is_blank(value: object) -> bool:
    return value in ("", None, {}, []) or value != value
