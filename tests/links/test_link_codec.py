"""The decoder takes anybody's bytes: it gives messages or refuses, and makes no more of them than they are."""

from __future__ import annotations

import contextlib
import struct
import tracemalloc
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from link_rig import said
from skyloop_client.codec import ARRAY, decode, encode
from skyloop_client.errors import CodecError, LinkError
from skyloop_client.messages import Arm, Position, Velocity
from skyloop_client.wire import LENGTH, MOST_BEFORE_HELLO, MOST_FROM_CLIENT, FrameReader, unframed

VALID = [
    said(type="hello", protocol=1, client="me", vehicle="drone", streams=["a", "b"], speed=0.5, period_ns=None),
    said(type="ask", number=1, et_ns=5, send=[Velocity(np.ones(3)), Arm(), Position(np.zeros(3), 0.1)], want=None),
    said(type="ask", number=2, et_ns=6, send=[Velocity([1, 2, 3], "body")], until_ns=9, fresh=["imu"]),  # type: ignore[arg-type]
    said(type="message", data=np.arange(24, dtype=np.float32).reshape(2, 3, 4), mask=np.zeros((0, 3), bool)),
    said(type="bye"),
]


def body(head: bytes, raw: bytes = b"") -> bytes:
    return struct.pack("<I", len(head)) + head + raw


def with_array(*claim: Any, raw: bytes = b"") -> bytes:
    ext = msgpack.ExtType(ARRAY, msgpack.packb(claim))
    return body(msgpack.packb({"type": "x", "a": ext}), raw)


@given(st.binary(max_size=300))
@settings(max_examples=300, deadline=None)
def test_arbitrary_bytes(data: bytes) -> None:
    with contextlib.suppress(CodecError):
        decode(data)
    with contextlib.suppress(LinkError):
        assert isinstance(unframed(data)["type"], str)
    inlet = FrameReader(MOST_BEFORE_HELLO)
    with contextlib.suppress(LinkError):
        for message in inlet.feed(data):
            assert isinstance(message["type"], str)


CLAIM = st.builds(
    lambda *claim: msgpack.ExtType(ARRAY, msgpack.packb(claim)),
    st.text(max_size=4),
    st.lists(st.integers(-1, 1 << 62)),
    st.integers(-1, 99),
)
KEY = st.sampled_from(["@", "type", "velocity", "frame"]) | st.text()
ATOM = (
    st.none() | st.booleans() | st.integers(-(1 << 63), (1 << 64) - 1) | st.floats() | st.text() | st.binary() | CLAIM
)
PLAIN = st.recursive(
    ATOM | st.builds(msgpack.ExtType, st.integers(0, 127), st.binary(max_size=40)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEY, inner, max_size=4),
    max_leaves=10,
)


@given(PLAIN, st.sampled_from(["Velocity", "Event", "Message", "Label", "Nothing"]))
@settings(max_examples=15, deadline=None)
def test_well_formed_nonsense(value: Any, name: str) -> None:
    for head in (value, {"@": name, "velocity": value}, {"type": "ask", "send": value}):
        with contextlib.suppress(CodecError):
            decode(body(msgpack.packb(head)))


@given(
    st.sampled_from(VALID),
    st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), max_size=6),
    st.integers(0, 400),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_mutated_messages(data: bytes, changes: list[tuple[int, int]], cut: int, keep_length: bool) -> None:
    changed = bytearray(data)
    for place, value in changes:
        changed[(place % (len(data) - 4)) + 4 if keep_length else place % len(data)] = value
    inlet = FrameReader(MOST_FROM_CLIENT)
    with contextlib.suppress(LinkError):
        list(inlet.feed(bytes(changed[: max(cut, len(data) // 2)])))
        list(inlet.feed(data))


@given(st.lists(st.sampled_from(VALID), min_size=1, max_size=5), st.data())
@settings(max_examples=15, deadline=None)
def test_messages_come_whole_however_they_are_cut(messages: list[bytes], chance: st.DataObject) -> None:
    total = b"".join(messages)
    cuts = sorted(chance.draw(st.lists(st.integers(0, len(total)), max_size=8)))
    inlet = FrameReader(MOST_FROM_CLIENT)
    got = [
        message
        for start, end in zip([0, *cuts], [*cuts, len(total)], strict=True)
        for message in inlet.feed(total[start:end])
    ]
    assert [message["type"] for message in got] == [unframed(message[4:])["type"] for message in messages]
    assert not inlet.is_within


CLAIMS = [
    with_array("<f8", [1 << 60], 0),
    with_array("<f8", [1 << 31, 1 << 31, 1 << 31], 0),
    with_array("<f8", [1 << 62, 0], 0),
    with_array("<f8", [2], 0, raw=b"x" * 15),
    with_array("<f8", [-1], 0, raw=b"x" * 16),
    with_array("<f8", [1], -8, raw=b"x" * 16),
    with_array("<f8", [1], 9, raw=b"x" * 16),
    with_array("<f8", [1] * 100, 0, raw=b"x" * 16),
    with_array("O", [1], 0, raw=b"x" * 16),
    with_array("<f8,<f8", [1], 0, raw=b"x" * 16),
    with_array("(1000000000,)f8", [1], 0, raw=b"x" * 16),
    with_array(["<f8"], [1], 0, raw=b"x" * 16),
    with_array({"names": ["a"], "formats": ["O"]}, [1], 0, raw=b"x" * 16),
    with_array(None, [1], 0, raw=b"x" * 16),
    with_array("<M8[s]", [1], 0, raw=b"x" * 16),
    with_array("<f8", 5, 0, raw=b"x" * 16),
    with_array("<f8", [1.0], 0, raw=b"x" * 16),
    with_array("<f8", [1], 2**63 - 1, raw=b"x" * 8),
    with_array("<f8", [0], 2**63 - 1, raw=b"x" * 8),
    with_array("<f8", [2**61 + 1, 8, 0], 0, raw=b"x" * 8),
    with_array("<f8", [1] * 2000, 0, raw=b"x" * 8),
    with_array(*"abc", raw=b"x" * 8),
    with_array("<f8"),
    body(b"\xdd\xff\xff\xff\xff"),
    body(b"\xdf\xff\xff\xff\xff"),
    body(b"\xc9\x7f\xff\xff\xff\x01"),
    body(b"\xc6\x7f\xff\xff\xff"),
    body(b"\x91" * 60_000),
    body(b"\x81\xa1a" * 20_000),
    body((b"\xdd" + struct.pack(">I", 65_000)) * 1000 + b"\xc0" * 60_000),
    body((b"\xdd" + struct.pack(">I", 1_000_000)) * 1000 + b"\xc0" * 1_040_000),
    struct.pack("<I", 0xFFFF_FFFF) + b"\x80",
    body(msgpack.packb({1: 2})),
    body(msgpack.packb({"type": "x", "a": msgpack.ExtType(9, b"")})),
    body(msgpack.packb({"type": "x", "a": {"@": []}})),
    body(msgpack.packb({"type": "x", "a": {"@": "Velocity"}})),
    b"",
]


def test_claims_that_are_not_kept_cost_nothing() -> None:
    for data in CLAIMS:
        tracemalloc.start()
        try:
            with pytest.raises(LinkError, match="not a message of skyloop's link"):
                unframed(data)
            assert tracemalloc.get_traced_memory()[1] < (20 << 20), data[:40]
        finally:
            tracemalloc.stop()


def test_a_long_announcement_takes_no_room() -> None:
    inlet = FrameReader(MOST_BEFORE_HELLO)
    for length in (MOST_BEFORE_HELLO + 1, 0xFFFF_FFFF):
        with pytest.raises(LinkError, match=f"{length} bytes was announced"):
            list(FrameReader(MOST_BEFORE_HELLO).feed(LENGTH.pack(length)))
    assert list(inlet.feed(LENGTH.pack(MOST_BEFORE_HELLO))) == []
    assert inlet.is_within


def test_a_newer_peer_may_know_more() -> None:
    data = {"@": "Velocity", "velocity": [1.0, 2.0, 3.0], "gust": 4.0, "note": {"@": "Poem", "lines": 3}}
    velocity = decode(body(msgpack.packb(data)))
    assert velocity.velocity == (1.0, 2.0, 3.0)
    assert decode(body(msgpack.packb(data["note"]))) == {"@": "Poem", "lines": 3}


@pytest.mark.parametrize(
    "array",
    [
        np.zeros(0), np.zeros((0, 3), np.uint8), np.array(5.0), np.zeros((2, 0, 4), bool), np.array([[True, False]]),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.array([1 + 2j], np.complex64),
    ],
)  # fmt: skip
def test_odd_shapes_come_back_read_only(array: Any) -> None:
    first, again = decode(b"".join(encode([np.arange(3), array])))
    assert first.tolist() == [0, 1, 2]
    assert again.shape == array.shape and again.dtype == array.dtype and np.array_equal(again, array)
    assert not again.flags.writeable
