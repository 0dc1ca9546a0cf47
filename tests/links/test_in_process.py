"""A session in the simulator's own process: execution time, freshness, commands at their instant."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import skyloop
from skyloop.links.loop.in_process import InProcess
from skyloop.sim.simulation import Simulation
from skyloop_client.errors import LinkEnded, UnknownNameError
from skyloop_client.messages import Arm, TakeOff, Velocity

MS = 1_000_000
SCENARIO = {
    "world": "flat",
    "vehicles": [
        {
            "sensors": {
                "imu": {"kind": "imu", "preset": "perfect", "rate_hz": 20},
                "late": {"kind": "barometer", "preset": "perfect", "rate_hz": 10, "latency": 0.03},
            }
        }
    ],
}


class Slow:
    """A computer on which everything between two looks at the clock takes this long."""

    def __init__(self, ms: float) -> None:
        self.ns, self._each = 0, round(ms * MS)

    def __call__(self) -> int:
        self.ns += self._each
        return self.ns


@pytest.fixture
def simulation() -> Iterator[Simulation]:
    with skyloop.build(skyloop.make_scenario(SCENARIO)) as built:
        yield built


def test_without_a_clock_thinking_takes_no_time(simulation: Simulation) -> None:
    session = InProcess(simulation.port)
    stamps = [session.ask(want=["imu"], fresh=["imu"]).get("imu").t_ns for _ in range(5)]
    assert stamps == [0, 50 * MS, 100 * MS, 150 * MS, 200 * MS]
    assert session.now() == 200 * MS
    assert session.ask().t_ns == 200 * MS


def test_a_slow_computer_misses_samples_and_gets_the_newest(simulation: Simulation) -> None:
    session = InProcess(simulation.port, clock=Slow(120))
    bundles = [session.ask(want=["imu"], fresh=["imu"]) for _ in range(4)]
    # asked at 120 and 240 ms, there is one that was not given yet: no waiting
    assert [b.t_ns // MS for b in bundles] == [120, 240, 360, 480]
    assert [b.get("imu").t_ns // MS for b in bundles] == [100, 200, 350, 450]


def test_a_delayed_sample_is_given_when_it_arrives(simulation: Simulation) -> None:
    session = InProcess(simulation.port)
    bundles = [session.ask(want=["late"], fresh=["late"]) for _ in range(2)]
    assert [(b.t_ns // MS, b.get("late").t_ns // MS) for b in bundles] == [(30, 0), (130, 100)]


def test_what_was_given_stays_and_what_was_not_wanted_is_not_given(simulation: Simulation) -> None:
    session = InProcess(simulation.port)
    first = session.ask(want=["imu"], fresh=["imu"])
    later = session.sleep_until(320 * MS)
    assert later.t_ns == 320 * MS
    assert later.get("imu") is first.get("imu")
    assert later.get("late") is None
    everything = session.ask(want=None)
    assert everything.get("imu").t_ns == 300 * MS
    assert everything.get("late").t_ns == 200 * MS
    assert not any(name.startswith("truth/") for name in everything.latest)


def test_an_instant_includes_what_is_due_then(simulation: Simulation) -> None:
    assert InProcess(simulation.port).ask(want=["imu"], until_ns=100 * MS).get("imu").t_ns == 100 * MS


def test_commands_take_effect_at_execution_time(simulation: Simulation) -> None:
    """The vehicle leaves the ground no earlier than the slow computer has told it to."""
    session = InProcess(simulation.port, clock=Slow(700))
    sent = session.ask(Arm(), TakeOff(2.0))
    assert sent.t_ns == 700 * MS
    assert sent.status.mode == "takeoff"
    assert [event.kind for event in sent.events] == []
    events = [event for _ in range(2) for event in session.ask().events]
    assert [(event.kind, event.t_ns) for event in events[:1]] == [("armed", 700 * MS)]
    assert simulation.truth().position[2] > 0.3


def test_what_cannot_be_obeyed_is_refused_not_raised(simulation: Simulation) -> None:
    session = InProcess(simulation.port)
    session.send(Arm())
    bundle = session.send(Velocity(np.array([np.nan, 0.0, 0.0])))
    assert len(bundle.refused) == 1
    assert "finite" in bundle.refused[0]


def test_the_flight_ends(simulation: Simulation) -> None:
    session = InProcess(simulation.port, end_ns=500 * MS)
    assert session.sleep_until(500 * MS).t_ns == 500 * MS
    with pytest.raises(LinkEnded, match=r"over at 0\.5 s"):
        session.sleep_until(500 * MS + 1)
    with pytest.raises(LinkEnded, match="closed"):
        session.ask()
    assert simulation.clock.now_ns == 500 * MS


def test_unknown_names_are_told(simulation: Simulation) -> None:
    with pytest.raises(UnknownNameError, match="imu"):
        InProcess(simulation.port).ask(want=["imo"])
    with pytest.raises(UnknownNameError, match="drone"):
        InProcess(simulation.port, "drome")


def test_two_runs_give_the_same_answers() -> None:
    def flown() -> list[bytes]:
        with skyloop.build(skyloop.make_scenario(SCENARIO)) as built:
            session = InProcess(built.port, clock=Slow(7))
            session.send(Arm(), TakeOff(1.0))
            return [session.ask(want=["imu"], fresh=["imu"]).state.position.tobytes() for _ in range(20)]

    assert flown() == flown()
