"""The AirSim bench measures what it says, at tiny sizes; how fast anything is, is not asserted."""

from __future__ import annotations

import numpy as np
import pytest

from skyloop_papers.benchmarks import airsim

pytestmark = [pytest.mark.renders, pytest.mark.slow("starts the server; tests/airsim asks it in the fast suite")]


def test_every_figure_is_there_and_positive() -> None:
    tiny = airsim.Asked(width=32, height=24, world="flat", quality="low")
    figures = {figure.key: figure for figure in airsim.airsim(1, 1, tiny)}
    assert figures["vs_renderer"].aim == 0.55 and figures["server_share"].aim == 0.20
    assert {"requests_per_s", "renderer_pictures_per_s"} <= set(figures)
    assert all(np.isfinite(figure.value) and figure.value > 0.0 for figure in figures.values())
