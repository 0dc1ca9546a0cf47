"""Brings painted pixels to the memory shared with the client: at once, or by way of pixel buffers that a GPU fills."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # at run time the process imports it where it can tell the client what went wrong
    import moderngl

Shots = list[tuple[Any, dict[str, Any]]]
"""The framebuffers that were painted, with the client's words about each."""


def _parts(shots: Shots) -> Iterator[tuple[Any, dict[str, Any], int, int]]:
    """For each part of each picture: its framebuffer, how it is read, and its place and size in the client's memory."""
    for fbo, shot in shots:
        n, offset, attachment = shot["width"] * shot["height"], shot["offset"], 0
        if shot["colour"]:
            yield fbo, {"components": 4, "attachment": 0}, offset, 4 * n
            attachment = 1
        if shot["surface"]:
            yield fbo, {"components": 4, "attachment": attachment, "dtype": "u4"}, offset + 4 * n, 16 * n


class DirectReadBack:
    """For software renderers: to fill a pixel buffer they wait for the picture as well, and then copy it once more.

    Seen with llvmpipe, two colour images and half a depth image of 640x360: 0.9 ms with buffers, 0.5 ms without.
    """

    most_ahead = 0
    """Requests that may be painted before the pixels of an earlier one are taken."""

    def begin(self, shots: Shots) -> Any:
        return shots

    def finish(self, begun: Shots, shared: Any) -> None:
        for fbo, how, place, size in _parts(begun):
            fbo.read_into(memoryview(shared)[place : place + size], **how)


class BufferedReadBack:
    """For GPUs: pixels go into a buffer while the next request is painted into the same framebuffers."""

    most_ahead = 1

    def __init__(self, ctx: moderngl.Context) -> None:
        self._ctx = ctx
        self._free: list[moderngl.Buffer] = []

    def begin(self, shots: Shots) -> Any:
        placed, total = [], 0
        for fbo, how, place, size in _parts(shots):
            placed.append((fbo, how, place, size, total))
            total += size
        buffer = self._taken(total)
        for fbo, how, _, _, start in placed:
            fbo.read_into(buffer, write_offset=start, **how)
        return buffer, [(place, size, start) for _, _, place, size, start in placed]

    def finish(self, begun: Any, shared: Any) -> None:
        buffer, places = begun
        for place, size, start in places:
            buffer.read_into(memoryview(shared)[place : place + size], size, offset=start)
        self._free.append(buffer)

    def _taken(self, size: int) -> moderngl.Buffer:
        buffer = self._free.pop() if self._free else None
        if buffer is None or buffer.size < size:
            buffer = self._ctx.buffer(reserve=max(size, 1), dynamic=True)
        return buffer
