"""Reads the streams of a run folder at any instant, for players: the CSV rows, and the journals beside them."""

from __future__ import annotations

import csv
import dataclasses
import json
import typing
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop.core.plugins import plugins
from skyloop.recording.asl_reader import AslTable, is_euroc, open_euroc
from skyloop.recording.journal import GroupReader, decoded, read_group
from skyloop.recording.recording import NAME, Recording, open_recording
from skyloop.recording.run_folder import UNKNOWN, fixed_size
from skyloop_client.codec import RECORDS, info_from
from skyloop_client.errors import CodecError, DatasetError, RunFolderError
from skyloop_client.messages import Contact, Marker, Message
from skyloop_client.regular_files import opened, read_text
from skyloop_client.schema import record_fields
from skyloop_client.streams import StreamInfo


@dataclass(frozen=True, slots=True)
class IndexedStream:
    info: StreamInfo
    arrivals: NDArray[np.int64]
    """ns, rising."""
    at: Callable[[int], Message]
    """The message with this number, from 0 on."""

    def index_at(self, t_ns: int) -> int:
        """Of the newest message at an instant; -1 before the first."""
        return int(np.searchsorted(self.arrivals, t_ns, side="right")) - 1


class IndexedStreams:
    """All streams of one recording."""

    def __init__(self, streams: dict[str, IndexedStream]) -> None:
        self.streams = streams
        self.begin_ns = min(int(stream.arrivals[0]) for stream in streams.values())
        self.end_ns = max(int(stream.arrivals[-1]) for stream in streams.values())

    def events(self) -> list[Message]:
        """Of all vehicles and links, in order."""
        found = [
            stream.at(index)
            for stream in self.streams.values()
            if stream.info.message == "Event"
            for index in range(len(stream.arrivals))
        ]
        return sorted(found, key=lambda message: message.arrival_ns)


MOST_BYTES = 2_000_000_000
"""Of all rows that are read into memory."""
ROWS = {
    "positions": (-1, 3), "points": (-1, 3), "velocities": (-1, 3), "sizes": (-1, 2), "boxes_px": (-1, 4),
    "track_positions": (-1, 3), "track_velocities": (-1, 3), "covariances": (-1, 6, 6),
}  # fmt: skip
"""Shapes of the arrays that are written as a row of numbers and are none."""


def read_run(folder: Path) -> IndexedStreams:
    """All streams of one run folder."""
    # their records are known from now on
    plugins()
    described = _json(folder / "streams.json")
    streams: dict[str, IndexedStream] = {}
    size = 0
    for name, data in described.items():
        path = folder / "streams" / f"{name}.csv"
        if data.get("message") not in RECORDS or ".." in name or not path.is_file():
            continue
        size += path.stat().st_size
        if size > MOST_BYTES:
            raise RunFolderError(f"'{folder}' has more than {MOST_BYTES / 1e9:g} GB of rows; too much to play")
        stream = _read(path, data)
        if stream is not None:
            streams[name] = stream
    if not streams:
        raise RunFolderError(f"'{folder}' has no rows to play")
    return IndexedStreams(streams)


def _json(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(read_text(path))
    except (OSError, ValueError) as error:
        raise RunFolderError(f"cannot read '{path}': {error}; is this a run folder?") from None
    if not isinstance(found, dict):
        raise RunFolderError(f"'{path}' describes no streams; is this a run folder?")
    return found


def _read(path: Path, data: dict[str, object]) -> IndexedStream | None:
    try:
        info = info_from(data)
        journal = path.with_suffix(".journal")
        kept = list(read_group(journal)) if journal.is_file() else []
        if kept and info.message != "Estimate":
            stamps = np.array([message.arrival_ns for message in kept], np.int64)
            return IndexedStream(info, stamps, kept.__getitem__)
        # what a killed run left may end within a row, also within its last number
        lines = read_text(path).rpartition("\n")[0].splitlines()
        columns = lines[0].split(",")
        rows = [line for line in lines[1:] if line.count(",") >= len(columns) - 1]
        arrivals = np.array([int(row.split(",", 2)[1]) for row in rows], np.int64)
    except (OSError, ValueError, IndexError, CodecError, DatasetError) as error:
        raise RunFolderError(f"cannot read '{path}': {error}") from None
    if not rows or not _is_complete(info, columns, rows[0]):
        return None
    # of estimates, only those with a covariance are in the journal
    return IndexedStream(info, arrivals, _row_reader(path, info, columns, rows, {one.index: one for one in kept}))


def _row_reader(
    path: Path, info: StreamInfo, columns: list[str], rows: list[str], kept: dict[int, Message]
) -> Callable[[int], Message]:
    """kept: messages that are known as a whole, by their index."""

    def at(index: int) -> Message:
        try:
            row = dict(zip(columns, next(csv.reader([rows[index]])), strict=True))
            if (whole := kept.get(int(row["index"]))) is not None:
                return whole
            record = _record(RECORDS[info.message], row)
            stamp = int(row.get("t_ns") or row["arrival_ns"])
            return Message(info.name, int(row["index"]), stamp, int(row["arrival_ns"]), record)
        except (ValueError, TypeError, KeyError) as error:
            raise RunFolderError(f"'{path}' row {index + 1} cannot be read: {error}") from None

    return at


def _record(kind: type, row: dict[str, str]) -> object:
    hints = typing.get_type_hints(kind)
    values: dict[str, Any] = {}
    for field in dataclasses.fields(kind):
        name = field.name
        if name == "contact":
            values[name] = _contact(row.get(name, ""))
        elif name in row:
            values[name] = _value(row[name], hints[name], name)
        elif f"{name}_0" in row:
            cells = [row[key] for key in row if key.rpartition("_")[0] == name and key.rpartition("_")[2].isdigit()]
            about = record_fields(kind)[name]
            shape: Any = about.note.shape if fixed_size(about) else -1
            unknown = about.optional and set(cells) <= {UNKNOWN, ""}
            values[name] = None if unknown else np.array(cells, float).reshape(shape)
        elif _is_needed(field):
            # it was None when it was written, so that its row gives a shape that is empty
            values[name] = None
    return kind(**values)


def _is_needed(field: dataclasses.Field[Any]) -> bool:
    return field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING


def _is_complete(info: StreamInfo, columns: list[str], row: str) -> bool:
    """Whether rows hold all of a record. Of pictures and scans they hold only the shape."""
    cells = dict(zip(columns, next(csv.reader([row])), strict=False))
    needed = [field.name for field in dataclasses.fields(RECORDS[info.message]) if _is_needed(field)]
    return not any(cells.get(f"{name}_shape") for name in needed)


def _contact(cell: str) -> Contact | None:
    if not cell:
        return None
    data: dict[str, Any] = json.loads(cell)
    fields: dict[str, Any] = {key: np.array(value) if isinstance(value, list) else value for key, value in data.items()}
    return Contact(**fields)


def _value(cell: str, hint: object, name: str) -> Any:
    if hint is bool:
        return cell == "True"
    if hint is int or hint is float:
        return hint(cell)
    if hint is str or (isinstance(hint, type) and issubclass(hint, str)):
        return cell
    either = typing.get_args(hint)
    optional = type(None) in either
    if cell in ("", UNKNOWN):
        return None if optional else np.zeros(tuple(max(n, 0) for n in ROWS.get(name, (0,))))
    for plain in (float, int, str):
        if optional and plain in either:
            return plain(cell)
    if cell.startswith("["):
        items = json.loads(cell)
        return tuple(_marker(item) for item in items) if name == "markers" else tuple(items)
    try:
        return _shaped(name, cell.split())
    except ValueError:
        return cell


def _shaped(name: str, cells: list[str]) -> object:
    numbers = np.array([float(cell) for cell in cells])
    return numbers.reshape(ROWS[name]) if name in ROWS else numbers


def _marker(data: dict[str, object]) -> Marker:
    fields: dict[str, Any] = {
        name: np.array(value, float).reshape((-1, 3) if name == "points" else -1) if isinstance(value, list) else value
        for name, value in data.items()
    }
    return Marker(**fields)


# ---- recordings of 'skyloop record' and EuRoC sequences; pictures stay on the disk until they are asked for


def is_recording(folder: Path) -> bool:
    return (folder / NAME).is_file() or is_euroc(folder)


def open_indexed(folder: Path) -> tuple[IndexedStreams, dict[str, object] | None]:
    """The streams, and the scenario that was flown; None of a sequence that others recorded."""
    if (folder / NAME).is_file():
        recording = open_recording(folder)
        return _of_journal(recording), recording.facts["scenario"]
    return _of_euroc(folder), None


def _of_journal(recording: Recording) -> IndexedStreams:
    """Every record is read once for its stamp; then only its position in the file is kept."""
    locations: dict[str, list[tuple[Path, int, int]]] = {}
    arrivals: dict[str, list[int]] = {}
    for group in range(recording.complete_groups()):
        path = recording.group_path(group)
        for body, end in GroupReader(path).records():
            message = decoded(body, path)
            locations.setdefault(message.stream, []).append((path, end - len(body), len(body)))
            arrivals.setdefault(message.stream, []).append(message.arrival_ns)
    if not locations:
        raise DatasetError(
            f"'{recording.folder}' holds no complete group of frames; finish it with `skyloop record --resume`"
        )
    return IndexedStreams(
        {
            name: IndexedStream(recording.infos[name], np.array(arrivals[name], np.int64), _reader(found))
            for name, found in locations.items()
            if name in recording.infos
        }
    )


def _reader(locations: list[tuple[Path, int, int]]) -> Any:
    def at(index: int) -> Message:
        path, begin, size = locations[index]
        try:
            with opened(path) as file:
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
            streams[name] = IndexedStream(sequence.infos[name], arrivals, _table_reader(table, rows, name))
    if not streams:
        raise DatasetError(f"'{folder}' has no rows to play")
    return IndexedStreams(streams)


def _table_reader(table: AslTable, rows: list[tuple[int, int, list[str]]], name: str) -> Any:
    def at(index: int) -> Message:
        t_ns, line, cells = rows[index]
        record = dict(table.records(table.csv, line, t_ns, cells))[name]
        return Message(name, index, t_ns, t_ns, record)

    return at
