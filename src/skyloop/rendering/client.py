"""The client of the renderer process: it starts the process, sends requests, and notices when the process dies."""

from __future__ import annotations

import logging
import mmap
import os
import select
import socket
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from skyloop.core.frames import matrix_from_quat
from skyloop.core.interrupts import kept_from_children
from skyloop.rendering.answer_watchdog import LOOK_S, MOST_LOOKS, Patience
from skyloop.rendering.quality import QUALITIES
from skyloop.rendering.vertex_buffers import pack_model, pack_rows, used_textures
from skyloop.rendering.wire import decode, encode
from skyloop.world.model import Model, Motion
from skyloop.world.scene import Meanwhile
from skyloop.world.views import View, ViewRequest
from skyloop.world.weather import Weather
from skyloop_client.errors import RendererError

log = logging.getLogger(__name__)
BYTES_PER_PIXEL = 20
"""Colour takes 4 bytes, the surface 16."""
MOST_UNDER_WAY = 2
"""Requests: one is painted while the pixels of the other are read."""
HOW_TO_INSTALL = (
    "install Mesa's EGL (Debian, Ubuntu: sudo apt-get install libegl1 libgl1 libgl1-mesa-dri; Fedora: sudo dnf install "
    "mesa-libEGL mesa-libGL mesa-dri-drivers), then run `skyloop doctor`"
)


@dataclass(slots=True)
class _Asked:
    requests: list[ViewRequest]
    shots: list[dict[str, Any]]
    motions: list[Motion]
    second_half: bool


class Renderer:
    """Owns the renderer process. `render` returns views of exactly the requested instants."""

    def __init__(self, model: Model, *, texture_seed: int = 0) -> None:
        self.description = ""
        self.meanwhile: Meanwhile | None = None
        """A callable that runs while `collect` waits."""
        self._model = model
        self._closed = False
        self._shared: Any = b""
        self._half = 0
        self._asked: deque[_Asked] = deque()
        self._memory = _anonymous_memory()
        self._log: BinaryIO = tempfile.TemporaryFile()  # noqa: SIM115
        ours, theirs = socket.socketpair()
        self._peer = ours
        handed = (theirs.fileno(), self._memory)
        # Ctrl-C must not end the renderer; only the client decides when it ends
        with kept_from_children():
            self._process = subprocess.Popen(
                [sys.executable, "-m", "skyloop.rendering.process", *map(str, handed)],
                pass_fds=handed,
                stdin=subprocess.DEVNULL,
                stdout=self._log,
                stderr=self._log,
                env={**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), *_python_path()])},
            )
        theirs.close()
        self._patience = Patience(self._process.pid, self._process.kill)
        try:
            self._send({"textures": used_textures(model), "texture_seed": texture_seed}, pack_model(model))
        except BaseException:
            # after Ctrl-C too: nothing else knows of the process yet
            self.close()
            raise

    @property
    def process_id(self) -> int:
        return self._process.pid

    def wait_ready(self) -> str:
        """Waits until the process has its context, textures and model. Returns a description of its OpenGL."""
        if not self.description:
            # making textures takes long on a busy machine
            with self._patience.waiting(tells=False):
                answer = self._receive()
            if "error" in answer:
                self.close()
                if answer["in"] == "OpenGL" and answer["error"].startswith("--device"):
                    raise RendererError(answer["error"])
                if answer["in"] == "OpenGL":
                    raise RendererError(f"the renderer cannot start OpenGL: {answer['error']}; {HOW_TO_INSTALL}")
                raise RendererError(f"the renderer cannot take the world: {answer['error']}")
            self.description = f"{answer['renderer']}, OpenGL {answer['version']}"
            log.debug("renderer ready in process %d: %s", self.process_id, self.description)
        return self.description

    def render(self, requests: Sequence[ViewRequest], weather: Weather) -> list[View]:
        """Renders all views of one request together."""
        self.submit(requests, weather)
        return self.collect()

    def retable(self) -> None:
        """Sends the model's present rows to the process, which already has the shapes."""
        if self._closed:
            raise self._gone()
        self.wait_ready()
        self._send({"rows": len(self._model.row_shape)}, pack_rows(self._model))

    def has_room(self, requests: Sequence[ViewRequest]) -> bool:
        """Whether these requests can be submitted beside those under way."""
        size = BYTES_PER_PIXEL * sum(request.lens.width * request.lens.height for request in requests)
        return not self._asked or (len(self._asked) < MOST_UNDER_WAY and size <= self._half)

    def submit(self, requests: Sequence[ViewRequest], weather: Weather) -> None:
        """Submits a request without waiting; at most two may be under way. `collect` returns their views in order."""
        if self._closed:
            raise self._gone()
        if len(self._asked) == MOST_UNDER_WAY:
            raise RendererError("two requests are under way already; collect one first")
        self.wait_ready()
        times = sorted({request.pose.t_ns for request in requests})
        motions = [self._model.motion(t_ns) for t_ns in times]
        # two regions of shared memory, so that one is painted while the other is read
        offset = start = self._half if self._asked and not self._asked[-1].second_half else 0
        shots: list[dict[str, Any]] = []
        for request in requests:
            shots.append(_shot(request, times.index(request.pose.t_ns), offset))
            offset += BYTES_PER_PIXEL * request.lens.width * request.lens.height
        self._reserve(offset - start)
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
        self._asked.append(_Asked(list(requests), shots, motions, start > 0))

    def collect(self) -> list[View]:
        """Returns the views of the oldest request under way."""
        if not self._asked:
            raise RendererError("no request is under way; submit one first")
        asked = self._asked.popleft()
        with self._patience.waiting():
            if self.meanwhile is not None:
                self.meanwhile(self.has_answered)
            answer = self._receive()
        if "error" in answer:
            raise RendererError(f"the renderer could not paint: {answer['error']}")
        views = []
        for request, shot in zip(asked.requests, asked.shots, strict=True):
            h, w, start = request.lens.height, request.lens.width, shot["offset"]
            colour, surface = np.empty((0, 0, 3), np.uint8), np.empty((0, 0, 4), np.uint32)
            if request.colour:
                colour = _without_alpha(np.frombuffer(self._shared, np.uint8, 4 * w * h, start).reshape(h, w, 4))
            if request.surface:
                surface = np.frombuffer(self._shared, np.uint32, 4 * w * h, start + 4 * w * h).reshape(h, w, 4).copy()
            views.append(View(request.lens, request.pose, self._model, asked.motions[shot["motion"]], colour, surface))
        return views

    def has_answered(self) -> bool:
        """Whether an answer has arrived, or the process has died."""
        answered = bool(select.select([self._peer], [], [], 0.0)[0])
        if self._asked and not answered:
            self._patience.asked_in_vain()
        return answered

    def close(self) -> None:
        """Ends the process and frees its resources. A second call does nothing."""
        if self._closed:
            return
        self._closed = True
        self._patience.close()
        self._peer.close()
        if not self.description:
            # it is still making its textures, which are no longer needed
            self._process.kill()
        self._exit_code()
        self._log.close()
        os.close(self._memory)
        if self._shared:
            self._shared.close()

    def _reserve(self, size: int) -> None:
        """Makes room for two requests of this size."""
        if size <= self._half:
            return
        if self._asked:
            raise RendererError("a larger request cannot follow one that is under way; collect that one first")
        self._half = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
        os.ftruncate(self._memory, 2 * self._half)
        if self._shared:
            self._shared.close()
        self._shared = mmap.mmap(self._memory, 2 * self._half)

    def _send(self, header: dict[str, Any], arrays: Any) -> None:
        try:
            with self._patience.waiting():
                for piece in encode(header, arrays):
                    self._peer.sendall(piece)
        except OSError:
            raise self._gone() from None

    def _receive(self) -> dict[str, Any]:
        try:
            return decode(self._read)[0]
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
        if self._closed:
            return RendererError("the renderer was closed or has died; start another one")
        if self._patience.is_over:
            self.close()
            return RendererError(f"the renderer gave no answer for {MOST_LOOKS * LOOK_S:.0f} s and was ended")
        code = self._exit_code()
        self._log.seek(0)
        last = self._log.read().decode(errors="replace").strip().splitlines()[-1:]
        said = f": {last[0]}" if last else ""
        how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        self.close()
        advice = "run `skyloop doctor`" if self.description else HOW_TO_INSTALL
        return RendererError(f"the renderer process ended {how}{said}; {advice}")

    def _exit_code(self) -> int:
        """The exit code of the process, which ends by itself when its socket closes. After 5 s it is killed."""
        try:
            return self._process.wait(timeout=5.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()


def _shot(request: ViewRequest, motion: int, offset: int) -> dict[str, Any]:
    """A request in the form the process reads; its pixels go to `offset` of the shared memory."""
    if request.quality not in QUALITIES:
        raise RendererError(f"no quality '{request.quality}'; choose one of {', '.join(QUALITIES)}")
    lens = request.lens
    return {
        **{name: getattr(lens, name) for name in ("width", "height", "fx", "fy", "cx", "cy")},
        "quality": request.quality,
        "exposure": request.exposure,
        "hidden": request.hidden_rows,
        "colour": request.colour,
        "surface": request.surface,
        "motion": motion,
        "t": request.pose.t_ns / 1e9,
        "offset": offset,
    }


def _anonymous_memory() -> int:
    """Shared memory that is freed with the last process that holds it."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("skyloop-views")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def _python_path() -> list[str]:
    return [part for part in [os.environ.get("PYTHONPATH", "")] if part]


def _without_alpha(rgba: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A copy of the first three channels; one after the other, which takes a fifth of the time of all at once."""
    rgb = np.empty((*rgba.shape[:2], 3), np.uint8)
    for channel in range(3):
        rgb[..., channel] = rgba[..., channel]
    return rgb
