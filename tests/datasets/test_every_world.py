"""The rig's flight fits into every world."""

from __future__ import annotations

from pathlib import Path

import pytest

from skyloop.datasets.recording_run import plan_recording
from skyloop.datasets.rig import RecordOptions, rig_scenario
from skyloop.datasets.worker import record_alone
from skyloop.recording.recording import open_recording
from skyloop.world.world import WORLDS
from skyloop_client.errors import DatasetError


@pytest.mark.slow("records in every world")
@pytest.mark.parametrize("trajectory", ["square", "circle", "lemniscate"])
@pytest.mark.parametrize("world", WORLDS)
def test_nothing_is_hit(tmp_path: Path, world: str, trajectory: str) -> None:
    """20 s at 1 m/s, which the smallest room allows, without a collision."""
    options = RecordOptions(
        world=world, frames=40, rate_hz=2.0, speed=1.0, trajectory=trajectory, sensors=("rgb", "imu")
    )
    plan_recording(rig_scenario(options), tmp_path / "dataset", frames=40, rate_hz=2.0, formats=())
    record_alone(tmp_path / "dataset")
    recording = open_recording(tmp_path / "dataset")
    events = [f"{message.t_ns / 1e9:.1f} s {message.data.kind}" for message in recording.messages(["drone/events"])]
    assert not [event for event in events if event.split()[-1] in ("contact", "crash", "collision")]
    assert len(list(recording.messages(["drone/rgb0"]))) == 40


def test_a_curve_too_narrow_for_its_speed_is_refused() -> None:
    with pytest.raises(DatasetError, match=r"a lemniscate 2 m wide, which fits into 'house', cannot be flown at 3 m/s"):
        rig_scenario(RecordOptions(world="house", trajectory="lemniscate"))
