"""What the PC does during a landing, step by step."""

from __future__ import annotations

import math

import pytest

from skyloop_client.errors import LinkError
from skyloop_landing.board.pc_procedure import HeadingVelocity, PcProcedure, PcProcedureConfig, PcStep, figure_sizes

MS = 1_000_000
S = 1000 * MS


class Line:
    """A procedure and what it sent and ordered."""

    def __init__(self, **config) -> None:
        self.news: list[str] = []
        self.pc = PcProcedure(PcProcedureConfig(**config), self.news.append)
        self.t_ns = 0

    def step(self, received: bytes = b"", altitude: float = 7.5, landed: bool = False, after: int = 10 * MS) -> PcStep:
        done = self.pc.step(self.t_ns, received, altitude, landed)
        self.t_ns += after
        return done

    def flying(self) -> Line:
        while self.pc.phase == "settle":
            self.step()
        self.step(b"t:1\n")
        assert self.pc.phase == "fly"
        return self


def test_settles_with_seven_altitudes_a_second_apart():
    line = Line()
    sent = []
    while line.pc.phase == "settle":
        at = line.t_ns
        step = line.step(b"v:1,1,1\n")
        if step.send:
            sent.append((at, step.send))
        assert step.motion is None
    assert sent == [(k * S, b"Am07Ac50") for k in range(7)]


def test_triggers_until_acknowledged_and_no_longer():
    line = Line(settle_count=1)
    while line.pc.phase == "settle":
        line.step()
    # an acknowledgement of the other state does not count
    sent = b"".join(line.step(b"t:0\n").send for _ in range(35))
    assert sent == b"T111" * 4
    step = line.step(b"t:1\na:\n")
    assert (line.pc.phase, step.send) == ("fly", b"Am07Ac50")
    assert b"T" not in b"".join(line.step().send for _ in range(50))


def test_a_board_that_never_answers_is_one_clear_line():
    line = Line(settle_count=1, trigger_patience=0.5)
    with pytest.raises(LinkError, match=r"did not answer T111 within 0\.5 s; is it the right device"):
        for _ in range(300):
            line.step(b"?\xff\n")


def test_answers_each_question_once_per_read():
    line = Line().flying()
    assert line.step(b"a:\na:\nf:\n", altitude=5.0).send == b"Am05Ac00C219S044"
    assert line.step(b"a:", altitude=5.0).send == b""
    assert line.step(b"\n", altitude=5.0).send == b"Am05Ac00"
    # without a return of the rangefinder there is nothing to say
    assert line.step(b"a:\nf:\n", altitude=math.nan).send == b""


def test_the_newest_command_moves_the_vehicle():
    line = Line().flying()
    step = line.step(b"v:9,9,9\nv:1.5,0.5,0.25\ny:90\n")
    assert step.motion == HeadingVelocity((1.5, -0.5, -0.25), -math.radians(90.0))
    # the yaw rate came a little later than its velocity, and holds
    assert line.step(b"v:1,0,0\n").motion == HeadingVelocity((1.0, 0.0, 0.0), -math.radians(90.0))
    assert line.step(b"y:5\n").motion is None


def test_hovers_once_after_a_second_of_silence_and_goes_on_afterwards():
    line = Line().flying()
    line.step(b"v:1,0,0\ny:30\n")
    # the board still asks, but commands nothing
    steps = [line.step(b"a:\n") for _ in range(150)]
    assert [k for k, step in enumerate(steps) if step.hovers] == [99]
    assert len(line.news) == 1 and "no command of the landing board for 1 s" in line.news[0]
    # the old yaw rate is no longer valid
    assert line.step(b"v:1,0,0\n").motion == HeadingVelocity((1.0, 0.0, 0.0), 0.0)
    assert [step.hovers for step in (line.step() for _ in range(120))].count(True) == 1


def test_lands_then_stops_the_board():
    line = Line().flying()
    step = line.step(b"v:1,0,0\nl:\n")
    assert step == PcStep(lands=True) and line.pc.phase == "land"
    # the board repeats its decision until it is stopped
    assert all(line.step(b"l:\n") == PcStep() for _ in range(20))
    line.step(b"l:\n", landed=True)
    sent = b"".join(line.step(b"l:\n").send for _ in range(25))
    assert sent == b"T000" * 3
    line.step(b"t:0\n")
    assert line.pc.phase == "done" and line.pc.decided_ns is not None
    assert line.step(b"v:1,1,1\n") == PcStep()


def test_gives_up_after_a_time_and_hovers():
    line = Line(give_up_after=2.0).flying()
    steps = [line.step(b"v:0,0,0\n") for _ in range(260)]
    assert sum(step.hovers for step in steps) == 1
    assert line.pc.gave_up and line.pc.phase == "stop" and "no landing within 2 s" in line.news[0]


@pytest.mark.parametrize(
    ("altitude", "ring"), [(10.0, 109.667), (4.0, 274.1675), (1.0, 274.1675), (44.95, 24.397553), (80.0, 24.397553)]
)
def test_figure_sizes_are_the_published_table(altitude, ring):
    assert figure_sizes(altitude) == pytest.approx((ring, ring / 5.0))
