"""Depth camera: planar depth with the noise of a stereo pair, which grows with distance and depends on the material.

Kim's model ("depth-noise-and-rotor-drag", section 2): sigma = 0.005·exp(m·d), m by material. It was fitted from 0.5 to
8 m and explodes beyond, so sigma stays there what it is at 8 m. Everything beyond Kim's model is off by default.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numba import float32, float64, types, uint8, uint32, uint64, void
from numpy.typing import NDArray
from pydantic import Field, model_validator

from skyloop.compiled import kernel
from skyloop.frames import matrix_from_quat, quat_multiply
from skyloop.keyed_random import KeyedRandom, philox
from skyloop.messages import DepthImage, Kinematics
from skyloop.sensors.camera import SENSOR_FROM_CAMERA
from skyloop.sensors.noise import normal_from_word
from skyloop.sensors.sensor import NonNegative, Positive, Scene, SensorConfig, numbers_of, plain
from skyloop.world.materials import MATERIALS
from skyloop.world.views import Pinhole, ViewPose, ViewRequest

KIM_SCALE = 0.005
"""m, eq. (4)."""
FROZEN_BEYOND = 8.0
"""m; the fit ends there."""
FLYING_BLOCK = 1 << 24
GROWTH = np.array([material.depth_noise for material in MATERIALS])

Share = Annotated[float, Field(ge=0.0, le=1.0)]


@dataclass(frozen=True, slots=True)
class DepthNumbers:
    """As the fields of DepthCameraConfig."""

    width: int = 640
    height: int = 360
    horizontal_fov_deg: float = math.degrees(1.48702)
    min_range: float = 0.1
    max_range: float = 20.0
    noise_scale: float = 0.0
    zero_share: float = 0.0


PRESETS = {
    # E2ES's D435 in Gazebo: an angle of its own, 0.1 to 20 m, no noise.
    "d435": DepthNumbers(),
    # The same camera as Kim measured it.
    "d435-kim": DepthNumbers(noise_scale=KIM_SCALE, zero_share=0.01),
    # The picture size of Kim's experiment.
    "kim": DepthNumbers(460, 320, 87.0, 0.1, 20.0, KIM_SCALE, 0.01),
    "perfect": DepthNumbers(min_range=0.05, max_range=1000.0),
}


class DepthCameraConfig(SensorConfig):
    kind: Literal["depth_camera"] = "depth_camera"
    """Which sensor this is."""
    rate_hz: float | str = 30.0
    """Images per second."""
    preset: Literal["d435", "d435-kim", "kim", "perfect"] = "d435-kim"
    """Where numbers left at None come from."""
    width: Annotated[int, Field(ge=8, le=8192)] | None = None
    """px."""
    height: Annotated[int, Field(ge=8, le=8192)] | None = None
    """px."""
    horizontal_fov_deg: Annotated[float, Field(ge=1.0, lt=170.0)] | None = None
    """Degrees across the middle row."""
    quality: Literal["low", "medium", "high", "epic", "cinematic"] = "low"
    """How much detail the surfaces have."""
    min_range: NonNegative | None = None
    """m; nearer pixels are 0."""
    max_range: Positive | None = None
    """m; farther pixels are 0."""
    noise_scale: NonNegative | None = None
    """m, sigma at no distance: 0.005 in Kim's model; 0: no noise."""
    zero_share: Share | None = None
    """Of pixels that are 0 by chance."""
    incidence: NonNegative = 0.0
    """Power of 1/cos of the angle of incidence by which sigma grows; 0: it does not."""
    flying_pixels: Share = 0.0
    """Of the pixels beside an edge that hang between its two depths."""
    baseline: Positive = 0.05
    """m between the two eyes, for the disparity."""
    disparity_step: NonNegative = 0.0
    """px, to which disparity is rounded; 0: not at all. A D435 has 1/32."""
    sunlight: NonNegative = 0.0
    """How much full sun on a surface raises sigma (1: doubles it); a tenth as many pixels are lost there."""

    @model_validator(mode="after")
    def _has_a_range(self) -> DepthCameraConfig:
        numbers = numbers_of(self, PRESETS)
        if numbers.min_range >= numbers.max_range:
            raise ValueError(f"min_range {numbers.min_range} m must be below max_range {numbers.max_range} m")
        return self


_F2, _U2 = types.Array(float32, 2, "C", readonly=True), types.Array(uint8, 2, "C", readonly=True)
_F3 = types.Array(float32, 3, "C", readonly=True)


@kernel(
    void(
        _F2, _U2, _F2, types.Array(float64, 1, "C", readonly=True), float64, float64, float64, float64, float64,
        uint64, uint64, float32[:, ::1],
    )
)  # fmt: skip
def add_noise(
    depth: Any, materials: Any, gain: Any, growth: Any, scale: Any, zero_share: Any, low: Any, high: Any,
    lost_in_sun: Any, key: Any, index: Any, out: Any,
) -> None:  # fmt: skip
    """Noise, chance zeros and range limits; `gain` multiplies sigma and is 1 by 1 where it does so by one number."""
    h, w = depth.shape
    uniform_gain = gain.shape[0] != h
    for i in range(h):
        for j0 in range(0, w, 2):
            # four words of chance serve two pixels
            a, b, c, d = philox(key, index, uint64((i * w + j0) // 2))
            for j in range(j0, min(j0 + 2, w)):
                shown, chance = (a, b) if j == j0 else (c, d)
                true = float64(depth[i, j])
                if not low <= true <= high:
                    out[i, j] = 0.0
                    continue
                times = float64(gain[0, 0]) if uniform_gain else float64(gain[i, j])
                value = true
                if scale > 0.0:
                    sigma = scale * np.exp(growth[materials[i, j]] * min(true, FROZEN_BEYOND)) * times
                    value += sigma * normal_from_word(uint32(shown), key, index, uint64(i * w + j))
                lost = zero_share + lost_in_sun * (times - 1.0)
                if value <= 0.0 or value > high or float64(chance) < lost * 4294967296.0:
                    value = 0.0
                out[i, j] = value


@kernel(void(_F2, float64, uint64, uint64, float32[:, ::1]))
def fly_pixels(depth: Any, share: Any, key: Any, index: Any, out: Any) -> None:
    """Beside an edge (neighbours that differ by more than a tenth) some pixels hang between the two depths."""
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
                a, b, _, _ = philox(key, index, uint64(FLYING_BLOCK + i * w + j))
                if float64(a) < share * 4294967296.0:
                    out[i, j] = near + (far - near) * float64(b) / 4294967296.0


class DepthCamera:
    """Has no state."""

    message: ClassVar[str] = "DepthImage"
    fault_fields: ClassVar[dict[str, int]] = {"depth": 1}

    def __init__(self, config: DepthCameraConfig, period_s: float) -> None:
        self.numbers = numbers_of(config, PRESETS)
        self._config = config
        n = self.numbers
        self.lens = Pinhole.from_fov(n.width, n.height, math.radians(n.horizontal_fov_deg))

    def initial_state(self, rng: KeyedRandom) -> tuple[()]:
        return ()

    def requests(self, kinematics: Kinematics, state: tuple[()]) -> list[ViewRequest]:
        quat = quat_multiply(kinematics.quat_wxyz, SENSOR_FROM_CAMERA)
        return [ViewRequest(self.lens, ViewPose(kinematics.t_ns, kinematics.position, quat), self._config.quality)]

    def measure(
        self, kinematics: Kinematics, scene: Scene, state: tuple[()], rng: KeyedRandom
    ) -> tuple[DepthImage, tuple[()]]:
        view = scene.views(self.requests(kinematics, state))[0]
        c, n, index = self._config, self.numbers, np.uint64(rng.index)
        depth = view.depth
        if c.flying_pixels > 0.0:
            edged = np.empty_like(depth)
            fly_pixels(depth, c.flying_pixels, rng.key, index, edged)
            depth = edged
        gain, lost_in_sun = self._gain(view, scene)
        out = np.empty_like(depth)
        low, high = n.min_range, n.max_range
        add_noise(depth, view.materials, gain, GROWTH, n.noise_scale, n.zero_share, low, high, lost_in_sun, rng.key,
                  index, out)  # fmt: skip
        if c.disparity_step > 0.0:
            out = self._rounded(out)
        return DepthImage(kinematics.t_ns, out), state

    def _gain(self, view: Any, scene: Scene) -> tuple[NDArray[np.float32], float]:
        """What sigma is multiplied by, per pixel, and the share of pixels lost per unit of it above 1."""
        c = self._config
        sunlight = c.sunlight * scene.weather.sunlight if c.sunlight else 0.0
        if not c.incidence and not sunlight:
            return np.ones((1, 1), np.float32), 0.0
        gain = np.ones(view.depth.shape)
        if c.incidence:
            towards = self.lens.rays() @ matrix_from_quat(view.pose.quat_wxyz).T
            across = np.abs(np.einsum("ijk,ijk->ij", view.normals, towards)) / np.linalg.norm(towards, axis=2)
            gain *= np.maximum(across, 0.05) ** -c.incidence
        if sunlight:
            gain *= 1.0 + sunlight * np.maximum(view.normals @ scene.weather.sun_direction, 0.0)
        return gain.astype(np.float32), 0.1 if sunlight else 0.0

    def _rounded(self, depth: NDArray[np.float32]) -> NDArray[np.float32]:
        across = self._config.baseline * self.lens.fx
        step = self._config.disparity_step
        with np.errstate(divide="ignore"):
            disparity = step * np.round(across / depth / step)
            back = across / disparity
        return np.where((depth > 0.0) & np.isfinite(back), back, 0.0).astype(np.float32)

    def details(self) -> dict[str, Any]:
        c, lens = self._config, self.lens
        return {
            "preset": c.preset,
            **plain(self.numbers),
            **{name: getattr(lens, name) for name in ("fx", "fy", "cx", "cy")},
            **{name: getattr(c, name) for name in ("incidence", "flying_pixels", "disparity_step", "sunlight")},
            "baseline": c.baseline,
            "noise_growth_per_m": {material.name: material.depth_noise for material in MATERIALS},
            "noise_frozen_beyond": FROZEN_BEYOND,
        }
