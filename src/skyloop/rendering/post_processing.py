"""Turns the samples of a view into pixels: ambient occlusion, averaging, glow."""

from __future__ import annotations

from typing import Any

import moderngl

from skyloop.rendering.daylight import Daylight
from skyloop.rendering.programs import build_program, write
from skyloop.rendering.quality import Quality


class Target:
    """The buffers one view is painted to: samples, and pixels where they differ."""

    def __init__(self, ctx: moderngl.Context, width: int, height: int, quality: Quality) -> None:
        whole, fine = (width, height), (width * quality.oversampling, height * quality.oversampling)
        self.colours, self.surfaces = ctx.texture(fine, 4), ctx.texture(fine, 4, dtype="u4")
        # the glow must not wrap around to the opposite edge
        self.colours.repeat_x = self.colours.repeat_y = False
        self.surfaces.filter = (moderngl.NEAREST, moderngl.NEAREST)
        depth = ctx.depth_renderbuffer(fine)
        self.samples = ctx.framebuffer([self.colours, self.surfaces], depth)
        self.colour_only = ctx.framebuffer([self.colours], depth)
        if quality.has_finish:
            self.open_shares = ctx.texture(whole, 1)
            self.occlusion = ctx.framebuffer([self.open_shares])
            self.pixels = ctx.framebuffer([ctx.texture(whole, 4), ctx.texture(whole, 4, dtype="u4")])

    @staticmethod
    def size_in_bytes(width: int, height: int, quality: Quality) -> int:
        """Of a sample: colour 4, surface 16, depth 4; of a pixel after the finish: 21."""
        return width * height * (24 * quality.oversampling**2 + (21 if quality.has_finish else 0))


class Finish:
    def __init__(self, ctx: moderngl.Context, quality: Quality) -> None:
        self._ctx, self._quality = ctx, quality
        defines = {"OVERSAMPLING": quality.oversampling, "OCCLUSION": quality.occlusion_samples}
        self._occlusion = ctx.vertex_array(build_program(ctx, "finish", "occlusion", **defines), [])
        self._finish = ctx.vertex_array(build_program(ctx, "finish", "finish", **defines), [])

    def paint(self, target: Target, shot: Any, light: Daylight) -> moderngl.Framebuffer:
        ctx, quality, k = self._ctx, self._quality, self._quality.oversampling
        ctx.disable(moderngl.DEPTH_TEST)
        if quality.bloom:
            target.colours.build_mipmaps()
            target.colours.filter = (moderngl.LINEAR_MIPMAP_LINEAR, moderngl.LINEAR)
        target.colours.use(3)
        target.surfaces.use(4)
        target.open_shares.use(5)
        half = 0.5 * (k - 1)
        program: Any = self._occlusion.program
        program["surfaces"].value = 4
        write(program, "lens", (k * shot.fx, k * shot.fy, k * shot.cx + half, k * shot.cy + half))
        write(program, "camera_from_world", shot.world_from_camera)  # column by column, so transposed
        write(program, "extinction", light.extinction)
        target.occlusion.use()
        self._occlusion.render(moderngl.TRIANGLES, vertices=3)
        program = self._finish.program
        program["colours"].value, program["surfaces"].value, program["open_shares"].value = 3, 4, 5
        write(program, "bloom", quality.bloom)
        target.pixels.use()
        self._finish.render(moderngl.TRIANGLES, vertices=3)
        return target.pixels
