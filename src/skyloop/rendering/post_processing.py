"""Turns the samples of a view into pixels: ambient occlusion, averaging, glow.

The targets that views are painted into are kept from one request to the next, within so many bytes. Clients ask for
images of whatever size they like. A count of kept targets would bound nothing: 24 of 4K images with nine samples a
pixel are 47 GB.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import asdict, dataclass
from typing import Any, Generic, TypeVar

import moderngl
import numpy as np

from skyloop.rendering.daylight import Daylight
from skyloop.rendering.programs import build_program, outputs, set_unit, write
from skyloop.rendering.quality import Quality
from skyloop.rendering.shadows import Roofs
from skyloop.rendering.wire import ViewJob
from skyloop_client.messages import Array

Kept = TypeVar("Kept")
MOST_BYTES = 256 * 1024**2


class KeptTargets(Generic[Kept]):
    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._kept: dict[Hashable, tuple[Kept, int]] = {}
        """Longest unused first."""
        self._in_use: set[Hashable] = set()
        """By the present request, which reads them only when all its views are painted."""

    @property
    def total_bytes(self) -> int:
        return sum(size for _, size in self._kept.values())

    def begin_request(self) -> None:
        self._in_use.clear()

    def get(self, key: Hashable, size: int, make: Callable[[], Kept]) -> Kept:
        """The one of that key, made if need be. Of the others, those go that no longer fit, but none in use."""
        self._in_use.add(key)
        if key not in self._kept:
            for other in [known for known in self._kept if known not in self._in_use]:
                if self.total_bytes + size <= self._most_bytes:
                    break
                del self._kept[other]
            self._kept[key] = make(), size
        self._kept[key] = self._kept.pop(key)
        return self._kept[key][0]


@dataclass(frozen=True, slots=True)
class Kind:
    per_unit: float
    """The number of particles in the cube: per mm/h, per mg/m³, or at most for leaves."""
    fall: tuple[float, float, float]
    """m/s, the speed of fall."""
    side: float
    """m, the side of the cube of particles around the camera."""
    streak: float
    """s of fall over which a particle is drawn as a streak."""
    thickness: float
    """m."""
    tint: tuple[float, float, float]
    opacity: float


KINDS = {
    "rain": Kind(250.0, (0.6, 0.3, -8.0), 16.0, 0.02, 0.003, (1.05, 1.08, 1.1), 0.55),
    "snow": Kind(1500.0, (0.5, 0.2, -1.2), 12.0, 0.0, 0.022, (1.25, 1.27, 1.3), 0.9),
    "dust": Kind(12.0, (1.5, 0.4, -0.05), 12.0, 0.0, 0.006, (0.95, 0.80, 0.58), 0.5),
    "leaves": Kind(900.0, (1.1, 0.5, -1.0), 16.0, 0.0, 0.06, (0.75, 0.28, 0.05), 0.95),
}
MOST = 20_000


class Precipitation:
    """Drawn over the colour only: depth cameras and labels see through it."""

    def __init__(self, ctx: moderngl.Context) -> None:
        self._ctx = ctx
        self._array = ctx.vertex_array(build_program(ctx, "particles", "particles"), [])

    def draw(
        self,
        target: moderngl.Framebuffer,
        image_from_relative: Array,
        shot: ViewJob,
        light: Daylight,
        roofs: Roofs,
        sample_px: int,
    ) -> None:
        ctx, program = self._ctx, self._array.program
        target.use()
        ctx.enable_only(moderngl.DEPTH_TEST | moderngl.BLEND)
        ctx.blend_func = moderngl.SRC_ALPHA, moderngl.ONE_MINUS_SRC_ALPHA
        write(program, "image_from_relative", image_from_relative.T)
        roofs.bind(program)
        write(program, "focal", sample_px * shot.fx)
        for name, kind in KINDS.items():
            n = min(MOST, int(kind.per_unit * shot.sky[name]))
            if not n:
                continue
            # computed here, because the distance of hours of fall exceeds single precision
            write(program, "shift", np.mod(np.multiply(kind.fall, shot.t) - shot.eye, kind.side))
            for field, value in asdict(kind).items():
                write(program, field, value)
            write(program, "tint", _shown(kind.tint, light, shot.exposure))
            self._array.render(moderngl.TRIANGLE_STRIP, vertices=4, instances=n)
        ctx.disable(moderngl.BLEND)


def _shown(tint: tuple[float, float, float], light: Daylight, exposure: float) -> Array:
    """The displayed colour of a small particle in the air that is lit from all sides."""
    around = 0.8 * np.array(light.horizon_colour) + 0.2 * np.array(light.sun_colour)
    return np.sqrt(1.0 - np.exp(-exposure * np.multiply(tint, around)))


BYTES = {"colour": 4, "surface": 16, "depth": 4, "open share": 1}
"""Of a sample or pixel."""


class PaintTarget:
    """The buffers one view is painted to: samples, and pixels where they differ. It has only those that are needed."""

    def __init__(
        self, ctx: moderngl.Context, size: tuple[int, int], quality: Quality, asked: tuple[bool, bool]
    ) -> None:
        """`asked`: whether the colours and whether the surfaces of the pixels are read."""
        colour, surface = asked
        fine = (size[0] * quality.oversampling, size[1] * quality.oversampling)
        self.has_finish = _has_finish(quality, colour)
        self.colours = ctx.texture(fine, 4) if colour else None
        self.surfaces = ctx.texture(fine, 4, dtype="u4") if surface or self.has_finish else None
        if self.colours is not None:
            # the glow must not wrap around to the opposite edge
            self.colours.repeat_x = self.colours.repeat_y = False
        if self.surfaces is not None:
            self.surfaces.filter = (moderngl.NEAREST, moderngl.NEAREST)
        depth = ctx.depth_renderbuffer(fine)
        self.samples = ctx.framebuffer([part for part in (self.colours, self.surfaces) if part is not None], depth)
        self.colour_only = self.samples
        if self.colours is not None and self.surfaces is not None:
            self.colour_only = ctx.framebuffer([self.colours], depth)
        self.open_shares = ctx.texture(size, 1) if self.has_finish and colour else None
        if self.open_shares is not None:
            self.occlusion = ctx.framebuffer([self.open_shares])
        if self.has_finish:
            kinds = ["f1"] * colour + ["u4"] * surface
            self.pixels = ctx.framebuffer([ctx.texture(size, 4, dtype=kind) for kind in kinds])

    def begin(self, draw_depth: Callable[[], None] | None) -> None:
        """Clears the depth alone, because the sky paints what nothing else does, and draws into it what is given."""
        shown: Any = self.samples.color_mask
        several = isinstance(shown[0], tuple)
        hidden: Any = tuple((False,) * 4 for _ in shown) if several else (False,) * 4
        self.samples.color_mask = hidden
        self.samples.use()
        self.samples.clear(depth=1.0)
        if draw_depth is not None:
            draw_depth()
        self.samples.color_mask = shown
        # the mask of a single buffer takes effect only here
        self.samples.use()

    @staticmethod
    def size_in_bytes(size: tuple[int, int], quality: Quality, asked: tuple[bool, bool]) -> int:
        colour, surface = asked
        has_finish = _has_finish(quality, colour)
        of_pixel = BYTES["colour"] * colour + BYTES["surface"] * surface
        of_sample = BYTES["colour"] * colour + BYTES["surface"] * (surface or has_finish) + BYTES["depth"]
        of_finish = (of_pixel + BYTES["open share"] * colour) if has_finish else 0
        return size[0] * size[1] * (of_sample * quality.oversampling**2 + of_finish)


def _has_finish(quality: Quality, colour: bool) -> bool:
    """Whether samples and pixels differ; without colours they do so only in number."""
    return quality.has_finish if colour else quality.oversampling > 1


class Finish:
    """The passes from samples to pixels, for one quality and what is asked of the pixels."""

    def __init__(self, ctx: moderngl.Context, quality: Quality, asked: tuple[bool, bool]) -> None:
        self._ctx, self._quality, (self._colour, surface) = ctx, quality, asked
        defines = {"OVERSAMPLING": quality.oversampling, "OCCLUSION": quality.occlusion_samples}
        self._occlusion = ctx.vertex_array(build_program(ctx, "finish", "occlusion", **defines), [])
        program = build_program(ctx, "finish", "finish", **defines, **outputs(self._colour, surface))
        self._finish = ctx.vertex_array(program, [])

    def paint(self, target: PaintTarget, shot: ViewJob, light: Daylight) -> moderngl.Framebuffer:
        self._ctx.disable(moderngl.DEPTH_TEST)
        program = self._finish.program
        assert target.surfaces is not None
        target.surfaces.use(4)
        set_unit(program, "surfaces", 4)
        if self._colour:
            self._paint_occlusion(target, shot, light)
            set_unit(program, "colours", 3)
            set_unit(program, "open_shares", 5)
            write(program, "bloom", self._quality.bloom)
        target.pixels.use()
        self._finish.render(moderngl.TRIANGLES, vertices=3)
        return target.pixels

    def _paint_occlusion(self, target: PaintTarget, shot: ViewJob, light: Daylight) -> None:
        """Leaves the colours, with their mip levels for the glow, and the open shares in units 3 and 5."""
        assert target.colours is not None and target.open_shares is not None
        k = self._quality.oversampling
        if self._quality.bloom:
            target.colours.build_mipmaps()
            target.colours.filter = (moderngl.LINEAR_MIPMAP_LINEAR, moderngl.LINEAR)
        target.colours.use(3)
        target.open_shares.use(5)
        half = 0.5 * (k - 1)
        program = self._occlusion.program
        set_unit(program, "surfaces", 4)
        write(program, "lens", (k * shot.fx, k * shot.fy, k * shot.cx + half, k * shot.cy + half))
        write(program, "camera_from_world", shot.world_from_camera)  # column by column, so transposed
        write(program, "extinction", light.extinction)
        target.occlusion.use()
        self._occlusion.render(moderngl.TRIANGLES, vertices=3)
