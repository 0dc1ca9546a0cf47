"""Flies the learned policy on seeds 1 to 10, in calm air and in wind: python fly.py [SEEDS]."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

import skyloop

SCENARIO = Path(__file__).parent / "learned_hover.yaml"
GOAL = np.array([0.0, 0.0, 2.0])
TRUTH: dict[str, Any] = {"vehicles.drone.state": "truth"}
CALM: dict[str, Any] = {**TRUTH, "wind": {"kind": "calm"}}
BEGINS = 10.0
"""s: its distance from the goal counts from here on, after the take-off."""


def distances(seed: int, changes: dict[str, Any]) -> Any:
    """m from the goal, true position, 50 times per second from `BEGINS` to the end; infinite after a crash."""
    scenario = skyloop.load_scenario(SCENARIO, {**changes, "seed": seed, "truth_rate_hz": 50})
    with skyloop.build(scenario) as simulation:
        truth = simulation.subscribe("truth/drone")
        simulation.run_for(scenario.duration)
        flies = simulation.latest("drone/status").mode == "setpoint"
    positions = np.array([message.data.position for message in truth if message.t_ns >= BEGINS * 1e9])
    return np.linalg.norm(positions - GOAL, axis=1) if flies else np.full(len(positions), np.inf)


def main(seeds: int) -> None:
    for name, changes in (("calm, truth", CALM), ("wind, truth", TRUTH), ("wind, EKF", {})):
        flown = [distances(seed, changes) for seed in range(1, 1 + seeds)]
        rms = [float(np.sqrt(np.mean(each**2))) for each in flown]
        most = max(float(each.max()) for each in flown)
        flew = sum(np.isfinite(each) for each in rms)
        off = f"rms {np.mean(rms):.3f} m (worst {max(rms):.3f}), never beyond {most:.2f} m"
        print(f"{name}: {flew} of {seeds} flew; {off}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
