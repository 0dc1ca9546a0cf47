"""`skyloop bench fabric`: shares of the chip and the clock are computed from what the synthesis says."""

from __future__ import annotations

import pytest

from skyloop_landing.fpga.config import small_config
from skyloop_landing.fpga.synthesis import Resources, Synthesis
from skyloop_landing.fpga.timing import LongestPath
from skyloop_papers.benchmarks import perception


@pytest.mark.slow("compiles the logic; tests/plugins/landing does so in the fast suite")
@pytest.mark.needs("g++")
def test_figures_follow_the_synthesis_and_the_simulation(monkeypatch: pytest.MonkeyPatch) -> None:
    made = Synthesis(Resources(53_200 / 4, 106_400 / 2, 105, 22), LongestPath(14.0, ("FDRE", "LUT2", "FDRE")))
    monkeypatch.setattr("skyloop_landing.fpga.synthesis.synthesise", lambda: made)
    monkeypatch.setattr("skyloop_landing.fpga.config.FabricConfig", lambda: small_config(40, 24))
    figures = {figure.key: figure for figure in perception.fabric(images=2)}
    shares = [figures[f"fabric_{key}_percent"] for key in ("lut", "ff", "bram36", "dsp")]
    assert [share.value for share in shares] == [25.0, 50.0, 75.0, 10.0]
    assert [share.holds for share in shares] == [True, True, False, True]
    assert not figures["fabric_path_ns"].holds  # 14 ns are longer than a clock
    assert figures["fabric_simulated_images_per_s"].value > 1.0
    # two more lines of 40 + 58 clocks, and what follows them
    assert 196 < figures["fabric_list_after_us"].value * 74.25 < 196 + 5 * 98
