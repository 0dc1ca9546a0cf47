"""Same scenario, seed, machine and build: the same bytes, whatever the speed, the company or the steps."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import core_flights
from core_flights import NOISY_FLIGHT, Tape, noisy_flight
from skyloop.sim.simulation import Simulation
from skyloop_client.messages import Goal

pytestmark = pytest.mark.flights

SECONDS = 3.0


def hashes(simulation: Simulation) -> dict[str, str]:
    return core_flights.hashes(simulation, SECONDS)


@pytest.fixture(scope="module")
def expected() -> dict[str, str]:
    return hashes(noisy_flight())


def test_the_flight_is_worth_comparing() -> None:
    simulation = noisy_flight()
    simulation.run_until(SECONDS)
    assert simulation.truth().position[2] > 0.8
    assert np.linalg.norm(simulation.truth().wind_world) > 0.5
    assert simulation.bus.counts["drone/estimate"] > 500


def test_repeated_runs_are_identical(expected: dict[str, str]) -> None:
    assert hashes(noisy_flight()) == expected
    assert len(set(expected.values())) == len(expected) >= 10


def test_pacing_changes_nothing(expected: dict[str, str]) -> None:
    assert hashes(noisy_flight(pacing={"mode": "realtime", "factor": 200})) == expected


def test_another_seed_changes_every_noisy_stream(expected: dict[str, str]) -> None:
    other = hashes(noisy_flight(seed=6))
    noisy = [name for name in expected if name.split("/")[-1] not in ("status", "events")]
    assert [name for name in noisy if other[name] == expected[name]] == []


@pytest.mark.parametrize(
    "sensor",
    [
        {"kind": "rangefinder", "preset": "lidar-lite", "rate_hz": 333, "latency": 0.003},
        {"kind": "imu", "preset": "adis16448", "rate_hz": 1200},
    ],
    ids=["rangefinder", "second imu"],
)
def test_an_unrelated_sensor_changes_nothing_else(sensor: dict[str, Any], expected: dict[str, str]) -> None:
    with_it = hashes(noisy_flight(vehicles__drone__sensors__extra=sensor))
    assert "drone/extra" in with_it
    assert {name: with_it[name] for name in expected} == expected


def test_a_slower_truth_stream_changes_nothing_else(expected: dict[str, str]) -> None:
    slower = hashes(noisy_flight(truth_rate_hz=7))
    changed = {name for name in expected if slower[name] != expected[name]}
    assert changed == {"truth/drone", "drone/battery", "drone/actuators"}


def test_the_size_of_the_steps_changes_nothing(expected: dict[str, str]) -> None:
    from skyloop.core.bus import Fingerprint

    simulation = noisy_flight()
    fingerprint = Fingerprint(simulation.bus)
    for piece in [0.0001, 1e-9, 0.4999999, 0.23456789, 0.02]:
        simulation.run_for(piece)
    while simulation.schedule.next_ns() < 2_000_000_000:
        simulation.step()
    simulation.run_until(SECONDS)
    assert fingerprint.hexdigests() == expected


@pytest.mark.processes
def test_a_fresh_process_gives_the_same(expected: dict[str, str]) -> None:
    code = f"import json, core_flights as c; print(json.dumps(c.hashes(c.noisy_flight(), {SECONDS})))"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(__file__).parents[1], capture_output=True, check=True, text=True
    )
    assert json.loads(done.stdout) == expected


def test_going_back_and_on_gives_the_same_messages(expected: dict[str, str]) -> None:
    simulation = noisy_flight()
    tape = Tape(simulation.bus)
    simulation.run_until(1.3217)
    before = tape.cut()
    saved = simulation.snapshot()
    simulation.run_until(SECONDS)
    first = tape.cut()
    simulation.restore(saved)
    assert simulation.now == 1.3217
    simulation.send(Goal(np.array([-9.0, -9.0, 5.0])))
    simulation.run_until(2.5)
    assert tape.cut() != [m for m in first if m[3] < 2_500_000_000]
    for _ in range(2):
        simulation.restore(saved)
        simulation.run_until(SECONDS)
        assert tape.cut() == first
    assert len(before) > 1000
    assert len(first) > 1000


def test_a_snapshot_fits_another_build_of_its_scenario() -> None:
    here, there = noisy_flight(), noisy_flight()
    here.run_until(1.3217)
    assert "drone/gnss" in {m.stream for m in here.schedule.snapshot()[1].values()}, "a fix is under way"
    saved = here.snapshot()
    there.restore(saved)
    assert there.now == 1.3217
    assert hashes(here) == hashes(there)
    assert here.bus.counts == there.bus.counts


def test_a_second_vehicle_changes_nothing_for_the_first(expected: dict[str, str]) -> None:
    first = NOISY_FLIGHT["vehicles"][0]
    second = {**first, "name": "other", "airframe": "x500", "position": [20.0, 0.0]}
    for vehicles in ([first, second], [second, first]):
        both = hashes(noisy_flight(vehicles=vehicles))
        assert {name: both[name] for name in expected} == expected
        assert both["other/imu"] != both["drone/imu"]
