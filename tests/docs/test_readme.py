"""Every command, snippet, scenario and link of the README works."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import skyloop
from page_runs import README as README_PAGE
from page_runs import PageRun, plot_nothing
from skyloop.run import fly

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


SHORT = {
    "skyloop run": ["--set", "duration=1"],
    "skyloop look": ["--quality", "low", "--size", "96x60"],
    "skyloop loop": ["--set", "duration=0.5"],
}


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


def commands() -> list[str]:
    lines = [line.split("  #")[0].strip() for block in blocks("bash") for line in block.splitlines()]
    return [line for line in lines if line]


def test_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = {command.split()[1] for command in commands() if command.startswith("make ")}
    targets |= set(re.findall(r"`make ([a-z-]+)`", README))
    assert {"fly", "test", "setup"} <= targets
    for target in targets:
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), f"no target {target}"


@pytest.mark.renders
@pytest.mark.parametrize("short", [SHORT, pytest.param({}, marks=pytest.mark.slow("whole flights and a recording"))])
def test_commands_run_in_order(
    short: dict[str, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In full only in the slow suite: the flights take longer than all the rest."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    others = [PageRun(name, tmp_path, {}) for name in ("how-to/recipes", "how-to/datasets")]
    left = {command for page in others for command in page.commands()} if short else set()
    if short:
        left |= {command for command in commands() if command.startswith("skyloop size")}  # see campaigns/test_size.py
    page = PageRun(README_PAGE, tmp_path, short, left)
    assert {"skyloop list", "skyloop report data/park"} <= left or not short
    if short:
        plot_nothing(monkeypatch)
    page.run(monkeypatch, capsys)
    assert len(page.printed) >= 7 and all(printed.strip() for printed in page.printed.values())
    assert (tmp_path / "runs" / "windy" / "flight.png").is_file()


@pytest.mark.processes
def test_the_command_is_installed() -> None:
    command = Path(sys.executable).parent / "skyloop"
    done = subprocess.run([command, "--version"], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == skyloop.__version__


def test_ten_lines_are_those_of_the_example() -> None:
    """Which test_examples.py flies."""
    snippet = blocks("python")[0]
    assert snippet.strip() in (ROOT / "examples" / "ten_lines.py").read_text(encoding="utf-8")
    assert len([line for line in snippet.splitlines() if line and "import" not in line]) <= 10


def test_the_pilot_flies(tmp_path: Path) -> None:
    (tmp_path / "my_pilot.py").write_text(blocks("python")[1], encoding="utf-8")
    scenario = skyloop.make_scenario({"vehicles": [{"pilot": "my_pilot.py:pilot"}]}, folder=tmp_path)
    with skyloop.build(scenario) as simulation:
        simulation.run_for(10.0)
        assert simulation.truth().velocity_world == pytest.approx([2.0, 0.0, 0.0], abs=0.05)
        assert simulation.truth().position[2] > 2.5


def test_the_scenario_flies() -> None:
    scenario = skyloop.make_scenario(yaml.safe_load(blocks("yaml")[0]))
    with skyloop.build(scenario) as simulation:
        events = simulation.subscribe("drone/events")
        fly(simulation, scenario.duration)
        kinds = [message.data.kind for message in events]
    assert "took off" in kinds and "landed" in kinds and "failsafe" not in kinds
