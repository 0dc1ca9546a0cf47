"""Poses in SDF: every named frame of a world or model, in the axes of that world or model.

A pose is relative to what `relative_to` names, else to what its element belongs to (SDF 1.4 to 1.11).
"""

from __future__ import annotations

from xml.etree.ElementTree import Element

import numpy as np

from skyloop.core.frames import matrix_from_quat, quat_from_euler
from skyloop_client.errors import ScenarioError, unknown_name
from skyloop_client.messages import Array

NAMED = ("model", "link", "frame", "joint", "light", "actor")


def numbers_of(element: Element | None, counts: tuple[int, ...], default: tuple[float, ...], where: str) -> list[float]:
    """The numbers of an element's text; an absent or empty one has the default."""
    words = [] if element is None else (element.text or "").split()
    if not words:
        return list(default)
    try:
        values = [float(word) for word in words]
    except ValueError:
        values = []
    if len(values) not in counts or not np.isfinite(values).all():
        tag = "" if element is None else element.tag
        raise ScenarioError(f"{where}: <{tag}> is '{' '.join(words)[:60]}'; give {counts[0]} numbers")
    return values


def matrix_of(pose: Element | None, where: str) -> Array:
    """(4, 4) of x, y, z and roll, pitch, yaw, or of a quaternion x, y, z, w."""
    is_quat = pose is not None and pose.get("rotation_format") == "quat_xyzw"
    values = numbers_of(pose, (7,) if is_quat else (6,), (0.0,) * 6 + (1.0,) * is_quat, where)
    matrix = np.eye(4)
    matrix[:3, 3] = values[:3]
    if is_quat:
        x, y, z, w = values[3:]
        size = float(np.linalg.norm(values[3:]))
        if size < 1e-6:
            raise ScenarioError(f"{where}: <pose> has a quaternion of zeros")
        quat = np.array([w, x, y, z]) / size
    else:
        turned = pose is not None and pose.get("degrees", "false").strip().lower() in ("true", "1")
        quat = quat_from_euler(*(np.radians(values[3:]) if turned else values[3:]))
    matrix[:3, :3] = matrix_from_quat(quat)
    return matrix


class Frames:
    """What has a name in one world or model."""

    def __init__(self, scope: Element, label: str) -> None:
        self.label = label
        self._scope = scope
        self._named = {str(child.get("name")): child for child in scope if child.tag in NAMED and child.get("name")}
        self._poses: dict[str, Array] = {"__model__" if scope.tag == "model" else "world": np.eye(4)}
        self._open: set[str] = set()
        self._inner: dict[str, Frames] = {}

    def inner(self, model: Element) -> Frames:
        name = str(model.get("name"))
        if name not in self._inner:
            self._inner[name] = Frames(model, f"{self.label}::{name}" if self._scope.tag == "model" else name)
        return self._inner[name]

    def of(self, element: Element, owner: Array | None = None) -> Array:
        """(4, 4) of an element; `owner`: of what it is in, where that is not the scope itself."""
        pose = element.find("pose")
        where = f"{self.label}, {element.tag} '{element.get('name', '')}'"
        named = None if pose is None else pose.get("relative_to")
        if named:
            base = self.pose(named)
        elif element.tag == "frame" and element.get("attached_to"):
            base = self.pose(str(element.get("attached_to")))
        elif element.tag == "joint":
            base = self.pose((element.findtext("child") or "").strip())
        else:
            base = np.eye(4) if owner is None else owner
        matrix = np.asarray(base @ matrix_of(pose, where))
        placement = element.get("placement_frame") if element.tag == "model" else None
        if placement:
            matrix = np.asarray(matrix @ np.linalg.inv(self.inner(element).pose(placement)))
        return matrix

    def pose(self, name: str) -> Array:
        """(4, 4) of a name, which may be of a model inside, as `model::link`."""
        if name in self._poses:
            return self._poses[name]
        first, separator, rest = name.partition("::")
        if separator and first in self._named and self._named[first].tag == "model":
            return np.asarray(self.pose(first) @ self.inner(self._named[first]).pose(rest))
        if name not in self._named:
            raise unknown_name(f"frame of '{self.label}'", name, [*self._poses, *self._named])
        if name in self._open:
            raise ScenarioError(f"{self.label}: the pose of '{name}' depends on itself; break the circle")
        self._open.add(name)
        self._poses[name] = self.of(self._named[name])
        return self._poses[name]
