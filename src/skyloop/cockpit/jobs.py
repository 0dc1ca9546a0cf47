"""Jobs that a person starts from the cockpit: each is a `skyloop` command in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from skyloop.cockpit.wire import Fields
from skyloop.core.child_process import ChildProcess
from skyloop_client.errors import LinkError, unknown_name

MOST_AT_ONCE = 2
LINES_KEPT = 200
ENTRY = "import sys; from skyloop.cli import main; sys.exit(main())"

Report = Callable[[Fields], None]


class CockpitJob:
    def __init__(self, number: int, words: list[str], folder: Path, report: Report) -> None:
        """`folder`: where the command puts its results, and this what it said."""
        self.number, self.title = number, f"skyloop {' '.join(words)}"
        self._folder = folder
        self.lines: deque[str] = deque(maxlen=LINES_KEPT)
        self.state = "running"
        self._report = report
        self._process = ChildProcess(
            [sys.executable, "-c", ENTRY, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        self._thread = threading.Thread(target=self._follow, name="skyloop job", daemon=True)
        self._thread.start()

    def _follow(self) -> None:
        for line in self._process.stdout:
            self.lines.append(line.rstrip("\n")[:500])
            self._report(self.plain())
        code = self._process.exit_code(None)
        with suppress(OSError):
            self._folder.mkdir(parents=True, exist_ok=True)
            (self._folder / "output.txt").write_text("\n".join(self.lines) + "\n", encoding="utf-8")
        self.state = "done" if code == 0 else f"ended with {code}"
        self._report(self.plain())

    def plain(self) -> Fields:
        about = {"number": self.number, "title": self.title, "state": self.state, "folder": self._folder.name}
        return {**about, "lines": list(self.lines)[-40:]}

    def close(self) -> None:
        if self._process.exit_code() is None:
            self._process.terminate()
            self._process.end(5.0)
        self._thread.join(timeout=2.0)
        self._process.close()


class Jobs:
    def __init__(self, known: dict[str, dict[str, str]], root: Path, report: Report) -> None:
        """`known`: names that may be started, by heading of the catalogue; `root`: gets a folder of each job."""
        self._known = known
        self._root = root
        self._report = report
        self._jobs: list[CockpitJob] = []

    def start(self, kind: str, name: str, *, quick: bool) -> Fields:
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
        job = CockpitJob(len(self._jobs) + 1, words, folder, self._report)
        self._jobs.append(job)
        return job.plain()

    def plain(self) -> list[Fields]:
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
