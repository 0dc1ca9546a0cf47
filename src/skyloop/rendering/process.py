"""The renderer process: the client starts it and sends a model; it answers requests until the socket closes."""

from __future__ import annotations

import json
import mmap
import os
import socket
import sys
from typing import Any

import numpy as np

from skyloop.rendering.egl_devices import VARIABLE, candidates
from skyloop.rendering.thread_priority import take_short_turns
from skyloop.rendering.wire import Arrays, decode, encode
from skyloop_client.errors import RendererError

NICENESS = 10
"""Lower in priority than the simulation, which must answer its peers while pictures are made."""


def main() -> None:
    """The arguments are the file descriptors of the inherited socket and of the shared memory."""
    peer = socket.socket(fileno=int(sys.argv[1]))
    memory = int(sys.argv[2])
    take_short_turns(NICENESS)

    def read(n: int) -> bytearray:
        buffer = bytearray(n)
        view = memoryview(buffer)
        while len(view):
            got = peer.recv_into(view)
            if not got:
                raise EOFError
            view = view[got:]
        return buffer

    def answer(header: dict[str, Any]) -> None:
        peer.sendall(b"".join(encode(header)))

    try:
        header, packed = decode(read)
        stage = "OpenGL"
        try:
            ctx = open_context()
            stage = "world"
            painter = _painter(ctx, header, packed)
        except Exception as error:
            answer({"error": _one_line(error), "in": stage})
            return
        answer({"renderer": ctx.info["GL_RENDERER"], "version": ctx.info["GL_VERSION"]})
        shared: Any = b""
        while True:
            header, arrays = decode(read)
            if "rows" in header:
                painter.retable(arrays)
                continue
            if len(shared) < header["bytes"]:
                shared = mmap.mmap(memory, header["bytes"])
            try:
                _paint_all(painter, header, arrays, shared)
                answer({"done": len(header["shots"])})
            except Exception as error:
                answer({"error": _one_line(error)})
    except (EOFError, ConnectionError):
        return


def open_context() -> Any:
    """An OpenGL 4.3 context without a screen, on the chosen device."""
    import moderngl

    failure: Exception | None = None
    for device in candidates(os.environ.get(VARIABLE, "auto")):
        try:
            return moderngl.create_context(require=430, standalone=True, backend="egl", device_index=device.index)  # type: ignore[arg-type]
        except Exception as error:
            # the first is the one that was meant
            failure = failure or error
    assert failure is not None
    raise failure


def probe() -> None:
    """Print as JSON what draws, or why nothing does. For `skyloop doctor`, in a process of its own."""
    try:
        info = open_context().info
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


def _paint_all(painter: Any, header: dict[str, Any], arrays: Arrays, shared: Any) -> None:
    from skyloop.rendering.painter import Shot

    # all pictures are painted before the first is read, so that reading one overlaps with painting the next
    painted = []
    for number, shot in enumerate(header["shots"]):
        view = Shot(
            **{name: shot[name] for name in ("width", "height", "fx", "fy", "cx", "cy", "quality", "exposure", "t")},
            colour=shot["colour"],
            eye=arrays["eyes"][number],
            world_from_camera=arrays["rotations"][number],
            moving=arrays["moving"][shot["motion"]],
            hidden=shot["hidden"],
            sky=header["sky"],
        )
        painted.append((painter.paint(view, number), shot))
    for fbo, shot in painted:
        n = shot["width"] * shot["height"]
        window = memoryview(shared)[shot["offset"] : shot["offset"] + 20 * n]
        if shot["colour"]:
            fbo.read_into(window[: 4 * n], components=4, attachment=0)
        if shot["surface"]:
            fbo.read_into(window[4 * n :], components=4, attachment=1, dtype="u4")


if __name__ == "__main__":
    np.seterr(all="ignore")
    main()
