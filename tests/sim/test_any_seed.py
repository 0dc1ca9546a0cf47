"""Every shipped scenario succeeds with seeds that nobody chose."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from page_runs import plot_nothing
from skyloop.run import run_scenario
from skyloop.sim.scenario import SCENARIOS, load_scenario

DRAWN_FROM = 20261120
"""All seeds follow from this number."""
SKYLOOP = Path(sys.executable).with_name("skyloop")
BY_TASK = ("face-anchor", "move-forward", "closed-path")
"""Flown by a task over a link."""
MINUTES = ("park-people", "unknown-city", *(name for name in SCENARIOS if name.endswith(("-nav", "-vio"))))
"""One flight takes a minute of processor time or more."""


def seeds(scenario: str, count: int) -> list[int]:
    return random.Random(f"{DRAWN_FROM} {scenario}").sample(range(1_000_000), count)


def command(scenario: str, drawn: list[int]) -> list[list[str]]:
    """The commands that a user would type."""
    if scenario in BY_TASK:
        return [["loop", scenario, "--task", scenario, "--seed", str(seed), "--json"] for seed in drawn]
    return [["run", scenario, "--seeds", ",".join(map(str, drawn)), "--json"]]


def fly(scenario: str, count: int, folder: Path) -> None:
    flown = []
    for words in command(scenario, seeds(scenario, count)):
        done = subprocess.run([SKYLOOP, *words], cwd=folder, capture_output=True, text=True)
        lines = [done.stdout] if words[0] == "loop" else done.stdout.splitlines()
        flown += [json.loads(line) for line in lines]
    assert {one["seed"]: one["cause"] for one in flown} == dict.fromkeys(seeds(scenario, count), "")
    assert all(one["success"] for one in flown)


@pytest.mark.flights
@pytest.mark.parametrize("name", ["hover", "square", "first-flight"])
def test_quick_ones(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plot_nothing(monkeypatch)
    (seed,) = seeds(name, 1)
    assert run_scenario(load_scenario(name, {"seed": seed}), tmp_path / "run")["cause"] == ""


@pytest.mark.slow("ten flights")
@pytest.mark.renders
@pytest.mark.processes
@pytest.mark.parametrize("name", [name for name in SCENARIOS if name not in MINUTES])
def test_ten_seeds(name: str, tmp_path: Path) -> None:
    fly(name, 10, tmp_path)


@pytest.mark.slow("two flights of minutes each")
@pytest.mark.renders
@pytest.mark.processes
@pytest.mark.parametrize("name", MINUTES)
def test_two_seeds(name: str, tmp_path: Path) -> None:
    fly(name, 2, tmp_path)


@pytest.mark.seeds("ten flights of minutes each: two hours for all on two cores")
@pytest.mark.renders
@pytest.mark.processes
@pytest.mark.parametrize("name", MINUTES)
def test_ten_seeds_of_long_flights(name: str, tmp_path: Path) -> None:
    fly(name, 10, tmp_path)
