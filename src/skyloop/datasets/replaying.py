"""`skyloop replay`: a dataset on a bus, as if live."""

from __future__ import annotations

from pathlib import Path

from skyloop.bus import Bus


def replay(folder: Path, speed: float) -> dict[str, int]:
    """Publish everything; returns how many messages each stream had."""
    from skyloop.recording.replay import open_replay

    bus = Bus()
    open_replay(folder).run(bus, speed)
    return dict(bus.counts)
