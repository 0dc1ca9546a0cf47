"""Run by test_gym_sb3_real.py with the real library: its checker, its own vector as the reference, VecMonitor, PPO."""

from __future__ import annotations

import gymnasium
import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.env_checker import check_env
from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor, VecNormalize

import skyloop.gym
from skyloop.gym.sb3 import SkyloopVecEnv


def flies_as_their_own_vector() -> None:
    """Every number and info of `DummyVecEnv` around single environments."""
    options = {"max_episode_steps": 40}
    ours = SkyloopVecEnv("hover", 3, seed=4, **options)
    theirs = DummyVecEnv([lambda: gymnasium.make("skyloop/Hover-v0", **options)] * 3)
    theirs.seed(4)
    assert np.array_equal(ours.reset(), theirs.reset()) and ours.reset_infos == theirs.reset_infos
    random, ended = np.random.default_rng(0), 0
    for _ in range(100):
        actions = random.uniform(-0.8, 0.5, (3, 4)).astype(np.float32)
        actions[0, 0] = -0.9  # falls
        (*arrays, infos), (*expected, expected_infos) = ours.step(actions), theirs.step(actions)
        for mine, other in zip(arrays, expected, strict=True):
            assert mine.dtype == other.dtype and np.array_equal(mine, other)
        for mine, other in zip(infos, expected_infos, strict=True):
            last, expected_last = mine.pop("terminal_observation", None), other.pop("terminal_observation", None)
            assert mine == other and np.array_equal(last, expected_last)
            ended += last is not None
    assert ended > 4
    assert ours.has_attr("task") and not ours.has_attr("nothing")


def learns() -> None:
    env = VecMonitor(VecNormalize(SkyloopVecEnv("hover", 32, seed=1), norm_reward=False))
    model = PPO("MlpPolicy", env, n_steps=64, batch_size=512, learning_rate=1e-3, seed=1, device="cpu")
    returns = []
    for part in range(3):
        model.learn(32 * 64 * 10, reset_num_timesteps=part == 0)
        returns.append(np.mean([episode["r"] for episode in model.ep_info_buffer]))
    print("returns", *returns)
    assert returns[2] > 2.0 * returns[0] > 0.0
    env.close()


torch.set_num_threads(1)
for name in ("Hover", "Waypoint", "Gate", "Landing"):
    check_env(gymnasium.make(f"skyloop/{name}-v0"), warn=True)
flies_as_their_own_vector()
learns()
assert skyloop.gym.SkyloopVectorEnv
print("all is well")
