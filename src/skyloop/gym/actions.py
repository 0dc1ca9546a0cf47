"""The meaning of the numbers in an action, for a simulation and for arrays of inputs."""

from __future__ import annotations

from typing import Any

import numpy as np

from skyloop.vehicle.layout import SET_MOTORS, SET_RATES, SET_VELOCITY_BODY
from skyloop_client.errors import ScenarioError, SetpointError, nearest_name
from skyloop_client.messages import Array, Motors, Rates, Setpoint, Velocity

ACTIONS = ("rates", "velocity", "motors")
MOST_SPEED = 3.0
"""m/s along each axis at an action of 1."""
MOST_YAW_RATE = 1.5
"""rad/s at an action of 1."""


class ActionMeaning:
    """Converts (n, size) numbers in [-1, 1] into inputs of the controller."""

    def __init__(self, kind: str, params: np.ndarray[Any, Any]) -> None:
        if kind not in ACTIONS:
            raise ScenarioError(f"no action kind named '{kind}'; {nearest_name(kind, ACTIONS)}")
        self.kind = kind
        self.size = int(params["n_rotors"][0]) if kind == "motors" else 4
        self._weight = float(params["mass"][0] * params["gravity"][0])
        self._most_rates = params["max_rate"][0].copy()

    def checked(self, actions: Any, n: int) -> Array:
        """(n, size) float64, clipped. Raises SetpointError if a number is not finite."""
        numbers = np.asarray(actions, np.float64)
        if numbers.shape != (n, self.size):
            raise SetpointError(f"an action has shape {numbers.shape[1:]}, expected ({self.size},) for each of {n}")
        if not np.isfinite(numbers).all():
            raise SetpointError("an action holds a number that is not finite")
        return np.clip(numbers, -1.0, 1.0)

    def _rates(self, numbers: Array) -> tuple[Array, Array]:
        """N of collective thrust, and rad/s."""
        return self._weight * (1.0 + numbers[:, 0]), self._most_rates * numbers[:, 1:]

    def setpoint(self, numbers: Array) -> Setpoint:
        """The setpoint of one vehicle, from (1, size)."""
        if self.kind == "rates":
            thrust, rates = self._rates(numbers)
            return Rates(rates[0], float(thrust[0]))
        if self.kind == "velocity":
            yaw_rate = float(MOST_YAW_RATE * numbers[0, 3])
            return Velocity(MOST_SPEED * numbers[0, :3], frame="body", yaw_rate=yaw_rate)
        return Motors(0.5 * (1.0 + numbers[0]))

    def write(self, inputs: np.ndarray[Any, Any], numbers: Array) -> None:
        """Write the inputs of (n,) vehicles, as their autopilots would write the setpoints."""
        if self.kind == "rates":
            inputs["kind"] = SET_RATES
            inputs["thrust"], inputs["rates"] = self._rates(numbers)
        elif self.kind == "velocity":
            inputs["kind"] = SET_VELOCITY_BODY
            inputs["velocity"] = MOST_SPEED * numbers[:, :3]
            inputs["yaw_rate"] = MOST_YAW_RATE * numbers[:, 3]
        else:
            inputs["kind"] = SET_MOTORS
            inputs["throttle"][:, : self.size] = 0.5 * (1.0 + numbers)
