"""Estimators at the other end of the link, over real sockets and from the command line."""

from __future__ import annotations

import copy
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core_flights import Tape
from link_rig import ONE, Computer, Rig, eventually, flying
from published_things import FromTruth, Listener, estimate
from skyloop.cli import main
from skyloop.sim.assembly import build
from skyloop.sim.estimator_assembly import UserEstimatorPart
from skyloop.sim.scenario import make_scenario
from skyloop_client import Session
from skyloop_client.errors import LinkError, PartError
from skyloop_client.estimator import run_estimator
from skyloop_client.messages import Arm, Goal, Message, TakeOff

MS, SECOND = 1_000_000, 1_000_000_000
THINGS = str(Path(__file__).parents[1] / "published_things.py")
OUTSIDE: dict[str, Any] = {
    "truth_rate_hz": 100,
    "vehicles": [
        {
            "name": "drone",
            "state": "vio",
            "sensors": {"imu": {"kind": "imu", "rate_hz": 100}, "gnss": {"kind": "gnss", "latency": 0.12}},
            "estimators": {"vio": {"kind": "link", "inputs": ["truth/drone"], "options": {"offset": 0.5}}},
        }
    ],
}


@contextmanager
def estimating(
    rig: Rig, make: Any = FromTruth, clock: Callable[[], int] = lambda: 0, **options: Any
) -> Iterator[list[BaseException]]:
    """An estimator in a thread of its own; its troubles."""
    session = rig.connect(estimator="vio", clock=clock, **options)
    errors: list[BaseException] = []

    def run() -> None:
        try:
            with session:
                run_estimator(session, make)
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield errors
    finally:
        with suppress(OSError):
            session._pipe._socket.shutdown(2)
        thread.join(10.0)


def take_off_and_go(session: Session) -> None:
    session.sleep_until(300 * MS)
    session.send(Arm(), TakeOff(1.5))
    session.sleep_until(1500 * MS)
    session.send(Goal(np.array([2.0, 0.0, 1.5])))
    session.sleep_until(3 * SECOND)


def flown_outside(delay_ns: int = 0) -> list[tuple[Any, ...]]:
    rig = Rig(copy.deepcopy(OUTSIDE), remote_options())
    tape = Tape(rig.simulation.bus)
    rig.start()
    try:
        computer = Computer()

        class Slow(FromTruth):
            def on_message(self, message: Message) -> Any:
                computer.compute(delay_ns)
                return super().on_message(message)

        with rig.connect(clock=lambda: 0) as pilot, estimating(rig, Slow, computer) as errors:
            take_off_and_go(pilot)
            assert errors == []
        assert rig.link.timeline.violations == 0
        assert rig.simulation.truth().position[2] > 0.7
    finally:
        rig.stop()
    return [row for row in tape.cut() if not row[0].startswith("link/") and row[3] <= 2500 * MS]


def remote_options() -> Any:
    from skyloop.links.loop.client_sessions import SessionOptions

    return SessionOptions()


def test_the_vehicle_flies_on_an_estimator_outside_twice_the_same() -> None:
    first = flown_outside()
    assert first == flown_outside()
    estimates = [row for row in first if row[0] == "drone/vio"]
    assert [row[1] for row in estimates] == list(range(len(estimates))) and len(estimates) > 220


def test_its_execution_time_is_when_its_estimates_arrive() -> None:
    slow = flown_outside(4 * MS)
    assert {row[3] - row[2] for row in slow if row[0] == "drone/vio"} == {4 * MS}
    # too slow for every sample: it falls behind by as much as it must, and still every sample is estimated
    slower = [row for row in flown_outside(12 * MS) if row[0] == "drone/vio"]
    late = [row[3] - row[2] for row in slower]
    assert late[0] == 12 * MS and late == sorted(late) and late[-1] > 300 * MS


def test_it_hears_what_it_would_hear_in_the_process() -> None:
    listener = {"kind": f"{THINGS}:Listener", "inputs": ["imu", "gnss"]}
    scenario = copy.deepcopy(OUTSIDE)
    scenario["vehicles"][0] |= {"estimators": {"vio": listener}, "state": "truth"}
    with build(make_scenario(scenario)) as inside:
        inside.run_until(1.001)
        expected = next(part._own.heard for part in inside.parts_of(UserEstimatorPart))
    scenario["vehicles"][0]["estimators"] = {"vio": {**listener, "kind": "link"}}
    built: list[Listener] = []

    def make(*arguments: Any, **_: Any) -> Listener:
        built.append(Listener(*arguments))
        return built[0]

    with (
        flying(scenario) as rig,
        rig.connect(clock=lambda: 0) as pilot,
        estimating(rig, make) as errors,
    ):
        pilot.sleep_until(SECOND + MS)
        eventually(lambda: len(built[0].heard) >= len(expected))
        assert errors == []
    assert built[0].heard[: len(expected)] == expected and len(expected) > 100
    assert built[0].setup.infos["imu"].details["gyro_noise_density"] > 0.0
    assert built[0].setup.start.gravity == pytest.approx(9.8, abs=0.05)


def test_time_waits_for_every_estimator_and_says_for_whom() -> None:
    with flying(copy.deepcopy(OUTSIDE)) as rig, rig.connect(clock=lambda: 0) as pilot:
        answers: list[Any] = []
        thread = threading.Thread(target=lambda: answers.append(pilot.ask(until_ns=50 * MS)))
        thread.start()
        thread.join(0.3)
        assert rig.simulation.clock.now_ns == 0 and not answers
        with estimating(rig):
            thread.join(10.0)
            assert answers[0].t_ns == 50 * MS
    with (
        pytest.raises(LinkError, match="no estimator for drone/vio came to port"),
        flying(copy.deepcopy(OUTSIDE), wait_s=0.3) as rig,
        rig.connect(clock=lambda: 0),
    ):
        eventually(lambda: rig.error)


def test_who_may_stand_for_an_estimator() -> None:
    with flying(copy.deepcopy(OUTSIDE)) as rig:
        with estimating(rig), pytest.raises(LinkError, match="'drone/vio' is estimated by"):
            rig.connect(estimator="vio")
        with pytest.raises(LinkError, match="no estimator named 'vins' runs outside; there are vio"):
            rig.connect(estimator="vins")
        # a pilot may estimate, too
        with rig.connect(role="pilot", estimator="vio", clock=lambda: 0) as both:
            both.publish("vio", estimate(0, valid=True))
            assert both.ask().refused == ()
            assert rig.simulation.autopilots["drone"].state(0).valid
        with rig.connect(clock=lambda: 0) as stranger:
            stranger.publish("vio", estimate(0))
            assert "is published by estimator 'vio' on the link already" in stranger.ask().refused[0]
    with flying(ONE) as rig, pytest.raises(LinkError, match="'drone' has no estimator of kind link"):
        rig.connect(estimator="vio")


def test_an_estimator_that_dies_leaves_the_vehicle_to_its_failsafe() -> None:
    class Dies(FromTruth):
        def on_message(self, message: Message) -> Any:
            if message.t_ns > 2 * SECOND:
                raise ValueError("no features")
            return super().on_message(message)

    with flying(copy.deepcopy(OUTSIDE)) as rig:
        with rig.connect(clock=lambda: 0) as pilot, estimating(rig, Dies) as errors:
            pilot.sleep_until(300 * MS)
            pilot.send(Arm(), TakeOff(1.0))
            pilot.sleep_until(3 * SECOND)
            (error,) = errors
            assert isinstance(error, PartError)
            assert str(error).startswith(
                "estimator 'vio' at 2.010 s: ValueError: no features (test_link_estimators.py, line"
            )
            assert pilot.ask().status.failsafe == "estimate lost"
        rig.news_of("left")


# ---- from the command line


@pytest.mark.processes
def test_skyloop_loop_runs_the_scenarios_own_estimator_outside(tmp_path: Path, capsys: Any) -> None:
    scenario = copy.deepcopy(OUTSIDE)
    scenario["duration"] = 2.0
    scenario["vehicles"][0]["estimators"]["vio"]["kind"] = f"{THINGS}:FromTruth"
    scenario["vehicles"][0]["pilot"] = {"kind": "hover", "altitude": 1.0}
    (tmp_path / "s.yaml").write_text(json.dumps(scenario))
    reported = [
        "loop",
        str(tmp_path / "s.yaml"),
        "--estimator",
        "vio",
        "--speed",
        "0.5",
        "--out",
        str(tmp_path / "run"),
        "--json",
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["skyloop", *reported])
        with suppress(SystemExit):
            main()
    summary = json.loads(capsys.readouterr().out)
    (one,) = summary["links"]["loop"]["pilots"]
    assert (one["role"], summary["links"]["loop"]["violations"]) == ("estimator", 0)
    assert one["computed_s"] > 0.0
    assert summary["vehicles"]["drone"]["highest_m"] > 0.5
    # 0.5 m off by its option, which came with the hello
    assert summary["vehicles"]["drone"]["estimate_error_rms_m"] == pytest.approx(0.5)
    rows = (tmp_path / "run" / "streams" / "drone" / "vio.csv").read_text().splitlines()[1:]
    late = np.array([int(row.split(",")[1]) - int(row.split(",")[2]) for row in rows])
    assert (late > 0).all()
    assert (tmp_path / "run" / "estimator.txt").exists()


@pytest.mark.parametrize(
    ("asked", "awaited"),
    [
        (["--estimator", "vio"], "a pilot"),
        ([], "a pilot and an estimator for drone/other"),
        (["--pilots-inside"], "an estimator for drone/other"),
    ],
)
@pytest.mark.processes
def test_skyloop_loop_says_for_what_it_waits_and_where(
    tmp_path: Path, asked: list[str], awaited: str, capsys: Any
) -> None:
    scenario = copy.deepcopy(OUTSIDE)
    scenario["vehicles"][0]["state"] = "truth"
    estimators = scenario["vehicles"][0]["estimators"]
    if "--estimator" in asked:
        estimators["vio"]["kind"] = f"{THINGS}:FromTruth"
    else:
        estimators["other"] = estimators.pop("vio")
    (tmp_path / "s.yaml").write_text(json.dumps(scenario))
    reported = ["loop", str(tmp_path / "s.yaml"), *asked, "--wait", "0.2", "--out", str(tmp_path / "run")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["skyloop", *reported])
        with pytest.raises(SystemExit) as ended:
            main()
    said = capsys.readouterr().err
    # once, before it gives up
    (found,) = re.findall(r"waiting for (.+) at 127\.0\.0\.1:\d+", said)
    assert found == awaited and ended.value.code == 1
