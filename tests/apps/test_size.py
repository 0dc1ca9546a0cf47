"""How slow may the computer be: speeds, verdicts, and a real SUT that is too slow on a slow one."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import pytest

from skyloop.apps.size import Flight, size, slowest_good, speeds_from, sut_result
from skyloop.links.loop.targets import LocalProcess, Target
from skyloop.sim.scenario import make_scenario
from skyloop_client.errors import LinkError

SUT = """
import json, time
from skyloop_client import connect
with connect() as session:
    session.sleep_until(100_000_000)
    began = time.process_time()
    while time.process_time() - began < 0.02:
        pass
    late = session.now() - 100_000_000
    session.ask()
print("done")
print(json.dumps({"success": late < 500_000_000, "error": late / 1e9, "time_s": session.now() / 1e9}))
"""


def flight(speed: float, success: bool) -> Flight:
    return Flight(speed, 1, success, None, 1.0, 0.1, 1.0, 1.0, 0, "")


def test_speeds() -> None:
    assert speeds_from("0.1,1,2") == [0.1, 1.0, 2.0]
    assert speeds_from("0.05..2", 3) == [0.05, 0.316, 2.0]
    assert speeds_from("0.5..0.5", 1) == [0.5, 0.5]
    for bad in ("", "fast", "0..1", "-1", "1..x", "1e9"):
        with pytest.raises(LinkError, match="give LOW"):
            speeds_from(bad)


def test_the_slowest_good_computer_has_no_failure_above_it() -> None:
    flights = [flight(2.0, True), flight(1.0, True), flight(1.0, True), flight(0.5, False), flight(0.1, True)]
    assert slowest_good(flights) == 1.0
    assert slowest_good([flight(1.0, False), flight(0.5, True)]) is None


def test_results_are_the_last_line_if_it_is_json(tmp_path: Path) -> None:
    said = tmp_path / "sut.txt"
    assert sut_result(said) == {}
    for text, result in (("", {}), ("oops\n", {}), ('hi\n{"a": 1}\n', {"a": 1}), ("[1]\n", {}), ('{"a": 1}\nbye', {})):
        said.write_text(text)
        assert sut_result(said) == result


def test_a_computer_can_be_too_slow(tmp_path: Path) -> None:
    sut = tmp_path / "sut.py"
    sut.write_text(SUT)

    def target_of(speed: float) -> Target:
        return LocalProcess([sys.executable, str(sut)], clock="cpu", speed=speed)

    scenario = make_scenario({"name": "standing", "duration": 20.0})
    flights = size(scenario, target_of, [0.01, 1.0], tmp_path, runs=1)
    assert [(f.speed, f.success) for f in flights] == [(1.0, True), (0.01, False)]
    # 20 ms of processor time, on a computer a hundredth as fast
    assert flights[0].error is not None and 0.02 <= flights[0].error < 0.5
    assert flights[1].error is not None and flights[1].error >= 2.0
    assert flights[1].computed > 100 * flights[0].computed * 0.02
    assert slowest_good(flights) == 1.0
    with (tmp_path / "size.csv").open() as file:
        assert [row["success"] for row in csv.DictReader(file)] == ["True", "False"]
    assert (tmp_path / "size.png").stat().st_size > 5000


def test_a_sut_that_fails_is_told_with_its_last_words(tmp_path: Path) -> None:
    def target_of(speed: float) -> Target:
        return LocalProcess([sys.executable, "-c", "raise SystemExit('no camera here')"])

    scenario = make_scenario({"name": "standing", "duration": 5.0})
    (failed,) = size(scenario, target_of, [1.0], tmp_path, runs=1)
    assert not failed.success and "no camera here" in failed.trouble
