"""One small recording for all tests of formats: every sensor of the rig before a walking person."""

from __future__ import annotations

from pathlib import Path

import pytest

from skyloop.datasets.recording_run import plan_recording
from skyloop.datasets.rig import RecordOptions, rig_scenario
from skyloop.datasets.worker import record_alone
from skyloop.recording.recording import Recording, open_recording

FRAMES, RATE_HZ = 14, 10.0


@pytest.fixture(scope="session")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    """Read only; formats that write into its folder are to copy it first."""
    folder = tmp_path_factory.mktemp("recording") / "dataset"
    options = RecordOptions(world="radar-lab", frames=FRAMES, rate_hz=RATE_HZ, speed=1.0)
    plan_recording(rig_scenario(options), folder, frames=FRAMES, rate_hz=RATE_HZ, formats=())
    record_alone(folder)
    return open_recording(Path(folder))
