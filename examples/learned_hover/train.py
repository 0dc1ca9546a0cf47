"""Learns to hover with PPO: python train.py [STEPS] [WEIGHTS]; writes weights.npz. Needs the extra `sb3`."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecMonitor

from skyloop.gym.sb3 import SkyloopVecEnv

STEPS = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
WEIGHTS = Path(sys.argv[2]) if len(sys.argv) > 2 else Path(__file__).parent / "weights.npz"


def save(model: PPO, path: Path) -> None:
    """The policy's layers as plain arrays, which numpy reads without PyTorch and without pickle."""
    layers = [*model.policy.mlp_extractor.policy_net, model.policy.action_net]
    linear = [layer for layer in layers if isinstance(layer, torch.nn.Linear)]
    arrays: dict[str, Any] = {}
    for k, layer in enumerate(linear):
        arrays[f"weight_{k}"] = layer.weight.detach().numpy().astype(np.float32)
        arrays[f"bias_{k}"] = layer.bias.detach().numpy().astype(np.float32)
    np.savez(path, **arrays)


def main() -> None:
    torch.set_num_threads(1)  # the networks are small
    began = time.perf_counter()
    env = VecMonitor(SkyloopVecEnv("hover", 64, seed=1))
    model = PPO(
        "MlpPolicy",
        env,
        n_steps=64,
        batch_size=1024,
        n_epochs=8,
        gamma=0.99,
        learning_rate=lambda left: 1e-4 + 1e-3 * left,
        policy_kwargs={"net_arch": [64, 64]},
        seed=1,
        device="cpu",
    )
    parts = 10
    for part in range(parts):
        model.learn(STEPS // parts, reset_num_timesteps=part == 0)
        returns = [episode["r"] for episode in model.ep_info_buffer]
        print(
            f"{time.perf_counter() - began:.0f} s, {model.num_timesteps} steps: return {np.mean(returns):.0f} of 500",
            flush=True,
        )
    save(model, WEIGHTS)
    env.close()


main()
