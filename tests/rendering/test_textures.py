"""Textures: seamless, repeatable, of the brightness their users count on; wallpapers full of corners."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import ndimage

from skyloop.errors import ScenarioError
from skyloop.rendering.textures import VARIANTS, texture_layers
from skyloop.world.materials import MATERIAL_ID, MATERIALS

FOCAL_PX = 320 / np.tan(np.radians(43))
WALLPAPER_TILE = MATERIALS[MATERIAL_ID["wallpaper"]].tile
TINTABLE = ("plain", "plaster", "concrete", "cloth", "metal", "hair")


@pytest.fixture(autouse=True)
def _fresh(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skyloop.world.generation.CACHE_FOLDER", tmp_path)


def resampling(pixels: int, start: float, step: float, size: int) -> NDArray[np.float64]:
    """(pixels, size) weights: each pixel is the mean of eight linear interpolations over its width `step` of texels."""
    at = start + (np.arange(pixels)[:, None] + (np.arange(8) + 0.5) / 8) * step - 0.5
    low = np.floor(at).astype(int)
    weights = np.zeros((pixels, size))
    rows = np.repeat(np.arange(pixels), 8)
    np.add.at(weights, (rows, low.ravel() % size), (1 - (at - low)).ravel() / 8)
    np.add.at(weights, (rows, (low + 1).ravel() % size), (at - low).ravel() / 8)
    return weights


def wall_image(layer: NDArray[np.uint8], distance: float, rows: int = 360) -> NDArray[np.float64]:
    """Grey 640 × `rows` view of a wall straight ahead, `distance` m away, hfov 86°."""
    size = len(layer)
    grey = layer[..., :3] @ np.array([0.299, 0.587, 0.114])
    step = distance / FOCAL_PX / WALLPAPER_TILE * size
    image = resampling(rows, 17.0, step, size) @ grey @ resampling(640, 31.0, step, size).T
    return np.rint(image)


def corners(image: NDArray[np.float64], most: int = 1000, quality: float = 0.01, apart: int = 7) -> int:
    """How many Shi-Tomasi corners, as goodFeaturesToTrack with its 3 × 3 window counts them."""
    gx, gy = ndimage.sobel(image, 1), ndimage.sobel(image, 0)
    xx, yy, xy = (ndimage.uniform_filter(product, 3) for product in (gx * gx, gy * gy, gx * gy))
    least = 0.5 * (xx + yy) - np.sqrt(0.25 * (xx - yy) ** 2 + xy**2)
    peaks = (least == ndimage.maximum_filter(least, 3)) & (least > quality * least.max())
    rows, columns = np.nonzero(peaks)
    near = np.hypot(*np.mgrid[-apart : apart + 1, -apart : apart + 1]) < apart
    taken = np.zeros(np.add(image.shape, 2 * apart), bool)
    found = 0
    for k in np.argsort(-least[rows, columns], kind="stable"):
        row, column = rows[k], columns[k]
        if not taken[row + apart, column + apart]:
            taken[row : row + 2 * apart + 1, column : column + 2 * apart + 1] |= near
            found += 1
            if found == most:
                break
    return found


def test_the_corner_counter_counts_a_chessboard() -> None:
    board = np.kron(np.indices((12, 20)).sum(axis=0) % 2, np.ones((30, 32))) * 200.0
    assert corners(board) == 11 * 19
    assert corners(np.tile(np.linspace(0, 255, 640), (360, 1))) == 0
