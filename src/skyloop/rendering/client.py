"""The client of the renderer process: it starts the process, sends requests, and notices when the process dies.

A watchdog logs when an answer takes long, and ends the renderer when it takes too long. Its thread checks now and then
whether the client still waits for the same answer, so waiting itself costs nothing. It counts its checks, not the time:
while this process is stopped, the renderer is not counted as late.
"""

from __future__ import annotations

import logging
import os
import select
import socket
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from skyloop.core.child_process import ChildProcess
from skyloop.core.frames import matrix_from_quat
from skyloop.core.system_packages import CAMERAS, install_command
from skyloop.rendering.buffers import Slot, ViewMemory, pack_model, pack_rows, used_textures
from skyloop.rendering.lamplight import lit_lamps, seen_lamps
from skyloop.rendering.quality import QUALITIES
from skyloop.rendering.wire import Arrays, Header, Sky, decode, encode
from skyloop.world.model import Model, MoverStates
from skyloop.world.scene import Meanwhile
from skyloop.world.views import View, ViewRequest, without_alpha
from skyloop.world.weather import Weather
from skyloop_client.errors import RendererError
from skyloop_client.messages import Array

log = logging.getLogger(__name__)

LOOK_S = 1.0
"""s of wall time between two checks."""
SLOW_LOOKS, MOST_LOOKS = 20, 120
"""Checks during the same wait: after SLOW_LOOKS the log says so, after MOST_LOOKS the renderer is ended."""


class Patience:
    def __init__(self, process_id: int, end: Callable[[], None]) -> None:
        self.is_over = False
        self._process_id, self._end = process_id, end
        self._question = 0
        self._waits = self._tells = self._asked_in_vain = False
        self._closed = threading.Event()
        threading.Thread(target=self._watch, name="skyloop renderer's patience", daemon=True).start()

    @contextmanager
    def waiting(self, *, tells: bool = True) -> Iterator[None]:
        """Marks the time in which the client waits for an answer; `tells` says whether a long wait is logged."""
        self._question += 1
        self._waits, self._tells = True, tells
        try:
            yield
        finally:
            self._waits = False

    def asked_in_vain(self) -> None:
        """For a client that does other work and asks now and then whether the answer is there: it was not."""
        self._asked_in_vain = self._tells = True

    def close(self) -> None:
        self._closed.set()

    def _watch(self) -> None:
        looks, question = 0, 0
        while not self._closed.wait(LOOK_S):
            late = self._waits or self._asked_in_vain
            looks = looks + 1 if late and self._question == question else 0
            # a client that stopped asking may have an answer by now
            question, self._asked_in_vain = self._question, False
            if looks == SLOW_LOOKS and self._tells:
                log.warning(
                    "the renderer (process %d) has given no picture for %.0f s; after %.0f s it is ended",
                    self._process_id, looks * LOOK_S, MOST_LOOKS * LOOK_S,
                )  # fmt: skip
            if looks == MOST_LOOKS:
                self.is_over = True
                log.error("the renderer (process %d) was ended: there are no pictures any more", self._process_id)
                self._end()
                return


BYTES_PER_PIXEL = 20
"""Colour takes 4 bytes, the surface 16."""
MOST_UNDER_WAY = 2
"""Requests: one is painted while the pixels of the other are read."""
MOST_JOINED = 1 << 16
"""Bytes of a message that is sent in one piece."""
GOODBYE_S = 5.0
"""Wall s for the process to end by itself after its socket is closed."""
HOW_TO_INSTALL = (
    f"install Mesa's EGL (Debian, Ubuntu: {install_command(CAMERAS)}; "
    "Fedora: sudo dnf install mesa-libEGL mesa-libGL mesa-dri-drivers), then run `skyloop doctor`"
)


@dataclass(slots=True)
class _Asked:
    requests: list[ViewRequest]
    shots: list[Header]
    motions: list[MoverStates]
    slot: Slot


class Renderer:
    """Owns the renderer process. `render` returns views of exactly the requested instants."""

    def __init__(self, model: Model, *, texture_seed: int = 0) -> None:
        self.description = ""
        self.meanwhile: Meanwhile | None = None
        """A callable that runs while `collect` waits."""
        self._model = model
        self._closed = False
        self._asked: deque[_Asked] = deque()
        self._sky: tuple[Weather, Sky] | None = None
        self._memory = ViewMemory()
        ours, theirs = socket.socketpair()
        self._peer = ours
        handed = (theirs.fileno(), self._memory.file)
        # only the client decides when it ends
        self._process = ChildProcess(
            [sys.executable, "-m", "skyloop.rendering.process", *map(str, handed)],
            files=handed,
            environment={"PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), *_python_path()])},
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
        self._send({"rows": len(self._model.part_shape)}, pack_rows(self._model))

    @property
    def has_room(self) -> bool:
        """Whether a request can be submitted beside those under way."""
        return len(self._asked) < MOST_UNDER_WAY

    def submit(self, requests: Sequence[ViewRequest], weather: Weather) -> None:
        """Submits a request without waiting; at most two may be under way. `collect` returns their views in order."""
        if self._closed:
            raise self._gone()
        if len(self._asked) == MOST_UNDER_WAY:
            raise RendererError("two requests are under way already; collect one first")
        self.wait_ready()
        times = sorted({request.pose.t_ns for request in requests})
        motions = [self._model.motion(t_ns) for t_ns in times]
        shots: list[Header] = []
        size = 0
        for request in requests:
            shots.append(_shot(request, times.index(request.pose.t_ns), size))
            size += BYTES_PER_PIXEL * request.lens.width * request.lens.height
        arrays = {
            "eyes": np.array([request.pose.position for request in requests], np.float64),
            "rotations": np.array([matrix_from_quat(request.pose.quat_wxyz) for request in requests]),
            "moving": np.array([motion.poses for motion in motions]),
            "lamps": self._lamps(requests, dict(zip(times, motions, strict=True))),
        }
        slot = self._memory.take(size)
        try:
            for shot in shots:
                shot["offset"] += slot.start
            self._send({"shots": shots, "sky": self._sky_of(weather), "bytes": self._memory.size}, arrays)
        except BaseException:
            self._memory.leave(slot)
            raise
        self._asked.append(_Asked(list(requests), shots, motions, slot))

    def _lamps(self, requests: Sequence[ViewRequest], motions: dict[int, MoverStates]) -> Array:
        """(n, most, 8) the lamps of each request; without any where none is on."""
        lit = {t_ns: lit_lamps(self._model, motion) for t_ns, motion in motions.items()} if self._model.lamps else {}
        if not any(map(len, lit.values())):
            return np.zeros((len(requests), 0, 8))
        ahead = [matrix_from_quat(request.pose.quat_wxyz)[:, 2] for request in requests]
        return np.array([
            seen_lamps(lit[request.pose.t_ns], request.pose.position, forward)
            for request, forward in zip(requests, ahead, strict=True)
        ])  # fmt: skip

    def collect(self) -> list[View]:
        """Returns the views of the oldest request under way."""
        if not self._asked:
            raise RendererError("no request is under way; submit one first")
        asked = self._asked.popleft()
        try:
            with self._patience.waiting():
                try:
                    if self.meanwhile is not None:
                        self.meanwhile(self.has_answered)
                finally:
                    # after an error too, or the next request would be given this answer
                    answer = self._receive()
            if "error" in answer:
                raise RendererError(f"the renderer could not paint: {answer['error']}")
            return [self._view(asked, *pair) for pair in zip(asked.requests, asked.shots, strict=True)]
        finally:
            self._memory.leave(asked.slot)

    def _view(self, asked: _Asked, request: ViewRequest, shot: Header) -> View:
        h, w, start = request.lens.height, request.lens.width, shot["offset"]
        colour, surface = np.empty((0, 0, 3), np.uint8), np.empty((0, 0, 4), np.uint32)
        if request.colour:
            colour = without_alpha(self._memory.words(start, w * h)).reshape(h, w, 3)
        if request.surface:
            surface = self._memory.kept(asked.slot, start + 4 * w * h, (h, w, 4))
        return View(request.lens, request.pose, self._model, asked.motions[shot["motion"]], colour, surface)

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
        self._process.end(GOODBYE_S)
        self._process.close()
        self._memory.close()

    def _sky_of(self, weather: Weather) -> Sky:
        """A weather in the form the process reads."""
        if self._sky is None or self._sky[0] is not weather:
            sun = weather.sun_direction.tolist()
            self._sky = weather, {**weather.config.model_dump(), "sun_direction": sun, "extinction": weather.extinction}
        return self._sky[1]

    def _send(self, header: Header, arrays: Arrays) -> None:
        pieces = encode(header, arrays)
        if sum(map(len, pieces)) < MOST_JOINED:
            # a request: to copy a little costs less than to call the system four times
            pieces = [b"".join(pieces)]
        try:
            with self._patience.waiting():
                for piece in pieces:
                    self._peer.sendall(piece)
        except OSError:
            raise self._gone() from None

    def _receive(self) -> Header:
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
        code = self._process.end(GOODBYE_S)
        last = self._process.last_words()
        said = f": {last}" if last else ""
        how = f"by signal {-code}" if code < 0 else f"with exit code {code}"
        self.close()
        advice = "run `skyloop doctor`" if self.description else HOW_TO_INSTALL
        return RendererError(f"the renderer process ended {how}{said}; {advice}")


def _shot(request: ViewRequest, motion: int, offset: int) -> Header:
    """A request in the form the process reads; its pixels go to `offset` of the shared memory."""
    if request.quality not in QUALITIES:
        raise RendererError(f"no quality '{request.quality}'; choose one of {', '.join(QUALITIES)}")
    return {
        **asdict(request.lens),
        "quality": request.quality,
        "exposure": request.exposure,
        "hidden": request.hidden_parts,
        "colour": request.colour,
        "surface": request.surface,
        "motion": motion,
        "t": request.pose.t_ns / 1e9,
        "offset": offset,
    }


def _python_path() -> list[str]:
    return [part for part in [os.environ.get("PYTHONPATH", "")] if part]
