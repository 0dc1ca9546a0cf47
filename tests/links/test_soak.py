"""A long flight at full rate: what the link holds does not grow."""

from __future__ import annotations

import statistics
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from link_rig import eventually, flying, held
from skyloop.links.loop import timeline
from skyloop_client.messages import Arm, TakeOff, Velocity

SECONDS = 600.0
WARM_UP = 3000
"""Interactions."""
GROWTH_MB = 5.0
"""Beyond it is no noise: a leak of 50 bytes per interaction would be more in ten minutes."""

SEEING: dict[str, Any] = {
    "vehicles": [
        {
            "name": "drone",
            "sensors": {
                "imu": {"kind": "imu", "rate_hz": 200},
                "camera": {"kind": "camera", "rate_hz": 10, "width": 160, "height": 120},
            },
        }
    ]
}


def memory_mb() -> float:
    """What this process holds: simulator and client are both in it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024


@pytest.mark.slow("ten minutes at full rate")
def test_ten_minutes_at_full_rate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # the rows that are kept on purpose, some 10 MB, are full soon
    monkeypatch.setattr(timeline, "MOST_KEPT", WARM_UP)
    threads_before = held()[1]
    with flying(SEEING, folder=tmp_path) as rig, rig.connect(clock=lambda: 0) as session:
        session.send(Arm(), TakeOff(3.0))
        began = time.monotonic()
        marks: list[tuple[float, float, int, int]] = []
        interactions = images = 0
        start = None
        while time.monotonic() - began < SECONDS:
            for _ in range(50):
                speed = np.array([0.2 * np.sin(session.now() / 5e9), 0.0, 0.0])
                bundle = session.ask(Velocity(speed), want=None, until_ns=session.now() + 5_000_000)
                images += bundle.t_ns % 100_000_000 == 0
            interactions += 50
            if interactions % 250 == 0 and interactions > WARM_UP:
                start = start or (time.monotonic(), interactions)
                marks.append((time.monotonic() - start[0], memory_mb(), *held()))
        assert rig.link.timeline.violations == 0
        assert eventually(lambda: rig.link.timeline.count == interactions + 1)
        assert images > 10
    assert len(marks) > 9, "too short, or too slow a machine"
    third = len(marks) // 3
    growth = statistics.median(m[1] for m in marks[-third:]) - statistics.median(m[1] for m in marks[:third])
    lasted = marks[-1][0]
    print(
        f"{lasted:.0f} s after warm-up, {interactions} interactions ({interactions / SECONDS:.0f}/s), "
        f"{images} images: {marks[0][1]:.1f} MB, then {marks[-1][1]:.1f} MB (growth {growth:+.2f} MB), "
        f"descriptors {marks[0][2]}, then {marks[-1][2]}"
    )
    assert growth < GROWTH_MB
    assert {mark[2:] for mark in marks} == {marks[0][2:]}
    assert eventually(lambda: held()[1] <= threads_before)
