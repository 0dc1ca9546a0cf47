"""The OpenGL side: buffers of the model, programs, and the passes that make one picture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from skyloop.rendering.culling import Culler
from skyloop.rendering.daylight import Daylight, daylight
from skyloop.rendering.precipitation import draw_precipitation
from skyloop.rendering.programs import build_program, model_vertex_array, write
from skyloop.rendering.quality import QUALITIES, Quality
from skyloop.rendering.shadows import Shadows
from skyloop.rendering.wire import Arrays
from skyloop.world.materials import MATERIALS

NEAR, FAR = 0.05, 5000.0
MOST_MATERIALS = 64


@dataclass(slots=True)
class Target:
    """Where one view is painted: samples, and pixels where these differ."""

    samples: moderngl.Framebuffer
    colour_only: moderngl.Framebuffer
    pixels: moderngl.Framebuffer


@dataclass(slots=True)
class Shot:
    """One picture to be taken."""

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


class Painter:
    def __init__(self, packed: Arrays, textures: NDArray[np.uint8], layers: dict[str, tuple[int, int]]) -> None:
        self.ctx = moderngl.create_context(standalone=True, backend="egl")  # type: ignore[arg-type]
        ctx = self.ctx
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
        self._layers.build_mipmaps()
        self._layers.filter = (moderngl.LINEAR_MIPMAP_LINEAR, moderngl.LINEAR)
        self._materials = np.zeros((MOST_MATERIALS, 4))
        for number, m in enumerate(MATERIALS):
            self._materials[number] = (1.0 / m.tile, *layers.get(m.texture, layers["plain"]), m.gloss)
        clouds = _cloud_noise(256)
        self._clouds = ctx.texture((256, 256), 1, clouds.tobytes())
        self._clouds.build_mipmaps()
        self._shadows = Shadows(ctx, self.culler, self._vertices, self._indices)
        self._programs: dict[str, tuple[moderngl.Program, moderngl.VertexArray, moderngl.VertexArray, Any]] = {}
        self._targets: dict[tuple[int, int, int, int], Target] = {}

    # ---- one picture

    def paint(self, shot: Shot, number: int) -> moderngl.Framebuffer:
        """The `number`-th picture of a request; the framebuffer holds colour and surface, top row first."""
        ctx, quality = self.ctx, QUALITIES[shot.quality]
        light = daylight(shot.sky)
        image_from_relative, planes = projection(shot)
        shadow = None
        if quality.shadow_size and shot.sky["sun_direction"][2] > 0.02:
            shadow = self._shadows.maps(shot, light, quality)
        target = self._target(shot, quality.oversampling, number)
        program, surfaces, sky, finish = self._program(shot.quality, quality, light)
        instances, commands = self.culler.visible(shot.eye, planes, shot.fx, quality, shot.moving, shot.hidden)

        target.samples.use()
        ctx.enable_only(moderngl.DEPTH_TEST)
        # the image is painted upside down, so that its top row comes first in memory
        ctx.front_face = "cw"
        ctx.depth_func = "<="
        target.samples.clear(depth=1.0)
        self._set(program, image_from_relative, light, shot, shadow)
        if len(commands):
            self._instances.orphan()
            self._instances.write(instances.tobytes())
            self._commands.orphan()
            self._commands.write(commands.tobytes())
            surfaces.render_indirect(self._commands, count=len(commands))
        self._paint_sky(sky, image_from_relative, light, shot)
        draw_precipitation(ctx, target.colour_only, image_from_relative, shot)
        if quality.oversampling == 1 and not quality.occlusion_samples:
            return target.samples
        return self._finish(target, finish, shot, quality)

    def _set(self, program: Any, image_from_relative: Any, light: Daylight, shot: Shot, shadow: Any) -> None:
        write(program, "image_from_relative", image_from_relative.T)
        for name in ("sun_direction", "sun_colour", "sky_colour", "horizon_colour", "ground_colour"):
            write(program, name, getattr(light, name))
        for name in ("extinction", "wetness", "snow"):
            write(program, name, getattr(light, name))
        write(program, "exposure", shot.exposure)
        self._layers.use(0)
        self._palettes.use(1)
        program["layers"].value = 0
        program["palettes"].value = 1
        if shadow is not None:
            shadow.bind(program)

    def _paint_sky(self, sky: Any, image_from_relative: Any, light: Daylight, shot: Shot) -> None:
        program = sky.program
        write(program, "relative_from_image", np.linalg.inv(image_from_relative).T)
        for name in ("sun_direction", "sun_colour", "sky_colour", "horizon_colour", "clouds", "haze"):
            write(program, name, getattr(light, name))
        write(program, "exposure", shot.exposure)
        write(program, "cloud_shift", (0.002 * shot.t, 0.001 * shot.t))
        self._clouds.use(2)
        program["cloud_map"].value = 2
        sky.render(moderngl.TRIANGLES, vertices=3)

    def _finish(self, target: Target, finish: Any, shot: Shot, quality: Quality) -> moderngl.Framebuffer:
        program, k = finish.program, quality.oversampling
        colours: Any
        surfaces: Any
        colours, surfaces = target.samples.color_attachments
        if quality.bloom:
            colours.build_mipmaps()
            colours.filter = (moderngl.LINEAR_MIPMAP_LINEAR, moderngl.LINEAR)
        colours.use(3)
        surfaces.use(4)
        program["colours"].value, program["surfaces"].value = 3, 4
        half = 0.5 * (k - 1)
        write(program, "lens", (k * shot.fx, k * shot.fy, k * shot.cx + half, k * shot.cy + half))
        write(program, "camera_from_world", shot.world_from_camera)  # column by column: its transpose
        write(program, "bloom", quality.bloom)
        target.pixels.use()
        self.ctx.disable(moderngl.DEPTH_TEST)
        finish.render(moderngl.TRIANGLES, vertices=3)
        return target.pixels

    # ---- what pictures need

    def _target(self, shot: Shot, oversampling: int, number: int) -> Target:
        key = (shot.width, shot.height, oversampling, number)
        if key not in self._targets:
            if len(self._targets) > 24:
                self._targets.clear()
            size = (shot.width * oversampling, shot.height * oversampling)
            ctx = self.ctx
            colour, surface = ctx.texture(size, 4), ctx.texture(size, 4, dtype="u4")
            surface.filter = (moderngl.NEAREST, moderngl.NEAREST)
            depth = ctx.depth_renderbuffer(size)
            samples = ctx.framebuffer([colour, surface], depth)
            whole = (shot.width, shot.height)
            pixels = ctx.framebuffer([ctx.texture(whole, 4), ctx.texture(whole, 4, dtype="u4")])
            self._targets[key] = Target(samples, ctx.framebuffer([colour], depth), pixels)
        return self._targets[key]

    def _program(self, name: str, quality: Quality, light: Daylight) -> Any:
        shadows = quality.shadow_size > 0 and light.sun_direction[2] > 0.02
        key = f"{name} {shadows}"
        if key not in self._programs:
            defines: dict[str, Any] = {"TAPS": quality.shadow_taps} if shadows else {}
            if shadows:
                defines["SHADOWS"] = 1
            if quality.bumps:
                defines["BUMPS"] = quality.bumps
            program = build_program(self.ctx, "surface", "surface", **defines)
            write(program, "materials", self._materials)
            surfaces = model_vertex_array(self.ctx, program, self._vertices, self._indices, self._instances)
            sky = self.ctx.vertex_array(build_program(self.ctx, "sky", "sky"), [])
            finish_defines = {"OVERSAMPLING": quality.oversampling, "OCCLUSION": quality.occlusion_samples}
            finish = self.ctx.vertex_array(build_program(self.ctx, "finish", "finish", **finish_defines), [])
            self._programs[key] = (program, surfaces, sky, finish)
        return self._programs[key]


def projection(shot: Shot) -> tuple[NDArray[Any], NDArray[Any]]:
    """From world axes at the eye to the image, upside down; and its side and near planes, inside positive."""
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
    """Soft noise that repeats seamlessly, always the same."""
    spectrum = np.random.Generator(np.random.Philox(key=7)).standard_normal((n, n))
    f = np.fft.fftfreq(n)
    radius = np.hypot(f[:, None], f[None, :])
    shaped = np.fft.ifft2(np.fft.fft2(spectrum) / np.maximum(radius, 1.0 / n) ** 1.6).real
    ranks = shaped.ravel().argsort().argsort().reshape(n, n)
    return np.asarray(255.0 * ranks / ranks.max(), np.uint8)
