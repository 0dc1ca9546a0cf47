"""Learns to hover with PPO in JAX, on a GPU if there is one, then flies: python train_jax.py [STEPS] [WEIGHTS]."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import jax
import numpy as np
from fly import CALM, TRUTH, distances

from skyloop_jax import DeviceEnv
from skyloop_jax.learning import Learner, save_policy

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
WEIGHTS = Path(sys.argv[2] if len(sys.argv) > 2 else "weights_jax.npz").resolve()
SEEDS = range(1, 4)


def train() -> None:
    began, told, total, episodes = time.perf_counter(), 0, 0.0, 0
    print(f"training on {jax.devices()[0].device_kind}", flush=True)
    learner = Learner(DeviceEnv("hover"), seed=1)
    for progress in learner.learn(STEPS):
        if progress.episodes:
            total, episodes = total + progress.episodes * progress.mean_return, episodes + progress.episodes
        if episodes and progress.steps >= told + STEPS // 10:
            elapsed, mean = time.perf_counter() - began, total / episodes
            print(f"{elapsed:.0f} s, {progress.steps} steps: return {mean:.0f} of 500", flush=True)
            told, total, episodes = progress.steps, 0.0, 0
    save_policy(learner.networks, WEIGHTS)
    print(f"wrote {WEIGHTS.name}", flush=True)


def fly() -> None:
    """In the whole simulator, as fly.py does with the stored policy."""
    pilot = {"vehicles.drone.pilot.options": {"weights": str(WEIGHTS)}}
    for name, changes in (("calm, truth", CALM), ("wind, truth", TRUTH), ("wind, EKF", {})):
        rms = [float(np.sqrt(np.mean(distances(seed, {**changes, **pilot}) ** 2))) for seed in SEEDS]
        flew = sum(np.isfinite(each) for each in rms)
        print(f"{name}: {flew} of {len(rms)} flew; rms {np.mean(rms):.3f} m from the goal", flush=True)


if __name__ == "__main__":
    train()
    fly()
