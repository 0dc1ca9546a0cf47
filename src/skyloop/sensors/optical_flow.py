"""Optical flow sensor: the motion of the ground below over a small view, as PX4FLOW and HIL_OPTICAL_FLOW give it.

Each sample takes the mean of the true image motion over the textured pixels, and integrates it (trapezium rule) since
the sample before. The rotational motion of a pixel grows off the axis; it is scaled to that on the axis, as a
calibrated sensor does. So flow = turn + motion/distance holds for the whole view over a plane. Mount it with
rotation_deg (0, 90, 0).
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import math
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Literal, NamedTuple

import numpy as np
from numba import float32, float64, types, uint8, void
from pydantic import Field

from skyloop.core.frames import SENSOR_FROM_CAMERA, matrix_from_quat, quat_multiply
from skyloop.core.jit import kernel, readonly
from skyloop.core.keyed_random import KeyedRandom
from skyloop.core.quantities import Length, NonNegative, TurnRate
from skyloop.sensors.camera import Quality
from skyloop.sensors.sensor import Details, Scene, Sensor, SensorConfig, numbers_of, plain
from skyloop.world.views import Pinhole, View, ViewPose, ViewRequest
from skyloop_client.messages import Array, Kinematics, OpticalFlowSample

ENOUGH_TEXTURE = 0.3
"""The share of textured pixels that gives full quality."""


@dataclass(frozen=True, slots=True)
class OpticalFlowNumbers:
    """The numbers of OpticalFlowConfig; the defaults are an instrument without errors."""

    size_px: int = 64
    fov_deg: float = 42.0
    noise_sd: float = 0.0
    gyro_noise_sd: float = 0.0
    texture_threshold: float = 1.0
    max_flow_rate: float = 1000.0
    max_range: float = 1000.0


PRESETS = {
    # Size, angle and fastest flow are those of the PX4FLOW board; its noise is our choice.
    "px4flow": OpticalFlowNumbers(
        noise_sd=0.02, gyro_noise_sd=0.002, texture_threshold=3.0, max_flow_rate=2.5, max_range=30.0
    ),
    "perfect": OpticalFlowNumbers(),
}


class OpticalFlowConfig(SensorConfig):
    """Optical flow sensor: the mean motion of the textured ground in its view, as MAVLink's HIL_OPTICAL_FLOW."""

    kind: Literal["optical_flow"] = "optical_flow"
    """The kind of sensor."""
    rate_hz: float | str = 20.0
    """Samples per second."""
    preset: Literal["px4flow", "perfect"] = "px4flow"
    """The instrument whose numbers are used where yours are null."""
    quality: Quality = "low"
    """How much detail the renderer draws."""
    size_px: Annotated[int, Field(ge=8, le=512)] | None = None
    """The width and height of the view, in pixels."""
    fov_deg: Annotated[float, Field(ge=1.0, le=120.0)] | None = None
    """The field of view across the view."""
    noise_sd: NonNegative | None = None
    """rad/s, one sigma of the white noise of the mean flow at full quality; it grows with the root of 255/quality."""
    gyro_noise_sd: NonNegative | None = None
    """rad/s, one sigma of the white noise of its own gyroscope, per sample and axis."""
    texture_threshold: NonNegative | None = None
    """The gradient, in grey levels per pixel, below which a pixel is not used."""
    max_flow_rate: TurnRate | None = None
    """rad/s, the motion above which the quality is 0."""
    max_range: Length | None = None
    """m, the distance above which the distance is unknown."""


class OpticalFlowState(NamedTuple):
    t_ns: int | None
    """The stamp of the latest sample; None before the first."""
    flow: Array
    """(2,) rad/s about x and y at the latest sample."""
    turn: Array
    """(3,) rad/s at the latest sample."""


@kernel(
    void(
        types.Tuple((readonly(uint8, 3), readonly(float32, 2), readonly(float32, 3))),
        types.Tuple((readonly(float64, 2), readonly(float64, 1))),
        types.UniTuple(float64, 2), float64, float64[::1],
    )
)  # fmt: skip
def _moved(view, camera, lens, threshold, out):
    """Sums over the textured pixels of (ẋ - x·ż)/z and (ẏ - y·ż)/z, translation only; and the number of pixels.

    view: colour, depth and velocities; camera: its rotation and velocity; lens: focal length and middle, px.
    """
    colour, depth, velocities = view
    rotation, velocity = camera
    f, centre = lens
    n = colour.shape[0]
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            across, down = 0.0, 0.0
            for k in range(3):
                across += float64(colour[i, j + 1, k]) - float64(colour[i, j - 1, k])
                down += float64(colour[i + 1, j, k]) - float64(colour[i - 1, j, k])
            # the gradient of the mean of three colours over two pixels
            if math.sqrt(across * across + down * down) / 6.0 < threshold:
                continue
            vx = velocities[i, j, 0] - velocity[0]
            vy = velocities[i, j, 1] - velocity[1]
            vz = velocities[i, j, 2] - velocity[2]
            tx = rotation[0, 0] * vx + rotation[1, 0] * vy + rotation[2, 0] * vz
            ty = rotation[0, 1] * vx + rotation[1, 1] * vy + rotation[2, 1] * vz
            tz = rotation[0, 2] * vx + rotation[1, 2] * vy + rotation[2, 2] * vz
            z = float64(depth[i, j])
            out[0] += (tx - (j - centre) / f * tz) / z
            out[1] += (ty - (i - centre) / f * tz) / z
            out[2] += 1.0


class OpticalFlow(Sensor[OpticalFlowState]):
    """When the sensor looks down, its axes x forward, y right, z down are the mount's +z, -y and +x."""

    Config = OpticalFlowConfig
    needs_views = True
    kernels = ("skyloop.world.views", "skyloop.sensors.camera_lens")
    message = "OpticalFlowSample"
    fault_fields = MappingProxyType({"integrated_x": 1, "integrated_y": 1, "integrated_gyro": 3, "distance": 1})

    def __init__(self, config: OpticalFlowConfig, period_s: float) -> None:
        n = self.numbers = numbers_of(config, PRESETS)
        self._config = config
        self.lens = Pinhole.from_fov(n.size_px, n.size_px, math.radians(n.fov_deg))

    def initial_state(self, rng: KeyedRandom) -> OpticalFlowState:
        return OpticalFlowState(None, np.zeros(2), np.zeros(3))

    def requests(self, kinematics: Kinematics, state: OpticalFlowState) -> list[ViewRequest]:
        """The view that `measure` will request."""
        turned = quat_multiply(kinematics.quat_wxyz, SENSOR_FROM_CAMERA)
        pose = ViewPose(kinematics.t_ns, kinematics.position, turned)
        return [ViewRequest(self.lens, pose, self._config.quality)]

    def measure(
        self, kinematics: Kinematics, scene: Scene, state: OpticalFlowState, rng: KeyedRandom
    ) -> tuple[OpticalFlowSample, OpticalFlowState]:
        n = self.numbers
        view = scene.views(self.requests(kinematics, state))[0]
        forward, left, up = kinematics.angular_velocity
        turn = np.array([up, -left, forward])
        motion, share = self._translation(view, kinematics)
        flow = turn[:2] + motion
        distance = self._distance(view)
        lapse_ns = 0 if state.t_ns is None else kinematics.t_ns - state.t_ns
        lapse = lapse_ns * 1e-9
        normals = rng.normal(5)
        quality = round(255 * min(1.0, share / ENOUGH_TEXTURE))
        if lapse_ns == 0 or max(abs(flow[0]), abs(flow[1])) > n.max_flow_rate:
            quality = 0
        integrated = np.zeros(2)
        if quality > 0:
            noise = n.noise_sd * math.sqrt(255.0 / quality) * normals[:2]
            integrated = lapse * (0.5 * (state.flow + flow) + noise)
        gyro = lapse * (0.5 * (state.turn + turn) + n.gyro_noise_sd * normals[2:])
        sample = OpticalFlowSample(
            kinematics.t_ns, lapse_ns // 1000, float(integrated[0]), float(integrated[1]), gyro, quality, distance
        )
        return sample, OpticalFlowState(kinematics.t_ns, flow, turn)

    def _translation(self, view: View, kinematics: Kinematics) -> tuple[Array, float]:
        """(2,) rad/s about x and y, image right and down, and the share of textured pixels."""
        n, out = self.numbers, np.zeros(3)
        rotation = np.ascontiguousarray(matrix_from_quat(view.pose.quat_wxyz))
        seen, camera = (view.colour, view.depth, view.velocities), (rotation, kinematics.velocity_world)
        _moved(seen, camera, (self.lens.fx, self.lens.cx), n.texture_threshold, out)
        return out[:2] / max(out[2], 1.0), float(out[2]) / (n.size_px - 2) ** 2

    def _distance(self, view: View) -> float:
        """From the mean 1/depth of the four pixels in the middle."""
        k = (self.numbers.size_px - 1) // 2
        middle = view.depth[k : k + 2, k : k + 2].astype(np.float64)
        nearness = float(np.mean(1.0 / middle))
        return 1.0 / nearness if nearness * self.numbers.max_range >= 1.0 else -1.0

    def details(self) -> Details:
        return {"preset": self._config.preset, **plain(self.numbers)}
