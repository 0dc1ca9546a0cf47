"""Pixels reach the client's memory, each request's own, whichever way they are read, and answers keep their order."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from typing import Any

import moderngl
import numpy as np
import pytest

from skyloop.rendering.process import BufferedReadBack, DirectReadBack, serve
from skyloop.rendering.wire import decode, encode

SHOTS = [
    {"width": 6, "height": 4, "colour": True, "surface": True, "offset": 0},
    {"width": 5, "height": 3, "colour": False, "surface": True, "offset": 480},
    {"width": 7, "height": 2, "colour": True, "surface": False, "offset": 780},
]
MEMORY = 780 + 20 * 14


@pytest.fixture(scope="module")
def ctx() -> moderngl.Context:
    return moderngl.create_context(require=430, standalone=True, backend="egl")  # type: ignore[arg-type]


class Pictures:
    """Framebuffers of the three shots above, whose pixels are given, and what the client has to find of them."""

    def __init__(self, ctx: moderngl.Context) -> None:
        self.textures = []
        self.painted = []
        for shot in SHOTS:
            size = (shot["width"], shot["height"])
            kinds = ["f1"] * shot["colour"] + ["u4"] * shot["surface"]
            self.textures.append([ctx.texture(size, 4, dtype=kind) for kind in kinds])
            self.painted.append((ctx.framebuffer(self.textures[-1]), shot))

    def fill(self, seed: int) -> bytes:
        chance, memory = np.random.default_rng(seed), bytearray(MEMORY)
        for shot, textures in zip(SHOTS, self.textures, strict=True):
            n, offset = shot["width"] * shot["height"], shot["offset"]
            starts = [offset] * shot["colour"] + [offset + 4 * n] * shot["surface"]
            for texture, start in zip(textures, starts, strict=True):
                pixels = chance.bytes(n * (4 if texture.dtype == "f1" else 16))
                texture.write(pixels)
                memory[start : start + len(pixels)] = pixels
        return bytes(memory)


@pytest.mark.renders
@pytest.mark.parametrize("buffered", [False, True])
def test_pixels_are_where_the_client_looks_for_them(ctx: moderngl.Context, buffered: bool) -> None:
    pictures, shared = Pictures(ctx), bytearray(MEMORY)
    expected = pictures.fill(1)
    way: Any = BufferedReadBack(ctx) if buffered else DirectReadBack()
    way.finish(way.begin(pictures.painted), shared)
    assert bytes(shared) == expected


@pytest.mark.renders
def test_what_is_painted_afterwards_does_not_change_buffered_pixels(ctx: moderngl.Context) -> None:
    pictures, way, memories = Pictures(ctx), BufferedReadBack(ctx), []
    expected, begun = [], []
    for seed in (1, 2):
        expected.append(pictures.fill(seed))
        begun.append(way.begin(pictures.painted))
    pictures.fill(3)
    for each in begun:
        memories.append(bytearray(MEMORY))
        way.finish(each, memories[-1])
    assert [bytes(memory) for memory in memories] == expected


class Diary:
    """A painter and a read-back that write down what happens to them; a request of the time 13 cannot be painted."""

    def __init__(self, most_ahead: int) -> None:
        self.most_ahead = most_ahead
        self.lines: list[str] = []

    def paint(self, shot: Any, number: int) -> str:
        if shot.t == 13:
            raise ValueError("out of paint")
        self.lines.append(f"paint {shot.t}")
        return str(shot.t)

    def begin(self, shots: Any) -> str:
        return str(shots[0][0])

    def finish(self, begun: str, shared: Any) -> None:
        self.lines.append(f"read {begun}")


def answers_to(diary: Any, times: list[int]) -> list[dict[str, Any]]:
    """All requests wait before the first is taken, as many as a client may have under way."""
    ours, theirs = socket.socketpair()
    memory = os.memfd_create("pixels")
    os.ftruncate(memory, 4096)
    common = {"fx": 1.0, "fy": 1.0, "cx": 0.0, "cy": 0.0, "quality": "low", "hidden": None, "exposure": 1.0}
    arrays = {
        "eyes": np.zeros((1, 3)),
        "rotations": np.eye(3)[None],
        "moving": np.zeros((1, 0, 3, 4)),
        "lamps": np.zeros((1, 0, 8)),
    }
    for t in times:
        shot = {**common, **SHOTS[0], "motion": 0, "t": t}
        for piece in encode({"shots": [shot], "sky": {}, "bytes": 4096}, arrays):
            ours.sendall(piece)

    def run() -> None:
        with pytest.raises(EOFError):
            serve(theirs, memory, diary, diary)

    thread = threading.Thread(target=run)
    thread.start()
    stream = ours.makefile("rb")
    answers = [decode(stream.read)[0] for _ in times]
    ours.shutdown(socket.SHUT_RDWR)
    thread.join()
    os.close(memory)
    for each in (stream, ours, theirs):
        each.close()
    return answers


def test_a_waiting_request_is_painted_before_the_pixels_of_the_last_are_taken() -> None:
    diary = Diary(1)
    assert answers_to(diary, [1, 2]) == [{"done": 1}, {"done": 1}]
    assert diary.lines == ["paint 1", "paint 2", "read 1", "read 2"]


def test_without_buffers_pixels_are_taken_before_they_are_painted_over() -> None:
    diary = Diary(0)
    assert answers_to(diary, [1, 2]) == [{"done": 1}, {"done": 1}]
    assert diary.lines == ["paint 1", "read 1", "paint 2", "read 2"]


@pytest.mark.parametrize("most_ahead", [0, 1])
def test_an_error_is_answered_in_its_place(most_ahead: int) -> None:
    said = answers_to(Diary(most_ahead), [1, 13, 2])
    assert said == [{"done": 1}, {"error": "ValueError: out of paint"}, {"done": 1}]


NICENESS = """
import os
from skyloop.rendering.process import take_short_turns
os.nice({first})
take_short_turns(10)
print(os.nice(0))
"""


@pytest.mark.renders
@pytest.mark.parametrize(("first", "then"), [(0, 10), (5, 15), (15, 19)])
def test_its_niceness_is_added_to_that_of_its_parent(first: int, then: int) -> None:
    command = [sys.executable, "-c", NICENESS.format(first=first)]
    said = subprocess.run(command, capture_output=True, text=True, check=True)
    assert int(said.stdout) == min(then + own_niceness(), 19)


def own_niceness() -> int:
    """What this process was started with."""
    return int(subprocess.run(["nice"], capture_output=True, text=True, check=True).stdout)
