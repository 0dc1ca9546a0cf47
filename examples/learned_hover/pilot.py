"""A learned pilot: flies the policy in a file of weights with numpy alone, and hovers 2 m above the origin."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from skyloop_client import Bundle
from skyloop_client.messages import Arm, Rates, Request, Setpoint, TakeOff

GOAL = np.array([0.0, 0.0, 2.0])
WEIGHT = 1.535 * 9.80665
"""N, of the iris."""
MOST_RATES = np.radians([360.0, 360.0, 120.0])
"""rad/s of an action of 1: the limits of the iris."""


class Policy:
    """Two hidden tanh layers, as in PPO's MlpPolicy. The output is the mean action."""

    def __init__(self, weights: Path) -> None:
        with np.load(weights, allow_pickle=False) as arrays:
            self._layers = [(arrays[f"weight_{k}"], arrays[f"bias_{k}"]) for k in range(len(arrays) // 2)]

    def __call__(self, observation: Any) -> Any:
        *hidden, (last, bias) = self._layers
        values = observation
        for weight, shift in hidden:
            values = np.tanh(weight @ values + shift)
        return np.clip(last @ values + bias, -1.0, 1.0)


def observed(state: Any) -> Any:
    """The observation of `skyloop/Hover-v0`: relative goal, velocity, world_from_body by rows, body rates."""
    w, x, y, z = state.quat_wxyz
    world_from_body = [
        1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y),
        2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x),
        2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y),
    ]  # fmt: skip
    parts = (GOAL - state.position, state.velocity_world, world_from_body, state.angular_velocity_body)
    return np.concatenate(parts).astype(np.float32)


class Pilot:
    """Takes off with the built-in controller, then gives thrust and body rates 50 times per second."""

    def __init__(self, weights: str = "weights.npz") -> None:
        """weights: a file in this folder, or any file by its whole path."""
        self.policy = Policy(Path(__file__).parent / weights)

    def __call__(self, bundle: Bundle) -> Setpoint | list[Setpoint | Request] | None:
        status = bundle.get("status")
        if status is None or not status.armed:
            return [Arm(), TakeOff(float(GOAL[2]))]
        if status.mode == "takeoff":
            return None
        action = self.policy(observed(bundle.state)).astype(np.float64)
        return Rates(action[1:] * MOST_RATES, WEIGHT * (1.0 + float(action[0])))
