"""What the client shares with the renderer process: a model in the form the renderer reads (a buffer of vertices, one
of indices, and tables), and the memory through which the renderer process gives its pixels to the client, in slots: one
for each request.

A surface buffer is read where it lies. Its slot is used again when nothing refers to the buffer any more; views that
somebody keeps are copied, so that they never hold much of the memory.
"""

from __future__ import annotations

import mmap
import os
import sys
import tempfile
import weakref
from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skyloop.rendering.wire import Arrays
from skyloop.world.materials import MATERIALS
from skyloop.world.mesh import Mesh
from skyloop.world.model import PICTURE_PX, Model

VERTEX = np.dtype(
    [("position", "<f4", 3), ("normal", "u1", 4), ("uv", "<f4", 2), ("colour", "u1", 4), ("material", "u1", 4)]
)


def pack_model(model: Model) -> Arrays:
    """Packs all levels of all shapes; `lods` has a row (first index, count, base vertex) for each."""
    vertices, indices, spheres, first_lod, ranges = [], [], [], [], []
    lods: list[tuple[int, int, int]] = []
    n_vertices = n_indices = 0
    for shape in model.shapes:
        first_lod.append((len(lods), len(shape.lods), int(shape.casts_shadow)))
        ranges.append([*shape.ranges, *[np.inf] * (8 - len(shape.ranges))])
        spheres.append(_sphere(shape.lods[0]))
        for mesh in shape.lods:
            vertices.append(_vertices(mesh))
            indices.append(mesh.faces.astype(np.uint32).ravel())
            lods.append((n_indices, mesh.faces.size, n_vertices))
            n_vertices += len(mesh.positions)
            n_indices += mesh.faces.size
    return {
        "vertices": np.concatenate([v.view(np.uint8).reshape(-1) for v in vertices]) if vertices else np.zeros(0, "u1"),
        "indices": np.concatenate(indices) if indices else np.zeros(0, "u4"),
        "lods": np.array(lods, np.uint32).reshape(-1, 3),
        "spheres": np.array(spheres, np.float64).reshape(-1, 4),
        "first_lod": np.array(first_lod, np.int32).reshape(-1, 3),
        "ranges": np.array(ranges, np.float64).reshape(-1, 8),
        "palettes": np.array(model.palettes, np.uint8),
        "pictures": np.array(model.pictures, np.uint8).reshape(-1, PICTURE_PX, PICTURE_PX, 3),
        **pack_rows(model),
    }


def pack_rows(model: Model) -> Arrays:
    """The part of a packed model that changes when something is placed or removed."""
    return {
        "part_shape": model.part_shape,
        "part_palette": model.part_palette,
        "part_variant": model.part_variant,
        "standing_poses": model.standing_poses,
    }


def used_textures(model: Model) -> list[str]:
    used: set[int] = set()
    for shape in model.shapes:
        for mesh in shape.lods:
            used.update(np.unique(mesh.materials).tolist())
    return sorted({MATERIALS[number].texture for number in used} - {"picture"} | {"plain"})


def _vertices(mesh: Mesh) -> NDArray[np.void]:
    out = np.zeros(len(mesh.positions), VERTEX)
    out["position"] = mesh.positions
    out["normal"][:, :3] = np.round(127.0 + 127.0 * mesh.normals)
    out["uv"] = mesh.uv
    out["colour"] = mesh.colours
    out["material"][:, 0] = mesh.materials
    return out


def _sphere(mesh: Mesh) -> tuple[float, ...]:
    """Centre and radius of a bounding sphere."""
    if not len(mesh.positions):
        return 0.0, 0.0, 0.0, 0.0
    centre = 0.5 * (mesh.positions.min(axis=0) + mesh.positions.max(axis=0)).astype(np.float64)
    radius = np.sqrt(np.sum(np.square(mesh.positions - centre), axis=1).max())
    return (*centre.tolist(), float(radius))


MOST_LENT = 6
"""Slots in use, with those of requests under way; beyond these, pixels are copied."""


@dataclass(slots=True, eq=False)
class Slot:
    start: int
    size: int
    in_use: int = 1
    """The request that owns the slot, and each array that lies in it."""


class _Loan(weakref.ref[NDArray[np.uint32]]):
    """Notices when an array is no longer used. Views of the array keep it alive."""

    __slots__ = ("slot",)

    slot: Slot


class ViewMemory:
    def __init__(self) -> None:
        self.file = _anonymous_file()
        """Freed with the last process that holds it."""
        self.size = 0
        self._map: mmap.mmap | bytes = b""
        self._slots: list[Slot] = []
        self._loans: dict[int, _Loan] = {}
        self._ended: deque[_Loan] = deque()
        """Of arrays that are gone; any thread may append."""

    def take(self, size: int) -> Slot:
        """A slot of at least this many bytes, for one request."""
        self._reclaim()
        free = [slot for slot in self._slots if not slot.in_use]
        for slot in free:
            if slot.size >= size:
                slot.in_use = 1
                return slot
        # smaller ones at the end are no longer needed
        while self._slots and not self._slots[-1].in_use:
            self._slots.pop()
        start = self._slots[-1].start + self._slots[-1].size if self._slots else 0
        slot = Slot(start, -(-size // mmap.PAGESIZE) * mmap.PAGESIZE)
        self._slots.append(slot)
        if start + slot.size > self.size:
            self.size = start + slot.size
            os.ftruncate(self.file, self.size)
            # the arrays in use keep the map before this one
            self._map = mmap.mmap(self.file, self.size)
        return slot

    def words(self, offset: int, n: int) -> NDArray[np.uint32]:
        """Pixels as they are now; the next request may overwrite them."""
        return np.frombuffer(self._map, np.uint32, n, offset)

    def kept(self, slot: Slot, offset: int, shape: tuple[int, ...]) -> NDArray[np.uint32]:
        """Pixels of a slot that stay as they are."""
        self._reclaim()
        array = np.ndarray(shape, np.uint32, self._map, offset)
        if slot.in_use == 1 and sum(other.in_use > 0 for other in self._slots) > MOST_LENT:
            return array.copy()
        loan = _Loan(array, self._ended.append)
        loan.slot = slot
        self._loans[id(loan)] = loan
        slot.in_use += 1
        return array

    def leave(self, slot: Slot) -> None:
        """The request that took the slot no longer needs it."""
        slot.in_use -= 1

    def close(self) -> None:
        """Arrays in use keep their memory."""
        os.close(self.file)
        self._map = b""

    def _reclaim(self) -> None:
        while self._ended:
            loan = self._ended.popleft()
            del self._loans[id(loan)]
            loan.slot.in_use -= 1


def _anonymous_file() -> int:
    if sys.platform == "linux":
        return os.memfd_create("skyloop-views")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())
