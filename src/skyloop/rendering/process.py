"""The renderer process: the client starts it and sends a model; it answers requests until the socket closes."""

from __future__ import annotations

import json
import mmap
import os
import select
import socket
import sys
from collections import deque
from functools import partial
from typing import Any

import numpy as np

from skyloop.rendering.egl_devices import VARIABLE, EglDevice, candidates
from skyloop.rendering.read_back import BufferedReadBack, DirectReadBack, Shots
from skyloop.rendering.thread_priority import take_short_turns
from skyloop.rendering.wire import Arrays, decode, encode
from skyloop_client.errors import RendererError

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


def serve(peer: socket.socket, memory: int, painter: Any, read_back: DirectReadBack | BufferedReadBack) -> None:
    """Answers requests in their order. Where the read-back allows it, one that waits is painted before the pixels of
    the one before it are taken."""
    shared: Any = b""
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


def _answer(peer: socket.socket, header: dict[str, Any]) -> None:
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


def open_context() -> tuple[Any, EglDevice]:
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


def _painter(ctx: Any, header: dict[str, Any], packed: Arrays) -> Any:
    from skyloop.rendering.painter import Painter
    from skyloop.rendering.textures import texture_layers

    textures, layers = texture_layers(header["textures"], header["texture_seed"])
    return Painter(ctx, packed, textures, layers)


def _painted(painter: Any, header: dict[str, Any], arrays: Arrays) -> Shots:
    from skyloop.rendering.painter import Shot

    # all pictures are painted before the first is read, so that reading one overlaps with painting the next
    painted: Shots = []
    moving = list(arrays["moving"])
    for number, shot in enumerate(header["shots"]):
        if not (shot["colour"] or shot["surface"]):
            continue
        view = Shot(
            **{name: shot[name] for name in TAKEN},
            eye=arrays["eyes"][number],
            world_from_camera=arrays["rotations"][number],
            moving=moving[shot["motion"]],
            sky=header["sky"],
        )
        painted.append((painter.paint(view, len(painted)), shot))
    return painted


if __name__ == "__main__":
    np.seterr(all="ignore")
    main()
