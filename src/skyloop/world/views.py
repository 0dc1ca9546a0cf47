"""A view: everything that one pinhole camera at one pose and instant sees.

The renderer fills a surface buffer of four 32-bit words per pixel: planar depth (as a float), the row of the model that
was hit plus one (0: sky), the world normal in octahedral form (2 by 12 bits) with the material (8 bits), and a spare.
Everything else (classes, instances, velocities, flow) follows from these and the model.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numba import float32, float64, int32, int64, types, uint8, uint32, void
from numpy.typing import NDArray

from skyloop.core.frames import matrix_from_quat
from skyloop.core.jit import kernel, readonly, record_type
from skyloop.world.materials import MATERIALS
from skyloop.world.model import BY_MATERIAL, Model, MoverStates
from skyloop.world.semantics import CLASS_ID
from skyloop_client.messages import Array

MATERIAL_CLASS = np.array([CLASS_ID[material.semantic] for material in MATERIALS], np.uint8)


@dataclass(frozen=True, slots=True, eq=False)
class Pinhole:
    """A lens without distortion; pixel (0, 0) has its centre at image coordinates (0, 0)."""

    width: int
    height: int
    fx: float
    fy: float
    cx: float
    cy: float

    @staticmethod
    def from_fov(width: int, height: int, horizontal_fov: float) -> Pinhole:
        """Square pixels, with the optical axis through the middle of the image; the angle is in radians."""
        f = 0.5 * width / np.tan(0.5 * horizontal_fov)
        return Pinhole(width, height, float(f), float(f), 0.5 * (width - 1), 0.5 * (height - 1))

    def centre_and_focal(self) -> dict[str, float]:
        """px, by name."""
        return {"fx": self.fx, "fy": self.fy, "cx": self.cx, "cy": self.cy}

    def rays(self) -> Array:
        """(height, width, 3) directions with z = 1, camera axes (right, down, forward)."""
        x = (np.arange(self.width) - self.cx) / self.fx
        y = (np.arange(self.height) - self.cy) / self.fy
        out = np.ones((self.height, self.width, 3))
        out[..., 0], out[..., 1] = x, y[:, None]
        return out


@dataclass(frozen=True, slots=True, eq=False)
class ViewPose:
    """The pose and the instant of a view."""

    t_ns: int
    position: Array
    """(3,) m, world."""
    quat_wxyz: Array
    """(4,) world_from_camera; camera axes are right, down, forward."""


@dataclass(frozen=True, slots=True, eq=False)
class ViewRequest:
    """One picture to be rendered; equal requests at one instant get the same picture."""

    lens: Pinhole
    pose: ViewPose
    quality: str = "low"
    exposure: float = 1.0
    """A factor on the light."""
    hidden_parts: tuple[int, int] | None = None
    """First row and the one after the last that this camera does not see: the vehicle that carries it."""
    colour: bool = True
    """Whether the colours are needed. What is not needed is not copied, and is empty in the view."""
    surface: bool = True
    """Whether the surface buffer is needed."""


@kernel(void(readonly(uint32, 1), uint32[::1]))
def _drop_alpha(pixels, out):
    # four pixels of four bytes become three words; the lowest byte of a word, which is its first, is red
    last = len(pixels) - 1
    for k in range(len(out) // 3):
        a, b = pixels[4 * k], pixels[min(4 * k + 1, last)]
        c, d = pixels[min(4 * k + 2, last)], pixels[min(4 * k + 3, last)]
        out[3 * k] = (a & uint32(0xFFFFFF)) | (b << uint32(24))
        out[3 * k + 1] = ((b >> uint32(8)) & uint32(0xFFFF)) | (c << uint32(16))
        out[3 * k + 2] = ((c >> uint32(16)) & uint32(0xFF)) | (d << uint32(8))


def without_alpha(pixels: NDArray[np.uint32]) -> NDArray[np.uint8]:
    """(3 n,) red, green and blue of (n,) pixels of four bytes."""
    n = len(pixels)
    words = np.empty(3 * -(-n // 4), np.uint32)
    _drop_alpha(pixels, words)
    return words.view(np.uint8)[: 3 * n]


_SURFACE = readonly(uint32, 3)


OCTAHEDRAL = np.arange(4096) / 2047.0 - 1.0
"""The coordinates that 12 bits stand for."""
_OCTAHEDRAL = readonly(float64, 1)
NO_CODE, SKY = 0xFFFFFFFF, 0xFFFFFFFE
"""No normal has these codes, which need 24 bits."""


@kernel(void(_SURFACE, _OCTAHEDRAL, float32[:, :, ::1]))
def _decode_normals(surface, coordinates, out):
    # neighbours often show the same plane, so the last normal is kept
    last = uint32(NO_CODE)
    nx = ny = nz = float32(0.0)
    for i in range(surface.shape[0]):
        for j in range(surface.shape[1]):
            code = surface[i, j, 2] >> 8 if surface[i, j, 1] != 0 else uint32(SKY)
            if code != last:
                last = code
                if code == SKY:
                    nx = ny = nz = float32(0.0)
                else:
                    x, y = coordinates[code & 0xFFF], coordinates[code >> 12]
                    z = 1.0 - abs(x) - abs(y)
                    if z < 0.0:
                        ox = (1.0 - abs(y)) * (1.0 if x >= 0.0 else -1.0)
                        y = (1.0 - abs(x)) * (1.0 if y >= 0.0 else -1.0)
                        x = ox
                    size = 1.0 / np.sqrt(x * x + y * y + z * z)
                    nx, ny, nz = float32(x * size), float32(y * size), float32(z * size)
            out[i, j, 0], out[i, j, 1], out[i, j, 2] = nx, ny, nz


@kernel(
    void(
        _SURFACE,
        readonly(int32, 1),
        readonly(uint8, 1),
        readonly(uint8, 1),
        int32[:, ::1],
        uint8[:, ::1],
        uint8[:, ::1],
    )
)
def _decode_ids(surface, part_object, object_class, material_class, objects, classes, materials):
    for i in range(surface.shape[0]):
        for j in range(surface.shape[1]):
            row = surface[i, j, 1]
            if row == 0:
                objects[i, j] = 0
                classes[i, j] = materials[i, j] = 0
                continue
            instance = part_object[row - 1]
            material = surface[i, j, 2] & 0xFF
            materials[i, j] = material
            objects[i, j] = instance
            classes[i, j] = (
                material_class[material] if object_class[instance] == BY_MATERIAL else object_class[instance]
            )


_A2, _A3 = readonly(float64, 2), readonly(float64, 3)


class MoverArrays(NamedTuple):
    """The motion of everything that a view shows."""

    n_standing: int
    """Rows of the model before the first that moves."""
    poses: Array
    velocities: Array
    turns: Array
    """(m, 3) rad/s; these three as in Motion."""


movers_type = record_type(MoverArrays, n_standing=int64, poses=_A3, velocities=_A2, turns=_A2)


@kernel(
    void(
        _SURFACE, movers_type, types.Tuple((float64[:, ::1], float64[::1])), types.UniTuple(float64, 4),
        float32[:, :, ::1],
    )
)  # fmt: skip
def _surface_velocities(surface, moving, pose, lens, out):
    """v + ω × (p - origin) of the part that each pixel shows; pose: rotation and position; lens: fx, fy, cx, cy."""
    n_standing, poses, velocities, turns = moving
    rotation, position = pose
    fx, fy, cx, cy = lens
    for i in range(surface.shape[0]):
        for j in range(surface.shape[1]):
            k = np.int64(surface[i, j, 1]) - 1 - n_standing
            if k < 0:
                out[i, j, 0] = out[i, j, 1] = out[i, j, 2] = 0.0
                continue
            z = np.float64(np.uint32(surface[i, j, 0]).view(np.float32))
            x, y = (j - cx) / fx * z, (i - cy) / fy * z
            rx = rotation[0, 0] * x + rotation[0, 1] * y + rotation[0, 2] * z + position[0] - poses[k, 0, 3]
            ry = rotation[1, 0] * x + rotation[1, 1] * y + rotation[1, 2] * z + position[1] - poses[k, 1, 3]
            rz = rotation[2, 0] * x + rotation[2, 1] * y + rotation[2, 2] * z + position[2] - poses[k, 2, 3]
            out[i, j, 0] = velocities[k, 0] + turns[k, 1] * rz - turns[k, 2] * ry
            out[i, j, 1] = velocities[k, 1] + turns[k, 2] * rx - turns[k, 0] * rz
            out[i, j, 2] = velocities[k, 2] + turns[k, 0] * ry - turns[k, 1] * rx


class View:
    """All that is known of one image; each quantity is computed when it is first used."""

    def __init__(
        self,
        lens: Pinhole,
        pose: ViewPose,
        model: Model,
        motion: MoverStates,
        colour: NDArray[np.uint8],
        surface: NDArray[np.uint32],
    ) -> None:
        self.lens = lens
        self.pose = pose
        self.model = model
        self.motion = motion
        self.colour = colour
        """(height, width, 3) red, green, blue; empty if it was not requested."""
        self.surface = surface
        """(height, width, 4) as described above; empty if it was not requested."""

    @cached_property
    def depth(self) -> NDArray[np.float32]:
        """(height, width) m along the optical axis; inf where the sky is."""
        return np.ascontiguousarray(self.surface[..., 0]).view(np.float32)

    @cached_property
    def distance(self) -> NDArray[np.float32]:
        """(height, width) m from the camera's centre."""
        return np.asarray(self.depth * np.linalg.norm(self.lens.rays(), axis=2), np.float32)

    @cached_property
    def normals(self) -> NDArray[np.float32]:
        """(height, width, 3) unit, world axes, towards the camera; zero where the sky is."""
        out = np.empty((*self.surface.shape[:2], 3), np.float32)
        _decode_normals(self.surface, OCTAHEDRAL, out)
        return out

    @cached_property
    def _ids(self) -> tuple[NDArray[np.int32], NDArray[np.uint8], NDArray[np.uint8]]:
        shape = self.surface.shape[:2]
        objects, classes, materials = np.empty(shape, np.int32), np.empty(shape, np.uint8), np.empty(shape, np.uint8)
        model = self.model
        _decode_ids(self.surface, model.part_object, model.object_class, MATERIAL_CLASS, objects, classes, materials)
        return objects, classes, materials

    @property
    def instances(self) -> NDArray[np.int32]:
        """(height, width) number of the object; 0 is the sky."""
        return self._ids[0]

    @property
    def classes(self) -> NDArray[np.uint8]:
        """(height, width) index into CLASSES."""
        return self._ids[1]

    @property
    def materials(self) -> NDArray[np.uint8]:
        """(height, width) index into MATERIALS."""
        return self._ids[2]

    @cached_property
    def velocities(self) -> NDArray[np.float32]:
        """(height, width, 3) m/s of the surface point each pixel shows, world axes."""
        lens, out = self.lens, np.empty((*self.surface.shape[:2], 3), np.float32)
        rotation = np.ascontiguousarray(matrix_from_quat(self.pose.quat_wxyz))
        pose, numbers = (rotation, np.array(self.pose.position)), (lens.fx, lens.fy, lens.cx, lens.cy)
        _surface_velocities(self.surface, tuple(self.movers), pose, numbers, out)
        return out

    @property
    def movers(self) -> MoverArrays:
        m = self.motion
        return MoverArrays(self.model.n_standing, m.poses, m.velocities, m.angular_velocities)
