"""`make test-slow` can be stopped and started again: what passed with the same files is not run once more.

With `--continue-in FOLDER` each test that passes is noted there, in a file named after the state of the sources. At the
end the time of each file is printed, with that of earlier sittings. Empty the folder to begin anew.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--continue-in", metavar="FOLDER", help="skip what passed before with the same sources")


def state_of_sources() -> str:
    """Of all files that git knows or would add: a commit that changes none of them changes nothing here."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.py", "*.toml", "*.yaml", "*.[ch]*"],
        cwd=ROOT, capture_output=True, check=True,
    ).stdout  # fmt: skip
    digest = hashlib.blake2b(digest_size=8)
    for name in sorted(set(listed.decode().split("\0")) - {""}):
        if (ROOT / name).is_file():
            digest.update(name.encode() + b"\0" + (ROOT / name).read_bytes())
    return digest.hexdigest()


class Notes:
    """The tests that passed, with their seconds; each line is written whole."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / f"{state_of_sources()}.jsonl"
        self._file.parent.mkdir(parents=True, exist_ok=True)
        lines = self._file.read_text(encoding="utf-8").splitlines() if self._file.exists() else []
        self.seconds: dict[str, float] = dict(map(json.loads, lines))
        self._under_way: dict[str, float] = defaultdict(float)
        self._failed: set[str] = set()

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        done = [item for item in items if item.nodeid in self.seconds]
        items[:] = [item for item in items if item.nodeid not in self.seconds]
        config.hook.pytest_deselected(items=done)


class Writer(Notes):
    """In the process that hears of all tests, not in its workers."""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._under_way[report.nodeid] += report.duration
        if not report.passed:
            self._failed.add(report.nodeid)
        if report.when == "teardown" and report.nodeid not in self._failed:
            self.seconds[report.nodeid] = round(self._under_way[report.nodeid], 1)
            with self._file.open("a", encoding="utf-8") as file:
                file.write(json.dumps([report.nodeid, self.seconds[report.nodeid]]) + "\n")

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        files: dict[str, float] = defaultdict(float)
        for name, seconds in {**self._under_way, **self.seconds}.items():
            files[name.partition("::")[0]] += seconds
        for name, seconds in sorted(files.items(), key=lambda one: -one[1]):
            terminalreporter.write_line(f"{seconds:8.1f} s  {name}")
        terminalreporter.write_line(f"{len(self.seconds)} tests have passed with these sources, in all sittings")


def pytest_configure(config: pytest.Config) -> None:
    folder = config.getoption("--continue-in")
    if folder:
        kind = Notes if hasattr(config, "workerinput") else Writer
        config.pluginmanager.register(kind(Path(folder)), "notes of earlier sittings")
