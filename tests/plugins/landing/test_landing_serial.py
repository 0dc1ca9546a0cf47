"""The serial protocol of the landing board, both ways, and its line in simulated time."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skyloop_client.errors import LinkError
from skyloop_landing.board.serial_frames import (
    START,
    STOP,
    Altitude,
    AltitudeWanted,
    FrameScanner,
    LandingDecided,
    LineReader,
    RingSize,
    SizesWanted,
    SquareSize,
    Trigger,
    TriggerState,
    VelocityCommand,
    YawRateCommand,
    altitude_frames,
    decimal,
    size_frames,
    velocity_line,
    yaw_rate_line,
)
from skyloop_landing.board.simulated_uart import SimulatedUart, joined

# ---- PC to board


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        (altitude_frames(9.87), b"Am09Ac87"),
        (altitude_frames(0.0), b"Am00Ac00"),
        (altitude_frames(7.994), b"Am07Ac99"),
        # the published formatting gives Am07Ac100 here, five characters
        (altitude_frames(7.995001), b"Am08Ac00"),
        (altitude_frames(123.4), b"Am99Ac99"),
        (altitude_frames(-0.3), b"Am00Ac00"),
        (altitude_frames(math.nan) + altitude_frames(math.inf), b""),
        (size_frames(274.17, 54.83), b"C274S055"),
        (size_frames(7.4, 1.5), b"C007S002"),
        (size_frames(1200.0, 240.0), b"C999S240"),
        (size_frames(-5.0, 3.0), b"C000S003"),
        (size_frames(math.nan, 3.0) + size_frames(3.0, math.inf), b""),
    ],
)
def test_frames(frames, expected):
    assert frames == expected


@given(st.floats(-10.0, 200.0))
def test_every_altitude_is_eight_characters_and_is_understood(altitude):
    frames = altitude_frames(altitude)
    assert len(frames) == 8
    (said,) = FrameScanner().feed(frames)
    assert abs(said.centimetres / 100.0 - min(max(altitude, 0.0), 99.99)) <= 0.00501


def test_scanner_skips_garbage_and_keeps_half_frames():
    scanner = FrameScanner()
    assert scanner.feed(b"\x00\xffzzAm0") == []
    assert scanner.feed(b"9A") == []
    assert scanner.feed(b"c87??C2") == [Altitude(987)]
    assert scanner.feed(b"74S055T11") == [RingSize(274), SquareSize(55)]
    assert scanner.feed(b"1T111T000") == [Trigger(True), Trigger(True), Trigger(False)]
    # four bytes before the first frame, two before the second
    assert scanner.skipped == 6


@pytest.mark.parametrize(
    ("stream", "messages"),
    [
        # a frame cut short by the next one
        (b"C2C274", [RingSize(274)]),
        (b"Am0Am05Ac10", [Altitude(510)]),
        (b"T11T000", [Trigger(False)]),
        # neither of the two triggers
        (b"T101T110", []),
        # centimetres without their metres
        (b"Ac50", []),
        (b"Am05C274Ac50", [RingSize(274)]),
        (b"Am05!Ac50", []),
        # lower case is nothing
        (b"c274s055t111", []),
    ],
)
def test_scanner_of_damaged_frames(stream, messages):
    assert FrameScanner().feed(stream) == messages


def cut(stream: bytes, places: list[int]) -> list[bytes]:
    edges = sorted({0, len(stream), *(place % (len(stream) + 1) for place in places)})
    return [stream[a:b] for a, b in itertools.pairwise(edges)]


PIECES = st.sampled_from([b"Am09Ac87", b"C274", b"S055", START, STOP, b"A", b"Am1", b"T1", b"C9", b"\xff", b"x\n"])


@settings(max_examples=200)
@given(st.lists(PIECES, max_size=12), st.lists(st.integers(0, 500), max_size=12))
def test_scanner_gives_the_same_however_the_stream_is_cut(pieces, places):
    stream = b"".join(pieces)
    whole, parts = FrameScanner(), FrameScanner()
    once = whole.feed(stream)
    assert [message for part in cut(stream, places) for message in parts.feed(part)] == once
    assert parts.skipped == whole.skipped


@given(st.binary(max_size=200))
def test_scanner_takes_any_bytes(stream):
    # the end is no beginning of a frame, so the next frame is not swallowed
    scanner = FrameScanner()
    scanner.feed(stream)
    assert scanner.feed(b"\n" + START)[-1] == Trigger(True)


# ---- board to PC


def test_several_lines_in_one_read():
    reader = LineReader()
    found = reader.feed(b"t:1\na:\nf:\nv:3.456,7.892,1.936\ny:-12.5\nl:\nt:0\n")
    assert found == [
        TriggerState(True),
        AltitudeWanted(),
        SizesWanted(),
        VelocityCommand(3.456, 7.892, 1.936),
        YawRateCommand(-12.5),
        LandingDecided(),
        TriggerState(False),
    ]
    assert reader.refused == 0


@pytest.mark.parametrize(
    ("stream", "messages", "refused"),
    [
        (b"v:1,2,3\r\n", [VelocityCommand(1.0, 2.0, 3.0)], 0),
        (b"\xff\x00v:1,2,3\n", [VelocityCommand(1.0, 2.0, 3.0)], 0),
        # the end of the first line was lost
        (b"v:1,2v:3,4,5\n", [VelocityCommand(3.0, 4.0, 5.0)], 0),
        (b"v:1,2\n", [], 1),
        (b"v:1,2,3,4\n", [], 1),
        (b"v:nan,0,0\n", [], 1),
        (b"v:1e9,0,0\n", [], 1),
        (b"v:21,0,0\nv:0,0,-20\n", [VelocityCommand(0.0, 0.0, -20.0)], 1),
        (b"y:361\ny:inf\n", [], 2),
        # noise does not land a vehicle and does not acknowledge a trigger
        (b"#l:\n#t:1\nt:2\n", [], 3),
        (b"\n\r\n", [], 0),
        (b"q:1\n", [], 1),
        (b"z" * 300 + b"l:\n", [], 1),
        (b"z" * 300 + b"\nl:\n", [LandingDecided()], 1),
    ],
)
def test_damaged_lines(stream, messages, refused):
    reader = LineReader()
    assert reader.feed(stream) == messages
    assert reader.refused == refused


LINES = st.sampled_from(
    [b"t:1\n", b"a:\n", b"f:\n", b"v:0.1,-0.2,0.3\n", b"y:5\n", b"l:\n", b"v:", b"\xfe", b"\n", b"w" * 90]
)


@settings(max_examples=200)
@given(st.lists(LINES, max_size=12), st.lists(st.integers(0, 900), max_size=12))
def test_lines_are_the_same_however_the_stream_is_cut(pieces, places):
    stream = b"".join(pieces)
    whole, parts = LineReader(), LineReader()
    once = whole.feed(stream)
    assert [message for part in cut(stream, places) for message in parts.feed(part)] == once
    assert parts.refused == whole.refused


@given(st.floats(-20.0, 20.0), st.floats(-20.0, 20.0), st.floats(-300.0, 300.0))
def test_lines_of_python_boards_are_read_back(forward, down, rate):
    velocity, yaw = LineReader().feed(velocity_line(forward, 0.0, down) + yaw_rate_line(rate))
    assert abs(velocity.forward - forward) <= 0.000501
    assert abs(velocity.down - down) <= 0.000501
    assert abs(yaw.clockwise_deg - rate) <= 0.000501


def test_decimals():
    said = [decimal(value) for value in (0.0, -0.0004, 0.0005, -1.9365, 12.0, math.nan, 1e12, -math.inf)]
    assert said == ["0.000", "0.000", "0.001", "-1.937", "12.000", "0.000", "999.999", "-999.999"]


# ---- the line


def test_a_byte_takes_ten_bits():
    line = SimulatedUart(57_600)
    line.send(1_000, b"Am09Ac87")
    assert joined(line.received(1_000 + 173_611)) == b""
    # eight bytes are 80 bits: 1 388 888.9 ns
    assert joined(line.received(1_000 + 1_388_888)) == b"Am09Ac8"
    assert joined(line.received(1_000 + 1_388_889)) == b"7"
    assert line.received(10**9) == []


def test_bytes_wait_for_those_before_them():
    line = SimulatedUart(10_000)
    line.send(0, b"ab")
    line.send(1_500_000, b"c")
    assert [(part.t_ns, part.data) for part in line.received(10**9)] == [
        (1_000_000, b"a"),
        (2_000_000, b"b"),
        (3_000_000, b"c"),
    ]
    line.send(7_000_000, b"d")
    assert [part.t_ns for part in line.received(10**9)] == [8_000_000]


@given(st.lists(st.tuples(st.integers(0, 5_000_000), st.binary(max_size=9)), max_size=20))
def test_the_line_loses_nothing_keeps_the_order_and_its_rate(sendings):
    line, sent, now = SimulatedUart(57_600), b"", 0
    for pause, data in sendings:
        now += pause
        line.send(now, data)
        sent += data
    got = line.received(10**12)
    assert joined(got) == sent
    gaps = [b.t_ns - a.t_ns for a, b in itertools.pairwise(got)]
    assert all(gap >= 173_611 for gap in gaps)


def test_a_line_needs_a_rate():
    with pytest.raises(LinkError, match="0 baud"):
        SimulatedUart(0)
