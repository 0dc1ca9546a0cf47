"""Rays by Embree against a model at full detail, for questions that need many of them."""

from __future__ import annotations

import numpy as np
from embreex.mesh_construction import TriangleMesh
from embreex.rtcore_scene import EmbreeScene
from model_rays import triangles
from numpy.typing import ArrayLike

from skyloop.world.mesh import Mesh
from skyloop.world.model import Model


class Probe:
    def __init__(self, corners: np.ndarray, objects: np.ndarray) -> None:
        self._things = objects
        self._scene = EmbreeScene()
        faces = np.arange(3 * len(corners), dtype=np.int32).reshape(-1, 3)
        TriangleMesh(self._scene, corners.reshape(-1, 3).astype(np.float32), faces)

    @staticmethod
    def of_model(model: Model, t_ns: int = 0) -> Probe:
        return Probe(*triangles(model, t_ns))

    @staticmethod
    def of_mesh(mesh: Mesh) -> Probe:
        return Probe(mesh.positions[mesh.faces], np.zeros(len(mesh.faces), int))

    def cast(self, origins: ArrayLike, directions: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """(n,) m to the first surface and its instance number, or inf and -1."""
        starts, along = np.broadcast_arrays(np.atleast_2d(origins), np.atleast_2d(directions))
        hit = self._scene.run(
            np.ascontiguousarray(starts, np.float32),
            np.ascontiguousarray(along, np.float32),
            query="INTERSECT",
            output=True,
        )
        met = hit["primID"] >= 0
        return np.where(met, hit["tfar"], np.inf), np.where(met, self._things[hit["primID"]], -1)

    def tops(self, xy: ArrayLike, height: float = 100.0) -> tuple[np.ndarray, np.ndarray]:
        """(n,) height of what a ray from above meets first at (n, 2) places, and its instance number."""
        places = np.asarray(xy, float)
        distance, instance = self.cast(np.column_stack([places, np.full(len(places), height)]), [[0.0, 0.0, -1.0]])
        return height - distance, instance


def disc(radius: float, n: int = 400) -> np.ndarray:
    """(n, 2) places spread evenly over a disc around (0, 0)."""
    k = np.arange(n) + 0.5
    angle = k * np.pi * (3.0 - np.sqrt(5.0))
    return radius * np.sqrt(k / n)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])


def visible_triangles(model: Model, eye: ArrayLike, heading: float, *, detail: float = 0.6) -> int:
    """What a level camera 90° wide draws at quality low, by balls around the objects in its view."""
    ahead, left = np.array([np.cos(heading), np.sin(heading), 0.0]), np.array([-np.sin(heading), np.cos(heading), 0.0])
    poses = np.concatenate([model.standing_poses, model.motion(0).poses])
    balls = []
    for shape in model.shapes:
        low, high = shape.lods[0].positions.min(axis=0), shape.lods[0].positions.max(axis=0)
        balls.append((0.5 * (low + high), 0.5 * float(np.linalg.norm(high - low))))
    total = 0
    for row, pose in enumerate(poses):
        shape = model.shapes[model.part_shape[row]]
        middle, radius = balls[model.part_shape[row]]
        to = pose[:, :3] @ middle + pose[:, 3] - np.asarray(eye, float)
        if min(ahead @ to + left @ to, ahead @ to - left @ to) < -np.sqrt(2.0) * radius:
            continue
        near = max(np.linalg.norm(to) - radius, 0.0)
        total += len(shape.lods[sum(near > detail * step for step in shape.ranges)].faces)
    return total
