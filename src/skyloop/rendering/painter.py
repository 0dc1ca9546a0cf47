"""The OpenGL side of the renderer: the model's buffers, the programs, and the passes that make one picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from skyloop.rendering.culling import Culler
from skyloop.rendering.daylight import Daylight, daylight
from skyloop.rendering.kept_targets import KeptTargets
from skyloop.rendering.mip_levels import build_mip_levels
from skyloop.rendering.post_processing import Finish, Target
from skyloop.rendering.precipitation import KINDS, Precipitation
from skyloop.rendering.programs import build_program, model_vertex_array, write
from skyloop.rendering.quality import QUALITIES, Quality
from skyloop.rendering.shadows import Shadows
from skyloop.rendering.wire import Arrays
from skyloop.world.materials import MATERIALS

NEAR, FAR = 0.05, 5000.0
MOST_MATERIALS = 64
LOWEST_SUN = 0.02
"""Sine of the sun's height. Below it there is no sunlight, and so there are no shadows."""


@dataclass(slots=True)
class Shot:
    """One picture to be rendered."""

    width: int
    height: int
    fx: float
    fy: float
    cx: float
    cy: float
    quality: str
    eye: NDArray[Any]
    world_from_camera: NDArray[Any]
    moving: NDArray[Any]
    hidden: tuple[int, int] | None
    sky: dict[str, Any]
    exposure: float
    t: float
    colour: bool
    """Whether its colours are read."""


class Painter:
    def __init__(
        self, ctx: moderngl.Context, packed: Arrays, textures: NDArray[np.uint8], layers: dict[str, tuple[int, int]]
    ) -> None:
        self.ctx = ctx
        # OpenGL objects are freed when they are dropped
        ctx.gc_mode = "auto"
        self._packed = packed
        self.culler = Culler(packed)
        self._vertices = ctx.buffer(packed["vertices"].tobytes() or b"\0" * 32)
        self._indices = ctx.buffer(packed["indices"].tobytes() or b"\0" * 4)
        n_rows = max(1, len(packed["row_shape"]))
        self._instances = ctx.buffer(reserve=64 * n_rows)
        self._commands = ctx.buffer(reserve=20 * max(1, len(packed["lods"])))
        palettes = packed["palettes"]
        self._palettes = ctx.texture(palettes.shape[1::-1], 3, palettes.tobytes(), alignment=1)
        self._palettes.filter = (moderngl.NEAREST, moderngl.NEAREST)
        n, size = textures.shape[:2]
        self._layers = ctx.texture_array((size, size, n), 4, textures.tobytes())
        build_mip_levels(ctx, self._layers)
        self._layers.filter = (moderngl.LINEAR_MIPMAP_LINEAR, moderngl.LINEAR)
        self._materials = np.zeros((MOST_MATERIALS, 4))
        for number, m in enumerate(MATERIALS):
            self._materials[number] = (
                1.0 / m.tile,
                *layers.get(m.texture, layers["plain"]),
                m.gloss or -m.translucency,
            )
        clouds = _cloud_noise(256)
        self._clouds = ctx.texture((256, 256), 1, clouds.tobytes())
        self._clouds.build_mipmaps()
        self._shadows = Shadows(ctx, self.culler, self._vertices, self._indices)
        self._lit: tuple[dict[str, Any], Daylight] | None = None
        self._precipitation: Precipitation | None = None
        self._sky = ctx.vertex_array(build_program(ctx, "sky", "sky"), [])
        self._surfaces: dict[tuple[str, bool, bool, bool], moderngl.VertexArray] = {}
        self._finishes: dict[str, Finish] = {}
        self._targets: KeptTargets[Target] = KeptTargets()

    def retable(self, rows: Arrays) -> None:
        """Replaces the rows; the shapes stay the same."""
        self._packed = {**self._packed, **rows}
        self.culler = Culler(self._packed)
        self._instances = self.ctx.buffer(reserve=64 * max(1, self.culler.n_rows))
        self._surfaces.clear()
        self._shadows = Shadows(self.ctx, self.culler, self._vertices, self._indices)

    # ---- one picture

    def paint(self, shot: Shot, number: int) -> moderngl.Framebuffer:
        """Paints picture `number` of a request. The framebuffer then holds colour and surface, top row first."""
        ctx, quality = self.ctx, QUALITIES[shot.quality]
        light = self._daylight(shot.sky)
        image_from_relative, planes = projection(shot)
        shadow = None
        # with a finish, the second pass needs the colours to find the sample in the middle of each pixel
        colour = shot.colour or quality.has_finish
        if colour and quality.shadow_size and light.sun_direction[2] > LOWEST_SUN:
            shadow = self._shadows.maps(shot, light, quality)
        falling = colour and any(shot.sky[kind] for kind in (*KINDS, "wetness"))
        roofs = self._shadows.roofs(shot) if falling else None
        target = self._target(shot, quality, number)
        surfaces = self._surface_pass(shot.quality, quality, shadow is not None, falling, colour)
        instances, commands = self.culler.visible(shot.eye, planes, shot.fx, quality, shot.moving, shot.hidden)

        target.samples.use()
        ctx.enable_only(moderngl.DEPTH_TEST)
        # the image is painted upside down, so that its top row comes first in memory
        ctx.front_face = "cw"
        ctx.depth_func = "<="
        target.samples.clear(depth=1.0)
        self._set(surfaces.program, image_from_relative, light, shot, shadow)
        between = moderngl.LINEAR_MIPMAP_LINEAR if quality.smooth_textures else moderngl.LINEAR_MIPMAP_NEAREST
        self._layers.filter = (between, moderngl.LINEAR)
        if roofs is not None:
            roofs.bind(surfaces.program)
        if len(commands):
            self._instances.orphan()
            self._instances.write(instances.tobytes())
            self._commands.orphan()
            self._commands.write(commands.tobytes())
            surfaces.render_indirect(self._commands, count=len(commands))
        self._paint_sky(image_from_relative, light, shot)
        if roofs is not None:
            self._precipitation = self._precipitation or Precipitation(ctx)
            self._precipitation.draw(target.colour_only, image_from_relative, shot, light, roofs, quality.oversampling)
        if not quality.has_finish:
            return target.samples
        if shot.quality not in self._finishes:
            self._finishes[shot.quality] = Finish(ctx, quality)
        return self._finishes[shot.quality].paint(target, shot, light)

    def _daylight(self, sky: dict[str, Any]) -> Daylight:
        if self._lit is None or self._lit[0] != sky:
            self._lit = sky, daylight(sky)
        return self._lit[1]

    def _set(self, program: Any, image_from_relative: Any, light: Daylight, shot: Shot, shadow: Any) -> None:
        write(program, "image_from_relative", image_from_relative.T)
        light.write_to(program)
        write(program, "exposure", shot.exposure)
        write(program, "eye", np.mod(shot.eye[:2], 1024.0))
        self._layers.use(0)
        self._palettes.use(1)
        for unit, name in enumerate(("layers", "palettes")):
            # without colour, the compiler removes both as unused
            if name in program:
                program[name].value = unit
        if shadow is not None:
            shadow.bind(program)

    def _paint_sky(self, image_from_relative: Any, light: Daylight, shot: Shot) -> None:
        program: Any = self._sky.program
        write(program, "relative_from_image", np.linalg.inv(image_from_relative).T)
        light.write_to(program)
        write(program, "exposure", shot.exposure)
        write(program, "cloud_shift", (0.002 * shot.t, 0.001 * shot.t))
        self._clouds.use(2)
        program["cloud_map"].value = 2
        self._sky.render(moderngl.TRIANGLES, vertices=3)

    # ---- what all pictures need

    def _target(self, shot: Shot, quality: Quality, number: int) -> Target:
        if number == 0:
            self._targets.begin_request()
        width, height = shot.width, shot.height
        key = (width, height, quality.oversampling, quality.has_finish, number)
        return self._targets.get(
            key, Target.size_in_bytes(width, height, quality), lambda: Target(self.ctx, width, height, quality)
        )

    def _surface_pass(
        self, name: str, quality: Quality, shadows: bool, falling: bool, colour: bool
    ) -> moderngl.VertexArray:
        key = (name, shadows, falling, colour)
        if key not in self._surfaces:
            defines: dict[str, Any] = {"SHADOWS": 1, "TAPS": quality.shadow_taps} if shadows else {}
            if not colour:
                defines["WITHOUT_COLOUR"] = 1
            if falling:
                defines["WEATHER"] = 1
            if quality.bumps:
                defines["BUMPS"] = quality.bumps
            program = build_program(self.ctx, "surface", "surface", **defines)
            write(program, "materials", self._materials)
            vertices, indices = self._vertices, self._indices
            self._surfaces[key] = model_vertex_array(self.ctx, program, vertices, indices, self._instances)
        return self._surfaces[key]


def projection(shot: Shot) -> tuple[NDArray[Any], NDArray[Any]]:
    """The projection from world axes at the eye to the image, upside down, and its planes, positive inside."""
    w, h = shot.width, shot.height
    # pixel centres lie at whole numbers, so the image begins half a pixel before 0
    x, y = 2.0 * (shot.cx + 0.5) / w - 1.0, 2.0 * (shot.cy + 0.5) / h - 1.0
    clip = np.array(
        [
            [2.0 * shot.fx / w, 0.0, x, 0.0],
            [0.0, 2.0 * shot.fy / h, y, 0.0],
            [0.0, 0.0, (FAR + NEAR) / (FAR - NEAR), -2.0 * FAR * NEAR / (FAR - NEAR)],
            [0.0, 0.0, 1.0, 0.0],
        ]
    )
    view = np.eye(4)
    view[:3, :3] = shot.world_from_camera.T
    left, right = (shot.cx + 0.5) / shot.fx, (w - 0.5 - shot.cx) / shot.fx
    top, bottom = (shot.cy + 0.5) / shot.fy, (h - 0.5 - shot.cy) / shot.fy
    sides = np.array([[1, 0, left], [-1, 0, right], [0, 1, top], [0, -1, bottom], [0, 0, 1]], float)
    sides /= np.linalg.norm(sides, axis=1, keepdims=True)
    normals = sides @ shot.world_from_camera.T
    planes = np.concatenate([normals, -(normals @ shot.eye)[:, None]], axis=1)
    return clip @ view, planes


def _cloud_noise(n: int) -> NDArray[np.uint8]:
    """Smooth noise that tiles seamlessly and is always the same."""
    spectrum = np.random.Generator(np.random.Philox(key=7)).standard_normal((n, n))
    f = np.fft.fftfreq(n)
    radius = np.hypot(f[:, None], f[None, :])
    shaped = np.fft.ifft2(np.fft.fft2(spectrum) / np.maximum(radius, 1.0 / n) ** 1.6).real
    ranks = shaped.ravel().argsort().argsort().reshape(n, n)
    return np.asarray(255.0 * ranks / ranks.max(), np.uint8)
