"""Camera: an image at an instant, and the truth about every pixel of it.

The sensor looks along its own +x; image right is its -y, image down its -z. Effects are off by default. The truth is
sharp and belongs to the exact stamp, also when blur and rolling shutter change the colours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator, model_validator

from skyloop.core.frames import SENSOR_FROM_CAMERA, matrix_from_quat, quat_from_euler, quat_multiply
from skyloop.core.keyed_random import KeyedRandom
from skyloop.core.quantities import Count, Degrees, Instant, NonNegative, Number, Positive, Seconds
from skyloop.sensors.camera_effects import (
    Gimbal,
    GimbalAim,
    add_light,
    develop,
    extrapolated,
    image_motion,
    next_gain,
    shutter_bands,
    sub_instants,
    surface_velocities,
    vignette,
)
from skyloop.sensors.camera_lens import COEFFICIENTS, Lens, Mosaic
from skyloop.sensors.labels import Labeller
from skyloop.sensors.sensor import Details, Scene, Sensor, SensorConfig, numbers_of
from skyloop.world.semantics import CLASSES
from skyloop.world.views import View, ViewPose, ViewRequest
from skyloop_client.errors import ScenarioError, nearest_name
from skyloop_client.messages import Array, CameraImage, ImageTruth, Kinematics
from skyloop_client.messages.samples import LUMA, luma

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Quality = Literal["low", "medium", "high", "epic", "cinematic"]
Truth = Literal["depth", "distance", "normals", "instances", "classes", "materials", "velocities", "flow", "labels"]


@dataclass(frozen=True, slots=True)
class CameraNumbers:
    """The numbers of CameraConfig."""

    width: int
    height: int
    horizontal_fov_deg: float


_D435 = CameraNumbers(640, 360, math.degrees(1.5))
PRESETS = {
    # AirLoop's learning camera.
    "airloop": CameraNumbers(320, 240, 90.0),
    # E2ES's rig, 12 cm ahead of the body origin as in its Gazebo model: 1.500 rad, 5 cm between the two lenses.
    "d435-colour": _D435,
    "d435-left": _D435,
    "d435-right": _D435,
    # The landing paper's AirSim camera.
    "down-1280": CameraNumbers(1280, 720, 90.0),
    "perfect": CameraNumbers(640, 480, 90.0),
}
"""The numbers of cameras, by name."""
USUAL_MOUNTS: dict[str, dict[str, list[float]]] = {
    "d435-colour": {"position": [0.12, 0.0, 0.0], "rotation_deg": [0.0, 0.0, 0.0]},
    "d435-left": {"position": [0.12, 0.0, 0.0], "rotation_deg": [0.0, 0.0, 0.0]},
    "d435-right": {"position": [0.12, -0.05, 0.0], "rotation_deg": [0.0, 0.0, 0.0]},
    # AirSim's (0.50, 0, 0.10) with pitch -90°: its z points down and its pitch up
    "down-1280": {"position": [0.5, 0.0, -0.1], "rotation_deg": [0.0, 90.0, 0.0]},
}
"""Where the presets were mounted on their vehicles; used unless `mount` is given."""


class CameraConfig(SensorConfig):
    """Colour or grey camera: lens, motion blur, rolling shutter, noise, exposure, gimbal, the truth of every pixel."""

    kind: Literal["camera"] = "camera"
    """The kind of sensor."""
    rate_hz: float | str = 20.0
    """Images per second; the `d435` presets have 30."""
    preset: Literal["airloop", "d435-colour", "d435-left", "d435-right", "down-1280", "perfect"] = "airloop"
    """The camera whose image size and field of view are used where yours are null. It also sets the mount when you give
    none."""
    width: Annotated[int, Field(ge=8, le=8192)] | None = None
    """px, the width of the image."""
    height: Annotated[int, Field(ge=8, le=8192)] | None = None
    """px, the height of the image."""
    mode: Literal["colour", "grey"] = "colour"
    """`colour`: three channels; `grey`: one, the luma of what is seen, as of a sensor without colour filters."""
    horizontal_fov_deg: Annotated[float, Field(ge=1.0, le=200.0)] | None = None
    """The field of view across the middle row. With brown-conrady it is that without distortion. It must be below 170
    unless the lens is a fisheye."""
    quality: Quality = "low"
    """How much detail the renderer draws."""
    model: Literal["pinhole", "brown-conrady", "fisheye"] = "pinhole"
    """How the lens projects; a fisheye (Kannala-Brandt) sees up to 100° off its axis."""
    distortion: tuple[Number, ...] = ()
    """The coefficients k1, k2, p1, p2[, k3] of brown-conrady, or k1, k2, k3, k4 of a fisheye; empty: no distortion."""
    truth: tuple[Truth, ...] = ()
    """What the truth stream holds for each pixel; empty: there is no truth stream."""
    label_classes: tuple[str, ...] = ("person", "car", "vehicle", "forklift")
    """The classes of the objects that `truth: [labels]` labels."""
    label_min_px: Count = 20
    """The number of visible pixels below which an object gets no label."""
    exposure: Positive = 1.0
    """A factor on the light; automatic exposure begins with it."""
    exposure_time: Instant = 0.0
    """s, the exposure over which motion blurs; 0: no blur."""
    blur_samples: Annotated[int, Field(ge=2, le=64)] = 8
    """The number of instants whose light is averaged over the exposure."""
    readout_time: Instant = 0.0
    """s, the time from the exposure of the first row to that of the last, as a rolling shutter has it; 0: all rows at
    once."""
    readout_bands: Annotated[int, Field(ge=2, le=256)] = 16
    """The number of groups of rows that are exposed one after another."""
    vignetting: Share = 0.0
    """The share of the natural cos⁴ loss of light off the axis that is applied."""
    full_well: NonNegative = 0.0
    """The number of electrons of a white pixel, which sets the shot noise; 0: no shot noise."""
    read_noise: NonNegative = 0.0
    """One sigma of the read noise in electrons, of each pixel and colour."""
    auto_exposure: bool = False
    """true: the exposure follows the brightness of the images."""
    target_brightness: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.45
    """The mean pixel value, of 1, that automatic exposure aims at."""
    auto_exposure_tau: Seconds = 0.3
    """s, the time in which automatic exposure makes up for 63 % of a change."""
    gimbal: Literal["none", "roll-pitch", "fixed"] = "none"
    """`none`: the camera turns with the body; `roll-pitch`: it keeps level and turns with the heading; `fixed`: it
    keeps `gimbal_attitude_deg`."""
    gimbal_attitude_deg: tuple[Degrees, Degrees, Degrees] = (0.0, 0.0, 0.0)
    """Roll, pitch, yaw of the sensor's axes in the world, for `gimbal: fixed`."""

    @model_validator(mode="before")
    @classmethod
    def _rate_and_place_of_the_preset(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        preset = str(data.get("preset", ""))
        usual: dict[str, Any] = {"rate_hz": 30.0} if preset.startswith("d435") else {}
        if preset in USUAL_MOUNTS:
            usual["mount"] = USUAL_MOUNTS[preset]
        return {**usual, **data}

    @field_validator("label_classes")
    @classmethod
    def _classes_exist(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if name not in CLASSES[1:]:
                raise ValueError(f"'{name}' is no class; {nearest_name(name, CLASSES[1:])}")
        return names

    @model_validator(mode="after")
    def _fits_together(self) -> CameraConfig:
        allowed = COEFFICIENTS[self.model]
        if self.distortion and len(self.distortion) not in allowed:
            counts = " or ".join(map(str, allowed))
            raise ValueError(f"model {self.model} takes {counts} distortion coefficients, not {len(self.distortion)}")
        fov = numbers_of(self, PRESETS).horizontal_fov_deg
        if self.model != "fisheye" and fov > 170.0:
            raise ValueError(f"horizontal_fov_deg {fov} is too wide for model {self.model}; take model: fisheye")
        if self.read_noise > 0.0 and self.full_well == 0.0:
            raise ValueError("read_noise is in electrons and needs full_well; 10000 is usual")
        return self


class CameraState(NamedTuple):
    exposure: float
    """The exposure of the next image."""
    truth: ImageTruth | None
    """The truth of the latest image."""
    aim: GimbalAim | None = None
    """The commanded direction of the gimbal; None: as the config says."""


class _Part(NamedTuple):
    """A group of rows at one instant."""

    dt: float
    """s after the stamp."""
    weight: float
    first: int
    last: int
    mosaic: Mosaic


class Camera(Sensor[CameraState]):
    """A colour camera with labels, depth and flow as its ground truth."""

    Config = CameraConfig
    needs_views = True
    kernels = ("skyloop.sensors.labels", "skyloop.world.views")
    message = "CameraImage"
    truth_message: str | None = "ImageTruth"
    fault_fields = MappingProxyType({"colour": 3})
    """In pixel values of 0 to 255; a grey image is changed by the luma of the three."""

    def __init__(self, config: CameraConfig, period_s: float) -> None:
        n = self.numbers = numbers_of(config, PRESETS)
        c = self._config = config
        self._period_s = period_s
        fov = math.radians(n.horizontal_fov_deg)
        self.lens = Lens.from_fov(c.model, n.width, n.height, fov, c.distortion)
        instants = sub_instants(c.exposure_time, c.blur_samples)
        self._parts = [
            _Part(late + dt, 1.0 / len(instants), first, last, mosaic)
            for first, last, late in shutter_bands(n.height, c.readout_time, c.readout_bands)
            for mosaic in [Mosaic(self.lens, first, last)]
            for dt in instants
        ]
        self._plain = len(self._parts) == 1
        """Whether all of the image belongs to the stamp."""
        self._whole = self._parts[0].mosaic if self._plain else Mosaic(self.lens, 0, n.height)
        self._is_developed = c.exposure_time > 0.0 or c.vignetting > 0.0 or c.full_well > 0.0
        if self._is_developed:
            self._falloff = vignette(self.lens.directions[..., 2], c.vignetting)
        attitude = quat_from_euler(*np.radians(c.gimbal_attitude_deg))
        self._gimbal = Gimbal(c.gimbal, c.mount.mount().quat_wxyz, attitude)
        self._labeller = None
        if "labels" in c.truth:
            self._labeller = Labeller(self.lens, self._whole, c.label_classes, c.label_min_px)
        if not c.truth:
            self.truth_message = None
        self.independent = not c.auto_exposure

    def initial_state(self, rng: KeyedRandom) -> CameraState:
        return CameraState(self._config.exposure, None)

    def requests(self, kinematics: Kinematics, state: CameraState) -> list[ViewRequest]:
        """The views that `measure` will request."""
        out = [request for part in self._parts for request in self._asked(part.mosaic, kinematics, part.dt, state)]
        if self._config.truth and not self._plain:
            out += self._asked(self._whole, kinematics, 0.0, state)
        return out if self._config.truth else [replace(request, surface=False) for request in out]

    def _asked(self, mosaic: Mosaic, kinematics: Kinematics, dt: float, state: CameraState) -> list[ViewRequest]:
        pose = self._pose(self._gimbal.steadied(extrapolated(kinematics, dt), state.aim))
        asked = []
        for face in mosaic.faces:
            turned = ViewPose(pose.t_ns, pose.position, quat_multiply(pose.quat_wxyz, face.quat_wxyz))
            asked.append(ViewRequest(face.lens, turned, self._config.quality, state.exposure))
        return asked

    @staticmethod
    def _pose(moving: Kinematics) -> ViewPose:
        return ViewPose(moving.t_ns, moving.position, quat_multiply(moving.quat_wxyz, SENSOR_FROM_CAMERA))

    def measure(
        self, kinematics: Kinematics, scene: Scene, state: CameraState, rng: KeyedRandom
    ) -> tuple[CameraImage, CameraState]:
        views = scene.views(self.requests(kinematics, state))
        colour = self._colour(views, rng)
        truth = None
        if self._config.truth:
            moving = self._gimbal.steadied(kinematics, state.aim)
            truth = self._truth(views[len(views) - len(self._whole.faces) :], moving)
        exposure = state.exposure
        if self._config.auto_exposure:
            c = self._config
            exposure = next_gain(exposure, colour, c.target_brightness, c.auto_exposure_tau, self._period_s)
        return CameraImage(kinematics.t_ns, colour), CameraState(exposure, truth, state.aim)

    def aimed(self, state: CameraState, aim: GimbalAim) -> CameraState:
        """The state after the gimbal was turned."""
        if self._config.gimbal == "none":
            raise ScenarioError("this camera is on no gimbal; write gimbal: roll-pitch or gimbal: fixed")
        return state._replace(aim=aim)

    def present_aim(self, state: CameraState) -> GimbalAim | None:
        """The direction of its gimbal; None if it has none."""
        return self._gimbal.usual_aim if state.aim is None else state.aim

    def _colour(self, views: Sequence[View], rng: KeyedRandom) -> NDArray[np.uint8]:
        if self._plain and not self._is_developed:
            return self._painted(self._whole, views)
        size, c = (self.numbers.height, self.numbers.width), self._config
        shape = size if c.mode == "grey" else (*size, 3)
        shown = np.zeros(shape, np.uint8)
        light = np.zeros((*size, 1 if c.mode == "grey" else 3) if self._is_developed else (0, 0, 1), np.float32)
        start = 0
        for part in self._parts:
            mine = views[start : start + len(part.mosaic.faces)]
            start += len(mine)
            rows = self._painted(part.mosaic, mine)
            if self._is_developed:
                add_light(rows.reshape(*rows.shape[:2], -1), part.weight, light[part.first : part.last])
            else:
                shown[part.first : part.last] = rows
        if self._is_developed:
            return develop(light, self._falloff, c.full_well, c.read_noise, rng.key, rng.index).reshape(shape)
        return shown

    def _painted(self, mosaic: Mosaic, views: Sequence[View]) -> NDArray[np.uint8]:
        """(rows, width, 3), or (rows, width) of a sensor without colour filters: it adds colours before any noise."""
        colour = mosaic.colour(views)
        return luma(colour) if self._config.mode == "grey" else colour

    def _truth(self, views: Sequence[View], moving: Kinematics) -> ImageTruth:
        asked, model, motion = self._config.truth, views[0].model, views[0].motion
        pose = self._pose(moving)
        surface, distance = self._whole.surface(views)
        seen = views[0]
        if not self._whole.direct:
            seen = View(self.lens.pinhole, pose, model, motion, views[0].colour, surface)
        velocities = None
        if "velocities" in asked or "flow" in asked:
            velocities = seen.velocities if self._whole.direct else surface_velocities(self.lens, seen, distance)
        flow = None
        if "flow" in asked and velocities is not None:
            rotation = matrix_from_quat(pose.quat_wxyz)
            rates = _camera_axes(moving.angular_velocity)
            flow = image_motion(self.lens, distance, velocities, rotation, moving.velocity_world, rates)
        return ImageTruth(
            pose.t_ns,
            pose.position,
            pose.quat_wxyz,
            depth=seen.depth if "depth" in asked else None,
            distance=distance if "distance" in asked else None,
            normals=seen.normals if "normals" in asked else None,
            instances=seen.instances if "instances" in asked else None,
            classes=seen.classes if "classes" in asked else None,
            materials=seen.materials if "materials" in asked else None,
            velocities=velocities if "velocities" in asked else None,
            flow=flow,
            labels=self._labeller.labels(seen.instances, model, motion, pose) if self._labeller else (),
        )

    def truth(self, state: CameraState, t_ns: int) -> ImageTruth | None:
        return state.truth

    def disturbed(self, sample: CameraImage, field: str, error: Array) -> CameraImage:
        change = error @ LUMA if self._config.mode == "grey" else error
        colour = np.clip(np.rint(sample.colour + change), 0.0, 255.0).astype(np.uint8)
        return CameraImage(sample.t_ns, colour)

    def details(self) -> Details:
        """Intrinsics as OpenCV defines them; distortion in its order, for a fisheye that of cv2.fisheye."""
        lens, c = self.lens.pinhole, self._config
        return {
            "preset": c.preset,
            "mode": c.mode,
            "width": lens.width,
            "height": lens.height,
            "fx": lens.fx,
            "fy": lens.fy,
            "cx": lens.cx,
            "cy": lens.cy,
            "model": c.model,
            "distortion": list(self.lens.distortion),
            "quality": c.quality,
            "exposure_time": c.exposure_time,
            "readout_time": c.readout_time,
            "vignetting": c.vignetting,
            "full_well": c.full_well,
            "read_noise": c.read_noise,
            "auto_exposure": c.auto_exposure,
            "gimbal": c.gimbal,
            "usual_mount": USUAL_MOUNTS.get(c.preset),
            "truth": list(c.truth),
            "classes": list(CLASSES) if c.truth else None,
        }


def _camera_axes(sensor: Array) -> Array:
    """(3,) right, down, forward from forward, left, up."""
    return np.array([-sensor[1], -sensor[2], sensor[0]])
