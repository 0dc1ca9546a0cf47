"""`skyloop bench landing` in miniature: every figure is there, and the marker is found."""

from __future__ import annotations

import pytest

from skyloop_papers.benchmarks import perception

pytestmark = pytest.mark.renders


def test_speed_and_steps_are_told_beside_a_peer() -> None:
    found = {figure.key: figure for figure in perception.landing(seeds=(5,), altitudes=(7.0,), repeats=2)}
    assert found["detector_images_per_s"].aim == 60.0
    assert "marker found in 2" in found["detector_images_per_s"].note
    assert found["detector_images_per_s"].value > 0.0 and found["peer_images_per_s"].value > 0.0
    own = {key for key in found if key.endswith("_ms") and not key.startswith("peer_")}
    assert own == {f"{step}_ms" for step in perception.STEPS}
    assert {f"peer_{key}" for key in own - {"marker_ms"}} <= set(found)
