"""Writes formats from the journal: while it grows, at the end of a recording, or by `skyloop export`."""

from __future__ import annotations

import json
import logging
import shutil
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from skyloop.core.files import PARTIAL, write_whole
from skyloop.core.plugins import load_object
from skyloop.recording.formats.registry import FORMATS, EachVehicle
from skyloop.recording.recording import open_recording, write_manifest
from skyloop_client.errors import DatasetError, UnknownNameError
from skyloop_client.regular_files import read_text

log = logging.getLogger(__name__)
MARKS = ".formats.json"
"""File in a dataset: the finished formats, and the number of groups that each holds."""


def finished_formats(folder: Path) -> dict[str, int]:
    """By name, the number of groups in each finished format."""
    try:
        data = json.loads(read_text(folder / MARKS))
        return {str(name): int(groups) for name, groups in data.items() if name in FORMATS}
    except (OSError, ValueError, TypeError, AttributeError):
        # without marks no format counts as complete
        return {}


def unmark(folder: Path, name: str) -> None:
    """Remove a format's mark."""
    marks = finished_formats(folder)
    if marks.pop(name, None) is not None:
        write_whole(folder / MARKS, json.dumps(marks, indent=1, sort_keys=True) + "\n")


def check_formats(formats: tuple[str, ...]) -> None:
    """All known names are listed, because short names look alike: 'foo' resembles 'yolo'."""
    for name in formats:
        if name not in FORMATS:
            raise UnknownNameError(f"no format named '{name}'; known: {', '.join(FORMATS)}")


class Exporter:
    """Formats that can grow follow the journal. The others are written at its end."""

    def __init__(self, folder: Path, formats: tuple[str, ...]) -> None:
        check_formats(formats)
        self._folder, self._formats = folder, formats
        self._growing: dict[str, Any] = {}
        self._next: dict[str, int] = {}
        self.seconds: dict[str, float] = dict.fromkeys(formats, 0.0)
        """Seconds spent on each format."""

    def follow(self) -> None:
        """Write the groups that have become complete in the journal."""
        recording = open_recording(self._folder)
        for name in self._formats:
            if FORMATS[name].grows:
                self._write(name, recording.complete_groups())

    def finish(self) -> None:
        """A format that cannot be written does not keep the others from being written."""
        faults: list[DatasetError] = []
        for name in self._formats:
            try:
                self._finish(name)
            except DatasetError as error:
                shutil.rmtree(self._aside(name), ignore_errors=True)
                faults.append(error)
            except BaseException:
                shutil.rmtree(self._aside(name), ignore_errors=True)
                raise
        if faults:
            raise DatasetError("; ".join(map(str, faults)))

    def _finish(self, name: str) -> None:
        """Write the rest of a format and mark it as complete."""
        groups = open_recording(self._folder).complete_groups()
        if self._next.get(name, -1) < groups:
            log.info("writing %s ...", name)
        self._write(name, groups)
        began = time.perf_counter()
        self._growing[name].finish()
        if not FORMATS[name].grows:
            self._put_in_place(name)
        self.seconds[name] += time.perf_counter() - began
        log.debug("format %s: %d groups written in %.1f s", name, self._next[name], self.seconds[name])
        self.mark_finished(self._folder, name)

    def mark_finished(self, folder: Path, name: str) -> None:
        """Mark a finished format as complete in a dataset."""
        marks = {**finished_formats(folder), name: self._next[name]}
        write_whole(folder / MARKS, json.dumps(marks, indent=1, sort_keys=True) + "\n")

    def _aside(self, name: str) -> Path:
        """Where a format is written that is valid only at its end. A kill leaves it there, under a name for remains."""
        return self._folder / f"{name}{PARTIAL}"

    def _put_in_place(self, name: str) -> None:
        """Replace the format's folders by the new ones. Each folder is complete or absent at every moment."""
        aside = self._aside(name)
        try:
            unmark(self._folder, name)
            for output in FORMATS[name].outputs(len(open_recording(self._folder).vehicles)):
                if (self._folder / output).exists():
                    (self._folder / output).replace(aside / f"{output}.old")
                if (aside / output).exists():
                    (aside / output).replace(self._folder / output)
            shutil.rmtree(aside)
        except OSError as error:
            raise DatasetError(f"cannot write '{self._folder}': {error.strerror}") from error

    def _write(self, name: str, end: int) -> None:
        began = time.perf_counter()
        recording = open_recording(self._folder)
        if name not in self._growing:
            make = load_object(FORMATS[name].writer, f"format '{name}'")
            if FORMATS[name].grows:
                target = recording
                unmark(self._folder, name)
            else:
                target = replace(recording, written_to=self._emptied_aside(name))
            writer = EachVehicle(make, target) if FORMATS[name].one_vehicle else make(target)
            self._growing[name], self._next[name] = writer, writer.first_group
        while self._next[name] < end:
            self._growing[name].add(recording.group(self._next[name]))
            self._next[name] += 1
        self.seconds[name] += time.perf_counter() - began

    def _emptied_aside(self, name: str) -> Path:
        aside = self._aside(name)
        try:
            if aside.exists():
                shutil.rmtree(aside)
            aside.mkdir()
        except OSError as error:
            raise DatasetError(f"cannot write '{aside}': {error.strerror}") from error
        return aside


def export(folder: Path, formats: tuple[str, ...]) -> dict[str, tuple[float, list[Path]]]:
    """Write formats again from the complete groups of the journal. Returns the seconds and the paths of each."""
    exporter = Exporter(folder, formats)
    n_vehicles = len(open_recording(folder).vehicles)
    outputs = {name: [folder / output for output in FORMATS[name].outputs(n_vehicles)] for name in formats}
    for output in (path for name in formats if FORMATS[name].grows for path in outputs[name]):
        if output.is_dir():
            shutil.rmtree(output)
        output.unlink(missing_ok=True)
    try:
        exporter.finish()
    finally:
        write_manifest(folder)
    return {name: (exporter.seconds[name], [path for path in outputs[name] if path.exists()]) for name in formats}
