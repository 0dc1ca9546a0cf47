"""The journal of a recording: messages in the order they arrived, appended to one file per group of frames.

A record is its length and its CRC-32 (4 bytes each, little-endian), then an encoded message. Whatever kills the writer,
everything before the record in flight can be read: a reader stops at the first record that is short or broken, and a
writer that comes back cuts it off and goes on. A group that is whole ends with an empty record marked `END`.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from skyloop_client.codec import decode_message, encode_message
from skyloop_client.errors import CodecError, DatasetError
from skyloop_client.messages import ImageTruth, Message

HEAD = struct.Struct("<II")
END = b"\0\0\0\0end!"
"""Not zeros: a record cut off within the sky of a mask ends with those, and so does a file after a power cut."""
MOST_PARTS = 64
"""Given to one call of the system, which may take fewer than a thousand."""
MOST_BYTES = 1 << 30
"""Of one record."""
NORMAL_STEPS = np.float32(127.0)


class GroupWriter:
    """Appends to one group's file, after the last instant that is whole there."""

    def __init__(self, path: Path) -> None:
        self.path = path
        size, self.from_ns = _good_end(path)
        """What arrives from then on is still to be written."""
        try:
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT, 0o644)
            os.ftruncate(self._file, size)
            os.lseek(self._file, size, os.SEEK_SET)
        except OSError as error:
            raise DatasetError(f"cannot write '{path}': {error.strerror}") from error

    def append(self, message: Message) -> None:
        self._write(encode_message(_thinned(message)))

    def finish(self) -> None:
        """The group is whole."""
        self._put([memoryview(END)])
        self.close()

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def _write(self, parts: list[bytes | memoryview]) -> None:
        crc = 0
        for part in parts:
            crc = zlib.crc32(part, crc)
        self._put([memoryview(HEAD.pack(sum(map(len, parts)), crc)), *(memoryview(part) for part in parts)])

    def _put(self, left: list[memoryview]) -> None:
        try:
            while left:
                written = os.writev(self._file, left[:MOST_PARTS])
                while left and written >= len(left[0]):
                    written -= len(left.pop(0))
                if written:
                    left[0] = left[0][written:]
        except OSError as error:
            raise DatasetError(f"cannot write '{self.path}': {error.strerror}") from error


class GroupReader:
    """Reads the records of one group; afterwards `fault` says where and why it ended early."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.fault = ""
        """Empty once a group was read to the mark at its end."""

    def records(self) -> Iterator[tuple[bytes, int]]:
        """Bodies of the records that are whole, each with the byte at which it ends."""
        self.fault = "it has no end"
        with self._path.open("rb") as file:
            size, end, number = os.fstat(file.fileno()).st_size, 0, 0
            while len(head := file.read(HEAD.size)) == HEAD.size:
                if head == END:
                    whole = file.tell() == size
                    self.fault = "" if whole else f"the group ends at byte {end} of {size}"
                    return
                length, crc = HEAD.unpack(head)
                body = file.read(length) if length <= MOST_BYTES else b""
                if not length or len(body) != length or zlib.crc32(body) != crc:
                    self.fault = f"record {number} at byte {end} is broken"
                    return
                end += HEAD.size + length
                yield body, end
                number += 1


def fault_of(path: Path) -> str:
    """What is wrong with a group's file; empty when every byte was read and is as it was written."""
    reader = GroupReader(path)
    try:
        for _ in reader.records():
            pass
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    return reader.fault


def _good_end(path: Path) -> tuple[int, int]:
    """Where the last whole instant ends, and from when on messages are missing.

    Of the last instant more may have been to come, so it is not taken as whole.
    """
    end, instant_end, instant = 0, 0, 0
    if path.exists():
        reader = GroupReader(path)
        for body, after in reader.records():
            arrival = decode_message(body).arrival_ns
            if arrival != instant:
                instant_end, instant = end, arrival
            end = after
        if not reader.fault:
            raise DatasetError(f"'{path}' is already whole")
    return instant_end, instant


def is_whole(path: Path) -> bool:
    """Ends the file with the mark? Its writer was done then; whether it is as it was written, says `fault_of`."""
    if not path.exists() or path.stat().st_size < HEAD.size:
        return False
    with path.open("rb") as file:
        file.seek(-HEAD.size, os.SEEK_END)
        return file.read() == END


def _thinned(message: Message) -> Message:
    """As it is written: normals in steps of 1/127, which is how fine the meshes' own are."""
    truth = message.data
    if not isinstance(truth, ImageTruth) or truth.normals is None:
        return message
    steps = np.rint(truth.normals * NORMAL_STEPS).astype(np.int8)
    return replace(message, data=replace(truth, normals=steps))


def _restored(message: Message) -> Message:
    truth = message.data
    if not isinstance(truth, ImageTruth) or truth.normals is None:
        return message
    return replace(message, data=replace(truth, normals=truth.normals / NORMAL_STEPS))


def read_group(path: Path, *, strict: bool = False) -> Iterator[Message]:
    """Its messages, until the end or the first broken record; if `strict`, that one is an error."""
    reader = GroupReader(path)
    for body, _ in reader.records():
        try:
            yield _restored(decode_message(body))
        except CodecError as error:
            raise DatasetError(f"'{path}': {error}; it was not written by skyloop, or by another version") from error
    if strict and reader.fault:
        raise DatasetError(f"'{path}': {reader.fault}; `skyloop record --resume` flies the group again")
