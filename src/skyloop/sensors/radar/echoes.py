"""Echoes of matt surfaces: every pixel of a view is a patch that scatters in all directions.

A patch has the area dA = R²·dΩ / cos θ and the cross section σ⁰·dA, σ⁰ = 4·share·cos² θ as for a Lambertian surface.
Its field is the root of that, so that the total power does not depend on the number of pixels. Its phase is a hash of
its position in the object's own axes, so that it stays with a moving object.
"""

# mypy: allow-untyped-defs, allow-untyped-calls

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numba import boolean, complex64, float32, float64, int32, int64, uint8, uint32, uint64
from numpy.typing import NDArray

from skyloop.core.jit import inlined, readonly, record_type
from skyloop.world.model import BY_MATERIAL
from skyloop_client.messages import Array

GRAIN = 1e-3
"""m within which two points of a surface have the same phase: less than a pixel at four times the usual resolution."""
FOLDED, ALL = 0, 1


@dataclass(frozen=True, slots=True, eq=False)
class Echoes:
    """The echoes at each receiver, as if from this many points."""

    half_paths: Array
    """(n, n_rx) m, half the path from transmitter to receiver, at the middle of the burst."""
    rates: Array
    """(n, n_rx) m/s at which the half paths grow."""
    strengths: NDArray[np.complex64]
    """(n,) V, peak, at the converter."""


@dataclass(slots=True, eq=False)
class Energies:
    """V² of a burst's echoes: of those that fold, and of all."""

    sums: Array = field(default_factory=lambda: np.zeros(2))
    late: list[Callable[[], Array]] = field(default_factory=list)
    """Give (n, 2) further terms. Who asks waits for the GPU that works on them."""

    def folded_share(self) -> float:
        sums = self.sums
        for terms in self.late:
            sums = sums + terms().sum(axis=0)
        return float(sums[FOLDED] / sums[ALL]) if sums[ALL] > 0.0 else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """Start and end of a wave, in world axes from the sensor's origin. With a bounce, one is below the ground."""

    sensor_from_world: Array
    """(3, 3)."""

    tx: Array
    """(3,) m."""
    rx: Array
    """(n_rx, 3) m."""
    tx_velocity: Array
    """(3,) m/s."""
    rx_velocity: Array
    """(3,) m/s."""
    mirror: NDArray[np.complex64] = field(default_factory=lambda: np.ones(1, np.complex64))
    """The factor of a bounce on the wave, by the sine of its grazing angle from 0 to 1."""
    tx_mirrored: bool = False
    rx_mirrored: bool = False
    lowest: float = -np.inf
    """m above the sensor; objects below it give no echo."""


@inlined
def unpacked_normal(packed):
    """World normal of a surface word; see world.views."""
    x = ((packed >> 8) & 0xFFF) / 2047.0 - 1.0
    y = ((packed >> 20) & 0xFFF) / 2047.0 - 1.0
    z = 1.0 - abs(x) - abs(y)
    if z < 0.0:
        x, y = (1.0 - abs(y)) * (1.0 if x >= 0.0 else -1.0), (1.0 - abs(x)) * (1.0 if y >= 0.0 else -1.0)
    size = 1.0 / np.sqrt(x * x + y * y + z * z)
    return x * size, y * size, z * size


@inlined
def leg(point, point_velocity, end, velocity):
    """Length of the straight path between a point and an antenna, its rate, and its direction seen from the antenna."""
    vx, vy, vz = point_velocity
    x, y, z = point[0] - end[0], point[1] - end[1], point[2] - end[2]
    length = np.sqrt(x * x + y * y + z * z)
    x, y, z = x / length, y / length, z / length
    return length, x * (vx - velocity[0]) + y * (vy - velocity[1]) + z * (vz - velocity[2]), x, y, z


@inlined
def surface_phase(row, x, y, z):
    """Turns, 0 to 1, the phase that belongs to a position in an object's own axes."""
    h = uint64(int64(np.floor(x / GRAIN))) * uint64(0x9E3779B97F4A7C15)
    h = (h ^ (h >> uint64(29))) + uint64(int64(np.floor(y / GRAIN)))
    h *= uint64(0xBF58476D1CE4E5B9)
    h = (h ^ (h >> uint64(32))) + uint64(int64(np.floor(z / GRAIN)))
    h *= uint64(0x94D049BB133111EB)
    h = (h ^ (h >> uint64(29))) + uint64(row)
    h *= uint64(0x9E3779B97F4A7C15)
    return float64((h ^ (h >> uint64(32))) >> uint64(40)) / 16777216.0


@inlined
def own_place(poses, k, place):
    """A point, m, world, from the origin of pose k: in the world's axes and in the pose's."""
    x, y, z = place[0] - poses[k, 0, 3], place[1] - poses[k, 1, 3], place[2] - poses[k, 2, 3]
    own = (
        poses[k, 0, 0] * x + poses[k, 1, 0] * y + poses[k, 2, 0] * z,
        poses[k, 0, 1] * x + poses[k, 1, 1] * y + poses[k, 2, 1] * z,
        poses[k, 0, 2] * x + poses[k, 1, 2] * y + poses[k, 2, 2] * z,
    )
    return (x, y, z), own


@inlined
def carried(velocities, turns, k, arm):
    """The velocity of a point of mover k, m/s."""
    x, y, z = arm
    return (
        velocities[k, 0] + turns[k, 1] * z - turns[k, 2] * y,
        velocities[k, 1] + turns[k, 2] * x - turns[k, 0] * z,
        velocities[k, 2] + turns[k, 0] * y - turns[k, 1] * x,
    )


class Labels(NamedTuple):
    """The class of each row of the model, and the classes that the radar sees."""

    part_object: NDArray[np.int32]
    object_class: NDArray[np.uint8]
    material_class: NDArray[np.uint8]
    shown: NDArray[np.bool_]
    """(256,) by class."""


@inlined
def class_shown(row, material, labels):
    kind = labels.object_class[labels.part_object[row]]
    # both are read, because a branch here is often predicted wrongly
    by_material, by_object = labels.shown[labels.material_class[material]], labels.shown[kind]
    return by_material if kind == BY_MATERIAL else by_object


def part_visibility(labels: Labels) -> NDArray[np.int8]:
    """What `class_shown` says of each row, 0 or 1, or 2 where it is the material's, and then of each material."""
    kinds = labels.object_class[labels.part_object]
    materials = np.zeros(256, np.int8)
    materials[: len(labels.material_class)] = labels.shown[labels.material_class]
    return np.concatenate([np.where(kinds == BY_MATERIAL, 2, labels.shown[kinds]).astype(np.int8), materials])


class SurfaceView(NamedTuple):
    """The view whose pixels are the patches."""

    surface: NDArray[np.uint32]
    lens: Array
    """fx, fy, cx, cy."""
    world_from_camera: Array
    """(3, 3)."""
    position: Array
    """(3,) m, world, of the camera."""
    through: NDArray[np.float32]
    """The amplitude that passes through what is in front, per pixel or, with shape (1, 1), for all pixels."""


class ModelParts(NamedTuple):
    """Poses and motion of the model's rows; as in Model and Motion."""

    n_standing: int
    standing: Array
    poses: Array
    velocities: Array
    turns: Array


class WaveEnds(NamedTuple):
    """Start and end of the wave, as in Ends, and the pattern of one antenna."""

    pattern: NDArray[np.float32]
    sensor_from_world: Array
    tx: Array
    rx: Array
    tx_velocity: Array
    rx_velocity: Array
    mirror: NDArray[np.complex64]
    tx_mirrored: bool
    rx_mirrored: bool


class Receiver(NamedTuple):
    """The numbers that turn a patch into an echo at the converter."""

    shares: Array
    """The share of the power that each material scatters."""
    scale: float
    """V·m² for a cross section of 1 m²."""
    beat_per_m: float
    """Hz per m."""
    beat_per_m_s: float
    """Hz per m/s."""
    corner_hz: float
    """Hz, of the low-pass."""
    order: int
    """The order of the low-pass."""
    max_range: float
    """m; farther echoes fold."""
    max_speed: float
    """m/s; faster echoes fold."""
    lowest: float
    """m above the sensor; objects below it give no echo."""


Way = tuple[WaveEnds, Receiver]
"""One path of a wave to a patch and back."""

SURFACE = readonly(uint32, 3)
A1, A2, _A3 = (readonly(float64, n) for n in (1, 2, 3))
_I1, _U1, _B1 = (readonly(kind, 1) for kind in (int32, uint8, boolean))
_F2, _C1 = readonly(float32, 2), readonly(complex64, 1)

labels_type = record_type(Labels, part_object=_I1, object_class=_U1, material_class=_U1, shown=_B1)
picture_type = record_type(SurfaceView, surface=SURFACE, lens=A1, world_from_camera=A2, position=A1, through=_F2)
model_parts_type = record_type(ModelParts, n_standing=int64, standing=_A3, poses=_A3, velocities=A2, turns=A2)
antennas_type = record_type(
    WaveEnds, pattern=_F2, sensor_from_world=A2, tx=A1, rx=A2, tx_velocity=A1, rx_velocity=A1, mirror=_C1,
    tx_mirrored=boolean, rx_mirrored=boolean,
)  # fmt: skip
receiver_type = record_type(
    Receiver, shares=A1, scale=float64, beat_per_m=float64, beat_per_m_s=float64, corner_hz=float64, order=int64,
    max_range=float64, max_speed=float64, lowest=float64,
)  # fmt: skip
