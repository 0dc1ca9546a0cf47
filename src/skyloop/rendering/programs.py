"""Shader programs, and how they read the model's buffers."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import moderngl
import numpy as np

SHADERS = Path(__file__).parent / "shaders"
SIZES = {"3f4": 12, "2f4": 8, "4f1": 4, "4u1": 4, "4f4": 16, "4u4": 16}


_VERSION = "#version 430\n"


def build_program(ctx: moderngl.Context, vertex: str, fragment: str, **defines: Any) -> moderngl.Program:
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


def model_vertex_array(ctx: Any, program: Any, vertices: Any, indices: Any, instances: Any) -> moderngl.VertexArray:
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
    return ctx.vertex_array(program, content, indices)  # type: ignore[no-any-return]


def write(program: Any, name: str, value: Any) -> None:
    """Writes a uniform, unless the compiler removed it as unused."""
    member = program.get(name, None)
    if member is not None:
        member.write(np.asarray(value, np.float32).tobytes())


def set_unit(program: Any, name: str, unit: int) -> None:
    """Tells a program the texture unit that a sampler reads, once: it keeps it."""
    program[name].value = unit
