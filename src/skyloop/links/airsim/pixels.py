"""Converts a view into each of AirSim's image types, with the effects of CaptureSettings and NoiseSettings.

The renderer shows light E as √(1 - exp(-E)), so exposure is changed in terms of E. AirSim's noise is a shader in Unreal
whose numbers have no units; docs/how-to/airsim.md says what each number means here."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from skyloop.core.frames import matrix_from_quat, rotate_inverse
from skyloop.core.keyed_random import KeyedRandom, stream_key
from skyloop.sim.world_view import View
from skyloop_client.messages import Array
from skyloop_client.streams import NS_PER_S

(
    SCENE, DEPTH_PLANAR, DEPTH_PERSPECTIVE, DEPTH_VIS, DISPARITY, SEGMENTATION, NORMALS, INFRARED, FLOW, FLOW_VIS,
    LIGHTING, ANNOTATION,
) = range(12)  # fmt: skip
FAR = 65504.0
"""m, the depth of the sky: the largest number of AirSim's half precision."""
WHITE_M = 100.0
"""Depth in m that is white in DepthVis."""
STEREO_M = 0.25
FLOW_S = 1.0 / 60.0
"""Time span of optical flow in s."""
Bytes = NDArray[np.uint8]
Floats32 = NDArray[np.float32]


class Moving:
    """The motion of a camera, in world axes."""

    __slots__ = ("rates", "velocity")

    def __init__(self, velocity: Array, rates: Array) -> None:
        self.velocity, self.rates = velocity, rates


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """Lookup tables by instance number, for image types that show objects."""

    colours: Bytes | None = None
    """(n, 3), RGB, for segmentation and annotations."""
    greys: Bytes | None = None
    """(n,) for infrared."""


def depth(view: View) -> Floats32:
    return np.asarray(np.minimum(view.depth, np.float32(FAR)))


def distance(view: View) -> Floats32:
    return np.asarray(np.minimum(view.distance, np.float32(FAR)))


def disparity(view: View) -> Floats32:
    """Shift between the two cameras as a share of the image's width."""
    with np.errstate(divide="ignore"):
        return np.asarray(view.lens.fx * STEREO_M / (view.depth * view.lens.width), np.float32)


def flow(view: View, moving: Moving) -> Floats32:
    """(height, width, 2) px to the right and down: the motion of each pixel's content in 1/60 s."""
    lens, quat = view.lens, view.pose.quat_wxyz
    rays = lens.rays()
    turn = matrix_from_quat(quat)
    own, rates = rotate_inverse(quat, moving.velocity), rotate_inverse(quat, moving.rates)
    with np.errstate(divide="ignore"):
        nearness = (1.0 / view.depth)[..., None].astype(np.float64)
    relative = (view.velocities @ turn - own) * nearness - np.cross(np.broadcast_to(rates, rays.shape), rays)
    shift = (relative[..., :2] - rays[..., :2] * relative[..., 2:]) * [lens.fx, lens.fy] * FLOW_S
    return np.asarray(shift, np.float32)


def flow_colours(shift: Floats32) -> Bytes:
    """Hue shows direction. Brightness shows length, up to 20 px."""
    angle = (np.arctan2(shift[..., 1], shift[..., 0]) / (2.0 * np.pi)) % 1.0
    value = np.clip(np.linalg.norm(shift, axis=2) / 20.0, 0.0, 1.0)
    sector = (angle[..., None] * 6.0 + np.array([0.0, 4.0, 2.0])) % 6.0
    hue = np.clip(np.abs(sector - 3.0) - 1.0, 0.0, 1.0)
    return np.asarray(255.0 * value[..., None] * hue, np.uint8)


def as_floats(kind: int, view: View, tables: Tables, moving: Moving) -> Floats32:
    """(height, width), or (height, width, 2) for optical flow."""
    if kind == DEPTH_PLANAR:
        return depth(view)
    if kind == DEPTH_PERSPECTIVE:
        return distance(view)
    if kind == DEPTH_VIS:
        return np.asarray(np.clip(depth(view) / np.float32(WHITE_M), 0.0, 1.0))
    if kind == DISPARITY:
        return disparity(view)
    if kind == FLOW:
        return flow(view, moving)
    # for colour images AirSim returns the red channel
    return (as_bytes(kind, view, tables, moving)[..., 0] / np.float32(255.0)).astype(np.float32)


def as_bytes(kind: int, view: View, tables: Tables, moving: Moving) -> Bytes:
    """(height, width, 3), RGB."""
    if kind == SCENE:
        colour: Bytes = view.colour
        return colour
    if tables.colours is not None:
        return _painted(tables.colours, view.instances)
    if tables.greys is not None:
        return _grey(tables.greys[view.instances])
    if kind == NORMALS:
        # north, east, up become red, green, blue
        return np.asarray(np.round(127.5 + 127.5 * view.normals[..., [1, 0, 2]]), np.uint8)
    if kind in (FLOW, FLOW_VIS):
        return flow_colours(flow(view, moving))
    if kind == LIGHTING:
        return _lighting(view)
    scale = {DEPTH_VIS: 255.0 / WHITE_M, DISPARITY: 255.0}.get(kind, 1.0)
    values = {DEPTH_PERSPECTIVE: distance, DISPARITY: disparity}.get(kind, depth)(view)
    return _grey(np.clip(values * np.float32(scale), 0.0, 255.0).astype(np.uint8))


def _painted(table: Bytes, instances: NDArray[np.int32]) -> Bytes:
    """(height, width, 3) from (n, 3) colours by instance. 32-bit words make this ten times as fast as rows of three."""
    words = np.zeros((len(table), 4), np.uint8)
    words[:, :3] = table
    picked = np.take(words.view(np.uint32)[:, 0], instances).view(np.uint8).reshape(*instances.shape, 4)
    out = np.empty((*instances.shape, 3), np.uint8)
    for channel in range(3):
        out[..., channel] = picked[..., channel]
    return out


def raw_pixels(colours: Bytes, *, blue_first: bool) -> bytes:
    """Three bytes per pixel."""
    if not blue_first:
        return colours.tobytes()
    # channel by channel, which is faster than reversing the axis
    out = np.empty(colours.shape, np.uint8)
    for channel in range(3):
        out[..., 2 - channel] = colours[..., channel]
    return out.tobytes()


def _lighting(view: View) -> Bytes:
    """Brightness without colour."""
    return _grey(np.asarray(view.colour @ np.array([0.299, 0.587, 0.114]), np.uint8))


def _grey(values: Bytes) -> Bytes:
    return np.repeat(values[..., None], 3, axis=2)


# ---- effects


LEAST_GAIN, MOST_GAIN = 1.0 / 64.0, 64.0
BLUR_SAMPLES = 16
"""Number of samples averaged along the motion of a pixel."""
WAVE_HEIGHT = 0.1
"""Wavelength as a share of the image's height at HorzWaveVertSize 1."""


@dataclass(frozen=True, slots=True)
class Noise:
    """NoiseSettings of one image type, with AirSim's names."""

    rand_contrib: float = 0.2
    """Share of noise in a speck. The rest is the image."""
    rand_speed: float = 1e5
    """At 1 the pattern is static; above 1 it changes every 1/(speed - 1) s."""
    rand_size: float = 500.0
    """Specks across the image's width."""
    rand_density: float = 2.0
    """exp(1 - density) of all specks are present."""
    horz_wave_contrib: float = 0.03
    horz_wave_strength: float = 0.08
    """Share of the image's width."""
    horz_wave_vert_size: float = 1.0
    horz_wave_screen_size: float = 1.0
    """Share of the image's rows."""
    horz_noise_lines_contrib: float = 1.0
    horz_noise_lines_density_y: float = 0.01
    """Share of the rows."""
    horz_noise_lines_density_xy: float = 0.5
    """Share of the pixels in such a row."""
    horz_distortion_contrib: float = 1.0
    horz_distortion_strength: float = 0.002
    """Largest shift of a row, as a share of the image's width."""


NOISE_KEYS = {"".join(part.title() for part in field.name.split("_")): field.name for field in fields(Noise)}
NOISE_KEYS["HorzNoiseLinesDensityXY"] = NOISE_KEYS.pop("HorzNoiseLinesDensityXy")


@dataclass(frozen=True, slots=True)
class ImageEffects:
    """CaptureSettings of one image type, except its size."""

    gamma: float = 1.0
    bias: float = 0.0
    """Stops: 1 doubles the light."""
    darkest: float = 0.0
    brightest: float = 1.0
    """Automatic exposure brings the image's mean (0 to 1) between `darkest` and `brightest`."""
    speed: float = 100.0
    """Rate of automatic exposure, 1/s."""
    blur: float = 0.0
    """Share of 1/60 s over which a pixel is smeared."""
    noise: Noise | None = None

    @property
    def is_plain(self) -> bool:
        return self == PLAIN


PLAIN = ImageEffects()


def _light() -> Array:
    share = np.square(np.minimum(np.arange(256.0), 254.9) / 255.0)
    return np.asarray(-np.log1p(-share))


LIGHT = _light()
"""(256,) light E of a pixel value. Clipped pixels count as just clipped, because their light is unknown."""


class Exposure:
    """Automatic exposure of one image type of one camera. It adapts from image to image."""

    def __init__(self) -> None:
        self._gain = 1.0
        self._seen_ns: int | None = None

    def gain(self, image: Bytes, look: ImageEffects, t_ns: int) -> float:
        """The gain for this image. The first image gets the wanted exposure at once."""
        counts = np.bincount(image.ravel(), minlength=256)
        base = 2.0**look.bias

        def mean(gain: float) -> float:
            return float(counts @ np.sqrt(-np.expm1(-gain * base * LIGHT)) / counts.sum())

        wanted, bright = 1.0, mean(1.0)
        if not look.darkest <= bright <= look.brightest:
            goal = min(max(bright, look.darkest), look.brightest)
            low, high = LEAST_GAIN, MOST_GAIN
            for _ in range(24):
                wanted = math.sqrt(low * high)
                low, high = (wanted, high) if mean(wanted) < goal else (low, wanted)
        span = 1e9 if self._seen_ns is None else (t_ns - self._seen_ns) / NS_PER_S
        self._gain *= (wanted / self._gain) ** -math.expm1(-look.speed * span)
        self._seen_ns = t_ns
        return float(self._gain * base)


def toned(image: Bytes, gain: float, gamma: float) -> Bytes:
    """Multiplies the light by `gain` and raises pixel values to the power of 1/gamma."""
    table = np.power(-np.expm1(-gain * LIGHT), 0.5 / gamma)
    return np.asarray(np.round(255.0 * table).astype(np.uint8)[image])


def smeared(image: Bytes, shift: Floats32, amount: float) -> Bytes:
    """Averages along the motion of each pixel. `shift` is (height, width, 2) px per 1/60 s."""
    height, width = image.shape[:2]
    rows, columns = np.mgrid[:height, :width]
    way = amount * np.nan_to_num(shift)
    if not np.abs(way).max() > 0.25:
        return image
    total = np.zeros(image.shape)
    for k in range(BLUR_SAMPLES):
        along = (k + 0.5) / BLUR_SAMPLES - 0.5
        u = np.clip(np.rint(columns + along * way[..., 0]), 0, width - 1).astype(int)
        v = np.clip(np.rint(rows + along * way[..., 1]), 0, height - 1).astype(int)
        total += image[v, u]
    return np.asarray(np.round(total / BLUR_SAMPLES), np.uint8)


def noisy(image: Bytes, noise: Noise, camera: str, t_ns: int) -> Bytes:
    """Adds noise. The noise depends only on the camera's name, the settings and the instant."""
    turn = math.floor(t_ns / NS_PER_S * max(noise.rand_speed - 1.0, 0.0))
    draw = KeyedRandom(stream_key(0, f"airsim/{camera}"), turn)
    # static specks and flickering rows use different random keys
    flicker = KeyedRandom(stream_key(0, f"airsim/{camera}/rows"), t_ns)
    out = _distorted(image.astype(np.float32), noise, flicker)
    return np.asarray(np.round(_with_lines(_speckled(out, noise, draw), noise, flicker)).clip(0, 255), np.uint8)


def _speckled(image: NDArray[np.float32], noise: Noise, draw: KeyedRandom) -> NDArray[np.float32]:
    height, width = image.shape[:2]
    # a speck is never smaller than a pixel
    across = max(1, min(round(noise.rand_size), width))
    down = max(1, round(across * height / width))
    there, shade = draw.uniform(2 * across * down).reshape(2, down, across)
    weight = noise.rand_contrib * (there < math.exp(min(1.0 - noise.rand_density, 0.0)))
    rows, columns = np.arange(height) * down // height, np.arange(width) * across // width
    cells = np.ix_(rows, columns)
    share = np.asarray(weight[cells][..., None], np.float32)
    return image + share * (np.asarray(255.0 * shade[cells][..., None], np.float32) - image)


def _distorted(image: NDArray[np.float32], noise: Noise, draw: KeyedRandom) -> NDArray[np.float32]:
    """Shifts rows: each by a random amount, and as a wave over part of the image."""
    height, width = image.shape[:2]
    chance = draw.uniform(height + 2)
    jitter = noise.horz_distortion_strength * width * (2.0 * chance[2:] - 1.0)
    image = _shifted(image, jitter, noise.horz_distortion_contrib)
    down = np.arange(height) / height
    phase, first = 2.0 * np.pi * chance[0], chance[1]
    wave = np.sin(2.0 * np.pi * down / (WAVE_HEIGHT * max(noise.horz_wave_vert_size, 1e-3)) + phase)
    inside = (down - first) % 1.0 < noise.horz_wave_screen_size
    return _shifted(image, noise.horz_wave_strength * width * wave * inside, noise.horz_wave_contrib)


def _shifted(image: NDArray[np.float32], shift: Array, contrib: float) -> NDArray[np.float32]:
    """Moves rows to the right by so many px and blends them with the original."""
    if not contrib or not np.any(shift):
        return image
    width = image.shape[1]
    position = np.clip(np.arange(width) - np.asarray(shift)[:, None], 0.0, width - 1.0)
    left = position.astype(int)
    part = np.asarray((position - left)[..., None], np.float32)
    rows = np.arange(len(image))[:, None]
    moved = (1.0 - part) * image[rows, left] + part * image[rows, np.minimum(left + 1, width - 1)]
    return np.asarray(image + np.float32(contrib) * (moved - image))


def _with_lines(image: NDArray[np.float32], noise: Noise, draw: KeyedRandom) -> NDArray[np.float32]:
    height, width = image.shape[:2]
    struck = np.flatnonzero(draw.uniform(height) < noise.horz_noise_lines_density_y)
    there, shade = draw.uniform(2 * len(struck) * width).reshape(2, len(struck), width)
    weight = np.asarray(noise.horz_noise_lines_contrib * (there < noise.horz_noise_lines_density_xy), np.float32)
    out = image.copy()
    out[struck] += weight[..., None] * (np.asarray(255.0 * shade[..., None], np.float32) - out[struck])
    return out


def shown(
    image: Bytes, look: ImageEffects, exposure: Exposure, shift: Floats32 | None, camera: str, t_ns: int
) -> Bytes:
    """The image with all effects applied. `shift` is its optical flow, needed for motion blur."""
    if shift is not None:
        image = smeared(image, shift, look.blur)
    gain = exposure.gain(image, look, t_ns)
    if gain != 1.0 or look.gamma != 1.0:
        image = toned(image, gain, look.gamma)
    return image if look.noise is None else noisy(image, look.noise, camera, t_ns)
