"""Rays against the triangles of a model, in plain numpy: slow, obvious, and nobody's code under test."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from skyloop.world.model import Model


def triangles(model: Model, t_ns: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """(n, 3, 3) world corners at full detail, and (n,) instance numbers."""
    model.freeze()
    poses = np.concatenate([model.standing_poses, model.motion(t_ns).poses])
    corners, objects = [], []
    for row, pose in enumerate(poses):
        mesh = model.shapes[model.part_shape[row]].lods[0]
        corners.append((mesh.positions.astype(float) @ pose[:, :3].T + pose[:, 3])[mesh.faces])
        objects.append(np.full(len(mesh.faces), model.part_object[row]))
    return np.concatenate(corners), np.concatenate(objects)


def cast(corners: np.ndarray, origins: ArrayLike, directions: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """(n,) m to the first triangle and its number, or inf and -1 (Möller and Trumbore)."""
    a, e1, e2 = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    distances, hits = [], []
    for o, d in zip(np.atleast_2d(origins), np.atleast_2d(directions), strict=True):
        p = np.cross(d, e2)
        det = np.einsum("ij,ij->i", e1, p)
        inverse = 1.0 / np.where(np.abs(det) < 1e-12, np.inf, det)
        s = o - a
        u = np.einsum("ij,ij->i", s, p) * inverse
        q = np.cross(s, e1)
        v = q @ d * inverse
        t = np.einsum("ij,ij->i", e2, q) * inverse
        t = np.where((u >= -1e-9) & (v >= -1e-9) & (u + v <= 1 + 1e-9) & (t > 1e-9), t, np.inf)
        hits.append(int(t.argmin()) if np.isfinite(t.min()) else -1)
        distances.append(t.min())
    return np.array(distances), np.array(hits)
