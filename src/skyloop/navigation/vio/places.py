"""Places: pictures that are kept with the points seen on them, and how a place is known again.

A key picture keeps binary descriptors (ORB) of the corners whose depth the pair has seen. A new picture is compared
with those taken nearby, as far as the odometry can tell where that is; a match counts if one rigid motion explains it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skyloop.navigation.vio.measurement_kernels import STEREO
from skyloop.navigation.vio.opencv import cv2
from skyloop.navigation.vio.tracking import Grey, Tracks
from skyloop_client.messages import Array

_PATCH_PX = 31.0
"""The diameter of the patch that a descriptor describes."""
_NEAREST_SHIFT = 0.8
"""A match must be nearer than this share of the second best one's distance."""
_REPROJECTION = 0.006
"""Tangent, how far a matched corner may lie from where the motion puts it."""


@dataclass(frozen=True, eq=False)
class KeyPicture:
    t_ns: int
    rotation: Array
    """(3, 3) odometry frame from left camera."""
    place: Array
    """(3,) m."""
    descriptors: NDArray[np.uint8]
    """(n, 32)."""
    tangents: Array
    """(n, 2)."""
    points: Array
    """(n, 3) m, left camera's axes."""


@dataclass(frozen=True, eq=False)
class Recognition:
    """The pose of the new camera in the axes of the old one."""

    old: int
    new: int
    rotation: Array
    place: Array
    inliers: int


def key_picture(t_ns: int, image: Grey, tracks: Tracks, reach: float, pose: tuple[Array, Array]) -> KeyPicture:
    """Of the tracks whose depth was seen; ORB leaves out corners at the image's rim."""
    good = np.flatnonzero((tracks.known == STEREO) & (tracks.rows[:, 2] > reach / 25.0))
    corners = [
        cv2.KeyPoint(float(x), float(y), _PATCH_PX, -1.0, 0.0, 0, int(k))
        for k, (x, y) in zip(good.tolist(), tracks.pixels[good].tolist(), strict=True)
    ]
    kept, descriptors = cv2.ORB_create().compute(image, corners)
    index = np.array([corner.class_id for corner in kept], np.int64)
    rows = tracks.rows[index]
    depth = reach / rows[:, 2:]
    points = np.concatenate([rows[:, :2] * depth, depth], axis=1)
    found = np.zeros((0, 32), np.uint8) if descriptors is None else descriptors
    return KeyPicture(t_ns, pose[0].copy(), pose[1].copy(), found, rows[:, :2].copy(), points)


def recognised(old: KeyPicture, new: KeyPicture, least: int) -> tuple[Array, Array, int] | None:
    """old_from_new as rotation and place, and the number of corners that agree; None if it is another place."""
    if min(len(old.descriptors), len(new.descriptors)) < least:
        return None
    pairs = cv2.BFMatcher(cv2.NORM_HAMMING).knnMatch(new.descriptors, old.descriptors, k=2)
    matches = [p[0] for p in pairs if len(p) == 2 and p[0].distance < _NEAREST_SHIFT * p[1].distance]
    if len(matches) < least:
        return None
    mine, theirs = np.array([m.queryIdx for m in matches]), np.array([m.trainIdx for m in matches])
    # RANSAC draws from OpenCV's own generator; a fixed seed makes the draw a function of its inputs
    cv2.setRNGSeed(1)
    done, turn, shift, inliers = cv2.solvePnPRansac(
        old.points[theirs], new.tangents[mine], np.eye(3), None, iterationsCount=100, reprojectionError=_REPROJECTION,
        confidence=0.999, flags=cv2.SOLVEPNP_EPNP,
    )  # fmt: skip
    if not done or inliers is None or len(inliers) < max(least, 0.4 * len(matches)):
        return None
    chosen = inliers[:, 0]
    turn, shift = cv2.solvePnPRefineLM(
        old.points[theirs[chosen]], new.tangents[mine[chosen]], np.eye(3), None, turn, shift
    )
    new_from_old = cv2.Rodrigues(turn)[0]
    return new_from_old.T, -(new_from_old.T @ shift[:, 0]), len(chosen)
