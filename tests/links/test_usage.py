"""What a program uses of its computer: time of its cycles and tasks, energy; as noted and as told to it."""

from __future__ import annotations

import pytest

from link_rig import Computer, Stranger, flying
from skyloop.links.loop.targets import PowerModel

MS = 1_000_000


def test_a_task_that_takes_longer_than_declared_is_told_and_counted() -> None:
    computer = Computer()
    with flying() as rig, rig.connect(clock=computer) as session:
        session.ask()
        session.begin_task("look", 0.05)
        computer.compute(30 * MS)  # what comes before the first question counts too
        session.ask()
        session.begin_task("point", 0.5)
        computer.compute(30 * MS)
        session.ask(until_ns=70 * MS)
        session.end_task("point")
        session.end_task("look")
        session.ask()
        session.begin_task("look", 0.05)
        computer.compute(10 * MS)
        session.end_task("look")
        session.ask()
        (pilot,) = rig.link.summary()["pilots"]
    assert pilot["tasks"]["look"] == {"runs": 2, "missed": 1, "longest_s": 0.07, "deadline_s": 0.05}
    assert pilot["tasks"]["point"]["missed"] == 0 and pilot["tasks"]["point"]["longest_s"] == 0.04
    assert pilot["deadlines_missed"] == 1 and pilot["deadlines_declared"]
    assert "task look: 0.060 s so far, 0.05 s declared" in rig.news_of("deadline missed")


@pytest.mark.parametrize(
    ("declares", "task", "expected"),
    [({}, None, False), ({"period": 1.0}, None, True), ({"duration": 1.0}, None, True), ({}, 0.5, True)],
)
def test_the_summary_says_whether_a_deadline_was_declared(
    declares: dict[str, float], task: float | None, expected: bool
) -> None:
    with flying() as rig, rig.connect(clock=Computer(), **declares) as session:
        for deadline in (task, None):
            session.begin_task("look", deadline)
            session.end_task("look")
            session.ask()
        (pilot,) = rig.link.summary()["pilots"]
    assert pilot["deadlines_declared"] is expected


def test_a_question_without_deadlines_is_as_it_was() -> None:
    """What decoding costs a slow board counts: nothing is added for programs that did not ask for it."""
    with flying() as rig, Stranger(rig) as stranger:
        stranger.hello()
        reply = stranger.ask(0)
    assert "battery" not in reply and "computer_energy_j" not in reply
    with flying() as rig, Stranger(rig) as stranger:
        t_ns = stranger.hello(energy=True)["t_ns"]
        assert stranger.ask(t_ns)["computer_energy_j"] == 0.0
        for wrong in ("task", [["start", "look", None]], [["begin", "look"]], [["begin", "look", -1]]):
            with flying() as other, Stranger(other) as bad:
                bad.hello()
                assert bad.ask(0, tasks=wrong)["type"] == "refused"


def test_the_computer_draws_from_the_battery_and_the_program_is_told() -> None:
    """Busy for half of ten seconds at 106 W, idle for the other at 6 W."""
    power = PowerModel(idle=6.0, busy=106.0)
    left = {}
    for model in (PowerModel(0.0, 0.0), power):
        computer = Computer()
        with flying(power=model) as rig, rig.connect(clock=computer) as session:
            for _ in range(10):
                computer.compute(500 * MS)
                bundle = session.ask(until_ns=session.now() + 500 * MS)
            (pilot,) = rig.link.summary()["pilots"]
            left[model.busy] = bundle.battery.energy_used
        assert bundle.computer_energy == pilot["computer_energy_j"]
        assert bundle.computer_energy == pytest.approx(5 * model.busy + 5 * model.idle)
    assert left[106.0] - left[0.0] == pytest.approx(560.0, rel=0.01)


def test_percentiles_of_a_cycles_computing_time() -> None:
    computer = Computer()
    with flying() as rig, rig.connect(clock=computer) as session:
        for k in range(100):
            computer.compute((1 + k) * MS)
            session.ask()
        (pilot,) = rig.link.summary()["pilots"]
    cycle = pilot["cycle_s"]
    assert cycle["count"] == 100 and cycle["max"] == 0.1
    assert [cycle[name] for name in ("p50", "p90", "p99")] == pytest.approx([0.05, 0.09, 0.099], rel=0.011)
