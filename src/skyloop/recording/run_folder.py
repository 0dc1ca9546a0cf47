"""A run folder: the resolved scenario is written first, rows as they come, the summary and the plot at the end."""

from __future__ import annotations

import dataclasses
import json
import math
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, TextIO, get_origin

import numpy as np
import yaml

from skyloop.core.bus import Bus
from skyloop.recording.journal import GroupWriter
from skyloop_client.codec import plain_info
from skyloop_client.errors import DatasetError, RunFolderError
from skyloop_client.messages import (
    Detections,
    Estimate,
    Goal,
    GridMap,
    Image,
    KeyPose,
    Markers,
    Message,
    Movers,
    PointCloud,
    RadarDetections,
    VoxelMap,
)
from skyloop_client.messages import Path as PathRecord
from skyloop_client.schema import RecordField, record_fields
from skyloop_client.streams import StreamInfo

Summary = dict[str, Any]
"""What a summary.json holds: names, and numbers, texts, lists and mappings."""
FLUSH_EVERY_NS = 1_000_000_000
VARYING = (RadarDetections, Detections, PathRecord, Markers, Movers, Goal)
"""Records with arrays of varying length: an array is one cell, its numbers separated by spaces."""
NESTED = ("contact",)
"""Fields that hold a record or None: one cell of JSON."""
JOURNALLED = (GridMap, VoxelMap, PointCloud, Image, KeyPose)
"""Published records that do not fit into a row. Nor do those of other classes with an array of any size."""
OURS = "skyloop_client.messages"
"""The package of the records that are known here."""
PLAIN = (bool, int, str, dict)
"""A value of these is one cell. Of other values that are no float64 array, a cell has the shape."""
UNKNOWN = "NaN"
"""Of a number, in a spelling by which polars too knows a column of numbers, though its first hundred rows have none."""
COVARIANCE = "covariance"
"""Of an estimate, or None. A row has its shape; the journal beside it has its numbers."""


class RunFolder:
    """Created before the flight. After a kill, all rows up to the last simulated second remain."""

    def __init__(self, path: Path, scenario: Mapping[str, object], versions: Mapping[str, object]) -> None:
        self.path = path
        self._files: dict[str, TextIO] = {}
        self._journals: dict[str, GroupWriter] = {}
        self._infos: dict[str, object] = {}
        self._flushed_ns = 0
        self._made = make_empty_folder(path)
        try:
            (path / "scenario.yaml").write_text(yaml.safe_dump(scenario, sort_keys=False), encoding="utf-8")
            (path / "versions.json").write_text(json.dumps(versions, indent=2) + "\n", encoding="utf-8")
        except OSError as error:
            self.discard()
            raise RunFolderError(f"cannot write run folder '{path}': {error}") from error

    def record(self, bus: Bus) -> None:
        """Describe each stream. From now on every message becomes a row of `streams/<stream>.csv`.

        Published maps, clouds, images and covariances, and records of plugins with arrays of any size, are stored
        completely in `streams/<stream>.journal` beside it."""
        self._infos.update((name, plain(plain_info(info))) for name, info in bus.infos.items())
        self._describe()
        bus.on_new(self._on_new)
        bus.on_every(self._write)

    def _on_new(self, info: StreamInfo) -> None:
        """A stream that was advertised in flight."""
        if info.name not in self._infos:
            self._infos[info.name] = plain(plain_info(info))
            self._describe()

    def _describe(self) -> None:
        with writing_into(self.path):
            (self.path / "streams.json").write_text(json.dumps(self._infos, indent=2) + "\n", encoding="utf-8")

    def _write(self, message: Message) -> None:
        with writing_into(self.path):
            self._write_row(message)
            if is_journalled(message.data):
                self._journal(message.stream).append(message)

    def _journal(self, stream: str) -> GroupWriter:
        if stream not in self._journals:
            self._journals[stream] = GroupWriter(self.path / "streams" / f"{stream}.journal")
        return self._journals[stream]

    def _write_row(self, message: Message) -> None:
        file = self._files.get(message.stream)
        if file is None:
            path = self.path / "streams" / f"{message.stream}.csv"
            path.parent.mkdir(parents=True, exist_ok=True)
            file = self._files[message.stream] = path.open("w", encoding="utf-8")
            stamp = ["t_ns"] if isinstance(message.data, Goal) else []
            file.write(",".join(["index", "arrival_ns", *stamp, *_columns(message.data)]) + "\n")
        # a goal has no stamp of its own
        stamped = f"{message.t_ns}," if isinstance(message.data, Goal) else ""
        file.write(f"{message.index},{message.arrival_ns},{stamped}{_row(message.data)}\n")
        if message.arrival_ns - self._flushed_ns >= FLUSH_EVERY_NS:
            self._flushed_ns = message.arrival_ns
            # further rows would go into files that no longer have a name
            check_still_there(self.path)
            for opened in self._files.values():
                opened.flush()

    def finish(self, summary: Summary) -> None:
        self.close()
        check_still_there(self.path)
        with writing_into(self.path):
            (self.path / "summary.json").write_text(json.dumps(plain(summary), indent=2) + "\n", encoding="utf-8")

    def close(self) -> None:
        files, self._files = self._files, {}
        journals, self._journals = self._journals, {}
        with writing_into(self.path):
            for file in files.values():
                file.close()
            for journal in journals.values():
                journal.finish()

    def discard(self) -> None:
        """Remove everything that was created."""
        with suppress(RunFolderError):
            self.close()
        with suppress(FileNotFoundError):
            for entry in [*self.path.iterdir()]:
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
            for folder in self._made:
                folder.rmdir()


def check_still_there(folder: Path) -> None:
    """A writer must not create the folder again after somebody has removed it."""
    if not folder.is_dir():
        raise _removed(folder)


def _removed(folder: Path) -> RunFolderError:
    return RunFolderError(f"run folder '{folder}' was removed while it was written to")


@contextmanager
def writing_into(folder: Path) -> Iterator[None]:
    """Turns an error within the block into one line."""
    try:
        yield
    except FileNotFoundError:
        raise _removed(folder) from None
    except (OSError, DatasetError) as error:
        raise RunFolderError(f"cannot write run folder '{folder}': {error}") from error


def make_empty_folder(path: Path) -> list[Path]:
    """Create a folder, or accept an empty one. Returns the folders created, innermost first."""
    try:
        made = [folder for folder in (path, *path.parents) if not folder.exists()]
        if not made and (not path.is_dir() or any(path.iterdir())):
            raise RunFolderError(f"'{path}' exists and is not empty; choose another --out or remove it")
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunFolderError(f"cannot make folder '{path}': {error}") from error
    return made


def plain(value: object) -> Any:
    """The value in a form for JSON. Infinity and NaN become text that `float` can read."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, int | float | str | bool | None) else str(value)


def is_journalled(record: Any) -> bool:
    if isinstance(record, Estimate):
        return record.covariance is not None
    return isinstance(record, JOURNALLED) or bool(_varying(_kind_of(record)))


def _kind_of(record: object) -> Any:
    """Its class, which for mypy may not be hashed."""
    return type(record)


@cache
def _varying(kind: type) -> frozenset[str]:
    """The fields of a record of a plugin or of a user that do not have the same number of values in every row."""
    if kind.__module__.startswith(OURS):
        return frozenset()
    fixed = (bool, int, float, str)
    return frozenset(
        field.name for field in record_fields(kind).values()
        if field.type not in fixed and not (field.dtype == "<f8" and fixed_size(field))
    )  # fmt: skip


def fixed_size(field: RecordField) -> int | None:
    """How many numbers an array has in every record; None if its docstring does not say so."""
    shape = field.note.shape
    lengths = [length for length in shape or () if isinstance(length, int)]
    return math.prod(lengths) if shape and len(lengths) == len(shape) else None


def values_of(record: Any) -> list[tuple[str, Any]]:
    """The fields of a record, by name."""
    return [(field.name, getattr(record, field.name)) for field in dataclasses.fields(record)]


@cache
def _forms(kind: Any) -> tuple[tuple[str, str, int], ...]:
    """By field: its name, what its cells hold, and how many numbers if it is None.

    They follow from the class, not from the first record, so that all rows of a file have one width."""
    return tuple((field.name, _form(kind, field), fixed_size(field) or 0) for field in record_fields(kind).values())


def _form(kind: Any, field: RecordField) -> str:
    if field.name in NESTED:
        return "record"
    if issubclass(kind, VARYING):
        return "whole"
    if field.name in _varying(kind) or (kind is Estimate and field.name == COVARIANCE):
        return "shape"
    if field.dtype == "<f8":
        return "numbers"
    if field.type is float:
        return "number"
    plain_type = get_origin(field.type) or field.type
    return "value" if isinstance(plain_type, type) and issubclass(plain_type, PLAIN) else "shape"


def _columns(record: Any) -> list[str]:
    names = []
    for name, form, size in _forms(_kind_of(record)):
        value = getattr(record, name)
        if form == "numbers":
            names += [f"{name}_{k}" for k in range(size if value is None else value.size)]
        else:
            names.append(f"{name}_shape" if form == "shape" else name)
    return names


def _row(record: Any) -> str:
    cells: list[str] = []
    for name, form, size in _forms(_kind_of(record)):
        value = getattr(record, name)
        if form == "numbers":
            cells += [UNKNOWN] * size if value is None else map(_number, value.ravel().tolist())
        elif form == "number":
            cells.append(UNKNOWN if value is None else _number(value))
        elif value is None:
            cells.append("")
        elif form == "shape":
            cells.append("x".join(map(str, np.shape(value))))
        elif form == "record":
            cells.append(_quoted(json.dumps(plain(dataclasses.asdict(value)))))
        elif form == "whole":
            cells.append(_cell(value))
        elif isinstance(value, str):
            # readers that split at every comma, such as numpy's, can still read the numbers of an estimate
            cells.append(_quoted(value.replace(",", ";") if isinstance(record, Estimate) else value))
        else:
            cells.append(_quoted(json.dumps(value)) if isinstance(value, dict) else repr(value))
    return ",".join(cells)


def _number(value: float) -> str:
    return UNKNOWN if value != value else repr(float(value))


def _cell(value: object) -> str:
    """A whole value in one cell: numbers separated by spaces, names and records as JSON."""
    if isinstance(value, np.ndarray):
        return " ".join(map(repr, value.ravel().tolist()))
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, tuple):
        items = [
            plain(dataclasses.asdict(item)) if dataclasses.is_dataclass(item) and not isinstance(item, type) else item
            for item in value
        ]
        return _quoted(json.dumps(items))
    return "" if value is None else repr(value)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
