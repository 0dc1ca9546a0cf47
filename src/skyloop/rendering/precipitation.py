"""Rain, snow, dust and leaves in the air in front of the camera."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import moderngl
import numpy as np

from skyloop.rendering.daylight import Daylight
from skyloop.rendering.programs import build_program, write


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
        self, target: Any, image_from_relative: Any, shot: Any, light: Daylight, roofs: Any, sample_px: int
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
            write(program, "tint", _shown(kind.tint, light, shot.exposure))
            for field in ("fall", "side", "streak", "thickness", "opacity"):
                write(program, field, getattr(kind, field))
            self._array.render(moderngl.TRIANGLE_STRIP, vertices=4, instances=n)
        ctx.disable(moderngl.BLEND)


def _shown(tint: Any, light: Daylight, exposure: float) -> Any:
    """The displayed colour of a small particle in the air that is lit from all sides."""
    around = 0.8 * np.array(light.horizon_colour) + 0.2 * np.array(light.sun_colour)
    return np.sqrt(1.0 - np.exp(-exposure * np.multiply(tint, around)))
