"""All keys that AirSim reads in settings.json, to report misspelt ones, and the keys without an effect here."""

from skyloop.links.airsim.image_effects import NOISE_KEYS

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
