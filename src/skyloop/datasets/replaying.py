"""`skyloop replay`: publishes a dataset on a bus, as if live."""

from __future__ import annotations

from pathlib import Path

from skyloop.core.bus import Bus
from skyloop.core.clock import Clock, RealTime
from skyloop.recording.replay import replay as play


def replay(folder: Path, speed: float) -> dict[str, int]:
    """Publish everything at so many times real time, 0: at once. Returns the number of messages per stream."""
    bus = Bus()
    play(folder, bus, Clock(RealTime(speed)) if speed else None)
    return dict(bus.counts)
