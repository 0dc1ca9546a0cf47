"""Runs a page of the docs as a reader would: writes its files, types its commands, in the order of the page."""

from __future__ import annotations

import functools
import io
import json
import os
import re
import runpy
import shlex
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import typer

from skyloop.cli import main
from skyloop.datasets.worker import record_alone
from skyloop.datasets.worker_processes import WorkerJob

DOCS = Path(__file__).parent.parent / "docs"
README = "../README"
PROGRAMS = Path(sys.executable).parent
_BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', flags=re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    language: str
    title: str
    text: str


@dataclass
class PageRun:
    """`shortened`: what is appended to commands that begin like this, so that they take seconds; the longest fits."""

    name: str
    folder: Path
    shortened: Mapping[str, Sequence[str]]
    left: Collection[str] = ()
    """Commands that are not typed, because another test types them."""
    printed: dict[str, str] = field(default_factory=dict)
    """Of each command."""

    @property
    def blocks(self) -> list[Block]:
        text = (DOCS / f"{self.name}.md").read_text(encoding="utf-8")
        return [Block(*found) for found in _BLOCK.findall(text)]

    def commands(self) -> list[str]:
        return [line for block in self.blocks if block.language == "bash" for line in block.text.splitlines()]

    def run(self, patch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        """Everything the page says, but for commands that wait for one another."""
        patch.chdir(self.folder)
        patch.setenv("MPLBACKEND", "Agg")
        for block in self.blocks:
            if block.title:
                (self.folder / block.title).write_text(block.text, encoding="utf-8")
            elif block.language == "python":
                exec(compile(block.text, self.name, "exec"), {})
            elif block.language == "bash":
                for command in block.text.splitlines():
                    if command.split()[0] not in ("make", "source") and command not in self.left:
                        self.printed[command] = self.type(command, patch, capsys)

    def words(self, command: str) -> list[str]:
        """As they are run: with what makes them quick."""
        fitting = [start for start in self.shortened if command.startswith(start)]
        return [*shlex.split(command), *self.shortened[max(fitting, key=len)]] if fitting else shlex.split(command)

    def type(self, command: str, patch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
        words = self.words(command)
        if words[0] == "skyloop":
            # in this process: starting Python anew takes longer than most of these
            patch.setattr(sys, "argv", words)
            with pytest.raises(SystemExit) as stop:
                main()
            said = capsys.readouterr()
            assert not stop.value.code, f"{command}: {said.err}"
            return said.out
        assert words[0] == "python", f"not a command of ours: {command}"
        patch.setattr(sys, "argv", words[1:])
        patch.syspath_prepend(str((self.folder / words[1]).parent))
        runpy.run_path(words[1], run_name="__main__")
        return capsys.readouterr().out

    @staticmethod
    def program(words: Sequence[str]) -> list[str]:
        return [os.fspath(PROGRAMS / words[0]), *words[1:]]


class _WorkerHere:
    """The only worker of a recording, in this process."""

    def __init__(self, jobs: Sequence[WorkerJob], stuck_after_s: float) -> None:
        (job,) = jobs
        self._folder = Path(job.arguments[0])

    def __enter__(self) -> _WorkerHere:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def messages(self, interruption: Any) -> Iterator[dict[str, Any]]:
        with redirect_stdout(io.StringIO()) as said:
            record_alone(self._folder)
        yield from map(json.loads, said.getvalue().splitlines())


def record_here(patch: pytest.MonkeyPatch) -> None:
    """Starting Python for a worker takes longer than to record a few frames."""
    patch.setattr("skyloop.datasets.recording_run.Workers", _WorkerHere)


_commands = functools.cache(typer.main.get_command)


def make_commands_once(patch: pytest.MonkeyPatch) -> None:
    """`cli.main()` makes all its commands at each call, which takes longer than to refuse what was typed."""
    patch.setattr("typer.main.get_command", _commands)


def plot_nothing(patch: pytest.MonkeyPatch) -> None:
    """Flights end with an empty flight.png: drawing it takes longer than a second of flight. Other tests look at it."""
    patch.setattr("skyloop.run.plot_flight", lambda log, title, path: path.touch())
