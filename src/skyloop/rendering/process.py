"""The renderer process: the client starts it and sends a model; it answers requests until the socket closes.

Painted pixels get to the memory shared with the client at once, or by way of pixel buffers that a GPU fills.
"""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import platform
import select
import socket
import struct
import sys
from collections import deque
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from skyloop.rendering.egl_devices import VARIABLE, EglDevice, candidates
from skyloop.rendering.wire import Arrays, Header, ViewJob, decode, encode
from skyloop_client.errors import RendererError

if TYPE_CHECKING:
    import moderngl

    from skyloop.rendering.painter import Painter


_SET_ATTRIBUTES = {"x86_64": 314, "aarch64": 274}
"""Number of the system call sched_setattr."""
_ATTRIBUTES = struct.Struct("IIQiIQQQII")


def take_short_turns(niceness: int = 0, turn_ns: int = 100_000) -> bool:
    """Makes this thread and those it starts run `turn_ns` at a time; False if the system does not support it.

    Linux (6.12 and newer) lets a thread run 3 ms before another that wakes up gets its turn, at any niceness.
    """
    # added to that of the process: a renderer of a nice process is nicer still
    niceness = os.nice(niceness)
    number = _SET_ATTRIBUTES.get(platform.machine())
    if platform.system() != "Linux" or number is None:
        return False
    attributes = _ATTRIBUTES.pack(_ATTRIBUTES.size, 0, 0, niceness, 0, turn_ns, 0, 0, 0, 0)
    return bool(ctypes.CDLL(None).syscall(number, 0, attributes, 0) == 0)


Shots = list[tuple["moderngl.Framebuffer", Header]]
"""The framebuffers that were painted, with the client's words about each."""
Shared = mmap.mmap | bytearray
"""The client's memory."""


def _parts(shots: Shots) -> Iterator[tuple[moderngl.Framebuffer, dict[str, Any], int, int]]:
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

    def begin(self, shots: Shots) -> Shots:
        return shots

    def finish(self, begun: Shots, shared: Shared) -> None:
        for fbo, how, place, size in _parts(begun):
            fbo.read_into(memoryview(shared)[place : place + size], **how)


Buffered = tuple["moderngl.Buffer", list[tuple[int, int, int]]]
"""Pixels under way, and the place, size and start of each part."""


class BufferedReadBack:
    """For GPUs: pixels go into a buffer while the next request is painted into the same framebuffers."""

    most_ahead = 1

    def __init__(self, ctx: moderngl.Context) -> None:
        self._ctx = ctx
        self._free: list[moderngl.Buffer] = []

    def begin(self, shots: Shots) -> Buffered:
        placed, total = [], 0
        for fbo, how, place, size in _parts(shots):
            placed.append((fbo, how, place, size, total))
            total += size
        buffer = self._taken(total)
        for fbo, how, _, _, start in placed:
            fbo.read_into(buffer, write_offset=start, **how)
        return buffer, [(place, size, start) for _, _, place, size, start in placed]

    def finish(self, begun: Buffered, shared: Shared) -> None:
        buffer, places = begun
        for place, size, start in places:
            buffer.read_into(memoryview(shared)[place : place + size], size, offset=start)
        self._free.append(buffer)

    def _taken(self, size: int) -> moderngl.Buffer:
        buffer = self._free.pop() if self._free else None
        if buffer is None or buffer.size < size:
            buffer = self._ctx.buffer(reserve=max(size, 1), dynamic=True)
        return buffer


TAKEN = ("width", "height", "fx", "fy", "cx", "cy", "quality", "hidden", "exposure", "t", "colour", "surface")
"""Words of the client about a picture that the painter takes as they are."""
NICENESS = 10
"""Lower in priority than the simulation, which must answer its peers while pictures are made."""


def main() -> None:
    """The arguments are the file descriptors of the inherited socket and of the shared memory."""
    peer = socket.socket(fileno=int(sys.argv[1]))
    memory = int(sys.argv[2])
    take_short_turns(NICENESS)

    try:
        header, packed = decode(partial(_read, peer))
        stage = "OpenGL"
        try:
            ctx, device = open_context()
            stage = "world"
            painter = _painter(ctx, header, packed)
        except Exception as error:
            _answer(peer, {"error": _one_line(error), "in": stage})
            return
        _answer(peer, {"renderer": ctx.info["GL_RENDERER"], "version": ctx.info["GL_VERSION"]})
        serve(peer, memory, painter, DirectReadBack() if device.is_software else BufferedReadBack(ctx))
    except (EOFError, ConnectionError):
        return


def serve(peer: socket.socket, memory: int, painter: Painter, read_back: DirectReadBack | BufferedReadBack) -> None:
    """Answers requests in their order. Where the read-back allows it, one that waits is painted before the pixels of
    the one before it are taken."""
    shared: Shared = bytearray()
    begun: deque[tuple[int, Any]] = deque()
    while True:
        if begun and (len(begun) > read_back.most_ahead or not select.select([peer], [], [], 0.0)[0]):
            n_shots, pixels = begun.popleft()
            try:
                if isinstance(pixels, Exception):
                    raise pixels
                read_back.finish(pixels, shared)
                _answer(peer, {"done": n_shots})
            except Exception as error:
                _answer(peer, {"error": _one_line(error)})
            continue
        header, arrays = decode(partial(_read, peer))
        if "rows" in header:
            painter.retable(arrays)
            continue
        if len(shared) < header["bytes"]:
            shared = mmap.mmap(memory, header["bytes"])
        try:
            begun.append((len(header["shots"]), read_back.begin(_painted(painter, header, arrays))))
        except Exception as error:
            begun.append((0, error))


def _answer(peer: socket.socket, header: Header) -> None:
    peer.sendall(b"".join(encode(header)))


def _read(peer: socket.socket, n: int) -> bytearray:
    buffer = bytearray(n)
    view = memoryview(buffer)
    while len(view):
        got = peer.recv_into(view)
        if not got:
            raise EOFError
        view = view[got:]
    return buffer


def open_context() -> tuple[moderngl.Context, EglDevice]:
    """An OpenGL 4.3 context without a screen, and the device it draws on, which is the chosen one."""
    import moderngl

    failure: Exception | None = None
    for device in candidates(os.environ.get(VARIABLE, "auto")):
        try:
            ctx = moderngl.create_context(require=430, standalone=True, backend="egl", device_index=device.index)  # type: ignore[arg-type]
            return ctx, device
        except Exception as error:
            # the first is the one that was meant
            failure = failure or error
    assert failure is not None
    raise failure


def probe() -> None:
    """Print as JSON what draws, or why nothing does. For `skyloop doctor`, in a process of its own."""
    try:
        info = open_context()[0].info
        print(json.dumps([info["GL_RENDERER"], info["GL_VERSION"]]))
    except Exception as error:
        print(json.dumps({"error": _one_line(error)}))


def _one_line(error: Exception) -> str:
    kind = "" if type(error) in (Exception, RendererError) else f"{type(error).__name__}: "
    return kind + " ".join(str(error).split())


def _painter(ctx: moderngl.Context, header: Header, packed: Arrays) -> Painter:
    from skyloop.rendering.painter import Painter
    from skyloop.rendering.textures import texture_layers

    textures, layers = texture_layers(header["textures"], header["texture_seed"])
    if n := len(pictures := packed["pictures"]):
        layers["picture"] = len(textures), n
        level = np.full((*pictures.shape[:3], 1), 128, np.uint8)
        textures = np.concatenate([textures, np.concatenate([pictures, level], axis=3)])
    return Painter(ctx, packed, textures, layers)


def _painted(painter: Painter, header: Header, arrays: Arrays) -> Shots:

    # all pictures are painted before the first is read, so that reading one overlaps with painting the next
    painted: Shots = []
    moving = list(arrays["moving"])
    for number, shot in enumerate(header["shots"]):
        if not (shot["colour"] or shot["surface"]):
            continue
        view = ViewJob(
            **{name: shot[name] for name in TAKEN},
            eye=arrays["eyes"][number],
            world_from_camera=arrays["rotations"][number],
            moving=moving[shot["motion"]],
            lamps=arrays["lamps"][number],
            sky=header["sky"],
        )
        painted.append((painter.paint(view, len(painted)), shot))
    return painted


if __name__ == "__main__":
    np.seterr(all="ignore")
    main()
