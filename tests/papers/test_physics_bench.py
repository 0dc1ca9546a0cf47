"""The physics bench measures what it says, at tiny sizes; how fast anything is, is not asserted."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skyloop_client.errors import SetupError
from skyloop_papers.benchmarks import physics
from skyloop_papers.benchmarks.measurement import Measurement, Rounds

TINY: dict[str, Any] = {
    "rounds": 2,
    "vehicles": 5,
    "batch_calls": 2,
    "kernel_steps": 20,
    "peer_steps": 5,
    "loop_s": 0.2,
    "peer_loop_s": 0.1,
    "later_starts": 1,
}
AIMS = {
    "batch_steps_per_s": 4e6,
    "kernel_vs_rotorpy": 500.0,
    "loop_vs_rotorpy": 10.0,
    "first_start_s": 20.0,
    "later_start_s": 3.0,
}


def stand_in_for_start(monkeypatch: pytest.MonkeyPatch, code: str) -> None:
    """A start that compiles nothing: the real one takes as long as the rest of the suite."""
    monkeypatch.setattr(physics, "START", code)


@pytest.mark.processes
def test_every_figure_is_there_positive_and_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in_for_start(monkeypatch, "pass")
    figures = list(physics.physics(**TINY))
    by_key = {figure.key: figure for figure in figures}
    assert len(by_key) == len(figures)
    assert set(by_key) == {
        *AIMS,
        "batch_with_controller_steps_per_s",
        "kernel_step_ns",
        "rotorpy_step_us",
        "loop_imu_250hz_vs_rotorpy",
        "loop_realtime_factor",
        "loop_imu_250hz_realtime_factor",
        "rotorpy_realtime_factor",
    }
    assert all(np.isfinite(figure.value) and figure.value > 0.0 for figure in figures)
    assert {figure.key: figure.aim for figure in figures if figure.aim is not None} == AIMS
    assert {figure.key for figure in figures if figure.lower_is_better} == {"first_start_s", "later_start_s"}
    assert json.loads(json.dumps([figure.plain() for figure in figures]))[0]["key"] == "batch_steps_per_s"


def test_aims_hold_from_the_right_side() -> None:
    assert Measurement("speed", 5.0, "1", 4.0).holds and not Measurement("speed", 3.0, "1", 4.0).holds
    assert Measurement("wait", 3.0, "s", 4.0, lower_is_better=True).holds
    assert not Measurement("wait", 5.0, "s", 4.0, lower_is_better=True).holds
    assert Measurement("plain", 1.0, "s", lower_is_better=True).holds is None


@pytest.mark.parametrize("commanded", [True, False])
def test_all_vehicles_of_the_batch_are_advanced(commanded: bool) -> None:
    batch = physics.Batch(7, commanded=commanded)
    with ThreadPoolExecutor(2) as pool:
        batch.steps_per_second(3, pool)
    assert (batch._states["step"] == 3 * physics.STEPS_PER_CALL).all()
    assert np.isfinite(batch._states["motion"]).all()
    assert (batch._states["rotor_speed"][:, :4] > 100.0).all()
    assert len(np.unique(batch._states["motion"][:, 0])) == 7


def test_the_controller_brakes_what_held_rotors_let_drift() -> None:
    drift = {}
    for commanded in (True, False):
        batch = physics.Batch(20, commanded=commanded)
        with ThreadPoolExecutor(1) as pool:
            batch.steps_per_second(100, pool)
        drift[commanded] = np.linalg.norm(batch._states["motion"][:, 3:5], axis=1).mean()
    assert drift[False] < 0.5 * drift[True]


@pytest.mark.parametrize("imu_hz", [100, 250])
def test_the_loop_flies_its_circle_and_every_stream_is_read(imu_hz: int) -> None:
    loop = physics.Loop(imu_hz, 10.0)
    simulation = loop._simulation
    simulation.run_for(4.0)
    before = dict(simulation.bus.counts)
    loop.real_time_factor(2.0)
    assert simulation.bus.counts["drone/imu"] - before["drone/imu"] == 2 * imu_hz
    assert simulation.bus.counts["truth/drone"] - before["truth/drone"] == 2 * physics.LOOP_HZ
    truth = simulation.latest("truth/drone")
    speed = np.linalg.norm(truth.velocity_world)
    assert np.hypot(*truth.position[:2]) == pytest.approx(physics.RADIUS, abs=0.1)
    assert speed == pytest.approx(2 * np.pi * physics.LAPS_PER_S * physics.RADIUS, rel=0.05)
    assert sum(len(reader) for reader in loop._readers) >= 2 * imu_hz


def test_timings_take_turns_and_the_first_round_is_dropped() -> None:
    calls: list[str] = []

    def timing(name: str) -> Callable[[], float]:
        def take() -> float:
            calls.append(name)
            return float(len(calls))

        return take

    taken = Rounds({"a": timing("a"), "b": timing("b")}, rounds=2)
    assert calls == ["a", "b"] * 3
    assert taken.taken["a"].tolist() == [3.0, 5.0]


def test_without_rotorpy_one_line_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rotorpy.vehicles.multirotor", None)
    monkeypatch.setitem(sys.modules, "rotorpy.vehicles.hummingbird_params", None)
    with pytest.raises(SetupError, match=r"pip install 'skyloop\[bench\]'$") as caught:
        next(physics.physics(**TINY))
    assert "\n" not in str(caught.value)


@pytest.mark.processes
def test_a_start_that_fails_is_told_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in_for_start(monkeypatch, "raise RuntimeError('no wings')")
    with pytest.raises(SetupError, match=r"does not start on this machine: RuntimeError: no wings$"):
        list(physics.starts(1))


@pytest.mark.processes
def test_starts_use_an_empty_cache_and_then_the_same_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    stand_in_for_start(
        monkeypatch,
        "import os, pathlib; cache = pathlib.Path(os.environ['XDG_CACHE_HOME'])\n"
        f"print(len(list(cache.iterdir())), 'NUMBA_CACHE_DIR' in os.environ, file=open({str(seen)!r}, 'a'))\n"
        "(cache / 'kernel').touch()\n",
    )
    monkeypatch.setenv("NUMBA_CACHE_DIR", "/nonexistent")
    list(physics.starts(2))
    assert seen.read_text().splitlines() == ["0 False", "1 False", "1 False"]
