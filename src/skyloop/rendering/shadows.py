"""Culling, and shadow maps: depth seen from the sun. Standing objects are drawn once per map, moving ones for each
picture.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from skyloop.rendering.daylight import Daylight
from skyloop.rendering.programs import build_program, model_vertex_array, set_unit, write
from skyloop.rendering.quality import Quality
from skyloop.rendering.wire import Arrays, ViewJob
from skyloop_client.messages import Array

INSTANCE = np.dtype([("pose", "<f4", (3, 4)), ("ids", "<u4", 4)])
"""Pose relative to the camera's position; then row + 1, palette, variant, spare."""
COMMAND = np.dtype(
    [("count", "<u4"), ("instances", "<u4"), ("first", "<u4"), ("base", "<i4"), ("base_instance", "<u4")]
)
NO_BOUNDS = np.zeros(1, int)
MapKey = tuple[Any, ...]
"""What was drawn from where; the last item is the size of the map."""
Rows = NDArray[np.integer]
Draws = tuple[NDArray[np.void], NDArray[np.void]]
"""The instances, and the commands that draw them."""


class Culler:
    """Holds the model's tables and selects rows from them."""

    def __init__(self, packed: Arrays) -> None:
        shape = packed["part_shape"]
        self.n_standing, self.n_rows, self.n_lods = len(packed["standing_poses"]), len(shape), len(packed["lods"])
        self._lods = packed["lods"]
        self._ranges = packed["ranges"][shape]
        self._first_lod, self._last_step, casts = (packed["first_lod"][shape] - [0, 1, 0]).T
        self._casts = casts > 0
        self._own_balls = packed["spheres"][shape]
        # the movers' part of these is rewritten for each picture
        self._table = np.zeros((self.n_rows, 16), np.float32)
        """Instances as INSTANCE has them, but for their positions."""
        ids = self._table.view(np.uint32)[:, 12:]
        ids[:, 0] = np.arange(1, self.n_rows + 1)
        ids[:, 1], ids[:, 2] = packed["part_palette"], packed["part_variant"]
        self._origins = np.zeros((self.n_rows, 3))
        self._centres, self._radii = np.zeros((self.n_rows, 3)), np.zeros(self.n_rows)
        self._put(packed["standing_poses"], slice(0, self.n_standing))
        self._moved: Array | None = None

    def _put(self, poses: Array, rows: slice) -> None:
        balls = self._own_balls[rows]
        self._table[rows, :12] = poses.reshape(-1, 12)
        self._origins[rows] = poses[:, :, 3]
        self._centres[rows] = np.einsum("nij,nj->ni", poses[:, :, :3], balls[:, :3]) + poses[:, :, 3]
        largest_scale = np.sqrt(np.square(poses[:, :, :3]).sum(axis=1).max(axis=1, initial=0.0))
        self._radii[rows] = balls[:, 3] * largest_scale

    def _move(self, poses: Array) -> None:
        """Moves the movers; pictures of one instant bring the same array."""
        if poses is not self._moved:
            self._put(poses, slice(self.n_standing, self.n_rows))
            self._moved = poses

    def visible(
        self, eye: Array, planes: Array, focal: float, quality: Quality, moving: Array, hidden: tuple[int, int] | None
    ) -> Draws:
        """What a camera at `eye` sees; planes (k, 4) are positive inside."""
        self._move(moving)
        inside = self._touches(planes, slice(0, self.n_rows))
        if hidden is not None:
            inside[hidden[0] : hidden[1]] = False
        rows = np.flatnonzero(inside)
        away = self._centres.take(rows, axis=0) - eye
        distance, radii = np.sqrt(np.einsum("ni,ni->n", away, away)), self._radii.take(rows)
        large = radii * focal > 0.5 * quality.smallest_px * distance
        rows = rows[large]
        # by the nearest point of the bounding sphere, so that a long wall beside the camera does not count as far
        near = np.maximum(distance[large] - radii[large], 0.0)
        step = (near[:, None] > self._ranges.take(rows, axis=0) * quality.detail).sum(axis=1)
        return self._draws(rows, step, eye, near)

    def casters(self, planes: Array, eye: Array, moving: Array | None, step: int) -> Draws:
        """What casts shadows into a box: the standing objects or, if poses are given, the moving ones."""
        if moving is None:
            within = slice(0, self.n_standing)
        else:
            within = slice(self.n_standing, self.n_rows)
            self._move(moving)
        rows = within.start + np.flatnonzero(self._touches(planes, within) & self._casts[within])
        return self._draws(rows, np.full(len(rows), step), eye, np.zeros(len(rows)))

    def standing(self, planes: Array, eye: Array) -> Draws:
        """All standing objects in a box, including roofs that cast no shadow."""
        rows = np.flatnonzero(self._touches(planes, slice(0, self.n_standing)))
        return self._draws(rows, np.zeros(len(rows), int), eye, np.zeros(len(rows)))

    def _touches(self, planes: Array, rows: slice) -> NDArray[np.bool_]:
        """Whether any part of the bounding sphere is on the inside of every plane."""
        heights = planes[:, :3] @ self._centres[rows].T + planes[:, 3:]
        return np.asarray((heights > -self._radii[rows]).all(axis=0))

    def _draws(self, rows: Rows, step: Rows, eye: Array, near: Array) -> Draws:
        """One command per level of detail, nearest first, so that hidden surfaces need not be shaded."""
        lod = self._first_lod.take(rows) + np.minimum(step, self._last_step.take(rows))
        order = lod.argsort(kind="stable")
        rows, lod = rows[order], lod[order]
        instances = self._table.take(rows, axis=0)
        instances[:, 3:12:4] = self._origins.take(rows, axis=0) - eye
        # where one level of detail ends and the next begins, with both ends
        bounds = np.concatenate([[0], np.flatnonzero(lod[1:] != lod[:-1]) + 1, [len(rows)]]) if len(rows) else NO_BOUNDS
        first = bounds[:-1]
        commands = np.empty((len(first), 5), np.uint32)
        # as COMMAND has them
        commands[:, [2, 0, 3]] = self._lods[lod[first]]
        commands[:, 4], commands[:, 1] = first, bounds[1:] - first
        if len(first):
            commands = commands[np.minimum.reduceat(near[order], first).argsort(kind="stable")]
        return instances.view(INSTANCE).reshape(len(rows)), commands.view(COMMAND).reshape(len(first))


HALF_SIDE = 72.0
"""m from the middle of the map to its edge."""
MOVING_HALF_SIDE = 36.0
CELLS = 8
"""Maps are centred on multiples of an eighth of their side, so that one map serves many views and does not depend on
history. In texels these are whole numbers, so that shadows do not jump from one map to the next."""
DEPTH = 250.0
"""m in front of and behind the middle that the map covers."""
DEPTH_STEP = 90.0
ROOF_SIZE = 1024
MOST_TEXELS = 14 * 2048**2
"""The texels of all maps that are kept: 230 MB."""


@dataclass(slots=True)
class ShadowMaps:
    standing: moderngl.Texture
    moving: moderngl.Texture
    shadow_from_relative: Array
    moving_from_relative: Array
    texel: float

    def bind(self, program: moderngl.Program) -> None:
        for unit, name, texture in ((5, "standing_shadows", self.standing), (6, "moving_shadows", self.moving)):
            texture.use(unit)
            set_unit(program, name, unit)
        for name, matrix in (
            ("shadow_from_relative", self.shadow_from_relative),
            ("moving_shadow_from_relative", self.moving_from_relative),
        ):
            write(program, name, matrix.T)
        write(program, "shadow_texel", self.texel)


@dataclass(slots=True)
class Roofs:
    """The highest surface at each place: rain and snow fall down to it."""

    highest: moderngl.Texture
    from_relative: Array

    def bind(self, program: moderngl.Program) -> None:
        self.highest.use(7)
        set_unit(program, "roofs", 7)
        write(program, "roof_from_relative", self.from_relative.T)


class Shadows:
    def __init__(
        self, ctx: moderngl.Context, culler: Culler, vertices: moderngl.Buffer, indices: moderngl.Buffer
    ) -> None:
        self._ctx, self._culler = ctx, culler
        self._vertices, self._indices = vertices, indices
        self._kept: dict[MapKey, moderngl.Texture] = {}
        self._maps: dict[int, moderngl.Framebuffer] = {}
        self._pass: tuple[moderngl.Program, moderngl.VertexArray, moderngl.Buffer, moderngl.Buffer] | None = None

    def maps(self, shot: ViewJob, light: Daylight, quality: Quality) -> ShadowMaps:
        sun = np.asarray(light.sun_direction)
        axes = _axes(sun)
        # the middle of the map is ahead of the camera
        ahead = 0.5 * shot.world_from_camera[:, 2] * [1.0, 1.0, 0.0]
        middle, cell = _snapped(shot.eye + HALF_SIDE * ahead, axes, HALF_SIDE)
        moving_middle, _ = _snapped(shot.eye + MOVING_HALF_SIDE * ahead, axes, MOVING_HALF_SIDE)
        moving = self._moving_map(quality.shadow_size // 2)
        step, casters = quality.shadow_step, self._culler.casters
        planes = _planes(moving_middle, axes, MOVING_HALF_SIDE)
        self._paint(moving, axes, MOVING_HALF_SIDE, casters(planes, moving_middle, shot.moving, step))
        key = (step, *cell, *sun.tolist(), quality.shadow_size)
        return ShadowMaps(
            self._kept_map(key, axes, middle, lambda planes: casters(planes, middle, None, step)),
            moving,
            _to_map(axes, HALF_SIDE, shot.eye - middle),
            _to_map(axes, MOVING_HALF_SIDE, shot.eye - moving_middle),
            1.0 / quality.shadow_size,
        )

    def roofs(self, shot: ViewJob) -> Roofs:
        axes = _axes(np.array([0.0, 0.0, 1.0]))
        middle, cell = _snapped(shot.eye, axes, HALF_SIDE)
        key = ("roofs", *cell, ROOF_SIZE)
        texture = self._kept_map(key, axes, middle, lambda planes: self._culler.standing(planes, middle))
        return Roofs(texture, _to_map(axes, HALF_SIDE, shot.eye - middle))

    def _kept_map(self, key: MapKey, axes: Array, middle: Array, pick: Callable[[Array], Draws]) -> moderngl.Texture:
        """The map of this key, which ends with its size. A new map is drawn with what `pick` selects."""
        size = key[-1]
        if key not in self._kept:
            # the maps unused for longest go first
            while self._kept and sum(size**2 for *_, size in self._kept) + size**2 > MOST_TEXELS:
                self._kept.pop(next(iter(self._kept)))
            self._kept[key] = self._new_map(size)
            self._paint(self._kept[key], axes, HALF_SIDE, pick(_planes(middle, axes, HALF_SIDE)))
        self._kept[key] = self._kept.pop(key)
        return self._kept[key]

    def _new_map(self, size: int) -> moderngl.Texture:
        texture = self._ctx.depth_texture((size, size))
        texture.compare_func = "<="
        texture.filter = (moderngl.LINEAR, moderngl.LINEAR)
        texture.repeat_x = texture.repeat_y = False
        return texture

    def _moving_map(self, size: int) -> Any:
        if size not in self._maps:
            self._maps[size] = self._ctx.framebuffer(depth_attachment=self._new_map(size))
        return self._maps[size].depth_attachment

    def _paint(self, texture: moderngl.Texture, axes: Array, half: float, draws: Draws) -> None:
        instances, commands = draws
        fbo = self._ctx.framebuffer(depth_attachment=texture)
        fbo.use()
        fbo.clear(depth=1.0)
        if len(commands):
            if self._pass is None:
                instance_buffer = self._ctx.buffer(reserve=64 * self._culler.n_rows)
                command_buffer = self._ctx.buffer(reserve=20 * self._culler.n_lods)
                program = build_program(self._ctx, "depth", "depth")
                array = model_vertex_array(self._ctx, program, self._vertices, self._indices, instance_buffer)
                self._pass = (program, array, instance_buffer, command_buffer)
            program, array, instance_buffer, command_buffer = self._pass
            write(program, "clip_from_relative", _clip(axes, half).T)
            instance_buffer.orphan()
            instance_buffer.write(instances.tobytes())
            command_buffer.orphan()
            command_buffer.write(commands.tobytes())
            self._ctx.enable_only(moderngl.DEPTH_TEST)
            self._ctx.depth_func = "<="
            # steep faces are moved away from the sun, or they would shade themselves in stripes
            self._ctx.polygon_offset = 2.5, 4.0
            array.render_indirect(command_buffer, count=len(commands))
            self._ctx.polygon_offset = 0.0, 0.0
        fbo.release()


def _axes(sun: Array) -> Array:
    """Right, up and towards-the-ground axes of the map, as rows."""
    right = np.cross([0.0, 0.0, 1.0], sun)
    right = right / np.linalg.norm(right) if np.linalg.norm(right) > 1e-6 else np.array([1.0, 0.0, 0.0])
    return np.array([right, np.cross(sun, right), -sun])


def _snapped(position: Array, axes: Array, half: float) -> tuple[Array, tuple[int, ...]]:
    """The middle of the cell, in the map's axes, that contains `position`, and the cell's indices."""
    steps = np.array([2.0 * half / CELLS, 2.0 * half / CELLS, DEPTH_STEP])
    cell = np.round(axes @ position / steps)
    return axes.T @ (steps * cell), tuple(cell.astype(int).tolist())


def _planes(middle: Array, axes: Array, half: float) -> Array:
    """(4, 4) planes of a map's sides, positive inside."""
    return np.array([(*axis, half - axis @ middle) for axis in (axes[0], -axes[0], axes[1], -axes[1])])


def _clip(axes: Array, half: float) -> Array:
    out = np.eye(4)
    out[:3, :3] = axes / np.array([[half], [half], [DEPTH]])
    return out


def _to_map(axes: Array, half: float, offset: Array) -> Array:
    """The transform from camera-relative positions to texture coordinates and depth, 0 to 1."""
    clip = _clip(axes, half)
    clip[:3, 3] = clip[:3, :3] @ offset
    to_unit = np.array([[0.5, 0, 0, 0.5], [0, 0.5, 0, 0.5], [0, 0, 0.5, 0.5], [0, 0, 0, 1.0]])
    return np.asarray(to_unit @ clip)
