"""Jobs that a person starts from the cockpit: each is a `skyloop` command in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from skyloop.core.interrupts import kept_from_children
from skyloop_client.errors import LinkError, unknown_name

MOST_AT_ONCE = 2
LINES_KEPT = 200
ENTRY = "import sys; from skyloop.cli import main; sys.exit(main())"

Told = Callable[[dict[str, Any]], None]


class Job:
    def __init__(self, number: int, words: list[str], folder: Path, told: Told) -> None:
        """`folder`: where the command puts its results, and this what it said."""
        self.number, self.title = number, f"skyloop {' '.join(words)}"
        self._folder = folder
        self.lines: deque[str] = deque(maxlen=LINES_KEPT)
        self.state = "running"
        self._told = told
        with kept_from_children():
            self._process = subprocess.Popen(
                [sys.executable, "-c", ENTRY, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True, errors="replace",
            )  # fmt: skip
        self._thread = threading.Thread(target=self._follow, name="skyloop job", daemon=True)
        self._thread.start()

    def _follow(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as said:
            for line in said:
                self.lines.append(line.rstrip("\n")[:500])
                self._told(self.plain())
        code = self._process.wait()
        with suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            (self._folder / "output.txt").write_text("\n".join(self.lines) + "\n", encoding="utf-8")
        self.state = "done" if code == 0 else f"ended with {code}"
        self._told(self.plain())

    def plain(self) -> dict[str, Any]:
        told = {"number": self.number, "title": self.title, "state": self.state, "folder": self._folder.name}
        return {**told, "lines": list(self.lines)[-40:]}

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(5.0)
            except subprocess.TimeoutExpired:
                self._process.kill()
        self._thread.join(timeout=2.0)


class Jobs:
    def __init__(self, known: dict[str, dict[str, str]], root: Path, told: Told) -> None:
        """`known`: names that may be started, by heading of the catalogue; `root`: gets a folder of each job."""
        self._known = known
        self._root = root
        self._told = told
        self._jobs: list[Job] = []

    def start(self, kind: str, name: str, *, quick: bool) -> dict[str, Any]:
        if sum(job.state == "running" for job in self._jobs) >= MOST_AT_ONCE:
            raise LinkError(f"{MOST_AT_ONCE} jobs run already; wait until one is done")
        heading = {"record": "worlds", "reproduce": "reproductions", "bench": "benches"}[kind]
        if name not in self._known.get(heading, {}):
            raise unknown_name(heading.rstrip("s"), name, self._known.get(heading, {}))
        folder = next_run_folder(self._root, f"{kind}-{name}")
        if kind == "record":
            words = ["record", "--world", name, *(["--frames", "20", "--size", "320x240"] if quick else [])]
        elif kind == "reproduce":
            words = ["reproduce", name, *(["--quick"] if quick else [])]
        else:
            words = ["bench", name]
        if kind != "bench":
            words += ["--out", str(folder)]
        job = Job(len(self._jobs) + 1, words, folder, self._told)
        self._jobs.append(job)
        return job.plain()

    def plain(self) -> list[dict[str, Any]]:
        return [job.plain() for job in self._jobs]

    def close(self) -> None:
        for job in self._jobs:
            job.close()


def next_run_folder(root: Path, name: str) -> Path:
    """The first of name-001, name-002... that does not exist."""
    number = 1
    while (folder := root / f"{name}-{number:03d}").exists():
        number += 1
    return folder
