"""Records as bytes and back, and journals that were cut off anywhere."""

from __future__ import annotations

import contextlib
import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skyloop.core.bus import record_bytes
from skyloop.recording.journal import GroupWriter, is_complete, read_group
from skyloop.recording.recording import Recording, open_recording
from skyloop_client.codec import decode, decode_message, encode, encode_message, info_from, plain_info
from skyloop_client.errors import CodecError, DatasetError
from skyloop_client.messages import CameraImage, Contact, Event, EventKind, ImageTruth, ImuSample, Label, Message


def messages(count: int, per_instant: int = 3) -> list[Message]:
    random = np.random.default_rng(1)
    made = []
    for k in range(count):
        t_ns = 1_000_000 * (k // per_instant)
        data = ImuSample(t_ns, random.normal(size=3), random.normal(size=3)) if k % 2 else CameraImage(
            t_ns, random.integers(0, 255, (4, 5, 3), np.uint8)
        )  # fmt: skip
        made.append(Message("drone/imu" if k % 2 else "drone/cam", k, t_ns, t_ns, data))
    return made


@pytest.mark.renders
def test_every_message_of_a_recording_comes_back(recording: Recording) -> None:
    for message in recording.messages():
        again = decode_message(b"".join(encode_message(message)))
        assert dataclasses.astuple(again)[:4] == dataclasses.astuple(message)[:4]
        assert type(again.data) is type(message.data)
        assert record_bytes(again.data).split(b"|")[:2] == record_bytes(message.data).split(b"|")[:2]


def test_records_within_records_and_odd_arrays() -> None:
    label = Label(1, "a", "person", (1, 2, 3, 4), 5, 0.1, 0.2, np.ones(3), np.zeros((0, 3)), 0.3, 4.0)
    truth = ImageTruth(5, np.zeros(3), np.arange(4.0), depth=np.ones((2, 3), np.float32)[:, ::2], labels=(label,))
    again = decode(b"".join(encode(truth)))
    assert again.labels[0].box_px == (1, 2, 3, 4)
    assert again.labels[0].size.shape == (0, 3)
    np.testing.assert_array_equal(again.depth, truth.depth)
    assert again.normals is None
    touch = Contact("body", 7, "tree", np.arange(3.0), np.array([0.0, 0.0, 1.0]), 1.5, 1.0)
    again = decode(b"".join(encode(Event(1, EventKind.CONTACT, "tree", touch))))
    assert again.kind is EventKind.CONTACT and again.contact.speed == 1.5
    np.testing.assert_array_equal(again.contact.position, touch.position)
    assert Event(1, "of a newer version", "").kind is EventKind.OTHER  # type: ignore[arg-type]


def test_what_cannot_be_encoded_is_refused() -> None:
    for value in (object(), np.array(["text"]), np.array([object()])):
        with pytest.raises(CodecError):
            encode({"a": value})


@given(st.binary(max_size=200))
@settings(max_examples=300, deadline=None)
def test_strangers_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(CodecError):
        decode_message(data)


@given(st.integers(0, 300), st.integers(0, 255))
@settings(max_examples=100, deadline=None)
def test_damaged_records_never_do_worse_than_be_refused(place: int, value: int) -> None:
    data = bytearray(b"".join(encode_message(messages(2)[1])))
    data[place % len(data)] = value
    with contextlib.suppress(CodecError):
        decode_message(bytes(data))


@pytest.mark.renders
def test_stream_descriptions_come_back(recording: Recording) -> None:
    for info in recording.infos.values():
        assert plain_info(info_from(plain_info(info))) == plain_info(info)
    with pytest.raises(CodecError, match="lacks or misstates"):
        info_from({"name": "x"})


@pytest.mark.parametrize("cut", [1, 7, 8, 9, 40, 200, 500, 777])
def test_a_journal_cut_anywhere_goes_on_to_the_same_bytes(tmp_path: Path, cut: int) -> None:
    all_of_it = messages(20)
    whole = GroupWriter(tmp_path / "whole")
    for message in all_of_it:
        whole.append(message)
    whole.finish()
    assert is_complete(tmp_path / "whole")
    data = (tmp_path / "whole").read_bytes()
    (tmp_path / "cut").write_bytes(data[:-cut])
    assert not is_complete(tmp_path / "cut")
    kept = list(read_group(tmp_path / "cut"))
    assert [message.index for message in kept] == list(range(len(kept)))
    writer = GroupWriter(tmp_path / "cut")
    for message in all_of_it:
        if message.arrival_ns >= writer.from_ns:
            writer.append(message)
    writer.finish()
    assert (tmp_path / "cut").read_bytes() == data
    with pytest.raises(DatasetError, match="already complete"):
        GroupWriter(tmp_path / "cut")


def test_a_cut_within_zeros_is_not_taken_for_the_end(tmp_path: Path) -> None:
    """As within the sky of a mask."""
    writer = GroupWriter(tmp_path / "group")
    writer.append(Message("drone/cam", 0, 0, 0, CameraImage(0, np.zeros((20, 30, 3), np.uint8))))
    writer.finish()
    data = (tmp_path / "group").read_bytes()
    for end in range(len(data)):
        (tmp_path / "cut").write_bytes(data[:end])
        assert not is_complete(tmp_path / "cut")


def test_a_flipped_bit_ends_the_reading(tmp_path: Path) -> None:
    writer = GroupWriter(tmp_path / "group")
    for message in messages(9):
        writer.append(message)
    writer.finish()
    data = bytearray((tmp_path / "group").read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "group").write_bytes(data)
    assert len(list(read_group(tmp_path / "group"))) < 9


def test_folders_that_hold_no_recording(tmp_path: Path) -> None:
    assert not is_complete(tmp_path)
    with pytest.raises(DatasetError, match="holds no recording"):
        open_recording(tmp_path)
    for text in ("", "{", "[]", '{"version": 1}', '{"version": 9, "streams": []}', '{"version": 1, "streams": [{}]}'):
        (tmp_path / "recording.json").write_text(text)
        with pytest.raises(DatasetError):
            open_recording(tmp_path)
