"""Files of strangers: `--no-code` runs nothing that they name, and recordings are data without any option."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from page_runs import make_commands_once
from shown_recording import write_recording

EVIL = "open(__file__ + '.ran', 'w').close()\n\ndef fly(**given):\n    return {}\n\nclass World:\n    pass\n"
WORLD = "world: {name: 'evil.py:World'}\n"
NAMED = "sensors: {imu: {kind: 'evil.py:World', rate_hz: 10}}"
FILES = {
    "evil.py": EVIL,
    "world.yaml": WORLD,
    "sensor.yaml": f"vehicles: [{{{NAMED}}}]\n",
    "airframe.yaml": "vehicles: [{airframe: 'evil.py:World'}]\n",
    "controller.yaml": "vehicles: [{controller: 'evil.py:World'}]\n",
    "pilot.yaml": "vehicles: [{pilot: {kind: 'evil.py:fly'}}]\n",
    "estimator.yaml": "vehicles: [{estimators: {vio: {kind: 'evil.py:World'}}}]\n",
    "wind.yaml": "wind: {kind: field, source: 'evil.py:World'}\n",
    "flown.yaml": "scenario: world.yaml\nspace: {seed: [1]}\n",
    "called.yaml": "task: evil.py:fly\nspace: {x: [1]}\n",
    "measured.yaml": "scenario: hover\nspace: {duration: [1]}\nmetrics: ['evil.py:fly']\n",
}
COMMANDS = [
    *(["run", name] for name in list(FILES)[1:8]),
    ["run", "hover", "--pilot", "evil.py:fly"],
    ["loop", "pilot.yaml", "--pilot", "scenario"],
    ["loop", "estimator.yaml", "--estimator", "vio"],
    pytest.param(["record", "--scenario", "world.yaml", "--frames", "2"], marks=pytest.mark.processes),
    ["campaign", "called.yaml"],
    ["campaign", "measured.yaml"],
]  # fmt: skip


@pytest.fixture(autouse=True)
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    make_commands_once(monkeypatch)
    return tmp_path


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_stranger_s_file_runs_nothing(words: list[str], desk: Path, complaint: Callable[..., str]) -> None:
    line = complaint(*words, "--no-code", "--quiet")
    assert "names code, which is not run here: --no-code was given" in line
    assert not (desk / "evil.py.ran").exists()


@pytest.mark.processes
@pytest.mark.parametrize(
    "words", [["replay", "shown", "--cockpit", "0"], ["export", "shown", "--to", "csv"]], ids=" ".join
)
def test_a_recording_runs_nothing(words: list[str], desk: Path, complaint: Callable[..., str]) -> None:
    """The world of its scenario is code."""
    write_recording(desk / "shown")
    path = desk / "shown" / "recording.json"
    facts = json.loads(path.read_text())
    facts["scenario"] = {**facts["scenario"], "world": {"name": f"{desk}/evil.py:World"}}
    path.write_text(json.dumps(facts))
    assert "a recording is data; give --allow-code" in complaint(*words, "--quiet")
    assert not (desk / "evil.py.ran").exists()
