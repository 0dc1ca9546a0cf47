"""Fixtures of tests of the command line."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable

import pytest

from skyloop import cli

EVENT = re.compile(r" *\d+\.\d\d s ")


@pytest.fixture
def complaint(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Types a command that fails, and gives the one line on stderr. On stdout are events of the flight only."""

    def typed(*words: str) -> str:
        monkeypatch.setattr(sys, "argv", ["skyloop", *words])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        output = capsys.readouterr()
        assert stop.value.code == 1, output
        assert all(EVENT.match(line) for line in output.out.splitlines()), output.out
        # a command may have to compile first, on a fresh machine
        lines = [line for line in output.err.splitlines() if "compiling" not in line]
        assert len(lines) == 1, output.err
        assert lines[0].startswith("skyloop: ")
        return lines[0]

    return typed
