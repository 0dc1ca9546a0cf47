"""Simulated time (ST) and execution time (ET): what the coordinator promises of them."""

from __future__ import annotations

import copy
import itertools
import random
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from core_flights import NOISY_FLIGHT
from link_rig import ONE, TWO, Computer, Rig, Stranger, eventually, flying
from skyloop.core.bus import Bus, record_bytes
from skyloop.links.loop import client_sessions as client_sessions_module
from skyloop.links.loop.coordinator import TABLE_I
from skyloop.links.loop.targets import PowerModel
from skyloop.sim.assembly import build
from skyloop.sim.scenario import make_scenario
from skyloop_client.errors import LinkError
from skyloop_client.messages import Arm, Message, TakeOff, Velocity
from skyloop_client.session import Session

MS = 1_000_000
SECOND = 1_000_000_000


WAYS = ("ask", "sleep", "fresh", "progress", "command")


def random_script(chance: random.Random) -> list[Any]:
    """ns to compute, what to do then, ns for which to sleep."""
    return [
        (chance.choice((0, 1, chance.randrange(60 * MS))), chance.choice(WAYS), chance.randrange(-10 * MS, 80 * MS))
        for _ in range(25)
    ]


def act_out(session: Session, computer: Computer, script: list[Any], wall_s: float = 0.0) -> None:
    """Compute and ask as a script says; every answer must be one that the question allowed."""
    t_ns, seen = 0, -1
    for compute_ns, what, for_ns in script:
        computer.compute(compute_ns)
        et_ns = session.now()
        if wall_s:
            time.sleep(wall_s)
        if what == "progress":
            session.progress()
            continue
        options: dict[str, Any] = {
            "ask": {"want": ["status"]},
            "sleep": {"until_ns": et_ns + for_ns},
            "fresh": {"fresh": ["status"], "want": None},
            "command": {},
        }[what]
        send = [Arm(), TakeOff(1.0), Velocity(np.array([0.1, 0.0, 0.0]))] if what == "command" else []
        bundle = session.ask(*send, **options)
        assert bundle.t_ns >= t_ns
        if session.mode == "sync":
            assert bundle.t_ns >= max(et_ns, options.get("until_ns", 0))
            if what in ("ask", "command"):
                assert bundle.t_ns == et_ns
        if (sample := bundle.latest.get(f"{session.vehicle}/status")) is not None:
            assert sample.t_ns > seen or what != "fresh"
            seen = sample.t_ns
        t_ns = bundle.t_ns


def fly_scripts(rig: Rig, scripts: dict[str, list[Any]], wall_s: float = 0.0) -> list[BaseException]:
    """One thread per pilot, all of them connected before the first asks."""
    errors: list[BaseException] = []
    computers = {vehicle: Computer() for vehicle in scripts}
    sessions = {vehicle: rig.connect(vehicle=vehicle, clock=computers[vehicle]) for vehicle in scripts}
    late: list[str] = []
    done: set[str] = set()

    def watch(message: Message) -> None:
        for vehicle, session in sessions.items():
            computes = vehicle not in done and session._time._went_on is not None
            # it may go on meanwhile, but never back
            if computes and message.arrival_ns > (et_ns := session.now()):
                late.append(f"ST {message.arrival_ns} passed ET {et_ns} of {vehicle}")

    for stream in [*rig.simulation.bus.infos]:
        rig.simulation.bus.on(stream, watch)

    def pilot(vehicle: str) -> None:
        try:
            act_out(sessions[vehicle], computers[vehicle], scripts[vehicle], wall_s)
        except BaseException as error:
            errors.append(error)
        done.add(vehicle)
        sessions[vehicle].close()

    threads = [threading.Thread(target=pilot, args=(vehicle,)) for vehicle in scripts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30.0)
    if rig.mode == "sync":
        assert not late, late[:3]
    return errors


@pytest.mark.parametrize("seed", range(6))
def test_time_never_passes_whoever_computes(seed: int) -> None:
    chance = random.Random(seed)
    with flying(TWO) as rig:
        assert fly_scripts(rig, {"a": random_script(chance), "b": random_script(chance)}) == []
        assert rig.link.timeline.count > 20
        assert rig.link.timeline.violations == 0
        for vehicle in ("a", "b"):
            rows = [row for row in rig.link.timeline.rows if row.vehicle == vehicle]
            assert [row.number for row in rows] == list(range(1, len(rows) + 1))
            for row, following in itertools.pairwise(rows):
                assert row.st_asked_ns <= row.et_ns <= row.st_acted_ns <= row.st_replied_ns <= following.et_ns


def test_without_synchronisation_the_same_check_fails() -> None:
    script = [(30 * MS, "ask", 0), (5 * MS, "command", 0)] * 5
    with flying(mode="none", pace=0.5) as rig:
        assert fly_scripts(rig, {"drone": script}) == []
        # on a busy machine a question may come after its execution time, but never all of them
        assert any("before their ET" in row.violates for row in rig.link.timeline.rows)
    with flying(mode="none", pace=10.0) as rig:
        fly_scripts(rig, {"drone": [(0, "ask", 0)] * 5}, wall_s=0.02)
        assert any("had passed ET" in row.violates for row in rig.link.timeline.rows)
        assert rig.link.summary()["violations"] == rig.link.timeline.violations > 0


# ---- commands


class Bytes:
    """What streams published until an instant, bit for bit."""

    def __init__(self, bus: Bus, until_ns: int) -> None:
        self.rows: dict[str, list[tuple[int, bytes]]] = {name: [] for name in bus.infos if "link/" not in name}
        self._until_ns = until_ns
        for name in self.rows:
            bus.on(name, self._add)

    def _add(self, message: Message) -> None:
        if message.arrival_ns <= self._until_ns:
            self.rows[message.stream].append((message.arrival_ns, record_bytes(message.data)))


def flown(
    pilot: Callable[[Session, Computer], None], scenario: dict[str, Any], until_s: float, pace: float | None = None
) -> Any:
    """Streams of a flight by a SUT whose clock is its own."""
    # a computer that draws no power leaves the battery as it would be without it
    options = client_sessions_module.SessionOptions(power=PowerModel(0.0, 0.0))
    rig = Rig(copy.deepcopy(scenario), options, pace=pace)
    tape = Bytes(rig.simulation.bus, round(until_s * SECOND))
    rig.start()
    try:
        computer = Computer()
        with rig.connect(clock=computer) as session:
            pilot(session, computer)
            session.sleep_until(round(until_s * SECOND) + 1)
        assert rig.link.timeline.violations == 0
    finally:
        rig.stop()
    return tape.rows


FINE = {**ONE, "truth_rate_hz": 500}


@pytest.mark.parametrize("et_ns", [1_200 * MS, 1_234_567_891])
def test_a_command_acts_at_its_execution_time(et_ns: int) -> None:
    def fly(session: Session, computer: Computer, *command: Any) -> None:
        session.send(Arm(), TakeOff(1.0))
        session.sleep_until(SECOND)
        computer.compute(et_ns - SECOND)
        session.send(*command)

    without = flown(fly, FINE, 1.5)["truth/drone"]
    with_it = flown(lambda *a: fly(*a, Velocity(np.array([3.0, 0.0, 0.0]))), FINE, 1.5)["truth/drone"]
    first = next(t_ns for (t_ns, a), (_, b) in zip(without, with_it, strict=True) if a != b)
    assert et_ns < first < et_ns + 20 * MS


def test_questions_alone_change_nothing() -> None:
    scenario = {**NOISY_FLIGHT, "vehicles": [{**NOISY_FLIGHT["vehicles"][0], "pilot": None}]}

    def ask(session: Session, computer: Computer) -> None:
        for k in range(30):
            computer.compute(1_234_567 * k)
            session.ask(want=None, fresh=["imu"] if k % 2 else [])

    alone = build(make_scenario(copy.deepcopy(scenario)))
    tape = Bytes(alone.bus, SECOND)
    alone.run_until(1.1)
    assert flown(ask, scenario, 1.0) == tape.rows


def test_the_same_seed_and_clock_give_the_same_bytes_at_any_pace() -> None:
    scenario = {**NOISY_FLIGHT, "vehicles": [{**NOISY_FLIGHT["vehicles"][0], "pilot": None, "state": "truth"}]}

    def fly(session: Session, computer: Computer) -> None:
        bundle = session.ask(Arm(), TakeOff(1.5))
        for k in range(40):
            computer.compute(7 * MS + 1_003 * k)
            speed = 0.3 * np.sin(0.2 * k) + bundle.state.position
            bundle = session.ask(Velocity(-speed), fresh=["imu"] if k % 3 else (), until_ns=session.now() + 9 * MS)

    runs = [flown(fly, scenario, 1.2, pace=pace) for pace in (None, None, 4.0, 20.0)]
    assert len(runs[0]["drone/imu"]) > 200
    assert runs[0] == runs[1] == runs[2] == runs[3]


# ---- questions and answers


@pytest.fixture(scope="module")
def ranging() -> dict[str, Any]:
    return {"vehicles": [{"name": "drone", "sensors": {"range": {"kind": "rangefinder", "rate_hz": 20}}}]}


def test_sensor_delays_pass_on_the_suts_time(ranging: dict[str, Any]) -> None:
    computer = Computer()
    with flying(ranging, delays=TABLE_I) as rig, rig.connect(clock=computer) as session:
        computer.compute(10 * MS)
        assert session.ask().t_ns == 10 * MS
        assert session.ask(want=["status"]).t_ns == 10 * MS
        assert session.ask(want=["range"]).t_ns == 10 * MS + 97_700_000
        assert session.ask(want=["range"], until_ns=SECOND).t_ns == SECOND
        assert session.ask(fresh=["range"]).t_ns == SECOND + 97_700_000
        assert rig.link.timeline.violations == 0


def test_until_and_fresh() -> None:
    computer = Computer()
    with flying() as rig, rig.connect(clock=computer) as session:
        first = session.ask(want=None)
        assert "drone/status" in first.latest
        assert not any(name.startswith("truth") for name in first.latest)
        assert session.ask(want=["truth/drone"]).get("truth/drone").t_ns == 0
        assert session.ask(until_ns=-5).t_ns == 0
        assert session.ask(until_ns=15 * MS).t_ns == 15 * MS
        for k in range(1, 5):
            bundle = session.ask(fresh=["status"])
            assert bundle.t_ns == bundle.latest["drone/status"].t_ns == 20 * MS * k
        assert session.ask(fresh=["status"], until_ns=97 * MS).t_ns == 100 * MS
        assert session.ask(fresh=["status"], until_ns=127 * MS).t_ns == 127 * MS
        computer.compute(50 * MS)
        assert session.ask(fresh=["status"]).t_ns == 177 * MS  # the one of 160 ms was never given
    with flying() as rig, Stranger(rig) as stranger:
        t_ns = stranger.hello()["t_ns"]
        given = stranger.ask(t_ns + 25 * MS, want=["status"])["messages"]["drone/status"]
        assert given[:3] == [1, 20 * MS, 20 * MS]
        assert stranger.ask(t_ns + 26 * MS, 2, want=["status"])["messages"] == {}


def test_progress_lets_time_follow_and_counts_as_computing() -> None:
    computer = Computer()
    with flying() as rig, rig.connect(clock=computer, period=0.02, duration=0.005) as session:
        for _ in range(3):
            computer.compute(41 * MS)
            session.progress()
        # events are 20 ms apart
        assert eventually(lambda: rig.simulation.clock.now_ns == 120 * MS)
        session.ask()
        computer.compute(3 * MS)
        session.ask()
        computer.compute(30 * MS)
        session.ask()
        (pilot,) = rig.link.summary()["pilots"]
    assert pilot["computed_s"] == pytest.approx(0.156)
    assert pilot["deadlines_missed"] == 2
    assert pilot["worst_beyond_deadline_s"] == pytest.approx(0.118)
    assert sum("deadline missed" in line for line in rig.news) == 2
    assert "period 30.0 ms, 20.0 declared" in rig.news_of("question 3")


def test_watchers_hold_no_time_and_may_not_send() -> None:
    computer = Computer()
    with flying() as rig:
        pilot = rig.connect(clock=computer)
        watcher = rig.connect(watch=True, clock=lambda: 0)
        pilot.sleep_until(SECOND)
        assert watcher.ask(want=["status"]).t_ns == SECOND
        computer.compute(SECOND)
        pilot.ask()
        assert watcher.ask().t_ns == 2 * SECOND
        assert rig.link.timeline.violations == 0
        with pytest.raises(LinkError, match="a watcher may not send"):
            watcher.ask(Arm())
        assert not pilot.ask().status.armed
        pilot.close()
        watcher.close()
