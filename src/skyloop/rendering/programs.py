"""Shader programs, and how they read the model's buffers.

Mip levels are computed here: OpenGL's own ones are means of two by two texels. Such a mean forgets where in its four
texels a thin line was, so the line jumps by up to half of a coarse texel when a camera comes nearer. In a pattern of
tiles all lines jump to the same side, and visual odometry takes that for a turn. Weights of 1 3 3 1 keep each detail's
centre where it is.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import moderngl
import numpy as np
from numpy.typing import ArrayLike

SHADERS = Path(__file__).parent / "shaders"
SIZES = {"3f4": 12, "2f4": 8, "4f1": 4, "4u1": 4, "4f4": 16, "4u4": 16}


_VERSION = "#version 430\n"


def build_program(ctx: moderngl.Context, vertex: str, fragment: str, **defines: float) -> moderngl.Program:
    head = _VERSION + "".join(f"#define {name} {value}\n" for name, value in defines.items())
    return ctx.program(
        vertex_shader=head + _source(f"{vertex}.vert"), fragment_shader=head + _source(f"{fragment}.frag")
    )


def outputs(colour: bool, surface: bool) -> dict[str, int]:
    """What a program writes, as its defines: each part that is asked for, with the attachment it goes to."""
    asked = ["COLOUR"] * colour + ["SURFACE"] * surface
    return {part: attachment for attachment, part in enumerate(asked)}


def build_compute_shader(ctx: moderngl.Context, name: str) -> moderngl.ComputeShader:
    return ctx.compute_shader(_VERSION + _source(f"{name}.comp"))


@lru_cache
def _source(name: str) -> str:
    return (SHADERS / name).read_text(encoding="utf-8")


def model_vertex_array(
    ctx: moderngl.Context,
    program: moderngl.Program,
    vertices: moderngl.Buffer,
    indices: moderngl.Buffer,
    instances: moderngl.Buffer,
) -> moderngl.VertexArray:
    """Binds the model's vertices and the visible instances to the attributes that the program reads."""

    def used(layout: str, *names: str) -> tuple[str, ...]:
        parts, kept_layout, kept = layout.split(" "), [], []
        for part, name in zip(parts, names, strict=True):
            if name in program:
                kept_layout.append(part)
                kept.append(name)
            else:
                kept_layout.append(f"{SIZES[part]}x")
        return (" ".join(kept_layout), *kept)

    per_vertex = used("3f4 4f1 2f4 4f1 4u1", "position", "normal", "uv", "colour", "material")
    per_instance = used("4f4 4f4 4f4 4u4", "pose_x", "pose_y", "pose_z", "ids")
    content = [(vertices, *per_vertex), (instances, per_instance[0] + "/i", *per_instance[1:])]
    return ctx.vertex_array(program, content, indices)


def write(program: moderngl.Program, name: str, value: ArrayLike) -> None:
    """Writes a uniform, unless the compiler removed it as unused."""
    member = program.get(name, None)
    if isinstance(member, moderngl.Uniform):
        member.write(np.asarray(value, np.float32).tobytes())


def set_unit(program: moderngl.Program, name: str, unit: int) -> None:
    """Tells a program the texture unit that a sampler reads, once: it keeps it."""
    program[name] = unit


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
