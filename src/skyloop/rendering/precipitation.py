"""Rain, snow and dust in the air before the camera."""

from __future__ import annotations

from typing import Any

import moderngl
import numpy as np

from skyloop.rendering.programs import build_program

KINDS = {
    # drops per unit, fall (m/s), side of the cube (m), streak (s), thickness (m), tint, opacity
    "rain": (250.0, (0.6, 0.3, -8.0), 16.0, 0.012, 0.004, (0.75, 0.78, 0.82), 0.35),
    "snow": (900.0, (0.5, 0.2, -1.2), 14.0, 0.0, 0.022, (0.95, 0.96, 0.98), 0.85),
    "dust": (12.0, (1.5, 0.4, -0.05), 12.0, 0.0, 0.008, (0.72, 0.60, 0.42), 0.45),
}
MOST = 20_000
_passes: dict[int, Any] = {}


def draw_precipitation(ctx: moderngl.Context, target: Any, image_from_relative: Any, shot: Any) -> None:
    """Over the colour only: depth cameras and labels see through it."""
    amounts = {kind: float(shot.sky[kind]) for kind in KINDS}
    if not any(amounts.values()):
        return
    if id(ctx) not in _passes:
        _passes[id(ctx)] = ctx.vertex_array(build_program(ctx, "particles", "particles"), [])
    array = _passes[id(ctx)]
    target.use()
    ctx.enable_only(moderngl.DEPTH_TEST | moderngl.BLEND)
    ctx.blend_func = moderngl.SRC_ALPHA, moderngl.ONE_MINUS_SRC_ALPHA
    brightness = float(np.clip(0.15 + shot.sky["sun_direction"][2], 0.1, 1.0))
    for kind, amount in amounts.items():
        per_unit, fall, side, streak, thickness, tint, opacity = KINDS[kind]
        n = min(MOST, int(per_unit * amount))
        if not n:
            continue
        values = {
            "image_from_relative": image_from_relative.T,
            "eye": np.mod(shot.eye, side),
            "fall": fall,
            "t": shot.t % (1000.0 * side),
            "side": side,
            "streak": streak,
            "thickness": thickness,
            "tint": np.multiply(tint, brightness),
            "opacity": opacity,
        }
        for name, value in values.items():
            if name in array.program:
                array.program[name].write(np.asarray(value, np.float32).tobytes())
        array.render(moderngl.TRIANGLE_STRIP, vertices=4, instances=n)
    ctx.disable(moderngl.BLEND)
