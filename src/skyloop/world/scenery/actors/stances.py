"""People who stand: a few natural poses, given by the angles of the limbs."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from skyloop.world.scenery.actors.body_tables import Build
from skyloop.world.scenery.actors.gait import PARTS

# degrees about the limb's own axes: (forwards, outwards, inwards about itself)
_HANGING = {"upper arm": (-3, 7, 15), "forearm": (14, 0, 0), "hand": (4, 0, 0)}
_POCKET = {"upper arm": (-22, 13, 30), "forearm": (44, 0, 0), "hand": (4, 0, 0)}
_PHONE = {"upper arm": (22, 8, 38), "forearm": (100, 0, 0), "hand": (8, 0, 60)}
_TALKING = {"upper arm": (14, 12, 18), "forearm": (74, 0, 0), "hand": (-8, 0, -40)}
_ON_HIP = {"upper arm": (-18, 42, 62), "forearm": (88, 0, 0), "hand": (-20, 0, 0)}
_STRAIGHT = {"thigh": (0, 2, 0), "shank": (0, 0, 0), "foot": (0, 0, -9)}
_EASY = {"thigh": (11, 5, -8), "shank": (-18, 0, 0), "foot": (0, 0, -18)}

STANCES: Final[dict[str, dict[str, Any]]] = {
    "hanging": {"left": _HANGING | _STRAIGHT, "right": _HANGING | _STRAIGHT, "head": (0, 0, 0), "chest": (0, 0, 0)},
    "easy": {"left": _HANGING | _STRAIGHT, "right": _HANGING | _EASY, "head": (4, 0, 14), "chest": (0, 2, 3)},
    "pockets": {"left": _POCKET | _STRAIGHT, "right": _POCKET | _STRAIGHT, "head": (2, 0, -8), "chest": (-1, 0, 0)},
    "phone": {"left": _HANGING | _EASY, "right": _PHONE | _STRAIGHT, "head": (24, 0, -8), "chest": (4, 0, 0)},
    "talking": {"left": _TALKING | _STRAIGHT, "right": _HANGING | _EASY, "head": (-2, 0, 10), "chest": (2, 0, 6)},
    "hip": {"left": _ON_HIP | _STRAIGHT, "right": _HANGING | _EASY, "head": (0, 3, 22), "chest": (0, -2, 0)},
}
"""Head and chest lean forwards, to the left, and turn to the left."""


def _rotation(forwards: float, outwards: float, turned: float) -> NDArray[np.float64]:
    a, b, c = np.radians([-forwards, outwards, turned])
    rx = np.array([[1, 0, 0], [0, np.cos(b), -np.sin(b)], [0, np.sin(b), np.cos(b)]])
    ry = np.array([[np.cos(a), 0, np.sin(a)], [0, 1, 0], [-np.sin(a), 0, np.cos(a)]])
    rz = np.array([[np.cos(c), -np.sin(c), 0], [np.sin(c), np.cos(c), 0], [0, 0, 1]])
    return rx @ ry @ rz  # type: ignore[no-any-return]


def standing_poses(build: Build, stance: str) -> NDArray[np.float64]:
    """(15, 3, 4) of PARTS from the ground between the feet, x forward."""
    angles = STANCES[stance]
    joints = build.joints()
    hip = joints["hip"] * [1.0, 0.0, 1.0]
    poses = dict.fromkeys(PARTS, (np.eye(3), hip))
    trunk = _rotation(*(angles["chest"] * np.array([-1, 1, 1])))
    poses["chest"] = trunk, joints["lumbar"]
    neck = joints["lumbar"] + trunk @ (joints["neck"] - joints["lumbar"])
    poses["head"] = _rotation(*(angles["head"] * np.array([-1, 1, 1]))), neck
    for side, mirror in (("left", 1.0), ("right", -1.0)):
        limb, out = angles[side], np.array([1.0, mirror, 1.0])
        start = {
            "upper arm": (trunk, joints["lumbar"] + trunk @ (joints["shoulder"] * out - joints["lumbar"])),
            "thigh": (np.eye(3), joints["hip"] * out),
        }
        for chain in (("upper arm", "forearm", "hand"), ("thigh", "shank", "foot")):
            rotation, origin = start[chain[0]]
            for part in chain:
                forwards, outwards, turned = limb[part]
                step = _rotation(forwards, mirror * outwards, -mirror * turned)
                rotation = step if part == "foot" else rotation @ step  # shoes stay flat
                poses[f"{side} {part}"] = rotation, origin
                if part not in ("hand", "foot"):
                    origin = origin + rotation @ [0.0, 0.0, -build.length(part)]
    lowest = min(poses[f"{side} foot"][1][2] for side in ("left", "right")) - build.ankle
    table = np.array([np.column_stack([rotation, origin]) for rotation, origin in (poses[part] for part in PARTS)])
    table[:, 2, 3] -= lowest
    return table
