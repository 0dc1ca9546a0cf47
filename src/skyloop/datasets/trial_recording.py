"""A recording of which only the figures are kept: frames per second and processor time by stage."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from skyloop.datasets.recording_run import plan_recording, record
from skyloop.datasets.rig import RecordOptions, rig_scenario

SENSORS = ("rgb", "depth", "lidar", "imu", "gps", "baro", "mag")
"""Sensors of the rig, as in Table 5 of airloop. `rgb` includes true depth, normals, segmentation and labels."""
RATE_HZ = 20.0
STAGES = {
    "rendering": "the renderer's processes",
    "sensors": "measuring, with views, rays, noise and labels",
    "journal": "encoding, checksums and writing",
    "physics_and_rest": "flight with its small sensors (once for all workers), pilot, bus and asking the renderer",
}


def recorded(
    *, frames: int, radar: bool, store: bool, quality: str = "low", world: str = "park", workers: int = 0
) -> dict[str, Any]:
    """The summary of a recording that is deleted afterwards."""
    sensors = (*SENSORS, "radar") if radar else SENSORS
    options = RecordOptions(world=world, frames=frames, rate_hz=RATE_HZ, quality=quality, sensors=sensors)
    with tempfile.TemporaryDirectory(prefix="skyloop-record-") as made:
        folder = Path(made) / "recording"
        plan_recording(rig_scenario(options), folder, frames=frames, rate_hz=RATE_HZ, formats=(), store=store)
        return record(folder, workers or os.cpu_count() or 1)
