"""The OpenGL side of the renderer: the model's buffers, the programs, and the passes that make one picture."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import moderngl
import numpy as np
from numpy.typing import NDArray

from skyloop.rendering.daylight import Daylight, LitPass, daylight
from skyloop.rendering.lamplight import MOST_LAMPS, REACH
from skyloop.rendering.post_processing import KINDS, Finish, KeptTargets, PaintTarget, Precipitation
from skyloop.rendering.programs import build_mip_levels, build_program, model_vertex_array, outputs, set_unit, write
from skyloop.rendering.quality import QUALITIES, Quality
from skyloop.rendering.shadows import Culler, ShadowMaps, Shadows
from skyloop.rendering.wire import Arrays, Sky, ViewJob
from skyloop.world.materials import MATERIALS
from skyloop_client.messages import Array

NEAR, FAR = 0.05, 5000.0
MOST_MATERIALS = 64
LAYERS_UNIT, PALETTES_UNIT, CLOUDS_UNIT = 0, 1, 2
DEPTH_FIRST_SAMPLES = 300
"""Samples of the picture per triangle, from which on the depth of everything is drawn before anything is shaded."""
LOWEST_SUN = 0.02
"""Sine of the sun's height. Below it there is no sunlight, and so there are no shadows."""


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
        n_rows = max(1, len(packed["part_shape"]))
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
        self._lit: tuple[Sky, Daylight] | None = None
        self._precipitation: Precipitation | None = None
        self._skies: dict[tuple[bool, bool], LitPass] = {}
        self._surfaces: dict[tuple[str | bool, ...], LitPass] = {}
        self._depths: moderngl.VertexArray | None = None
        self._finishes: dict[tuple[str, bool, bool], Finish] = {}
        self._targets: KeptTargets[PaintTarget] = KeptTargets()

    def retable(self, rows: Arrays) -> None:
        """Replaces the rows; the shapes stay the same."""
        self._packed = {**self._packed, **rows}
        self.culler = Culler(self._packed)
        self._instances = self.ctx.buffer(reserve=64 * max(1, self.culler.n_rows))
        self._surfaces.clear()
        self._depths = None
        self._shadows = Shadows(self.ctx, self.culler, self._vertices, self._indices)

    # ---- one picture

    def paint(self, shot: ViewJob, number: int) -> moderngl.Framebuffer:
        """Paints picture `number` of a request. The framebuffer then holds what the shot asks for, top row first."""
        ctx, quality = self.ctx, QUALITIES[shot.quality]
        light = self._daylight(shot.sky)
        clip_from_relative, planes = projection(shot)
        shadow = None
        if shot.colour and quality.shadow_size and light.sun_direction[2] > LOWEST_SUN:
            shadow = self._shadows.maps(shot, light, quality)
        falling = shot.colour and any(shot.sky[kind] for kind in (*KINDS, "wetness"))
        roofs = self._shadows.roofs(shot) if falling else None
        target = self._target(shot, quality, number)
        surfaces = self._surface_pass(shot, target, shadow is not None, falling)
        instances, commands = self.culler.visible(shot.eye, planes, shot.fx, quality, shot.moving, shot.hidden)

        ctx.enable_only(moderngl.DEPTH_TEST)
        # the image is painted upside down, so that its top row comes first in memory
        ctx.front_face = "cw"
        ctx.depth_func = "<="
        if len(commands):
            self._instances.orphan()
            self._instances.write(instances)
            self._commands.orphan()
            self._commands.write(commands)
        target.begin(self._depth_first(shot, quality, clip_from_relative, commands))
        self._set(surfaces, clip_from_relative, light, shot, shadow)
        between = moderngl.LINEAR_MIPMAP_LINEAR if quality.smooth_textures else moderngl.LINEAR_MIPMAP_NEAREST
        self._layers.filter = (between, moderngl.LINEAR)
        if roofs is not None:
            roofs.bind(surfaces.program)
        if len(commands):
            surfaces.array.render_indirect(self._commands, count=len(commands))
        self._paint_sky(clip_from_relative, light, shot, target)
        if roofs is not None:
            self._precipitation = self._precipitation or Precipitation(ctx)
            self._precipitation.draw(target.colour_only, clip_from_relative, shot, light, roofs, quality.oversampling)
        if not target.has_finish:
            return target.samples
        key = (shot.quality, shot.colour, shot.surface)
        if key not in self._finishes:
            self._finishes[key] = Finish(ctx, quality, (shot.colour, shot.surface))
        return self._finishes[key].paint(target, shot, light)

    def _depth_first(
        self, shot: ViewJob, quality: Quality, clip_from_relative: Array, commands: NDArray[np.void]
    ) -> Callable[[], None] | None:
        """What draws the depth of all, if that costs less than to shade what is hidden; the picture stays the same."""
        triangles = int(commands["count"].astype(np.int64) @ commands["instances"]) // 3
        samples = shot.width * shot.height * quality.oversampling**2
        if not shot.colour or not triangles or samples < DEPTH_FIRST_SAMPLES * triangles:
            return None
        if self._depths is None:
            program = build_program(self.ctx, "depth", "depth")
            self._depths = model_vertex_array(self.ctx, program, self._vertices, self._indices, self._instances)
        depths = self._depths
        write(depths.program, "clip_from_relative", clip_from_relative.T)
        return lambda: depths.render_indirect(self._commands, count=len(commands))

    def _daylight(self, sky: Sky) -> Daylight:
        if self._lit is None or self._lit[0] != sky:
            self._lit = sky, daylight(sky)
        return self._lit[1]

    def _set(
        self, surfaces: LitPass, clip_from_relative: Array, light: Daylight, shot: ViewJob, shadow: ShadowMaps | None
    ) -> None:
        program = surfaces.program
        write(program, "clip_from_relative", clip_from_relative.T)
        if not shot.colour:
            return
        surfaces.set_light(light)
        if len(shot.lamps):
            write(program, "lamp_places", shot.lamps[:, :4])
            write(program, "lamp_colours", shot.lamps[:, 4:])
        write(program, "exposure", shot.exposure)
        write(program, "eye", np.mod(shot.eye[:2], 1024.0))
        self._layers.use(LAYERS_UNIT)
        self._palettes.use(PALETTES_UNIT)
        if shadow is not None:
            shadow.bind(program)

    def _paint_sky(self, clip_from_relative: Array, light: Daylight, shot: ViewJob, target: PaintTarget) -> None:
        sky = self._sky_pass(shot, target)
        if shot.colour:
            write(sky.program, "relative_from_image", np.linalg.inv(clip_from_relative).T)
            sky.set_light(light)
            write(sky.program, "exposure", shot.exposure)
            write(sky.program, "cloud_shift", (0.002 * shot.t, 0.001 * shot.t))
            self._clouds.use(CLOUDS_UNIT)
        sky.array.render(moderngl.TRIANGLES, vertices=3)

    # ---- what all pictures need

    def _target(self, shot: ViewJob, quality: Quality, number: int) -> PaintTarget:
        if number == 0:
            self._targets.begin_request()
        size, asked = (shot.width, shot.height), (shot.colour, shot.surface)
        key = (*size, *asked, quality.oversampling, quality.has_finish, number)
        return self._targets.get(
            key, PaintTarget.size_in_bytes(size, quality, asked), lambda: PaintTarget(self.ctx, size, quality, asked)
        )

    def _sky_pass(self, shot: ViewJob, target: PaintTarget) -> LitPass:
        key = (shot.colour, target.surfaces is not None)
        if key not in self._skies:
            program = build_program(self.ctx, "sky", "sky", **outputs(*key))
            if shot.colour:
                set_unit(program, "cloud_map", CLOUDS_UNIT)
            self._skies[key] = LitPass(self.ctx.vertex_array(program, []))
        return self._skies[key]

    def _surface_pass(self, shot: ViewJob, target: PaintTarget, shadows: bool, falling: bool) -> LitPass:
        parts = (shot.colour, target.surfaces is not None)
        lamps = shot.colour and len(shot.lamps) > 0
        key = (shot.quality, shadows, falling, lamps, *parts)
        if key not in self._surfaces:
            quality = QUALITIES[shot.quality]
            defines: dict[str, float] = {"SHADOWS": 1, "TAPS": quality.shadow_taps} if shadows else {}
            if falling:
                defines["WEATHER"] = 1
            if lamps:
                defines |= {"LAMPS": MOST_LAMPS, "REACH": REACH}
            if quality.bumps:
                defines["BUMPS"] = quality.bumps
            program = build_program(self.ctx, "surface", "surface", **defines, **outputs(*parts))
            write(program, "materials", self._materials)
            if shot.colour:
                set_unit(program, "layers", LAYERS_UNIT)
                set_unit(program, "palettes", PALETTES_UNIT)
            array = model_vertex_array(self.ctx, program, self._vertices, self._indices, self._instances)
            self._surfaces[key] = LitPass(array)
        return self._surfaces[key]


@lru_cache(maxsize=256)
def _lens_matrices(w: int, h: int, fx: float, fy: float, cx: float, cy: float) -> tuple[Array, Array]:
    """The projection from camera axes, and the normals of the planes of sight in them."""
    # pixel centres lie at whole numbers, so the image begins half a pixel before 0
    x, y = 2.0 * (cx + 0.5) / w - 1.0, 2.0 * (cy + 0.5) / h - 1.0
    clip = np.array(
        [
            [2.0 * fx / w, 0.0, x, 0.0],
            [0.0, 2.0 * fy / h, y, 0.0],
            [0.0, 0.0, (FAR + NEAR) / (FAR - NEAR), -2.0 * FAR * NEAR / (FAR - NEAR)],
            [0.0, 0.0, 1.0, 0.0],
        ]
    )
    left, right = (cx + 0.5) / fx, (w - 0.5 - cx) / fx
    top, bottom = (cy + 0.5) / fy, (h - 0.5 - cy) / fy
    sides = np.array([[1, 0, left], [-1, 0, right], [0, 1, top], [0, -1, bottom], [0, 0, 1]], float)
    return clip, sides / np.linalg.norm(sides, axis=1, keepdims=True)


def projection(shot: ViewJob) -> tuple[Array, Array]:
    """The projection from world axes at the eye to the image, upside down, and its planes, positive inside."""
    clip, sides = _lens_matrices(shot.width, shot.height, shot.fx, shot.fy, shot.cx, shot.cy)
    view = np.zeros((4, 4))
    view[:3, :3] = shot.world_from_camera.T
    view[3, 3] = 1.0
    planes = np.empty((len(sides), 4))
    planes[:, :3] = sides @ view[:3, :3]
    planes[:, 3] = -(planes[:, :3] @ shot.eye)
    return clip @ view, planes


def _cloud_noise(n: int) -> NDArray[np.uint8]:
    """Smooth noise that tiles seamlessly and is always the same."""
    spectrum = np.random.Generator(np.random.Philox(key=7)).standard_normal((n, n))
    f = np.fft.fftfreq(n)
    radius = np.hypot(f[:, None], f[None, :])
    shaped = np.fft.ifft2(np.fft.fft2(spectrum) / np.maximum(radius, 1.0 / n) ** 1.6).real
    ranks = shaped.ravel().argsort().argsort().reshape(n, n)
    return np.asarray(255.0 * ranks / ranks.max(), np.uint8)
