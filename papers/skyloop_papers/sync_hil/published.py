"""Tables I to V of the paper."""

from __future__ import annotations

from skyloop_papers.sync_hil.protocol import DELAYED, ESTIMATE, FREE, HOST, OSCILLATIONS, POSITION, TARGET, TIME

ANGLE, DISTANCE, SAMPLE = "angle error (deg)", "distance error (m)", "acquiring a sample (s)"
PUBLISHED: dict[str, dict[str, dict[str, tuple[float, float | None]]]] = {
    "Table I": {
        f"{HOST}: rangefinder": {SAMPLE: (0.0441, None)},
        f"{HOST}: camera": {SAMPLE: (0.0561, None)},
        f"{TARGET}: rangefinder": {SAMPLE: (0.0492, None)},
        f"{TARGET}: camera": {SAMPLE: (0.2510, None)},
        f"{DELAYED}: rangefinder": {SAMPLE: (0.0977, None)},
        f"{DELAYED}: camera": {SAMPLE: (0.0374, None)},
    },
    "Table II": {
        HOST: {ANGLE: (0.269, None), DISTANCE: (0.071, None), TIME: (0.513, None)},
        TARGET: {ANGLE: (0.158, None), DISTANCE: (0.112, None), TIME: (0.644, None)},
    },
    "Table III": {
        HOST: {OSCILLATIONS: (0.0, 0.0), TIME: (2.480, 0.033)},
        TARGET: {OSCILLATIONS: (1.0, 1.612), TIME: (9.242, 13.767)},
        FREE: {OSCILLATIONS: (0.0, 0.0), TIME: (2.504, 0.108)},
    },
    "Table IV": {
        HOST: {POSITION: (0.027, 0.0187), TIME: (59.689, 0.800)},
        TARGET: {POSITION: (0.106, 0.0440), TIME: (58.484, 0.517)},
        FREE: {POSITION: (0.046, 0.0454), TIME: (59.014, 0.960)},
    },
    "Table V": {
        HOST: {POSITION: (0.320, 0.256), ESTIMATE: (0.218, 0.131), TIME: (27.816, 1.242)},
        TARGET: {POSITION: (0.359, 0.301), ESTIMATE: (0.211, 0.195), TIME: (27.121, 1.815)},
        FREE: {POSITION: (0.328, 0.262), ESTIMATE: (0.245, 0.122), TIME: (26.899, 1.596)},
    },
}
"""By table, set-up and score: mean and standard deviation over ten runs."""
