"""Writes a format that holds only one vehicle once for each suitable vehicle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from skyloop.recording.recording import Recording
from skyloop_client.errors import DatasetError
from skyloop_client.messages import Message


class NothingForFormat(DatasetError):
    """The vehicle has no sensor that the format needs."""


class EachVehicle:
    """Runs one writer per vehicle. Vehicles without data for the format are left out."""

    first_group = 0

    def __init__(self, writer: Callable[[Recording], Any], recording: Recording) -> None:
        self._writers = []
        refusals = []
        for name in recording.vehicles:
            try:
                self._writers.append(writer(recording.of_vehicle(name)))
            except NothingForFormat as refusal:
                refusals.append(refusal)
        if not self._writers:
            raise refusals[0]

    def add(self, messages: list[Message]) -> None:
        for writer in self._writers:
            writer.add(messages)

    def finish(self) -> None:
        for writer in self._writers:
            writer.finish()
