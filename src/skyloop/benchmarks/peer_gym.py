"""Times gym-pybullet-drones; run as `python -m skyloop.benchmarks.peer_gym`.

Arguments: physics rate, control rate, number of seconds. Prints environment steps per second of one HoverAviary in this
process. Its rotors run at hover speed, so episodes last their full length and the costly resets are rare."""

from __future__ import annotations

import sys
import time

import numpy as np


def main() -> None:
    from gym_pybullet_drones.envs.HoverAviary import HoverAviary
    from gym_pybullet_drones.utils.enums import ActionType, ObservationType

    physics_hz, control_hz, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    env = HoverAviary(pyb_freq=physics_hz, ctrl_freq=control_hz, obs=ObservationType.KIN, act=ActionType.RPM)
    hovering = np.zeros(env.action_space.shape, np.float32)
    env.reset(seed=1)
    for _ in range(20):
        env.step(hovering)
    steps, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        _, _, terminated, truncated, _ = env.step(hovering)
        steps += 1
        if terminated or truncated:
            env.reset()
    print(steps / (time.perf_counter() - began))


if __name__ == "__main__":
    main()
