"""Details of a texture stay where they are when a camera comes nearer."""

from __future__ import annotations

import moderngl
import numpy as np
import pytest
from numpy.typing import NDArray

from skyloop.rendering.programs import build_mip_levels
from skyloop_client.messages import Array

pytestmark = pytest.mark.renders

SIDE = 64
VERTEX = "#version 430\nin vec2 place; void main() { gl_Position = vec4(place, 0.0, 1.0); }"
FRAGMENT = """#version 430
uniform sampler2DArray layers; uniform float level; out vec4 colour;
void main() { colour = textureLod(layers, vec3(gl_FragCoord.xy / 64.0, 1.0), level); }"""


def seen(level: float, painted: NDArray[np.uint8]) -> Array:
    """What a camera sees of the second of two layers, at the resolution of level 0."""
    ctx = moderngl.create_context(require=430, standalone=True, backend="egl")  # type: ignore[arg-type]
    layers = np.zeros((2, SIDE, SIDE, 4), np.uint8)
    layers[1] = painted[:, :, None]
    texture = ctx.texture_array((SIDE, SIDE, 2), 4, layers.tobytes())
    build_mip_levels(ctx, texture)
    texture.filter = (moderngl.LINEAR_MIPMAP_NEAREST, moderngl.LINEAR)
    texture.use(0)
    program = ctx.program(vertex_shader=VERTEX, fragment_shader=FRAGMENT)
    program["level"] = level
    corners = ctx.buffer(np.array([-1, -1, 3, -1, -1, 3], np.float32).tobytes())
    target = ctx.simple_framebuffer((SIDE, SIDE), 4, dtype="f4")
    target.use()
    ctx.vertex_array(program, [(corners, "2f", "place")]).render()
    shown = np.frombuffer(target.read(components=1, dtype="f4"), np.float32).reshape(SIDE, SIDE)
    ctx.release()
    return shown.astype(float)


@pytest.mark.parametrize("level", [1, 2, 3])
@pytest.mark.parametrize("column", [30, 32, 35])
def test_a_line_stays_in_place_at_every_level(level: int, column: int) -> None:
    painted = np.zeros((SIDE, SIDE), np.uint8)
    painted[:, column - 1 : column + 2] = 255
    across = seen(level, painted).mean(axis=0)
    # OpenGL's own levels are off by up to 2.5 texels here
    assert across @ np.arange(SIDE) / across.sum() == pytest.approx(column, abs=0.15)
    assert across.sum() == pytest.approx(3.0, abs=0.1)


def test_a_line_on_the_rim_goes_on_at_the_other_side() -> None:
    painted = np.zeros((SIDE, SIDE), np.uint8)
    painted[0, :] = 255
    down = seen(2, painted).mean(axis=1)
    assert down[-1] > 0.05
    assert down[:8].sum() == pytest.approx(down[-7:].sum() + down[0], abs=0.1)
