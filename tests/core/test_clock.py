from __future__ import annotations

from skyloop.core.clock import Clock, FreeRunning, RealTime
from skyloop_client.streams import NS_PER_S


class Wall:
    """A wall clock that moves only when somebody sleeps or works."""

    def __init__(self) -> None:
        self.now = 100.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def seconds(*times: float) -> list[int]:
    return [round(t * NS_PER_S) for t in times]


def test_real_time_sleeps_what_is_left_after_the_work() -> None:
    wall = Wall()
    pacing = RealTime(2.0, wall=wall, sleep=wall.sleep)
    for t_ns in seconds(0.0, 1.0, 2.0):
        pacing.wait(t_ns)
        wall.now += 0.125
    assert wall.slept == [0.375, 0.375]
    assert pacing.worst_lateness == 0.0


def test_real_time_starts_where_the_simulation_is() -> None:
    wall = Wall()
    pacing = RealTime(wall=wall, sleep=wall.sleep)
    for t_ns in seconds(50.0, 51.0):
        pacing.wait(t_ns)
    assert wall.slept == [1.0]


def test_real_time_remembers_its_worst_lateness_and_skips_nothing() -> None:
    wall = Wall()
    pacing = RealTime(wall=wall, sleep=wall.sleep)
    pacing.wait(0)
    wall.now += 1.75
    for t_ns in seconds(1.0, 1.5, 2.0):
        pacing.wait(t_ns)
    assert pacing.worst_lateness == 0.75
    assert wall.slept == [0.25]


def test_real_time_starts_anew_when_time_was_set() -> None:
    wall = Wall()
    pacing = RealTime(wall=wall, sleep=wall.sleep)
    clock = Clock(pacing)
    for there in (3.0, 50.0):
        for t_ns in seconds(0.0, 10.0):
            clock.advance(t_ns)
        clock.set(*seconds(there))
        for t_ns in seconds(there, there + 1.0):
            clock.advance(t_ns)
        clock.set(0)
    assert wall.slept == [10.0, 1.0] * 2
    assert pacing.worst_lateness == 0.0


def test_real_time_does_not_race_after_a_pause() -> None:
    wall = Wall()
    pacing = RealTime(wall=wall, sleep=wall.sleep)
    for t_ns in seconds(0.0, 1.0):
        pacing.wait(t_ns)
    wall.now += 60.0
    for t_ns in seconds(1.25, 1.5, 2.0):
        pacing.wait(t_ns)
    assert wall.slept == [1.0, 0.5]
    assert pacing.worst_lateness == 59.75


def test_gates_open_in_order_before_pacing_and_before_time_moves() -> None:
    seen: list[tuple[str, int, int]] = []

    class Gate:
        def __init__(self, name: str) -> None:
            self.name = name

        def pass_to(self, t_ns: int) -> int:
            seen.append((self.name, t_ns, clock.now_ns))
            return t_ns

        def wait(self, t_ns: int) -> None:
            self.pass_to(t_ns)

        def restart(self) -> None: ...

    clock = Clock(Gate("pacing"), (Gate("first"), Gate("second")))
    clock.advance(7)
    clock.advance(9)
    assert [name for name, _, _ in seen] == ["first", "second", "pacing"] * 2
    assert [(t, now) for _, t, now in seen] == [(7, 0)] * 3 + [(9, 7)] * 3
    assert clock.now_ns == 9


def test_a_clock_runs_free_by_default() -> None:
    clock = Clock()
    assert isinstance(clock.pacing, FreeRunning)
    clock.advance(10**15)
    assert clock.now_ns == 10**15
