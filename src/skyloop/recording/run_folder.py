"""A run folder: the resolved scenario first, rows as they come, the summary and the plot at the end."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any, TextIO

import numpy as np
import yaml

from skyloop.bus import Bus
from skyloop.errors import RunFolderError
from skyloop.messages import Message

FLUSH_EVERY_NS = 1_000_000_000


class RunFolder:
    """Created before the flight; what was flown survives a kill up to the last simulated second."""

    def __init__(self, path: Path, scenario: dict[str, Any], versions: dict[str, Any]) -> None:
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise RunFolderError(f"'{path}' exists and is not empty; choose another --out or remove it")
        try:
            path.mkdir(parents=True, exist_ok=True)
            (path / "scenario.yaml").write_text(yaml.safe_dump(scenario, sort_keys=False), encoding="utf-8")
            (path / "versions.json").write_text(json.dumps(versions, indent=2) + "\n", encoding="utf-8")
        except OSError as error:
            raise RunFolderError(f"cannot write run folder '{path}': {error}") from error
        self.path = path
        self._files: dict[str, TextIO] = {}
        self._flushed_ns = 0

    def record(self, bus: Bus) -> None:
        """From now on every message of every stream becomes a row of `<stream>.csv`."""
        for name in bus.infos:
            bus.on(name, self._write)

    def _write(self, message: Message) -> None:
        file = self._files.get(message.stream)
        if file is None:
            path = self.path / "streams" / f"{message.stream.replace('/', '-')}.csv"
            path.parent.mkdir(exist_ok=True)
            file = self._files[message.stream] = path.open("w", encoding="utf-8")
            file.write(",".join(_columns(message.data)) + "\n")
        file.write(_row(message.data) + "\n")
        if message.arrival_ns - self._flushed_ns >= FLUSH_EVERY_NS:
            self._flushed_ns = message.arrival_ns
            for opened in self._files.values():
                opened.flush()

    def finish(self, summary: dict[str, Any]) -> None:
        self.close()
        (self.path / "summary.json").write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")

    def close(self) -> None:
        for file in self._files.values():
            file.close()
        self._files.clear()


def _columns(record: Any) -> list[str]:
    names = []
    for field in dataclasses.fields(record):
        value = getattr(record, field.name)
        if isinstance(value, np.ndarray):
            names += [f"{field.name}_{k}" for k in range(value.size)]
        else:
            names.append(field.name)
    return names


def _row(record: Any) -> str:
    cells = []
    for field in dataclasses.fields(record):
        value = getattr(record, field.name)
        if isinstance(value, np.ndarray):
            cells += [repr(float(x)) for x in value.ravel()]
        elif isinstance(value, str | dict):
            cells.append(
                json.dumps(value) if isinstance(value, dict) else '"' + value.replace('"', '""') + '"'
            )
        else:
            cells.append(repr(value))
    return ",".join(cells)
