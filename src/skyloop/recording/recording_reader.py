"""Reads recordings of `skyloop record`, and EuRoC sequences, at any instant. Pictures stay on the disk until then."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from skyloop.recording.asl_reader import Table, is_euroc, open_euroc
from skyloop.recording.indexed_stream import IndexedStream, IndexedStreams
from skyloop.recording.journal import GroupReader, decoded
from skyloop.recording.recording import NAME, Recording, open_recording
from skyloop_client.errors import DatasetError
from skyloop_client.messages import Message


def is_recording(folder: Path) -> bool:
    return (folder / NAME).is_file() or is_euroc(folder)


def open_indexed(folder: Path) -> tuple[IndexedStreams, dict[str, Any] | None]:
    """The streams, and the scenario that was flown; None of a sequence that others recorded."""
    if (folder / NAME).is_file():
        recording = open_recording(folder)
        return _of_journal(recording), recording.facts["scenario"]
    return _of_euroc(folder), None


def _of_journal(recording: Recording) -> IndexedStreams:
    """Every record is read once for its stamp; then only its place in the file is kept."""
    places: dict[str, list[tuple[Path, int, int]]] = {}
    arrivals: dict[str, list[int]] = {}
    for group in range(recording.whole_groups()):
        path = recording.group_path(group)
        for body, end in GroupReader(path).records():
            message = decoded(body, path)
            places.setdefault(message.stream, []).append((path, end - len(body), len(body)))
            arrivals.setdefault(message.stream, []).append(message.arrival_ns)
    if not places:
        raise DatasetError(
            f"'{recording.folder}' holds no whole group of frames; finish it with `skyloop record --resume`"
        )
    return IndexedStreams(
        {
            name: IndexedStream(recording.infos[name], np.array(arrivals[name], np.int64), _reader(found))
            for name, found in places.items()
            if name in recording.infos
        }
    )


def _reader(places: list[tuple[Path, int, int]]) -> Any:
    def at(index: int) -> Message:
        path, begin, size = places[index]
        try:
            with path.open("rb") as file:
                file.seek(begin)
                body = file.read(size)
        except OSError as error:
            raise DatasetError(f"cannot read '{path}': {error.strerror}") from None
        return decoded(body, path)

    return at


def _of_euroc(folder: Path) -> IndexedStreams:
    sequence = open_euroc(folder)
    streams = {}
    for table in sequence.tables:
        rows = list(table.rows())
        if not rows:
            continue
        arrivals = np.array([t_ns for t_ns, _, _ in rows], np.int64)
        for name in table.streams:
            streams[name] = IndexedStream(sequence.infos[name], arrivals, _row_reader(table, rows, name))
    if not streams:
        raise DatasetError(f"'{folder}' has no rows to play")
    return IndexedStreams(streams)


def _row_reader(table: Table, rows: list[tuple[int, int, list[str]]], name: str) -> Any:
    def at(index: int) -> Message:
        t_ns, line, cells = rows[index]
        record = dict(table.records(table.csv, line, t_ns, cells))[name]
        return Message(name, index, t_ns, t_ns, record)

    return at
