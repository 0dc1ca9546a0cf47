"""Runs a page of the docs as a reader would: writes its files, types its commands, in the order of the page."""

from __future__ import annotations

import os
import re
import runpy
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from skyloop.cli import main

DOCS = Path(__file__).parent.parent / "docs"
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
    printed: dict[str, str] = field(default_factory=dict)
    """Of each command."""

    @property
    def blocks(self) -> list[Block]:
        text = (DOCS / f"{self.name}.md").read_text(encoding="utf-8")
        return [Block(*found) for found in _BLOCK.findall(text)]

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
                    self.printed[command] = self.type(command, patch, capsys)

    def words(self, command: str) -> list[str]:
        """As they are run: with what makes them quick."""
        fitting = [start for start in self.shortened if command.startswith(start)]
        return [*shlex.split(command), *self.shortened[max(fitting, key=len)]] if fitting else shlex.split(command)

    def type(self, command: str, patch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
        words = self.words(command)
        if words[0] in ("make", "source"):
            return ""
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
