"""Finds echoes (`echoes`, `specular`) on a GPU, with arrays that stay there.

Needs CuPy. The kernels are C that a C++ compiler takes as well, so that they are tested where there is no GPU.

Matt surfaces: a thread per pixel, the same formulas in the same order. A pixel without an echo keeps its index and has
no strength.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skyloop.sensors.radar.echoes import (
    Echoes,
    Energies,
    Labels,
    ModelParts,
    Receiver,
    SurfaceView,
    WaveEnds,
    Way,
    part_visibility,
)
from skyloop.sensors.radar.gpu_mirrors import MIRRORS, ORDERED, RECORD, fresnel_table
from skyloop.sensors.radar.gpu_source import ARGUMENTS, FIXED, MATERIALS, SHARED
from skyloop.sensors.radar.specular import MOST_MIRRORS, Mirrors
from skyloop_client.messages import Array

PATCHES = r"""
INLINE void patch_of(int pixel, const char* sent, const Arguments& n, const double* standing, const signed char* seen,
                     const double* materials, const float* pattern, const Out& out)
{
    const i64 at = (i64)n.first_patch + pixel;
    write_nothing(out, at, n.n_rx);
    const double* g = (const double*)(sent + n.numbers_at);
    const float* through = (const float*)(sent + n.through_at);
    const u32* word = (const u32*)(sent + n.surface_at) + 4 * (i64)pixel;
    if (word[1] == 0) return;
    const int i = pixel / n.width, j = pixel % n.width, row = (int)word[1] - 1, material = (int)(word[2] & 0xFF);
    const double share = materials[material];
    if (share <= 0.0 || !is_seen(seen, n, row, material)) return;
    const double* m = g + CAMERA;
    const double x = (j - g[LENS + 2]) / g[LENS], y = (i - g[LENS + 3]) / g[LENS + 1];
    const double depth = (double)__uint_as_float(word[0]);
    const double dx = m[0] * x + m[1] * y + m[2], dy = m[3] * x + m[4] * y + m[5], dz = m[6] * x + m[7] * y + m[8];
    double normal[3], velocity[3];
    normal_of(word[2], normal);
    const double slant = sqrt(x * x + y * y + 1.0);
    const double cosine = -(normal[0] * dx + normal[1] * dy + normal[2] * dz) / slant;
    const double point[3] = {dx * depth, dy * depth, dz * depth};
    if (cosine <= 0.0 || point[2] < g[LOWEST]) return;
    const Complex turned = turned_by(on_the_thing(row, point, standing, g, n, velocity));
    double field = g[SCALE] * sqrt(4.0 / (g[LENS] * g[LENS + 1])) * depth * sqrt(share * cosine / slant);
    field *= through[n.by_pixel * pixel];
    write_echo(out, at, point, velocity, turned, field, g, n, pattern, (const float*)(sent + n.mirror_at));
}

KERNEL find_patches(
    const char* sent, int arguments_at, const double* standing, const signed char* seen, const double* materials,
    const float* pattern, double* paths, double* rates, float2* strengths, double* energies)
{
    const Arguments n = *(const Arguments*)(sent + arguments_at);
    const Out out = {paths, rates, strengths, energies};
    const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel < n.height * n.width) patch_of(pixel, sent, n, standing, seen, materials, pattern, out);
}

// one sum per thread, always of the same echoes in the same order
KERNEL add_energies(const double* energies, int n_echoes, double* sums)
{
    const int first = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
    double a = 0.0, b = 0.0;
#pragma unroll 8
    for (int s = first; s < n_echoes; s += step) {
        a += energies[2 * s];
        b += energies[2 * s + 1];
    }
    sums[first] = a;
    sums[step + first] = b;
}
"""


SOURCE = SHARED + PATCHES + MIRRORS
THREADS = 128
FEW = 8
"""Blocks of threads that each do several steps."""
ALIGNMENT = 256
"""Bytes; enough for every type, and a line of the GPU's memory is not shared."""


class UploadBuffer:
    """Arrays of one burst that go to the GPU in one copy, from memory that the GPU reads by itself."""

    def __init__(self, cupy: Any) -> None:
        self._cupy = cupy
        self._here = np.empty(0, np.uint8)
        self._there: Any = None
        self._arrays: list[tuple[int, NDArray[np.uint8]]] = []
        self._size = 0

    def add(self, array: NDArray[Any]) -> int:
        """Returns where the array will begin, in bytes."""
        at = self._size
        self._arrays.append((at, np.ascontiguousarray(array).reshape(-1).view(np.uint8)))
        self._size += -(-array.nbytes // ALIGNMENT) * ALIGNMENT
        return at

    def sent(self) -> Any:
        """All arrays, on the GPU until the next upload is sent."""
        cupy, size = self._cupy, self._size
        # the last copy may not have been made yet
        cupy.cuda.get_current_stream().synchronize()
        if size > len(self._here):
            self._here = np.frombuffer(cupy.cuda.alloc_pinned_memory(size), np.uint8, size)
            self._there = cupy.empty(size, np.uint8)
        for at, array in self._arrays:
            self._here[at : at + len(array)] = array
        self._arrays, self._size = [], 0
        self._there[:size].set(self._here[:size])
        return self._there


class GpuEchoes:
    """As `CpuEchoes`, for one radar; `cupy` is the module CuPy."""

    def __init__(self, cupy: Any) -> None:
        self._cupy = cupy
        # without contraction a phase is that of the CPU: a point beside the edge of a grain must not fall into another
        module = cupy.RawModule(code=SOURCE, options=("--fmad=false",))
        self._find_patches, self._add_energies, self._find_mirrors, self._order, self._unite, self._echo_mirrors = (
            module.get_function(name)
            for name in (
                "find_patches", "add_energies", "find_mirrors", "order_mirrors", "unite_mirrors", "echo_mirrors",
            )
        )  # fmt: skip
        self._upload = UploadBuffer(cupy)
        self._kept: dict[str, tuple[tuple[Any, ...], Any]] = {}
        self._count, self._chosen = cupy.empty(1, np.int32), cupy.empty(MOST_MIRRORS + 1, np.int32)
        self._candidates = self._ordered = cupy.empty(0)

    def found(
        self,
        pictures: list[SurfaceView],
        objects: ModelParts,
        labels: Labels,
        ways: list[Way],
        mirrors: Mirrors | None,
        energies: Energies,
    ) -> list[Echoes]:
        """All echoes in one part. The energies are added up when somebody asks for them."""
        cupy, n_rx = self._cupy, len(ways[0][0].rx)
        n_pixels = pictures[0].surface.shape[0] * pictures[0].surface.shape[1]
        n_patches = n_pixels * len(pictures) * len(ways)
        n = n_patches + (MOST_MIRRORS * len(pictures) if mirrors else 0)
        offsets = self._packed_arguments(pictures, objects, ways, mirrors, (n_pixels, n_patches))
        sent = self._upload.sent()
        standing = self._unchanged("standing", cupy.asarray, objects.standing)
        seen = self._unchanged("seen", lambda *known: cupy.asarray(part_visibility(Labels(*known))), *labels)
        shares, amplitudes = ways[0][1].shares, mirrors.amplitudes if mirrors else None
        materials = self._unchanged("materials", self._materials, shares, amplitudes)
        pattern = self._unchanged("pattern", cupy.asarray, ways[0][0].pattern)
        paths, rates = cupy.empty((n, n_rx)), cupy.empty((n, n_rx))
        strengths, by_echo = cupy.empty(n, np.complex64), cupy.empty((n, 2))
        out, blocks = (paths, rates, strengths, by_echo), (-(-n_pixels // THREADS),)
        for at in offsets:
            self._find_patches(blocks, (THREADS,), (sent, at, standing, seen, materials, pattern, *out))
        if mirrors:
            table = self._unchanged("table", lambda: cupy.asarray(fresnel_table()))
            self._make_room(n_pixels)
            # the first way to each picture is the straight one
            for at in offsets[:: len(ways)]:
                self._count.fill(0)
                self._find_mirrors(blocks, (THREADS,), (sent, at, seen, materials, self._count, self._candidates))
                self._order((FEW,), (THREADS,), (self._count, self._candidates, self._ordered))
                self._unite((1,), (1,), (self._count, self._ordered, self._chosen))
                which = (table, self._candidates, self._chosen)
                self._echo_mirrors(
                    (-(-MOST_MIRRORS // THREADS),), (THREADS,), (sent, at, standing, materials, pattern, *which, *out)
                )
        sums = cupy.empty((2, FEW * THREADS))
        self._add_energies((FEW,), (THREADS,), (by_echo, np.int32(n), sums))
        energies.late.append(lambda: cupy.asnumpy(sums).sum(axis=1, keepdims=True).T)
        return [Echoes(paths, rates, strengths)]

    def joined(self, parts: list[Echoes]) -> Echoes:
        cupy = self._cupy
        if len(parts) == 1:
            return parts[0]
        columns = zip(*((part.half_paths, part.rates, part.strengths) for part in parts), strict=True)
        return Echoes(*(cupy.concatenate([cupy.asarray(array) for array in column]) for column in columns))

    def _packed_arguments(
        self,
        pictures: list[SurfaceView],
        objects: ModelParts,
        ways: list[Way],
        mirrors: Mirrors | None,
        counts: tuple[int, int],
    ) -> list[np.int32]:
        """Packs what the kernels read; returns the offset of the arguments of each picture and way."""
        upload, (n_pixels, n_patches) = self._upload, counts
        by_way = []
        for antennas, receiver in ways:
            wavelength = mirrors.wavelength if mirrors else 0.0
            numbers = _numbers(pictures[0], objects, antennas, receiver, wavelength)
            by_way.append((upload.add(numbers), upload.add(antennas.mirror)))
        offsets: list[np.int32] = []
        for k, picture in enumerate(pictures):
            surface_at, through_at = upload.add(picture.surface), upload.add(picture.through)
            for (antennas, receiver), (numbers_at, mirror_at) in zip(ways, by_way, strict=True):
                values = {
                    "surface_at": surface_at, "through_at": through_at, "numbers_at": numbers_at,
                    "mirror_at": mirror_at, "first_patch": len(offsets) * n_pixels,
                    "first_mirror": n_patches + k * MOST_MIRRORS, **_sizes(picture, objects, antennas, receiver),
                }  # fmt: skip
                offsets.append(np.int32(upload.add(np.array([values[name] for name in ARGUMENTS], np.int32))))
        return offsets

    def _unchanged(self, name: str, make: Callable[..., Any], *of: Any) -> Any:
        """An array on the GPU, made again only where it is made of others than before. They never change in place."""
        made = self._kept.get(name)
        if made is None or any(old is not new for old, new in zip(made[0], of, strict=True)):
            made = self._kept[name] = (of, make(*of))
        return made[1]

    def _materials(self, shares: Array, amplitudes: Array | None) -> Any:
        """The share that each material scatters, and after them the amplitudes that they reflect."""
        out = np.zeros((2, MATERIALS))
        out[0, : len(shares)] = shares
        if amplitudes is not None:
            out[1, : len(amplitudes)] = amplitudes
        return self._cupy.asarray(out)

    def _make_room(self, n_pixels: int) -> None:
        """For a mirror in every pixel."""
        if len(self._candidates) < n_pixels * RECORD:
            self._candidates = self._cupy.empty(n_pixels * RECORD)
            self._ordered = self._cupy.empty(n_pixels * ORDERED)


def _numbers(
    picture: SurfaceView, objects: ModelParts, antennas: WaveEnds, receiver: Receiver, wavelength: float
) -> Array:
    """The numbers that the source reads, at their offsets."""
    fixed: dict[str, ArrayLike] = {
        "LENS": picture.lens, "CAMERA": picture.world_from_camera, "POSITION": picture.position,
        "TURN": antennas.sensor_from_world, "TX": antennas.tx, "TX_VELOCITY": antennas.tx_velocity,
        "RX_VELOCITY": antennas.rx_velocity, "WAVELENGTH": wavelength,
    }  # fmt: skip
    of_receiver = receiver._asdict()
    fixed |= {name: of_receiver[name.lower()] for name in FIXED if name not in fixed}
    rest = (antennas.rx, objects.poses, objects.velocities, objects.turns)
    return np.concatenate([np.ravel(part) for part in (*(fixed[name] for name in FIXED), *rest)])


def _sizes(picture: SurfaceView, objects: ModelParts, antennas: WaveEnds, receiver: Receiver) -> dict[str, int]:
    height, width = picture.surface.shape[:2]
    return {
        "height": height, "width": width, "n_rx": len(antennas.rx), "n_standing": objects.n_standing,
        "n_moving": len(objects.poses), "order": receiver.order, "table": len(antennas.pattern),
        "mirror": len(antennas.mirror), "by_pixel": picture.through.shape == (height, width),
        "tx_mirrored": antennas.tx_mirrored, "rx_mirrored": antennas.rx_mirrored,
    }  # fmt: skip
