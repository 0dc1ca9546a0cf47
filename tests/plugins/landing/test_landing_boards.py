"""Boards in simulated time: when turns start, what they miss, and when their answers are sent."""

from __future__ import annotations

import numpy as np
import pytest

from skyloop_client.errors import LinkError
from skyloop_landing.board.board_turns import IDLE_NS, TRANSFER_NS, Turn, TurningBoard
from skyloop_landing.board.python_program import BLIND_AFTER_US, Decision, PythonProgram, ReferenceMind
from skyloop_landing.board.simulated_uart import StampedBytes

MS = 1_000_000
WORDS = np.zeros(4, np.uint32)


class Echo:
    """Sends what it received, in brackets, with the number of the image it saw."""

    name = "echo"
    least_area = 32

    def __init__(self, execution_ns: int = 0) -> None:
        self.execution_ns = execution_ns
        self.starts: list[tuple[int, int]] = []

    def turn(self, t_ns, received, words):
        self.starts.append((t_ns, 0 if words is None else int(words[0])))
        return Turn(b"<%s>" % received if received else b"", self.execution_ns)

    def close(self) -> None:
        pass


def image(number: int):
    return np.array([number, 0, 0, 0], np.uint32)


def test_an_image_is_looked_at_when_it_has_come_over_the_cable():
    program = Echo(30_000)
    board = TurningBoard(program)
    assert board.advance(MS, [StampedBytes(MS, b"x")], image(1)) == []
    assert board.advance(MS + TRANSFER_NS - 1, []) == []
    assert board.advance(MS + TRANSFER_NS, []) == [StampedBytes(MS + TRANSFER_NS + 30_000, b"<x>")]
    assert program.starts == [(MS + TRANSFER_NS, 1)]


def test_bytes_that_arrive_after_the_start_of_a_turn_wait_for_the_next():
    board = TurningBoard(Echo(), transfer_ns=10 * MS)
    board.advance(0, [], image(1))
    sent = board.advance(30 * MS, [StampedBytes(9 * MS, b"a"), StampedBytes(11 * MS, b"b")], image(2))
    assert sent == [StampedBytes(10 * MS, b"<a>"), StampedBytes(10 * MS + IDLE_NS, b"<b>")]


def test_without_images_it_turns_all_the_same():
    program = Echo()
    TurningBoard(program).advance(100 * MS, [])
    assert program.starts == [(k * IDLE_NS, 0) for k in range(1, 6)]


def test_a_slow_board_misses_images_and_takes_the_newest():
    program = Echo(50 * MS)
    board = TurningBoard(program, transfer_ns=0)
    for k in range(12):
        board.advance(k * 16 * MS, [], image(k + 1))
    assert program.starts == [(0, 1), (50 * MS, 4), (100 * MS, 7), (150 * MS, 10)]
    summary = board.summary()
    assert (summary["images"], summary["images_missed"], summary["execution_us_most"]) == (4, 6, 50_000.0)


def test_throttled_takes_longer_and_late_only_answers_later():
    slow = TurningBoard(Echo(2 * MS), transfer_ns=0, slower=3.0)
    assert slow.advance(0, [StampedBytes(0, b"x")], image(1)) == [StampedBytes(6 * MS, b"<x>")]
    program = Echo(2 * MS)
    late = TurningBoard(program, transfer_ns=0, latency_ns=100 * MS)
    sent = late.advance(0, [StampedBytes(0, b"x")], image(1))
    sent += late.advance(16 * MS, [StampedBytes(16 * MS, b"y")], image(2))
    assert sent == [StampedBytes(102 * MS, b"<x>"), StampedBytes(118 * MS, b"<y>")]
    assert [number for _, number in program.starts] == [1, 2]
    assert late.summary()["latency_ms"] == 100.0


def test_boards_that_cannot_be():
    with pytest.raises(LinkError, match=r"throttled by 0\.5: give 1 or more"):
        TurningBoard(Echo(), slower=0.5)
    with pytest.raises(LinkError, match="latency of -1 ns"):
        TurningBoard(Echo(), latency_ns=-1)


# ---- the program in Python


class Mind(ReferenceMind):
    def __init__(self) -> None:
        super().__init__()
        self.calls: list[tuple[object, ...]] = []
        self.lands = False

    def begin(self) -> None:
        self.calls.append(("begin",))

    def measured(self, altitude_cm, t):
        self.calls.append(("measured", altitude_cm))

    def decide(self, words, sizes, t):
        self.calls.append(("decide", words is not None, sizes))
        return Decision(self.lands, (0.5, -0.25, 0.0), 12.0)


def test_a_python_board_speaks_the_protocol():
    mind = Mind()
    program = PythonProgram(mind, execution_ns=7)
    # before the trigger it says nothing, but it listens
    assert program.turn(0, b"Am07Ac50C146", WORDS) == Turn(b"", 0)
    turn = program.turn(20 * MS, b"S029T111", WORDS)
    assert turn == Turn(b"t:1\nv:0.500,-0.250,0.000\ny:12.000\na:\nf:\n", 7)
    assert mind.calls == [("measured", 750), ("begin",), ("measured", 750), ("decide", True, (146, 29))]
    # a trigger sent again is answered again and does not begin anew
    assert program.turn(40 * MS, b"T111", WORDS).sent.startswith(b"t:1\n")
    assert mind.calls.count(("begin",)) == 1
    mind.lands = True
    assert program.turn(60 * MS, b"", WORDS) == Turn(b"l:\n", 7)
    assert program.turn(80 * MS, b"", WORDS) == Turn(b"l:\n", 7)
    assert program.turn(100 * MS, b"T000", WORDS) == Turn(b"t:0\n", 0)
    assert program.turn(120 * MS, b"T000", WORDS) == Turn(b"t:0\n", 0)
    assert program.turn(140 * MS, b"", WORDS) == Turn(b"", 0)
    assert program.turn(160 * MS, b"T111", None).sent == b"t:1\na:\nf:\n"
    assert mind.calls.count(("begin",)) == 2


def test_a_board_whose_images_stop_tells_its_controller():
    mind = Mind()
    program = PythonProgram(mind)
    program.turn(0, b"T111", WORDS)
    assert program.turn(BLIND_AFTER_US * 1000, b"", None).sent == b"a:\nf:\n"
    assert program.turn((BLIND_AFTER_US + 1) * 1000, b"", None).sent.startswith(b"v:")
    assert mind.calls[-1] == ("decide", False, (0, 0))
