"""`commands.csv` in a run folder: every order that a person gave, at the simulated instant it was carried out at."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from skyloop_client.errors import RunFolderError

NAME = "commands.csv"
COLUMNS = ("t_ns", "vehicle", "order", "arguments")
MOST_BYTES = 100_000_000


class Command(NamedTuple):
    t_ns: int
    vehicle: str
    order: str
    arguments: dict[str, Any]


class CommandsFile:
    """Written row by row, so that a killed run keeps what was done."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        self._file: TextIO | None = None

    def add(self, command: Command) -> None:
        if self._file is None:
            self._file = self._path.open("w", encoding="utf-8", newline="")
            csv.writer(self._file).writerow(COLUMNS)
        csv.writer(self._file).writerow([*command[:3], json.dumps(command.arguments)])
        self._file.flush()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def read_commands(path: Path) -> list[Command]:
    """Rows in order; a fault is told with its line."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise RunFolderError(f"'{path}' is larger than {MOST_BYTES // 1_000_000} MB; is it a file of commands?")
        with path.open(encoding="utf-8", newline="") as file:
            return list(_rows(path, csv.reader(file)))
    except (OSError, UnicodeDecodeError) as error:
        raise RunFolderError(f"cannot read commands '{path}': {error}") from None


def _rows(path: Path, rows: Any) -> Iterator[Command]:
    if next(rows, None) != list(COLUMNS):
        raise RunFolderError(f"'{path}' is no file of commands; its first line must be {','.join(COLUMNS)}")
    last = 0
    for number, row in enumerate(rows, 2):
        try:
            t_ns, vehicle, order, arguments = int(row[0]), row[1], row[2], json.loads(row[3])
        except (ValueError, IndexError) as error:
            raise RunFolderError(f"{path}:{number}: no command: {error}") from None
        if t_ns < last or not isinstance(arguments, dict):
            raise RunFolderError(f"{path}:{number}: times must rise and arguments must be a JSON object")
        last = t_ns
        yield Command(t_ns, vehicle, order, arguments)
