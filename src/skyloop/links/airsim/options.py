"""The options of an AirSim server: the parts of settings.json that do not belong to a scenario."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skyloop.links.airsim.pixels import PLAIN, ImageEffects
from skyloop.links.airsim.wire import Dialect

IMAGE_TYPES = (
    "Scene", "DepthPlanar", "DepthPerspective", "DepthVis", "DisparityNormalized", "Segmentation", "SurfaceNormals",
    "Infrared", "OpticalFlow", "OpticalFlowVis", "Lighting", "Annotation",
)  # fmt: skip
"""By number."""


@dataclass(frozen=True, slots=True)
class Capture:
    """Size and effects of one image type."""

    width: int = 256
    height: int = 144
    fov_deg: float = 90.0
    """Along the longer side, as in Unreal."""
    look: ImageEffects = PLAIN

    @property
    def focal_px(self) -> float:
        return 0.5 * max(self.width, self.height) / math.tan(0.5 * math.radians(self.fov_deg))


@dataclass(frozen=True, slots=True)
class GimbalOptions:
    """Degrees in world axes. None keeps the vehicle's angle."""

    stabilization: float = 0.0
    """0 is off, 1 is full stabilization."""
    roll_deg: float | None = None
    pitch_deg: float | None = None
    yaw_deg: float | None = None


@dataclass(frozen=True, slots=True)
class CameraOptions:
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """m, FRD from the body. For an external camera, NED from the world's origin."""
    rotation_deg: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Roll, pitch, yaw, FRD."""
    captures: Mapping[int, Capture] = field(default_factory=dict)
    """By image type. Missing types use the defaults of Capture."""
    gimbal: GimbalOptions = GimbalOptions()


DEFAULT_CAMERAS = {
    "front_center": CameraOptions((0.46, 0.0, 0.0)),
    "front_right": CameraOptions((0.46, 0.125, 0.0)),
    "front_left": CameraOptions((0.46, -0.125, 0.0)),
    "bottom_center": CameraOptions((0.0, 0.0, 0.0), (0.0, -90.0, 0.0)),
    "back_center": CameraOptions((-0.46, 0.0, 0.0), (0.0, 0.0, 180.0)),
}
"""The two front cameras are 0.25 m apart, which DisparityNormalized assumes."""
CAMERA_NUMBERS = ("front_center", "front_right", "front_left", "bottom_center", "back_center")


@dataclass(frozen=True, slots=True)
class SensorOptions:
    kind: str
    """imu, gnss, barometer, magnetometer, rangefinder, lidar, gpu lidar or radar."""
    stream: str
    """Its name under `sensors` of the scenario's vehicle."""
    local_frame: bool = False
    """Whether LiDAR points are in the sensor's axes rather than the vehicle's NED axes."""
    is_drawn: bool = False
    """DrawDebugPoints: its measurements are marked in images of external cameras."""


@dataclass(frozen=True, slots=True)
class ForeignAutopilot:
    """An external autopilot, started by the user, for a vehicle of type PX4Multirotor or ArduCopter."""

    kind: str
    """px4, px4-serial or ardupilot."""
    host: str = "127.0.0.1"
    port: int = 0
    """The port that it connects or sends to. 0 means any free one."""
    device: str = ""
    """The device of a serial line."""
    baud: int = 0
    lockstep: bool = True
    """Whether time waits for its answers after the first one."""

    @property
    def name(self) -> str:
        return "ArduPilot" if self.kind == "ardupilot" else "PX4"


@dataclass(frozen=True, slots=True)
class VehicleOptions:
    vehicle: str
    """Its name in the scenario."""
    cameras: Mapping[str, CameraOptions] = field(default_factory=lambda: DEFAULT_CAMERAS)
    sensors: Mapping[str, SensorOptions] = field(default_factory=dict)
    """By AirSim's name. An empty name means the first sensor of a kind."""
    flies: bool = True
    """False for a ComputerVision vehicle, which stays where it is put."""
    is_armed: bool = True
    """DefaultVehicleState: whether it starts armed."""
    collides: bool = True
    """EnableCollisions. If false, it flies through everything but the ground."""
    external_autopilot: ForeignAutopilot | None = None
    """None means the built-in controller."""
    height: float = 0.0
    """m of its start above the start of a vehicle with Z of 0, from settings.json."""
    is_traced: bool = False
    """EnableTrace: it leaves a line, as with simSetTraceLine."""


@dataclass(frozen=True, slots=True)
class RecordedCamera:
    camera: str = "front_center"
    image_type: int = 0
    as_float: bool = False
    compress: bool = True
    vehicle: str = ""


@dataclass(frozen=True, slots=True)
class RecordingOptions:
    folder: Path | None = None
    """None creates a folder in the current one."""
    interval: float = 0.05
    """s."""
    on_move: bool = False
    """Write only while the vehicle moves."""
    enabled: bool = False
    """Whether it records from the start."""
    cameras: tuple[RecordedCamera, ...] = (RecordedCamera(),)


@dataclass(frozen=True, slots=True)
class AirSimOptions:
    vehicles: Mapping[str, VehicleOptions]
    """By AirSim's name. An empty name means the first vehicle."""
    external_cameras: Mapping[str, CameraOptions] = field(default_factory=dict)
    settings: str = "{}"
    """The text of settings.json, for getSettingsString."""
    quality: str = "medium"
    """Image quality: low, medium, high, epic or cinematic."""
    land_after_s: float = 30.0
    """Simulated s without any client after which flying vehicles land."""
    recording: RecordingOptions = RecordingOptions()
    time_of_day: Mapping[str, Any] = field(default_factory=dict)
    """The arguments of simSetTimeOfDay if TimeOfDay is enabled."""
    annotation_layers: tuple[str, ...] = ()
    """Annotation layers of Cosys-AirSim. They exist from the start and are empty."""
    deterministic: bool = False
    """Time always waits while images are rendered. Otherwise flight continues meanwhile, unless a client steps time."""
    dialect: Dialect = Dialect.AIRSIM
    """The dialect of clients that have not shown theirs yet."""
    labels_all: bool = True
    """Every object has a segmentation id from the start. Otherwise all ids are 0."""
