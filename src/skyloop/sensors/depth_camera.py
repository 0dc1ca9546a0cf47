"""Depth camera: planar depth with the noise of a stereo pair, which grows with distance and depends on the material.

Kim's model ("depth-noise-and-rotor-drag", section 2) is sigma = 0.005·exp(m·d), with m by material. It was fitted from
0.5 to 8 m and diverges beyond, so from 8 m on sigma keeps its value at 8 m. Other cameras have a growth of their own
on all surfaces, or sigma = a + b·(d − c)². Everything beyond Kim's model is off by default. A published depth lies
within the range limits or is 0.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numba import float32, float64, int64, types, uint8, uint32, uint64, void
from numpy.typing import NDArray
from pydantic import Field, model_validator

from skyloop.core.frames import SENSOR_FROM_CAMERA, matrix_from_quat, quat_multiply
from skyloop.core.jit import inlined, kernel, readonly, record_type
from skyloop.core.keyed_random import KeyedRandom, philox
from skyloop.core.quantities import Distance, Length, NonNegative
from skyloop.sensors.noise import normal_from_word
from skyloop.sensors.sensor import Details, Scene, Sensor, SensorConfig, numbers_of, plain
from skyloop.world.materials import MATERIALS
from skyloop.world.model import Model
from skyloop.world.views import Pinhole, View, ViewPose, ViewRequest
from skyloop_client.messages import Array, DepthImage, Kinematics

KIM_SCALE = 0.005
"""m, eq. (4)."""
FROZEN_BEYOND = 8.0
"""m, the end of the fit."""
SIGMA_STEPS = 64
"""Entries of the sigma table per m; linear interpolation between them is wrong by at most 3e-5."""
SHADOW_BLOCK = 4
"""px. Sunlight is tested once for each square of this size."""
SHADOW_RANGE = 500.0
"""m towards the sun within which an object can cast a shadow."""
LOST_IN_SUN = 0.1
"""The share of pixels lost in full sun, times `sunlight`."""
_FLYING_BLOCK = 1 << 36

Share = Annotated[float, Field(ge=0.0, le=1.0)]


@dataclass(frozen=True, slots=True)
class DepthNumbers:
    """The numbers of DepthCameraConfig."""

    width: int = 640
    height: int = 360
    horizontal_fov_deg: float = math.degrees(1.48702)
    min_range: float = 0.1
    max_range: float = 20.0
    noise_scale: float = 0.0
    zero_share: float = 0.0
    noise_growth: float | None = None
    noise_square: float = 0.0
    noise_nearest: float = 0.4
    baseline: float = 0.05
    disparity_step: float = 0.0


PRESETS = {
    # E2ES's D435 in Gazebo: its own field of view, 0.1 to 20 m, no noise.
    "d435": DepthNumbers(),
    # The same camera as Kim measured it.
    "d435-kim": DepthNumbers(noise_scale=KIM_SCALE, zero_share=0.01),
    # The image size of Kim's experiment.
    "kim": DepthNumbers(460, 320, 87.0, 0.1, 20.0, KIM_SCALE, 0.01),
    # A D435 with lenses 95 mm apart: at the same disparity noise, 50/95 of its depth noise. An estimate.
    "d455": DepthNumbers(640, 360, 87.0, 0.4, 20.0, KIM_SCALE * 50.0 / 95.0, 0.01, baseline=0.095),
    # Data sheet: sigma 2.5 mm at 1 m and 15.5 mm at 9 m if 95 % are reflected; the lost pixels are an estimate.
    "l515": DepthNumbers(640, 480, 70.0, 0.25, 9.0, 0.00199, 0.005, noise_growth=0.228, baseline=0.014),
    # Nguyen, Izadi and Lovell (2012): sigma = 0.0012 + 0.0019·(d − 0.4)²; disparity in steps of 1/8 px; the lost pixels
    # are an estimate.
    "kinect": DepthNumbers(640, 480, 57.0, 0.5, 8.0, 0.0012, 0.02, 0.0, 0.0019, 0.4, 0.075, 0.125),
    # The same light pattern and chip as the Kinect's.
    "xtion": DepthNumbers(640, 480, 58.0, 0.8, 3.5, 0.0012, 0.02, 0.0, 0.0019, 0.4, 0.075, 0.125),
    "perfect": DepthNumbers(min_range=0.05, max_range=1000.0),
}


class DepthCameraConfig(SensorConfig):
    """Depth camera: depth along the optical axis, with the noise that was measured on a D435."""

    kind: Literal["depth_camera"] = "depth_camera"
    """The kind of sensor."""
    rate_hz: float | str = 30.0
    """Images per second."""
    preset: Literal["d435", "d435-kim", "kim", "d455", "l515", "kinect", "xtion", "perfect"] = "d435-kim"
    """The camera whose numbers are used where yours are null. It also sets the mount when you give none."""
    width: Annotated[int, Field(ge=8, le=8192)] | None = None
    """px, the width of the image."""
    height: Annotated[int, Field(ge=8, le=8192)] | None = None
    """px, the height of the image."""
    horizontal_fov_deg: Annotated[float, Field(ge=1.0, lt=170.0)] | None = None
    """The field of view across the middle row."""
    quality: Literal["low", "medium", "high", "epic", "cinematic"] = "low"
    """How much detail the surfaces have."""
    min_range: Distance | None = None
    """m, the depth below which a pixel is 0, noise included."""
    max_range: Length | None = None
    """m, the depth above which a pixel is 0, noise included."""
    noise_scale: Distance | None = None
    """m, one sigma of the noise at distance 0: 0.005 in Kim's model; 0: no noise."""
    noise_growth: NonNegative | None = None
    """1/m, the exponent m of Kim's model on all surfaces. Left out, each material has its own, which the scenario's
    `materials` can change."""
    noise_square: NonNegative | None = None
    """1/m, the growth of sigma per squared distance beyond `noise_nearest`."""
    noise_nearest: Distance | None = None
    """m, the distance from which sigma grows with the square."""
    zero_share: Share | None = None
    """The share of pixels that are 0 at random."""
    incidence: NonNegative = 0.0
    """The power of 1/cos of the angle of incidence with which sigma grows; 0: it does not grow."""
    flying_pixels: Share = 0.0
    """The share of the pixels beside an edge that lie between its two depths."""
    baseline: Length | None = None
    """m, the distance between the two lenses, for the disparity; 0.05 in a D435."""
    disparity_step: NonNegative | None = None
    """px, the step to which disparity is rounded; 0: no rounding. A D435 has 1/32."""
    sunlight: NonNegative = 0.0
    """How much full sun on a surface raises sigma: 1 doubles it, and a tenth of the pixels are lost."""

    @model_validator(mode="before")
    @classmethod
    def _place_of_the_preset(cls, data: Any) -> Any:
        # the position of E2ES's depth camera, beside its colour camera
        if isinstance(data, dict) and str(data.get("preset", "d435")).startswith("d435"):
            return {"mount": {"position": [0.12, 0.0, 0.0]}, **data}
        return data

    @model_validator(mode="after")
    def _has_a_range(self) -> DepthCameraConfig:
        numbers = numbers_of(self, PRESETS)
        if numbers.min_range >= numbers.max_range:
            raise ValueError(f"min_range {numbers.min_range} m must be below max_range {numbers.max_range} m")
        return self


_F2, _U2 = readonly(float32, 2), readonly(uint8, 2)


def sigma_table(numbers: DepthNumbers, growth: Array) -> NDArray[np.float32]:
    """(materials, steps) m, eq. (4) from 0 to 8 m; growth: 1/m by material."""
    at = np.arange(int(FROZEN_BEYOND * SIGMA_STEPS) + 1) / SIGMA_STEPS
    square = numbers.noise_square * np.maximum(at - numbers.noise_nearest, 0.0) ** 2
    return (numbers.noise_scale * np.exp(growth[:, None] * at) + square).astype(np.float32)


@inlined
def _draw_row(row, key, index, words, normals):
    """Random words for one row, four per philox call, and a normal from each of the first `normals.size` of them."""
    n = words.shape[1]
    for b in range(n):
        words[0, b], words[1, b], words[2, b], words[3, b] = philox(key, index, uint64(row * n + b))
    flat = words.reshape(words.size)
    for j in range(normals.size):
        normals[j] = normal_from_word(flat[j], key, index, uint64(row * normals.size + j))


@inlined
def _sigma(table, material, depth):
    x = min(depth, float32(FROZEN_BEYOND)) * float32(SIGMA_STEPS)
    k = min(int64(x), table.shape[1] - 2)
    return table[material, k] + (table[material, k + 1] - table[material, k]) * (x - float32(k))


class StereoLimits(NamedTuple):
    low: float
    """m, the nearest depth."""
    high: float
    """m, the farthest depth."""
    across: float
    """m·px, baseline times focal length."""
    step: float
    """px, the step to which the disparity is rounded; 0: no rounding."""


_LIMITS = record_type(StereoLimits, low=float64, high=float64, across=float64, step=float64)


@kernel(void(_F2, _U2, types.UniTuple(_F2, 2), _F2, _LIMITS, types.UniTuple(uint64, 2), float32[:, ::1]))
def add_noise(depth, materials, disturbance, table, limits, counter, out):
    """Adds noise, disparity steps, random zeros and range limits.

    disturbance: a factor on sigma, and the share of zeros; each per pixel or, with shape (1, 1), for all pixels.
    """
    gain, lost = disturbance
    given = StereoLimits(*limits)
    low, high, across, step = float32(given.low), float32(given.high), float32(given.across), float32(given.step)
    key, index = counter
    h, w = depth.shape
    gain_by_pixel, lost_by_pixel = int64(gain.shape[0] == h), int64(lost.shape[0] == h)
    # one word is one pixel's normal; the two halves of another word decide whether two pixels are lost
    chances = 4 * ((w + 3) // 4)
    words = np.zeros((4, (w + 3) // 4 + (w + 7) // 8), np.uint32)
    flat, normals = words.reshape(words.size), np.zeros(w, np.float32)
    random = table[0, table.shape[1] - 1] > 0.0 or lost.max() > 0.0
    for i in range(h):
        if random:
            _draw_row(i, key, index, words, normals)
        for j in range(w):
            true = depth[i, j]
            times = gain[i * gain_by_pixel, j * gain_by_pixel]
            value = true + _sigma(table, materials[i, j], true) * times * normals[j]
            if step > 0.0:
                value = across / (step * np.rint(across / (value * step)))
            chance = float32((flat[chances + (j >> 1)] >> uint32(16 * (j & 1))) & uint32(0xFFFF))
            seen = chance >= lost[i * lost_by_pixel, j * lost_by_pixel] * float32(65536.0)
            seen &= (true >= low) & (true <= high) & (value >= low) & (value <= high) & (value > 0.0)
            out[i, j] = value if seen else float32(0.0)


@kernel(void(_F2, float64, uint64, uint64, float32[:, ::1]))
def fly_pixels(depth, share, key, index, out):
    """Beside an edge (neighbours that differ by more than a tenth) some pixels lie between the two depths."""
    h, w = depth.shape
    for i in range(h):
        for j in range(w):
            out[i, j] = depth[i, j]
            near = far = depth[i, j]
            for di, dj in ((-1, 0), (1, 0), (0, -1), (0, 1)):
                if 0 <= i + di < h and 0 <= j + dj < w:
                    near = min(near, depth[i + di, j + dj])
                    far = max(far, depth[i + di, j + dj])
            if near > 0.0 and np.isfinite(far) and far > 1.1 * near:
                a, b, _, _ = philox(key, index, uint64(_FLYING_BLOCK + i * w + j))
                if float64(a) < share * 4294967296.0:
                    out[i, j] = near + (far - near) * float64(b) / 4294967296.0


class DepthCamera(Sensor[tuple[()]]):
    """Keeps no state between samples."""

    Config = DepthCameraConfig
    needs_views = True
    kernels = ("skyloop.world.views",)
    message = "DepthImage"
    independent = True
    fault_fields = MappingProxyType({"depth": 1})

    def __init__(self, config: DepthCameraConfig, period_s: float) -> None:
        self.numbers = n = numbers_of(config, PRESETS)
        self._config = config
        self.lens = Pinhole.from_fov(n.width, n.height, math.radians(n.horizontal_fov_deg))
        self._take_growth(np.array([material.depth_noise for material in MATERIALS]), {})

    def enter(self, model: Model) -> None:
        self._take_growth(model.depth_noise, model.depth_noise_of)

    def _take_growth(self, by_material: Array, by_object: dict[int, float]) -> None:
        """Objects with a growth of their own get rows behind those of the materials."""
        own = self.numbers.noise_growth
        growth = np.append(by_material, list(by_object.values()))
        self._growth = growth if own is None else np.full(len(growth), own)
        self._row_of_object = {thing: len(by_material) + k for k, thing in enumerate(by_object)}
        self._table = sigma_table(self.numbers, self._growth)

    def initial_state(self, rng: KeyedRandom) -> tuple[()]:
        return ()

    def requests(self, kinematics: Kinematics, state: tuple[()]) -> list[ViewRequest]:
        quat = quat_multiply(kinematics.quat_wxyz, SENSOR_FROM_CAMERA)
        pose = ViewPose(kinematics.t_ns, kinematics.position, quat)
        return [ViewRequest(self.lens, pose, self._config.quality, colour=False)]

    def measure(
        self, kinematics: Kinematics, scene: Scene, state: tuple[()], rng: KeyedRandom
    ) -> tuple[DepthImage, tuple[()]]:
        view = scene.views(self.requests(kinematics, state))[0]
        c, n = self._config, self.numbers
        depth = view.depth
        if c.flying_pixels > 0.0:
            edged = np.empty_like(depth)
            fly_pixels(depth, c.flying_pixels, *rng.counter, edged)
            depth = edged
        gain, lost = np.ones((1, 1), np.float32), np.full((1, 1), n.zero_share, np.float32)
        if c.incidence:
            gain = self._incidence_gain(view)
        if c.sunlight:
            sun = c.sunlight * sun_on(view, scene)
            gain, lost = gain * (1.0 + sun), np.minimum(lost + LOST_IN_SUN * sun, 1.0)
        out = np.empty_like(depth)
        limits = StereoLimits(n.min_range, n.max_range, n.baseline * self.lens.fx, n.disparity_step)
        rows = view.materials
        if self._row_of_object:
            rows = rows.copy()
            for thing, row in self._row_of_object.items():
                rows[view.instances == thing] = row
        add_noise(depth, rows, (gain, lost), self._table, tuple(limits), rng.counter, out)
        return DepthImage(kinematics.t_ns, out), state

    def _incidence_gain(self, view: View) -> NDArray[np.float32]:
        normals = view.normals @ matrix_from_quat(view.pose.quat_wxyz).astype(np.float32)
        cosine = np.abs(np.einsum("ijk,ijk->ij", normals, self._sight))
        return np.asarray(np.maximum(cosine, 0.05) ** np.float32(-self._config.incidence), np.float32)

    @cached_property
    def _sight(self) -> NDArray[np.float32]:
        """(height, width, 3) unit vectors in camera axes."""
        rays = self.lens.rays()
        return np.asarray(rays / np.linalg.norm(rays, axis=2, keepdims=True), np.float32)

    def disturbed(self, sample: DepthImage, field: str, error: Array) -> DepthImage:
        """A fault shifts the depths that have a value; a depth that leaves the range becomes 0."""
        n = self.numbers
        moved = sample.depth + np.float32(error[0])
        seen = (sample.depth > 0.0) & (moved > 0.0) & (moved >= n.min_range) & (moved <= n.max_range)
        return replace(sample, depth=np.where(seen, moved, np.float32(0.0)))

    def _growth_by_name(self) -> dict[str, float]:
        names = [*(material.name for material in MATERIALS), *(f"object {thing}" for thing in self._row_of_object)]
        return dict(zip(names, self._growth.tolist(), strict=True))

    def details(self) -> Details:
        c, lens = self._config, self.lens
        return {
            "preset": c.preset,
            **plain(self.numbers),
            **lens.centre_and_focal(),
            **c.model_dump(include={"incidence", "flying_pixels", "sunlight"}),
            "noise_growth_per_m": self._growth_by_name(),
            "noise_frozen_beyond": FROZEN_BEYOND,
        }


def sun_on(view: View, scene: Scene) -> NDArray[np.float32]:
    """(height, width) 0 in shadow or at night, 1 where a high sun in a clear sky is straight above the surface."""
    weather = scene.weather
    facing = np.maximum(view.normals @ weather.sun_direction, 0.0) * weather.sunlight
    h, w = view.depth.shape
    # the pixel in the middle of each block
    rows, columns = (np.minimum(np.arange(0, n, SHADOW_BLOCK) + SHADOW_BLOCK // 2, n - 1) for n in (h, w))
    at = np.ix_(rows, columns)
    depth = np.where(np.isfinite(view.depth[at]), view.depth[at], 0.0)
    ahead = (view.lens.rays()[at] * depth[..., None]) @ matrix_from_quat(view.pose.quat_wxyz).T
    points = view.pose.position + ahead + 0.02 * view.normals[at]
    towards = np.tile(weather.sun_direction, (depth.size, 1))
    lit = np.isinf(scene.cast(points.reshape(-1, 3), towards, SHADOW_RANGE).distance).reshape(depth.shape)
    shown = lit[np.ix_(np.arange(h) // SHADOW_BLOCK, np.arange(w) // SHADOW_BLOCK)]
    return np.asarray(facing * shown, np.float32)
