"""Corners are put back on the patch they were found with: they do not slide, also when the view warps it."""

from __future__ import annotations

import numpy as np
import pytest
from painted_flights import blobs

from skyloop_autonomy.vio.lens import cv2
from skyloop_autonomy.vio.patches import ReferencePatches

SIDE = 15
IMAGE = (480, 360)


@pytest.fixture(scope="module")
def picture() -> np.ndarray:
    return blobs(3, IMAGE[1], IMAGE[0], 1.5, 50.0)


@pytest.fixture(scope="module")
def corners(picture: np.ndarray) -> np.ndarray:
    found = cv2.goodFeaturesToTrack(picture, 250, 0.03, 10)[:, 0]
    inside = np.abs(found - np.array(IMAGE) / 2).max(axis=1) < 110
    return found[inside].astype(np.float32)


def warped(
    picture: np.ndarray, scale: float, degrees: float, shift: tuple[float, float]
) -> tuple[np.ndarray, np.ndarray]:
    """The picture zoomed and turned about its middle, and the matrix (2, 3) that does it to points."""
    matrix = cv2.getRotationMatrix2D((IMAGE[0] / 2, IMAGE[1] / 2), degrees, scale)
    matrix[:, 2] += shift
    return cv2.warpAffine(picture, matrix, IMAGE, flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REFLECT), matrix


def moved(points: np.ndarray, matrix: np.ndarray) -> np.ndarray:
    return points @ matrix[:, :2].T + matrix[:, 2]


def noisy(image: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.clip(image + rng.normal(0.0, 2.0, image.shape), 0, 255).astype(np.uint8)


def test_corners_that_slid_come_back_to_their_spot(picture: np.ndarray, corners: np.ndarray) -> None:
    rng = np.random.default_rng(1)
    patches, ids = ReferencePatches(SIDE), np.arange(len(corners))
    patches.put_back(picture, ids, corners)
    _, matrix = warped(picture, 1.1, 6.0, (3.3, -2.6))
    spots = moved(corners, matrix)
    slid = spots + rng.uniform(-0.6, 0.6, spots.shape)
    # slower views in between, as a camera has them: the warp is known from the last one
    for share in (0.5, 1.0):
        between, m = warped(picture, 1.0 + 0.1 * share, 6.0 * share, (3.3 * share, -2.6 * share))
        start = moved(corners, m) if share < 1.0 else slid
        pixels, kept = patches.put_back(noisy(between, rng), ids, start.astype(np.float32))
        ids, corners, pixels, slid, spots = ids[kept], corners[kept], pixels[kept], slid[kept], spots[kept]
    assert len(ids) > 15
    assert np.median(np.linalg.norm(pixels - spots, axis=1)) < 0.06


def test_a_long_zoom_is_followed_by_cutting_anew(picture: np.ndarray, corners: np.ndarray) -> None:
    first = pixels = corners[np.abs(corners - np.array(IMAGE) / 2).max(axis=1) < 65]
    patches, ids = ReferencePatches(SIDE), np.arange(len(first))
    patches.put_back(picture, ids, pixels)
    for scale in np.linspace(1.0, 2.2, 40):
        view, matrix = warped(picture, float(scale), 0.0, (0.0, 0.0))
        spots = moved(first, matrix)
        pixels, kept = patches.put_back(view, ids, spots.astype(np.float32))
        pixels, ids, first = pixels[kept], ids[kept], first[kept]
    assert len(ids) > 10
    assert np.median(np.linalg.norm(pixels - moved(first, matrix), axis=1)) < 0.3


def test_a_spot_that_is_covered_is_lost_and_the_others_stay(picture: np.ndarray, corners: np.ndarray) -> None:
    patches, ids = ReferencePatches(SIDE), np.arange(len(corners))
    patches.put_back(picture, ids, corners)
    covered = picture.copy()
    x, y = corners[0].round().astype(int)
    covered[max(0, y - 8) : y + 9, max(0, x - 8) : x + 9] = np.random.default_rng(5).integers(0, 255, (1, 1))
    _, kept = patches.put_back(covered, ids, corners)
    assert not kept[0]
    assert kept.mean() > 0.8


@pytest.mark.parametrize("image", [np.zeros((360, 480), np.uint8), np.full((360, 480), 255, np.uint8)])
def test_without_contrast_there_is_nothing_to_find(image: np.ndarray, picture: np.ndarray, corners: np.ndarray) -> None:
    patches, ids = ReferencePatches(SIDE), np.arange(len(corners))
    patches.put_back(picture, ids, corners)
    _, kept = patches.put_back(image, ids, corners)
    assert not kept.any()


def test_light_and_contrast_may_change(picture: np.ndarray, corners: np.ndarray) -> None:
    patches, ids = ReferencePatches(SIDE), np.arange(len(corners))
    patches.put_back(picture, ids, corners)
    darker = (0.6 * picture.astype(float) + 20.0).astype(np.uint8)
    pixels, kept = patches.put_back(darker, ids, corners + np.float32(0.4))
    assert kept.mean() > 0.9
    assert np.median(np.linalg.norm(pixels[kept] - corners[kept], axis=1)) < 0.05
