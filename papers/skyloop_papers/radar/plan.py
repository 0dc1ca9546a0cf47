"""The constants that decide what `skyloop reproduce radar` gives."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from skyloop.sensors.radar.config import Beam, RadarConfig
from skyloop_papers.experiment import ExperimentPlan
from skyloop_papers.radar.noise import SNR_DB, TRIALS
from skyloop_papers.radar.walks import FRAME_TIMES, FRAMES_PER_SECOND, GAIT, WALKS

TABLE_3 = {"v_max": (3.15, "m/s"), "v_res": (0.1, "m/s"), "d_res": (0.38, "m"), "d_max": (12.0, "m")}
TABLE_9 = {"away": (1, 0.39), "towards": (2, 0.42)}
"""Scenario and NCC. The list of scenarios begins with "away"; the text about Figs 15 and 16 uses the opposite order."""
TABLE_9_NOTE = "published: a real BGT60TR13C against AirLoop's simulation"
LEAKAGE_DB: tuple[float | None, ...] = (-60.0, -70.0, -80.0, -90.0, -100.0, -110.0, None)
QUICK_LEAKAGE_DB: tuple[float | None, ...] = (-100.0, None)
"""From a poor board's leakage to an invisible one, and none. No value is documented. The preset has -90 dB."""
BEAM_DEG = (0.0, 10.0, 20.0, 30.0, 40.0, 50.0)
"""Angles from straight ahead at which the two patterns are compared."""
GAIT_BURSTS, QUICK_GAIT_BURSTS = 200, 40


@dataclass(frozen=True, slots=True)
class RadarPlan(ExperimentPlan):
    quick: bool = False
    """Fewer frames, levels and trials."""

    def plain(self) -> dict[str, Any]:
        return {
            **({"quick": True} if self.quick else {}),
            "walks": [asdict(walk) for walk in (*WALKS, GAIT)],
            "frames": len(FRAME_TIMES),
            "frames_per_second": FRAMES_PER_SECOND,
            "gait_bursts": GAIT_BURSTS,
            "leakage_db": LEAKAGE_DB,
            "beam_deg": BEAM_DEG,
            "snr_db": SNR_DB.tolist(),
            "trials": TRIALS,
            "beam": Beam().model_dump(mode="json"),
            "radar": RadarConfig(preset="bgt60tr13c-real").model_dump(mode="json"),
            "published": {"table-3": TABLE_3, "table-9": TABLE_9},
        }
