"""How fast simulated time may pass, told with a clock that the test turns."""

from __future__ import annotations

import pytest

from skyloop.links import pace as pace_module
from skyloop.links.pace import LATE_S, Pace

SECOND = 1_000_000_000


class Wall:
    def __init__(self) -> None:
        self.s = 100.0

    def perf_counter(self) -> float:
        return self.s


@pytest.fixture
def wall(monkeypatch: pytest.MonkeyPatch) -> Wall:
    wall = Wall()
    monkeypatch.setattr(pace_module, "time", wall)
    return wall


@pytest.mark.parametrize("factor", [0.1, 1.0, 4.0])
def test_a_second_takes_its_time(wall: Wall, factor: float) -> None:
    pace = Pace(factor)
    assert pace.left(3 * SECOND, 2 * SECOND) == pytest.approx(1.0 / factor)
    wall.s += 0.5 / factor
    assert pace.left(3 * SECOND, 2 * SECOND) == pytest.approx(0.5 / factor)
    assert pace.now(0, 10 * SECOND) == pytest.approx(2.5 * SECOND)
    assert pace.now(0, 2 * SECOND) == 2 * SECOND
    assert pace.now(3 * SECOND, 4 * SECOND) == 3 * SECOND


def test_without_a_factor_nothing_waits(wall: Wall) -> None:
    pace = Pace(None)
    assert pace.left(10**18, 0) == 0.0
    pace.reached(-100.0)
    assert pace.missed == 0
    assert pace.now(5, 9) == 5


def test_lateness_is_counted_caught_up_and_given_up(wall: Wall) -> None:
    pace = Pace(1.0)
    pace.left(0, 0)
    wall.s += LATE_S / 2
    pace.reached(pace.left(0, 0))
    assert pace.missed == 0
    wall.s += 0.5
    late = pace.left(SECOND // 10, 0)
    pace.reached(late)
    assert (pace.missed, pace.worst_s) == (1, -late)
    # behind by less than a second: it hurries
    assert pace.left(SECOND, 0) == pytest.approx(1.0 - 0.5 - LATE_S / 2)
    wall.s += 60.0
    pace.reached(pace.left(SECOND, 0))
    assert pace.missed == 2
    # behind by more: it goes on from there
    assert pace.left(2 * SECOND, SECOND) == pytest.approx(1.0)


def test_after_a_time_at_another_pace_it_goes_on_from_there(wall: Wall) -> None:
    pace = Pace(1.0)
    pace.left(SECOND, 0)
    wall.s += 2.0
    pace.restart()
    assert pace.left(1001 * SECOND, 1000 * SECOND) == pytest.approx(1.0)
    assert pace.missed == 0


def test_lost_time_is_given_up_sooner_where_peers_have_short_timeouts(wall: Wall) -> None:
    patient, short = Pace(1.0), Pace(1.0, give_up_s=0.2)
    for pace in (patient, short):
        pace.left(0, 0)
    wall.s += 0.5
    for pace in (patient, short):
        pace.reached(pace.left(0, 0))
    # the next second: one hurries through half of it, the other takes it as it comes
    assert patient.left(SECOND, 0) == pytest.approx(0.5)
    assert short.left(SECOND, 0) == pytest.approx(1.0)
