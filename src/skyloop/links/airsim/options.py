"""What an AirSim server is told at its start: the parts of settings.json that are no part of a scenario."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skyloop.links.airsim.dialect import Dialect
from skyloop.links.airsim.image_effects import PLAIN, Look

IMAGE_TYPES = (
    "Scene", "DepthPlanar", "DepthPerspective", "DepthVis", "DisparityNormalized", "Segmentation", "SurfaceNormals",
    "Infrared", "OpticalFlow", "OpticalFlowVis", "Lighting", "Annotation",
)  # fmt: skip
"""By number."""


@dataclass(frozen=True, slots=True)
class Capture:
    """How large an image of one type is, and how it looks."""

    width: int = 256
    height: int = 144
    fov_deg: float = 90.0
    """Across the longer side, as in Unreal."""
    look: Look = PLAIN

    @property
    def focal_px(self) -> float:
        return 0.5 * max(self.width, self.height) / math.tan(0.5 * math.radians(self.fov_deg))


@dataclass(frozen=True, slots=True)
class GimbalOptions:
    """Degrees in world axes; None: as the vehicle has it."""

    stabilization: float = 0.0
    """0 none of it, 1 all of it."""
    roll_deg: float | None = None
    pitch_deg: float | None = None
    yaw_deg: float | None = None


@dataclass(frozen=True, slots=True)
class CameraOptions:
    position: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """m, FRD from the body; NED from the world's origin where it is an external camera."""
    rotation_deg: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Roll, pitch, yaw, FRD."""
    captures: Mapping[int, Capture] = field(default_factory=dict)
    """By image type; those left out are as Capture's own numbers."""
    gimbal: GimbalOptions = GimbalOptions()


DEFAULT_CAMERAS = {
    "front_center": CameraOptions((0.46, 0.0, 0.0)),
    "front_right": CameraOptions((0.46, 0.125, 0.0)),
    "front_left": CameraOptions((0.46, -0.125, 0.0)),
    "bottom_center": CameraOptions((0.0, 0.0, 0.0), (0.0, -90.0, 0.0)),
    "back_center": CameraOptions((-0.46, 0.0, 0.0), (0.0, 0.0, 180.0)),
}
"""0.25 m between the two eyes, as DisparityNormalized has it."""
CAMERA_NUMBERS = ("front_center", "front_right", "front_left", "bottom_center", "back_center")


@dataclass(frozen=True, slots=True)
class SensorOptions:
    kind: str
    """imu, gnss, barometer, magnetometer, rangefinder, lidar or gpu lidar."""
    stream: str
    """Name under `sensors` of the scenario's vehicle."""
    local_frame: bool = False
    """Points of a LiDAR in its own axes instead of the vehicle's NED."""
    is_drawn: bool = False
    """DrawDebugPoints: what it measures is marked in pictures of external cameras."""


@dataclass(frozen=True, slots=True)
class ForeignAutopilot:
    """Flies a vehicle of type PX4Multirotor or ArduCopter; the user starts it."""

    kind: str
    """px4, px4-serial or ardupilot."""
    host: str = "127.0.0.1"
    port: int = 0
    """It connects or sends to; 0: any free one."""
    device: str = ""
    """Of a serial line."""
    baud: int = 0
    lockstep: bool = True
    """Time waits for its answers, once it has given one."""

    @property
    def name(self) -> str:
        return "ArduPilot" if self.kind == "ardupilot" else "PX4"


@dataclass(frozen=True, slots=True)
class VehicleOptions:
    vehicle: str
    """Its name in the scenario."""
    cameras: Mapping[str, CameraOptions] = field(default_factory=lambda: DEFAULT_CAMERAS)
    sensors: Mapping[str, SensorOptions] = field(default_factory=dict)
    """By AirSim's name; the first of a kind is the one meant by an empty name."""
    flies: bool = True
    """False: of ComputerVision, it stays where it is put."""
    is_armed: bool = True
    """Its DefaultVehicleState: whether it needs no armDisarm before it flies."""
    collides: bool = True
    """EnableCollisions: else it flies through everything but the ground."""
    external_autopilot: ForeignAutopilot | None = None
    """None: the built-in controller flies."""
    height: float = 0.0
    """m that it starts above where a vehicle with a Z of 0 would, as settings.json says."""
    is_traced: bool = False
    """EnableTrace: leaves a line behind, as simSetTraceLine has it do."""


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
    """None: a folder of its own in the current one."""
    interval: float = 0.05
    """s."""
    on_move: bool = False
    """Nothing is written while the vehicle stands still."""
    enabled: bool = False
    """From the start."""
    cameras: tuple[RecordedCamera, ...] = (RecordedCamera(),)


@dataclass(frozen=True, slots=True)
class AirSimOptions:
    vehicles: Mapping[str, VehicleOptions]
    """By AirSim's name; the first is the one meant by an empty name."""
    external_cameras: Mapping[str, CameraOptions] = field(default_factory=dict)
    settings: str = "{}"
    """settings.json as text, for getSettingsString."""
    quality: str = "medium"
    """Of pictures: low, medium, high, epic or cinematic."""
    land_after_s: float = 30.0
    """Simulated s without any client before vehicles in the air land."""
    recording: RecordingOptions = RecordingOptions()
    time_of_day: Mapping[str, Any] = field(default_factory=dict)
    """The arguments of simSetTimeOfDay, when TimeOfDay is enabled."""
    annotation_layers: tuple[str, ...] = ()
    """Of Cosys-AirSim, there from the start with nothing in them."""
    deterministic: bool = False
    """Time stands still while pictures are painted, always; else flight goes on beside, where nobody steps time."""
    dialect: Dialect = Dialect.AIRSIM
    """Of clients that have not shown yet which they are."""
    labels_all: bool = True
    """Every thing has a segmentation id from the start; else all are 0."""
