"""Plays recordings back on a bus as if live: skyloop's own, or sequences in EuRoC's layout."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from skyloop.core.bus import Bus
from skyloop.core.clock import Clock, RealTime
from skyloop.recording.asl_reader import is_euroc, open_euroc
from skyloop.recording.recording import NAME, open_recording
from skyloop_client.errors import DatasetError
from skyloop_client.messages import Message
from skyloop_client.streams import StreamInfo


@dataclass(frozen=True, slots=True)
class Replay:
    infos: dict[str, StreamInfo]
    messages: Callable[[], Iterator[Message]]
    """All messages in order of arrival."""

    def advertise(self, bus: Bus) -> None:
        """Advertise the streams. Call this before readers subscribe."""
        for info in self.infos.values():
            bus.advertise(info)

    def run(self, bus: Bus, clock: Clock | None = None) -> int:
        """Publish everything at the clock's pace, or as fast as possible. Returns the number of messages."""
        clock = clock or Clock()
        count = 0
        for message in self.messages():
            if count == 0:
                clock.set(message.arrival_ns)
            clock.advance(message.arrival_ns)
            bus.publish(message)
            count += 1
        return count


def open_replay(folder: Path) -> Replay:
    """From the journal if there is one, otherwise from mav0/."""
    if (folder / NAME).exists():
        recording = open_recording(folder)
        if recording.complete_groups() == 0:
            raise DatasetError(
                f"'{folder}' holds no complete group of frames; finish it with `skyloop record --resume`"
            )
        return Replay(recording.infos, recording.messages)
    if is_euroc(folder):
        sequence = open_euroc(folder)
        return Replay(sequence.infos, sequence.messages)
    raise DatasetError(f"'{folder}' is not a dataset: it has neither {NAME} nor mav0/; give a recording or a sequence")


def replay(folder: Path, bus: Bus, clock: Clock | None = None) -> int:
    """Advertise and publish a dataset on a bus. Returns the number of messages."""
    opened = open_replay(folder)
    opened.advertise(bus)
    return opened.run(bus, clock)


def replay_at(folder: Path, speed: float) -> dict[str, int]:
    """Publish everything at so many times real time, 0: at once. Returns the number of messages per stream."""
    bus = Bus()
    replay(folder, bus, Clock(RealTime(speed)) if speed else None)
    return dict(bus.counts)
