"""A run folder: the resolved scenario first, rows as they come, the summary and the plot at the end."""

from __future__ import annotations

import dataclasses
import json
import math
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import yaml

from skyloop.core.bus import Bus
from skyloop_client.codec import plain_info
from skyloop_client.errors import RunFolderError
from skyloop_client.messages import Message, RadarDetections

FLUSH_EVERY_NS = 1_000_000_000
VARYING = (RadarDetections,)
"""Records whose arrays are of another length each time: an array is one cell, its numbers between blanks."""
NESTED = ("contact",)
"""Fields that hold a record of their own or nothing: one cell of JSON."""


class RunFolder:
    """Created before the flight; what was flown survives a kill up to the last simulated second."""

    def __init__(self, path: Path, scenario: dict[str, Any], versions: dict[str, Any]) -> None:
        self.path = path
        self._files: dict[str, TextIO] = {}
        self._flushed_ns = 0
        self._made = make_empty_folder(path)
        try:
            (path / "scenario.yaml").write_text(yaml.safe_dump(scenario, sort_keys=False), encoding="utf-8")
            (path / "versions.json").write_text(json.dumps(versions, indent=2) + "\n", encoding="utf-8")
        except OSError as error:
            self.discard()
            raise RunFolderError(f"cannot write run folder '{path}': {error}") from error

    def record(self, bus: Bus) -> None:
        """Tell what each stream is; from now on every message becomes a row of `streams/<stream>.csv`."""
        infos = {name: plain(plain_info(info)) for name, info in bus.infos.items()}
        with writing_into(self.path):
            (self.path / "streams.json").write_text(json.dumps(infos, indent=2) + "\n", encoding="utf-8")
        for name in bus.infos:
            bus.on(name, self._write)

    def _write(self, message: Message) -> None:
        with writing_into(self.path):
            self._write_row(message)

    def _write_row(self, message: Message) -> None:
        file = self._files.get(message.stream)
        if file is None:
            path = self.path / "streams" / f"{message.stream}.csv"
            path.parent.mkdir(parents=True, exist_ok=True)
            file = self._files[message.stream] = path.open("w", encoding="utf-8")
            file.write(",".join(["index", "arrival_ns", *_columns(message.data)]) + "\n")
        file.write(f"{message.index},{message.arrival_ns},{_row(message.data)}\n")
        if message.arrival_ns - self._flushed_ns >= FLUSH_EVERY_NS:
            self._flushed_ns = message.arrival_ns
            # rows go on into files that nobody can find any more
            check_still_there(self.path)
            for opened in self._files.values():
                opened.flush()

    def finish(self, summary: dict[str, Any]) -> None:
        self.close()
        check_still_there(self.path)
        with writing_into(self.path):
            (self.path / "summary.json").write_text(json.dumps(plain(summary), indent=2) + "\n", encoding="utf-8")

    def close(self) -> None:
        files, self._files = self._files, {}
        with writing_into(self.path):
            for file in files.values():
                file.close()

    def discard(self) -> None:
        """Leave things as they were before."""
        with suppress(RunFolderError):
            self.close()
        with suppress(FileNotFoundError):
            for entry in [*self.path.iterdir()]:
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
            for folder in self._made:
                folder.rmdir()


def check_still_there(folder: Path) -> None:
    """Whoever writes into a folder that was removed must not make it again."""
    if not folder.is_dir():
        raise _removed(folder)


def _removed(folder: Path) -> RunFolderError:
    return RunFolderError(f"run folder '{folder}' was removed while it was written to")


@contextmanager
def writing_into(folder: Path) -> Iterator[None]:
    """What goes wrong within, in one line."""
    try:
        yield
    except FileNotFoundError:
        raise _removed(folder) from None
    except OSError as error:
        raise RunFolderError(f"cannot write run folder '{folder}': {error}") from error


def make_empty_folder(path: Path) -> list[Path]:
    """Make a folder, or accept an empty one; returns the folders made, innermost first."""
    try:
        made = [folder for folder in (path, *path.parents) if not folder.exists()]
        if not made and (not path.is_dir() or any(path.iterdir())):
            raise RunFolderError(f"'{path}' exists and is not empty; choose another --out or remove it")
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RunFolderError(f"cannot make folder '{path}': {error}") from error
    return made


def plain(value: Any) -> Any:
    """What JSON can hold; infinity and NaN, which it cannot, as text that `float` reads."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, int | float | str | bool | None) else str(value)


def is_bulk(value: Any) -> bool:
    """Images, clouds and lists: a row tells only their shape."""
    return value is None or isinstance(value, tuple) or (isinstance(value, np.ndarray) and value.dtype != np.float64)


def _columns(record: Any) -> list[str]:
    names = []
    for field in dataclasses.fields(record):
        value = getattr(record, field.name)
        if isinstance(record, VARYING) or field.name in NESTED:
            names.append(field.name)
        elif is_bulk(value):
            names.append(f"{field.name}_shape")
        elif isinstance(value, np.ndarray):
            names += [f"{field.name}_{k}" for k in range(value.size)]
        else:
            names.append(field.name)
    return names


def _row(record: Any) -> str:
    cells = []
    for field in dataclasses.fields(record):
        value = getattr(record, field.name)
        if field.name in NESTED:
            cells.append("" if value is None else _quoted(json.dumps(plain(dataclasses.asdict(value)))))
        elif isinstance(record, VARYING):
            cells.append(" ".join(map(repr, np.ravel(value).tolist())))
        elif is_bulk(value):
            cells.append("" if value is None else "x".join(map(str, np.shape(value))))
        elif isinstance(value, np.ndarray):
            cells += [repr(float(x)) for x in value.ravel()]
        elif isinstance(value, str | dict):
            cells.append(_quoted(value if isinstance(value, str) else json.dumps(value)))
        else:
            cells.append(repr(value))
    return ",".join(cells)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'
