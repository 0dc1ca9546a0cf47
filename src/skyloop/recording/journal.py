"""The journal of a recording: messages in order of arrival, appended to one file per group of frames.

A record is its length and its CRC-32 (4 bytes each, little-endian), then an encoded message. If the writer is killed,
everything before the current record can be read. A reader stops at the first short or broken record. A writer that
resumes cuts that record off and continues. A complete group ends with an empty record marked `END`."""

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
from skyloop_client.regular_files import opened

HEAD = struct.Struct("<II")
END = b"\0\0\0\0end!"
"""Not zeros: a record cut off within the sky of a mask ends with zeros, and so does a file after a power cut."""
MOST_PARTS = 64
"""Most parts per system call. The operating system's limit may be as low as a thousand."""
MOST_BYTES = 1 << 30
"""Largest record."""
NORMAL_STEPS = np.float32(127.0)


class GroupWriter:
    """Appends to one group's file, after the last complete instant."""

    def __init__(self, path: Path) -> None:
        self.path = path
        size, self.from_ns = _good_end(path)
        """Messages that arrive from then on are still to be written."""
        try:
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT, 0o644)
            os.ftruncate(self._file, size)
            os.lseek(self._file, size, os.SEEK_SET)
        except OSError as error:
            raise DatasetError(f"cannot write '{path}': {error.strerror}") from error

    def append(self, message: Message) -> None:
        self._put([memoryview(part) for part in record_of(message)])

    def append_record(self, record: bytes) -> None:
        """Append what `record_of` gave in another process."""
        self._put([memoryview(record)])

    def finish(self) -> None:
        """Mark the group as complete."""
        self._put([memoryview(END)])
        self.close()

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

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


def record_of(message: Message) -> list[bytes | memoryview]:
    """A message as it stands in the file, with its head, in parts."""
    parts = encode_message(_thinned(message))
    crc = 0
    for part in parts:
        crc = zlib.crc32(part, crc)
    return [HEAD.pack(sum(map(len, parts)), crc), *parts]


class GroupReader:
    """Reads the records of one group. Afterwards `fault` says where and why it ended early."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.fault = ""
        """Empty once a group was read to its end mark."""

    def records(self) -> Iterator[tuple[bytes, int]]:
        """Bodies of the complete records, each with the byte at which it ends."""
        self.fault = "it has no end"
        with opened(self._path) as file:
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
    """The fault of a group's file. Empty if every byte is as it was written."""
    reader = GroupReader(path)
    try:
        for _ in reader.records():
            pass
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    return reader.fault


def _good_end(path: Path) -> tuple[int, int]:
    """The byte at which the last complete instant ends, and the time from which messages are missing.

    More messages of the last instant may have followed, so it does not count as complete."""
    end, instant_end, instant = 0, 0, 0
    if path.exists():
        reader = GroupReader(path)
        for body, after in reader.records():
            arrival = decode_message(body).arrival_ns
            if arrival != instant:
                instant_end, instant = end, arrival
            end = after
        if not reader.fault:
            raise DatasetError(f"'{path}' is already complete")
    return instant_end, instant


def is_complete(path: Path) -> bool:
    """Whether the file ends with the mark, so that its writer was done. `fault_of` checks the content."""
    if not path.is_file() or path.stat().st_size < HEAD.size:
        return False
    with opened(path) as file:
        file.seek(-HEAD.size, os.SEEK_END)
        return file.read() == END


def _thinned(message: Message) -> Message:
    """The message as written: normals in steps of 1/127, which is the resolution of the meshes' own normals."""
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


def decoded(body: bytes, path: Path) -> Message:
    """The message of a record of this file."""
    try:
        return _restored(decode_message(body))
    except CodecError as error:
        raise DatasetError(f"'{path}': {error}; it was not written by skyloop, or by another version") from error


def read_group(path: Path, *, strict: bool = False) -> Iterator[Message]:
    """The messages up to the end or the first broken record. With `strict` a broken record is an error."""
    reader = GroupReader(path)
    for body, _ in reader.records():
        yield decoded(body, path)
    if strict and reader.fault:
        raise DatasetError(f"'{path}': {reader.fault}; `skyloop record --resume` flies the group again")
