"""Binary patterns that are hard to label, and grey images that the detector turns into exactly these patterns."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

Binary = NDArray[np.uint8]

DARK, LIGHT = 121.0, 135.0
"""After the smoothing. Its inverse makes sixteen times the difference of the finest patterns: still within 8 bits."""


@cache
def _unsmoothing(n: int) -> NDArray[np.float64]:
    weights = np.array([1, 48, 158, 48, 1]) / 256.0
    return np.linalg.inv(ndimage.correlate1d(np.eye(n), weights, axis=0, mode="nearest"))


def image_of(binary: Binary) -> NDArray[np.uint8]:
    """A grey image that is dark where the pattern is 1, behind an image with the threshold of `even_threshold`."""
    wanted = np.where(binary != 0, DARK, LIGHT)
    # no `@`: its threads spin on every core for longer than the product takes
    by_rows = np.einsum("ij,jk->ik", _unsmoothing(binary.shape[0]), wanted)
    sharp = np.einsum("ik,lk->il", by_rows, _unsmoothing(binary.shape[1]))
    return np.clip(np.rint(sharp), 0, 255).astype(np.uint8)


def even_threshold(shape: tuple[int, int]) -> NDArray[np.uint8]:
    """Black and white stripes: the threshold of the next image is 127.5 everywhere."""
    return np.where(np.indices(shape)[1] // 8 % 2 == 0, 0, 255).astype(np.uint8)


def spiral(shape: tuple[int, int], pitch: float = 6.0) -> Binary:
    y, x = np.indices(shape) - np.array(shape).reshape(2, 1, 1) // 2
    return ((np.hypot(x, y) - pitch * np.arctan2(y, x) / (2.0 * np.pi)) % pitch < pitch / 3.0).astype(np.uint8)


def square_spiral(shape: tuple[int, int]) -> Binary:
    """One line of 1 px that winds inwards with gaps of 1 px."""
    binary = np.zeros(shape, np.uint8)
    top, left, bottom, right = 0, 0, shape[0] - 1, shape[1] - 1
    x0 = 0
    while bottom - top >= 4 and right - left >= 4:
        binary[top, x0 : right + 1] = 1
        binary[top : bottom + 1, right] = 1
        binary[bottom, left : right + 1] = 1
        binary[top + 2 : bottom + 1, left] = 1
        x0 = left
        top, left, bottom, right = top + 2, left + 2, bottom - 2, right - 2
    return binary


def arches(shape: tuple[int, int]) -> Binary:
    """Arches of 1 px, one within the other, that stand on the lower edge."""
    y, x = np.indices(shape)
    depth = np.minimum(np.minimum(x, shape[1] - 1 - x), y)
    return (depth % 2 == 0).astype(np.uint8)


def joined_arches(shape: tuple[int, int]) -> Binary:
    """As many joins in one row as can be: each run of the lowest row's right half joins two neighbouring arches."""
    binary = arches(shape)
    half = shape[1] // 2
    binary[-1, half:] = 1 - binary[-1, half:]
    return binary


def teeth_joined_to_a_roof(shape: tuple[int, int]) -> Binary:
    """Between the teeth of a comb stand posts; below, each post is joined to the tooth on its right."""
    binary = np.zeros(shape, np.uint8)
    binary[0] = 1
    binary[1:-1, 0::4] = 1
    binary[2:-1, 2::4] = 1
    binary[-1, 0] = 1
    binary[-1, 3::4] = 1
    return binary


def patterns(shape: tuple[int, int]) -> dict[str, Binary]:
    h, w = shape
    y, x = np.indices(shape)
    random = np.random.default_rng(17)
    blobs = ndimage.gaussian_filter(random.normal(size=shape), 2.0) > 0.0
    found: dict[str, Any] = {
        "light": np.zeros(shape),
        "dark": np.ones(shape),
        "checkerboard": (x + y) % 2,
        "lonely pixels": (x % 2 == 0) & (y % 2 == 0),
        "columns": x % 2 == 0,
        "columns that end together": (x % 2 == 0) & (y < h // 2),
        "columns that end one after the other": (x % 2 == 0) & (y <= x * h // w),
        "columns that begin one after the other": (x % 2 == 0) & (y >= x * h // w),
        "rows": y % 2 == 0,
        "diagonals": (x + y) % 4 == 0,
        "other diagonals": (x - y) % 4 == 0,
        "comb, joined below": (x % 2 == 0) | (y == h - 1),
        "comb, joined above": (x % 2 == 0) | (y == 0),
        "combs into each other": ((x % 4 == 0) & (y < h - 2)) | ((x % 4 == 2) & (y > 1)) | (y == 0) | (y == h - 1),
        "steps": (x // 2 + y) % 3 == 0,
        "arches": arches(shape),
        "arches upside down": arches(shape)[::-1],
        "joined arches": joined_arches(shape),
        "joined arches, mirrored": joined_arches(shape)[:, ::-1],
        "teeth joined to a roof": teeth_joined_to_a_roof(shape),
        "spiral": spiral(shape),
        "mirrored spiral": spiral(shape)[:, ::-1],
        "fine spiral": square_spiral(shape),
        "fine spiral, mirrored": square_spiral(shape)[:, ::-1],
        "rings": np.hypot(x - w / 2, y - h / 2) // 3 % 2 == 0,
        "blobs": blobs,
        "the rest of blobs": ~blobs,
        **{f"noise of {percent} %": random.random(shape) < percent / 100 for percent in (5, 20, 35, 50, 65, 80, 95)},
    }  # fmt: skip
    return {name: np.ascontiguousarray(binary, np.uint8) for name, binary in found.items()}
