"""Places: pictures that are kept with the points seen on them, and how a place is known again.

A key picture keeps binary descriptors (ORB) of the corners whose depth the pair has seen. They are sought among all
corners of a new picture, taken nearby as far as the odometry can tell. A match counts if one rigid motion explains it.
Then every corner of the old picture is sought in the new one where that motion puts it, to a fraction of a pixel, and
the motion is fitted again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skyloop_autonomy.vio.lens import PixelLens, cv2
from skyloop_autonomy.vio.measurement_kernels import STEREO
from skyloop_autonomy.vio.patches import cut_patches, find_patches
from skyloop_autonomy.vio.tracking import CornerTracks, Grey, corner_strength
from skyloop_client.messages import Array

_PATCH_PX = 31.0
"""The diameter of the patch that a descriptor describes."""
_MOST_CORNERS = 800
"""Corners of a new picture that are described."""
_NEAREST_SHIFT = 0.8
"""A match must be nearer than this share of the second best one's distance."""
_REPROJECTION = 0.008
"""Tangent, how far a matched corner may lie from where the motion puts it."""
_FINE_REPROJECTION = 0.003
"""The same for corners that were found again by their patch."""
_SIDE = 15
"""px of such a patch."""
_LIKE = 0.8
"""Least correlation of a corner with its patch."""


@dataclass(frozen=True, eq=False)
class KeyPicture:
    t_ns: int
    rotation: Array
    """(3, 3) odometry frame from left camera."""
    position: Array
    """(3,) m."""
    descriptors: NDArray[np.uint8]
    """(n, 32)."""
    tangents: Array
    """(n, 2)."""
    points: Array
    """(n, 3) m, left camera's axes."""
    pixels: Array
    """(n, 2) px."""
    image: Grey
    lens: PixelLens


@dataclass(frozen=True, eq=False)
class Recognition:
    """The pose of the new camera in the axes of the old one."""

    old: int
    new: int
    rotation: Array
    position: Array
    inliers: int


Recognised = tuple[Array, Array, int]
"""old_from_new as rotation and position, and the number of corners that agree."""


def key_picture(
    t_ns: int, image: Grey, tracks: CornerTracks, reach: float, pose: tuple[Array, Array], lens: PixelLens
) -> KeyPicture:
    """Of the tracks whose depth was seen; ORB leaves out corners at the image's rim."""
    usable = np.flatnonzero((tracks.known == STEREO) & (tracks.rows[:, 2] > reach / 25.0))
    index, found = _described(image, tracks.pixels[usable])
    rows = tracks.rows[usable[index]]
    depth = reach / rows[:, 2:]
    points = np.concatenate([rows[:, :2] * depth, depth], axis=1)
    pixels = tracks.pixels[usable[index]].astype(np.float64)
    return KeyPicture(t_ns, pose[0].copy(), pose[1].copy(), found, rows[:, :2].copy(), points, pixels, image, lens)


def _described(image: Grey, pixels: NDArray[np.float32]) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """The indices of the corners that can be described, and their descriptors. Up is up: they are not turned."""
    corners = [cv2.KeyPoint(float(x), float(y), _PATCH_PX, -1.0, 0.0, 0, k) for k, (x, y) in enumerate(pixels.tolist())]
    kept, descriptors = cv2.ORB_create().compute(image, corners)
    index = np.array([corner.class_id for corner in kept], np.int64)
    return index, np.zeros((0, 32), np.uint8) if descriptors is None else descriptors


def all_corners(picture: KeyPicture) -> tuple[Array, NDArray[np.uint8]]:
    """Pixels (n, 2) and descriptors of the strongest corners of a picture, with or without depth."""
    strength = corner_strength(picture.image)
    best = (strength == cv2.dilate(strength, np.ones((5, 5), np.uint8))) & (strength > 1.0)
    ys, xs = np.nonzero(best)
    order = np.argsort(-strength[ys, xs], kind="stable")[:_MOST_CORNERS]
    pixels = np.stack([xs[order], ys[order]], axis=1).astype(np.float32)
    index, descriptors = _described(picture.image, pixels)
    return pixels[index].astype(np.float64), descriptors


def recognised(
    old: KeyPicture, new: KeyPicture, corners: tuple[Array, NDArray[np.uint8]], least: int
) -> Recognised | None:
    """corners: all of the new picture. None if it is another place."""
    pixels, descriptors = corners
    if min(len(old.descriptors), len(descriptors)) < least:
        return None
    pairs = cv2.BFMatcher(cv2.NORM_HAMMING).knnMatch(old.descriptors, descriptors, k=2)
    matches = [p[0] for p in pairs if len(p) == 2 and p[0].distance < _NEAREST_SHIFT * p[1].distance]
    if len(matches) < least:
        return None
    mine, theirs = np.array([m.trainIdx for m in matches]), np.array([m.queryIdx for m in matches])
    tangents = new.lens.tangents(pixels[mine])
    # RANSAC draws from OpenCV's own generator; a fixed seed makes the draw a function of its inputs
    cv2.setRNGSeed(1)
    done, turn, shift, inliers = cv2.solvePnPRansac(
        old.points[theirs], tangents, np.eye(3), None, iterationsCount=100, reprojectionError=_REPROJECTION,
        confidence=0.999, flags=cv2.SOLVEPNP_EPNP,
    )  # fmt: skip
    if not done or inliers is None or len(inliers) < max(least, 0.4 * len(matches)):
        return None
    return _refined(old, new, (turn, shift), least)


def _refined(old: KeyPicture, new: KeyPicture, motion: tuple[Array, Array], least: int) -> Recognised | None:
    """The motion by the patches of all corners of the old picture."""
    turn, shift = motion
    seen = old.points @ cv2.Rodrigues(turn)[0].T + shift[:, 0]
    ahead = np.flatnonzero(seen[:, 2] > 0.2)
    seen, points, at = seen[ahead], old.points[ahead], old.pixels[ahead]
    pixels = np.ascontiguousarray(new.lens.pixels(seen[:, :2] / seen[:, 2:]), np.float64)
    n = len(ahead)
    patches = np.zeros((n, _SIDE, _SIDE), np.float32), np.zeros((n, 2, _SIDE, _SIDE), np.float32), np.zeros((n, 6, 6))
    cut = np.zeros(n, np.uint8)
    cut_patches(old.image, np.ascontiguousarray(at), patches, cut)
    warps = (points[:, 2] / seen[:, 2])[:, None, None] * np.eye(2)
    guess, likeness = pixels.copy(), np.empty(n)
    find_patches(new.image, patches, warps, pixels, 10, likeness)
    usable = (cut == 1) & (likeness > _LIKE) & (np.linalg.norm(pixels - guess, axis=1) < 6.0)
    points, tangents = points[usable], new.lens.tangents(pixels[usable])
    for limit in (2.0 * _FINE_REPROJECTION, _FINE_REPROJECTION):
        if len(points) < least:
            return None
        turn, shift = cv2.solvePnPRefineLM(points, tangents, np.eye(3), None, turn, shift)
        seen = points @ cv2.Rodrigues(turn)[0].T + shift[:, 0]
        close = np.linalg.norm(seen[:, :2] / seen[:, 2:] - tangents, axis=1) < limit
        points, tangents = points[close], tangents[close]
    if len(points) < least:
        return None
    new_from_old = cv2.Rodrigues(turn)[0]
    return new_from_old.T, -(new_from_old.T @ shift[:, 0]), len(points)
