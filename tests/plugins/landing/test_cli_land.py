"""`skyloop land`: what it refuses, in one line."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from skyloop.cli.verbs import app


def said(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["land", *arguments])
    return done.exit_code, str(done.exception) if done.exception else done.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--board", "artx:/dev/ttyUSB1"], "no landing board named 'artx:/dev/ttyUSB1'; give arty:/dev/ttyUSB1, pty"),
        (["--board", "arty:/dev/ttyUSB77"], "there is no device /dev/ttyUSB77; is the board plugged in?"),
        (["--board", "qem"], "no landing board named 'qem'; did you mean 'qemu'?"),
        (["--video", "hdmi"], "no video output named 'hdmi'; give window, shm:NAME, y4m:FILE or raw:FILE"),
        (["hover"], "scenario 'hover' has no pilot 'landing'"),
        (["--slower", "0.5"], "a board throttled by 0.5: give 1 or more"),
        (["--latency", "-1"], "a latency of -1000000000 ns: give 0 or more"),
    ],
)
def test_refusals(arguments, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, text = said(*arguments)
    assert code == 1 and words in text and "\n" not in text.strip()
