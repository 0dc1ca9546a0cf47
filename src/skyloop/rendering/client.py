"""The client of the renderer process: starts it, asks it, notices when it dies."""

from __future__ import annotations

import mmap
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from skyloop.errors import RendererError
from skyloop.frames import matrix_from_quat
from skyloop.rendering.packing import pack_model, used_textures
from skyloop.rendering.quality import QUALITIES
from skyloop.rendering.wire import decode, encode
from skyloop.world.model import Model
from skyloop.world.views import View, ViewRequest
from skyloop.world.weather import Weather

PATIENCE_S = 120.0
"""Wall seconds without an answer after which the renderer counts as stuck."""
HOW_TO_INSTALL = (
    "install Mesa's EGL (Debian, Ubuntu: apt install libegl1 libgl1-mesa-dri; Fedora: dnf install mesa-libEGL "
    "mesa-dri-drivers) and run `skyloop doctor`"
)


class Renderer:
    """Owns the process; `render` answers with views of exactly the instants asked for."""

    def __init__(self, model: Model, *, texture_seed: int = 0) -> None:
        self._model = model
        self._shared: Any = None
        self._memory = _anonymous_memory()
        self._log: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115
        ours, theirs = socket.socketpair()
        self._peer = ours
        handed = (theirs.fileno(), self._memory)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "skyloop.rendering.process", *map(str, handed)],
            pass_fds=handed,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), *_python_path()])},
        )
        theirs.close()
        self._peer.settimeout(PATIENCE_S)
        self._send({"textures": used_textures(model), "texture_seed": texture_seed}, pack_model(model))
        self.description = ""

    def wait_ready(self) -> str:
        """Until it has its context, textures and model; says what it renders with."""
        if not self.description:
            answer = self._receive()
            if "error" in answer:
                self.close()
                raise RendererError(f"the renderer cannot start OpenGL: {answer['error']}; {HOW_TO_INSTALL}")
            self.description = f"{answer['renderer']}, OpenGL {answer['version']}"
        return self.description

    def render(self, requests: Sequence[ViewRequest], weather: Weather) -> list[View]:
        """All views of one request are painted together."""
        self.wait_ready()
        times = sorted({request.pose.t_ns for request in requests})
        motions = [self._model.motion(t_ns) for t_ns in times]
        shots: list[dict[str, Any]] = []
        offset = 0
        for request in requests:
            lens = request.lens
            if request.quality not in QUALITIES:
                raise RendererError(f"no quality '{request.quality}'; choose of {', '.join(QUALITIES)}")
            shots.append(
                {
                    "width": lens.width, "height": lens.height, "fx": lens.fx, "fy": lens.fy, "cx": lens.cx,
                    "cy": lens.cy, "quality": request.quality, "exposure": request.exposure, "offset": offset,
                    "hidden": request.hidden_rows, "motion": times.index(request.pose.t_ns),
                    "t": request.pose.t_ns / 1e9,
                }
            )  # fmt: skip
            offset += 20 * lens.width * lens.height
        self._reserve(offset)
        sky = {
            **weather.config.model_dump(),
            "sun_direction": weather.sun_direction.tolist(),
            "extinction": weather.extinction,
        }
        arrays = {
            "eyes": np.array([request.pose.position for request in requests], np.float64),
            "rotations": np.array([matrix_from_quat(request.pose.quat_wxyz) for request in requests]),
            "moving": np.array([motion.poses for motion in motions]),
        }
        self._send({"shots": shots, "sky": sky, "bytes": len(self._shared)}, arrays)
        answer = self._receive()
        if "error" in answer:
            raise RendererError(f"the renderer could not paint: {answer['error']}")
        views = []
        for request, shot in zip(requests, shots, strict=True):
            h, w, start = request.lens.height, request.lens.width, shot["offset"]
            colour = np.frombuffer(self._shared, np.uint8, 4 * w * h, start).reshape(h, w, 4)[..., :3].copy()
            surface = np.frombuffer(self._shared, np.uint32, 4 * w * h, start + 4 * w * h).reshape(h, w, 4).copy()
            motion = motions[shot["motion"]]
            views.append(View(request.lens, request.pose, self._model, motion, colour, surface))
        return views

    def close(self) -> None:
        self._peer.close()
        try:
            self._process.wait(timeout=5.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._log.close()
        if self._memory >= 0:
            os.close(self._memory)
            self._memory = -1

    def _reserve(self, size: int) -> None:
        if self._shared is None or len(self._shared) < size:
            size = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
            os.ftruncate(self._memory, size)
            self._shared = mmap.mmap(self._memory, size)

    def _send(self, header: dict[str, Any], arrays: Any) -> None:
        try:
            for piece in encode(header, arrays):
                self._peer.sendall(piece)
        except OSError:
            raise self._gone() from None

    def _receive(self) -> dict[str, Any]:
        try:
            return decode(self._read)[0]
        except TimeoutError:
            self._process.kill()
            raise RendererError(f"the renderer gave no answer for {PATIENCE_S:.0f} s and was ended") from None
        except (OSError, EOFError):
            raise self._gone() from None

    def _read(self, n: int) -> bytes:
        pieces = bytearray()
        while len(pieces) < n:
            piece = self._peer.recv(n - len(pieces))
            if not piece:
                raise EOFError
            pieces += piece
        return bytes(pieces)

    def _gone(self) -> RendererError:
        try:
            code = self._process.wait(timeout=5.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        self._log.seek(0)
        last = self._log.read().decode(errors="replace").strip().splitlines()[-1:]
        said = f": {last[0]}" if last else ""
        how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        return RendererError(f"the renderer process ended {how}{said}; run `skyloop doctor`")


def _anonymous_memory() -> int:
    """Shared memory that vanishes with the last process that holds it."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("skyloop-views")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def _python_path() -> list[str]:
    return [part for part in [os.environ.get("PYTHONPATH", "")] if part]
