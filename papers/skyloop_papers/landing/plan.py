"""The landings of `skyloop reproduce landing` and how they are judged, fixed before the flights; see the page.

Nothing here may change once flights that count have begun. A results folder holds a copy, and a different plan is
refused."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from skyloop_landing.vision.control import LandingControlConfig
from skyloop_papers.experiment import ExperimentPlan

PUBLISHED_MSE = {"x": 0.3375, "y": 0.8672, "heading": 0.7505}
"""Table II: m², m² and rad²; the paper prints them with the units m and rad."""
PUBLISHED_TIME = {"mean": 43.02, "median": 43.83, "max": 59.38, "min": 25.89}
"""s, Table III."""
PUBLISHED_LANDED = (100, 100)
AIM_RMS = {"x": 0.10, "y": 0.10, "heading": 0.10}
AIM_TIME = {"mean": 20.0, "max": 30.0}
ON_MARKER = 0.857
"""m from the middle of the marker, the ring's outer radius, within which the vehicle must stand."""
DURATION = 150.0
"""s of simulated time for a whole flight."""

Change = dict[str, Any]
BOARDS: dict[str, tuple[str, dict[str, float]]] = {
    "python": ("python", {}),
    "qemu": ("qemu", {}),
    "throttled": ("qemu", {"clock_mhz": 1.0}),
    "late": ("python", {"latency": 0.5}),
}
"""By name: the board of `skyloop land`, and what differs from 650 MHz and no latency."""
CONDITIONS: dict[str, Change] = {
    "wind 5 m/s with gusts": {"wind": {"kind": "dryden", "mean": [4.0, 3.0, 0.0], "w20_kt": 15.0}},
    "dusk": {"weather.time_of_day": 19.6, "weather.clouds": 0.2},
    "snow": {"weather.snow": 1.0, "weather.clouds": 0.9},
    "rain": {"weather.rain": 10.0, "weather.wetness": 1.0, "weather.clouds": 0.9},
    "rangefinder noise and dropouts": {
        "vehicles.drone.sensors.range.noise_sd": 0.4,
        "vehicles.drone.sensors.range.faults": [{"kind": "dropout", "probability": 0.3}],
    },
    "camera at 15 Hz": {"vehicles.drone.sensors.down.rate_hz": 15},
    "100 ms more latency": {"vehicles.drone.sensors.down.latency": 0.1},
    "motion blur": {"vehicles.drone.sensors.down.exposure_time": 0.02},
    "turned and half in shadow": {"turned": True, "screen": True},
}
"""By name: paths of the scenario and their values; `turned` and `screen` are of the world."""
ABLATION: dict[str, Change] = {
    "ours": {},
    "altitude not filtered": {"vehicles.drone.pilot.control.altitude_filter": False},
    "second stage as published": {"vehicles.drone.pilot.control.second_stage": "published"},
    "both as published": {
        "vehicles.drone.pilot.control.altitude_filter": False,
        "vehicles.drone.pilot.control.second_stage": "published",
    },
    "camera over the marker": {"vehicles.drone.pilot.control.camera_ahead": 0.0},
}


@dataclass(frozen=True, slots=True)
class LandingPlan(ExperimentPlan):
    """What is flown. The quick form is one landing."""

    starts: tuple[int, ...] = tuple(range(101, 201))
    """Seeds of the hundred landings of each board; lower ones were looked at while the landing was made."""
    boards: tuple[str, ...] = tuple(BOARDS)
    condition_starts: tuple[int, ...] = tuple(range(201, 251))
    conditions: tuple[str, ...] = tuple(CONDITIONS)
    ablation_starts: tuple[int, ...] = tuple(range(301, 351))
    ablation: tuple[str, ...] = tuple(ABLATION)
    clocks_mhz: tuple[float, ...] = (650.0, 65.0, 6.5, 1.0, 0.5, 0.2, 0.1)
    clock_starts: tuple[int, ...] = tuple(range(401, 406))
    camera_rate_hz: int = 30
    """Images per simulated second. The video has 60, so each image is shown twice; the paper's simulator gave fewer."""

    def plain(self) -> dict[str, Any]:
        fixed = {
            "on_marker": ON_MARKER,
            "duration": DURATION,
            "control": LandingControlConfig().model_dump(mode="json"),
        }
        changes = {"boards_with": BOARDS, "conditions_with": CONDITIONS, "ablation_with": ABLATION}
        return {**asdict(self), **fixed, **changes}


QUICK = LandingPlan((1,), ("python",), (), (), (), (), (), ())
