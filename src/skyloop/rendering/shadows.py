"""Shadow maps: depth seen from the sun, of the standing things once per place and of the moving ones each time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from skyloop.rendering.culling import Culler
from skyloop.rendering.daylight import Daylight
from skyloop.rendering.programs import build_program, model_vertex_array, write
from skyloop.rendering.quality import Quality

HALF_SIDE = 72.0
"""m from the middle of the map to its edge."""
MOVING_HALF_SIDE = 36.0
GRID = 12.0
"""m; maps are centred on multiples of this, so that a map serves many views and depends on no history."""
DEPTH = 250.0
"""m before and behind the middle that are seen."""
KEPT = 6
"""Maps remembered."""


@dataclass(slots=True)
class ShadowMaps:
    standing: moderngl.Texture
    moving: moderngl.Texture
    shadow_from_relative: NDArray[Any]
    moving_from_relative: NDArray[Any]
    texel: float

    def bind(self, program: Any) -> None:
        for unit, name, texture in ((5, "standing_shadows", self.standing), (6, "moving_shadows", self.moving)):
            texture.use(unit)
            program[name].value = unit
        for name, matrix in (
            ("shadow_from_relative", self.shadow_from_relative),
            ("moving_shadow_from_relative", self.moving_from_relative),
        ):
            program[name].write(matrix.T.astype(np.float32).tobytes())
        if "shadow_texel" in program:
            program["shadow_texel"].value = self.texel


class Shadows:
    def __init__(self, ctx: moderngl.Context, culler: Culler, vertices: Any, indices: Any) -> None:
        self._ctx, self._culler = ctx, culler
        self._vertices, self._indices = vertices, indices
        self._kept: dict[Any, moderngl.Texture] = {}
        self._maps: dict[int, moderngl.Framebuffer] = {}
        self._pass: tuple[Any, Any, Any, Any] | None = None

    def maps(self, shot: Any, light: Daylight, quality: Quality) -> ShadowMaps:
        sun = np.asarray(light.sun_direction)
        axes = _axes(sun)
        forward = shot.world_from_camera[:, 2]
        # the middle lies ahead of the camera, on the grid of the map's own axes
        middle = _snapped(shot.eye + 0.6 * HALF_SIDE * np.array([forward[0], forward[1], 0.0]), axes)
        key = (*np.round(middle, 3), *np.round(sun, 6), quality.shadow_size)
        if key not in self._kept:
            if len(self._kept) >= KEPT:
                self._kept.pop(next(iter(self._kept))).release()
            texture = self._new_map(quality.shadow_size)
            self._paint(texture, middle, axes, HALF_SIDE, None)
            self._kept[key] = texture
        near = shot.eye + 0.5 * MOVING_HALF_SIDE * np.array([forward[0], forward[1], 0.0])
        moving_middle = _snapped(near, axes)
        moving = self._moving_map(quality.shadow_size // 2)
        self._paint(moving, moving_middle, axes, MOVING_HALF_SIDE, shot.moving)
        return ShadowMaps(
            self._kept[key],
            moving,
            _to_map(axes, HALF_SIDE, shot.eye - middle),
            _to_map(axes, MOVING_HALF_SIDE, shot.eye - moving_middle),
            1.0 / quality.shadow_size,
        )

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

    def _paint(self, texture: Any, middle: Any, axes: Any, half: float, moving: Any) -> None:
        planes = []
        for axis, reach in ((axes[0], half), (axes[1], half)):
            planes += [(*axis, reach - axis @ middle), (*-axis, reach + axis @ middle)]
        instances, commands = self._culler.casters(np.array(planes), middle, moving)
        fbo = self._ctx.framebuffer(depth_attachment=texture)
        fbo.use()
        fbo.clear(depth=1.0)
        if len(commands):
            if self._pass is None:
                instance_buffer = self._ctx.buffer(reserve=64 * max(1, len(self._culler._shape)))
                command_buffer = self._ctx.buffer(reserve=20 * max(1, len(self._culler._p["lods"])))
                program = build_program(self._ctx, "shadow", "shadow")
                array = model_vertex_array(self._ctx, program, self._vertices, self._indices, instance_buffer)
                self._pass = (program, array, instance_buffer, command_buffer)
            program, array, instance_buffer, command_buffer = self._pass
            write(program, "map_from_relative", _clip(axes, half).T)
            instance_buffer.orphan()
            instance_buffer.write(instances.tobytes())
            command_buffer.orphan()
            command_buffer.write(commands.tobytes())
            self._ctx.enable_only(moderngl.DEPTH_TEST)
            self._ctx.depth_func = "<="
            # steep faces are pushed away from the sun, else they shade themselves in stripes
            self._ctx.polygon_offset = 2.5, 4.0
            array.render_indirect(command_buffer, count=len(commands))
            self._ctx.polygon_offset = 0.0, 0.0
        fbo.release()


def _axes(sun: NDArray[Any]) -> NDArray[Any]:
    """Right, up and towards-the-ground axes of the map, as rows."""
    right = np.cross([0.0, 0.0, 1.0], sun)
    right = right / np.linalg.norm(right) if np.linalg.norm(right) > 1e-6 else np.array([1.0, 0.0, 0.0])
    return np.array([right, np.cross(sun, right), -sun])


def _snapped(place: NDArray[Any], axes: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(axes.T @ (GRID * np.round(axes @ place / GRID)))


def _clip(axes: NDArray[Any], half: float) -> NDArray[Any]:
    out = np.eye(4)
    out[:3, :3] = axes / np.array([[half], [half], [DEPTH]])
    return out


def _to_map(axes: NDArray[Any], half: float, offset: NDArray[Any]) -> NDArray[Any]:
    """From camera-relative places to texture coordinates and depth, 0 to 1."""
    clip = _clip(axes, half)
    clip[:3, 3] = clip[:3, :3] @ offset
    to_unit = np.array([[0.5, 0, 0, 0.5], [0, 0.5, 0, 0.5], [0, 0, 0.5, 0.5], [0, 0, 0, 1.0]])
    return np.asarray(to_unit @ clip)
