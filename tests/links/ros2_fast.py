"""A node on Debian's Fast DDS, ROS 2's default: compiled from `ros2_oracles/fast_dds.cpp`, with rosbags' types."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from ros2_peer import plain, typestore
from ros2_rig import DOMAIN, PATIENCE_S, NodeProcess
from rosbags.interfaces import Nodetype

SOURCE = Path(__file__).with_name("ros2_oracles") / "fast_dds.cpp"
QUALITIES = {"best effort": "best"}
"""Its words for those of ros2_peer.py, where they differ."""


def compiled(folder: Path) -> Path:
    program = folder / "fast_dds"
    subprocess.run(["g++", "-std=c++17", "-o", program, SOURCE, "-lfastrtps", "-lfastcdr"], check=True)
    return program


class FastNode(NodeProcess):
    """It has the verbs of `ros2_rig.Node`."""

    def __init__(self, program: Path, where: str, domain: int = DOMAIN) -> None:
        self._store = typestore()
        self._kinds: dict[str, str] = {}
        self._asked = ""
        super().__init__([program, str(domain), where])

    def _answer(self) -> str:
        return self._read_line().strip()

    def _say(self, *words: object) -> None:
        self._write_line(" ".join(map(str, words)))

    def _bytes(self, kind: str, values: Any) -> str:
        return bytes(self._store.serialize_cdr(self._made(kind, values or {}), kind)).hex()

    def _made(self, kind: str, values: Any) -> Any:
        """A message from nested dictionaries. What is left out is zero."""
        parts = {name: self._part(about, values.get(name)) for name, about in self._store.fielddefs[kind][1]}
        return self._store.types[kind](**parts)

    def _part(self, about: Any, value: Any) -> Any:
        what, rest = about
        if what == Nodetype.NAME:
            return self._made(rest, value or {})
        if what in (Nodetype.SEQUENCE, Nodetype.ARRAY):
            inner, length = rest
            if inner[0] == Nodetype.BASE and inner[1][0] != "string":
                given = value if value is not None else [0] * (length if what == Nodetype.ARRAY else 0)
                return np.array(given, inner[1][0])
            return [self._part(inner, one) for one in value or []]
        zero: Any = {"string": "", "bool": False}.get(rest[0], 0.0 if "float" in rest[0] else 0)
        return zero if value is None else type(zero)(value)

    def _read(self, kind: str, text: str) -> Any:
        return plain(self._store.deserialize_cdr(bytes.fromhex(text), kind))

    def read(self, topic: str, kind: str, quality: str = "best effort") -> None:
        self._kinds[topic] = kind
        self._say("read", topic, kind, QUALITIES.get(quality, quality))
        assert self._answer() == "ok"

    def take(self, topic: str, count: int = 1, wait: float = PATIENCE_S) -> list[Any]:
        self._say("take", topic, count, wait)
        return [self._read(self._kinds[topic], one) for one in self._answer().split()]

    def take_bytes(self, topic: str) -> list[bytes]:
        self._say("take", topic, 1, PATIENCE_S)
        return [bytes.fromhex(one) for one in self._answer().split()]

    def count(self, topic: str, count: int, wait: float) -> Callable[[], int]:
        """Says, when it is called, how many messages came: at most so many, within so many seconds from now."""
        self._say("count", topic, count, wait)
        return lambda: int(self._answer())

    def peers(self) -> int:
        """How many participants it knows."""
        self._say("peers")
        return int(self._answer())

    def write(self, topic: str, kind: str, values: Any, wait: float = PATIENCE_S) -> int:
        self._say("write", topic, kind, self._bytes(kind, values), wait)
        return int(self._answer())

    def ask(self, service: str, kind: str, values: Any = None, wait: float = PATIENCE_S) -> None:
        self._asked = f"{kind}_Response"
        self._say("call", service, kind, self._bytes(f"{kind}_Request", values), wait)

    def answer(self) -> Any:
        return self._read(self._asked, self._answer())
