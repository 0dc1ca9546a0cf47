"""Applies AirSim's CaptureSettings and NoiseSettings to an image: exposure, gamma, motion blur, noise.

The renderer shows light E as √(1 - exp(-E)), so exposure is changed in terms of E. AirSim's noise is a shader in Unreal
whose numbers have no units; docs/how-to/airsim.md says what each number means here."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop.core.keyed_random import KeyedRandom, stream_key
from skyloop.links.airsim.pixels import Bytes, Floats32
from skyloop_client.messages import Array
from skyloop_client.streams import NS_PER_S

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
class Look:
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


PLAIN = Look()


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

    def gain(self, image: Bytes, look: Look, t_ns: int) -> float:
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


def _shifted(image: NDArray[np.float32], shift: Any, contrib: float) -> NDArray[np.float32]:
    """Moves rows to the right by so many px and blends them with the original."""
    if not contrib or not np.any(shift):
        return image
    width = image.shape[1]
    place = np.clip(np.arange(width) - np.asarray(shift)[:, None], 0.0, width - 1.0)
    left = place.astype(int)
    part = np.asarray((place - left)[..., None], np.float32)
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


def shown(image: Bytes, look: Look, exposure: Exposure, shift: Floats32 | None, camera: str, t_ns: int) -> Bytes:
    """The image with all effects applied. `shift` is its optical flow, needed for motion blur."""
    if shift is not None:
        image = smeared(image, shift, look.blur)
    gain = exposure.gain(image, look, t_ns)
    if gain != 1.0 or look.gamma != 1.0:
        image = toned(image, gain, look.gamma)
    return image if look.noise is None else noisy(image, look.noise, camera, t_ns)
