"""bench gym measures what it says, at tiny sizes; how fast anything is, is not asserted."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from contextlib import ExitStack

import numpy as np
import pytest

from skyloop_client.errors import SetupError
from skyloop_papers.benchmarks import gym as bench
from skyloop_papers.benchmarks.measurement import Rounds


@pytest.mark.renders
def test_ours_are_measured() -> None:
    peers = ("peer", "peer_single")
    with ExitStack() as opened:
        timed = bench.gym_timings(0.02, 3, opened)
        taken = Rounds({name: (lambda: 100.0) if name in peers else take for name, take in timed.items()}, 1)
    assert all(values[0] > 0.0 for values in taken.taken.values())
    figures = {figure.key: figure for figure in bench.gym_measurements(taken, 3)}
    assert figures["vs_gym_pybullet_drones"].value == pytest.approx(taken["many"] / 100.0)
    assert figures["vs_gym_pybullet_drones"].aim == 50.0
    assert figures["single_vs_gym_pybullet_drones"].value == pytest.approx(taken["single"] / 100.0)
    assert figures["single_vs_gym_pybullet_drones"].aim == 5.0
    assert "physics 240 Hz, control 30 Hz" in figures["steps_per_s"].note
    assert {"single_steps_per_s", "image_steps_per_s", "gym_pybullet_drones_steps_per_s"} <= set(figures)


def test_random_actions_keep_near_hover() -> None:
    many = bench.Many(4, airframe="crazyflie", action="motors", physics_rate_hz=240, control_rate_hz=30)
    p = many.env.params[0]
    many.env.reset(seed=1)
    for action in many.actions[:3]:
        many.env.step(action)
    lift = p["thrust_per_speed_squared"] * (many.env.states["command"][:, :4] ** 2).sum(axis=1)
    assert lift == pytest.approx(np.full(4, p["mass"] * p["gravity"]), rel=0.11)


def test_without_the_peer_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SetupError, match="gym-pybullet-drones, which is not installed: pip install --no-deps"):
        next(bench.gym())


@pytest.mark.processes
def test_a_peer_that_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    started = subprocess.Popen
    fails = [sys.executable, "-c", "raise ImportError('no bullet')"]
    monkeypatch.setattr(subprocess, "Popen", lambda command, **pipes: started(fails, **pipes))
    with pytest.raises(SetupError, match="ImportError: no bullet"):
        bench.peer_steps_per_second(0.1, processes=2)
