"""Log lines: silent on import, on stderr by the command line, more with -v, none with --quiet, results untouched."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from page_runs import plot_nothing
from skyloop import cli
from skyloop_client.__main__ import main as client_main

TREES = ("skyloop", "skyloop_client")
FLIGHT = ["run", "hover", "--set", "duration=0.1", "--json", "--out"]


def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *words: str) -> tuple[str, str, int]:
    monkeypatch.setattr(sys, "argv", ["skyloop", *words])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    said = capsys.readouterr()
    return said.out, said.err, int(stop.value.code or 0)


@pytest.mark.parametrize("where", ["before the verb", "after the verb"])
def test_verbose_and_quiet_change_stderr_and_not_the_answer(
    where: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plot_nothing(monkeypatch)
    answers, lines = {}, {}
    for option in ("", "-v", "--quiet"):
        folder = tmp_path / f"run{option}"
        words = [*FLIGHT, str(folder)]
        words = [option, *words] if where == "before the verb" else [*words, option]
        out, err, code = command(capsys, monkeypatch, *filter(None, words))
        assert code == 0
        answers[option] = json.loads(out)["messages"]
        lines[option] = err.splitlines()
    assert answers["-v"] == answers["--quiet"] == answers[""]
    assert lines["--quiet"] == lines[""] == []
    assert all(line.startswith("skyloop: [") for line in lines["-v"])
    assert any("drone/events: armed" in line for line in lines["-v"])


@pytest.mark.renders
def test_quiet_hides_warnings_and_keeps_errors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "settings.json"
    settings.write_text('{"SimMode": "Multirotor", "NoSuchKey": 1}')
    words = ["serve", "--settings", str(settings), "--port", "0", "--lasts", "0.6", "--speed", "100"]
    _, err, _ = command(capsys, monkeypatch, *words)
    assert "skyloop: warning: " in err and "NoSuchKey" in err and "AirSim clients may connect to 127.0.0.1:" in err
    out, err, code = command(capsys, monkeypatch, *words, "-q")
    assert (err, code) == ("", 0) and "served 0.6 s" in out
    _, err, code = command(capsys, monkeypatch, "run", "no-such-scenario", "--quiet")
    assert code == 1 and err.startswith("skyloop: ") and len(err.splitlines()) == 1


def test_both_at_once_are_refused(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for words in (["-v", "list", "--quiet"], ["list", "-vq"], ["--quiet", "--verbose", "list"]):
        _, err, code = command(capsys, monkeypatch, *words)
        assert code == 1 and "not both" in err and len(err.splitlines()) == 1


def test_every_verb_has_them() -> None:
    for verb in get_command(cli.app).commands.values():  # type: ignore[attr-defined]
        options = {option for parameter in verb.params for option in parameter.opts}
        assert {"-v", "--verbose", "-q", "--quiet"} <= options


def test_a_command_leaves_no_handler_behind(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    before = [(list(logging.getLogger(name).handlers), logging.getLogger(name).level) for name in TREES]
    command(capsys, monkeypatch, "-v", "list")
    with pytest.raises(SystemExit):
        client_main(["--help"])
    assert client_main(["agent", "-v", "--throttle", "2", "--", "true"]) == 1
    assert [(list(logging.getLogger(name).handlers), logging.getLogger(name).level) for name in TREES] == before


@pytest.mark.processes
def test_importing_sets_up_no_logging() -> None:
    code = (
        "import logging, skyloop.sim.assembly, skyloop.cli, skyloop_client, skyloop.sim.outside_programs\n"
        "names = [name for name in logging.root.manager.loggerDict if name.split('.')[0].startswith('skyloop')]\n"
        "loggers = [logging.root, *map(logging.getLogger, names)]\n"
        "assert len(loggers) > 4\n"
        "assert not any(logger.handlers for logger in loggers)\n"
        "assert not any(logger.level for logger in loggers[1:])\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
