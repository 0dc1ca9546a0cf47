"""The smaller forms of textures, which are seen from afar.

OpenGL's own ones are means of two by two texels. Such a mean forgets where in its four texels a thin line was, so the
line jumps by up to half of a coarse texel when a camera comes nearer. In a pattern of tiles all lines jump to the same
side, and visual odometry takes that for a turn. Weights of 1 3 3 1 keep each detail's centre where it is.
"""

from __future__ import annotations

import moderngl

from skyloop.rendering.programs import build_compute_shader

_GROUP = 8


def build_mip_levels(ctx: moderngl.Context, layers: moderngl.TextureArray) -> None:
    """Fills the mip levels of square textures that repeat; their sides are powers of two."""
    layers.build_mipmaps()  # makes room
    shader = build_compute_shader(ctx, "mip_level")
    layers.use(0)
    shader["above"] = 0
    side, level = layers.width, 0
    while side > 1:
        shader["level"] = level
        side, level = side // 2, level + 1
        layers.bind_to_image(0, read=False, write=True, level=level)
        groups = -(-side // _GROUP)
        shader.run(groups, groups, layers.layers)
        ctx.memory_barrier()
