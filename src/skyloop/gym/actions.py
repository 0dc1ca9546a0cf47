"""The meaning of the numbers in an action, for a simulation and for arrays of inputs."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from skyloop.gym.tasks import Records
from skyloop.vehicle.kernel_records import SET_MOTORS, SET_POSITION, SET_RATES, SET_VELOCITY_BODY, SET_VELOCITY_WORLD
from skyloop_client.errors import ScenarioError, SetpointError, nearest_name
from skyloop_client.messages import Array, Motors, Position, Rates, Setpoint, Velocity

SIZES = {"rates": 4, "motors": 0, "velocity": 4, "velocity_world": 4, "climb": 1, "position": 4, "offset": 3}
"""Size of an action by its kind. For motors it is the number of rotors."""
MOST_SPEED = 3.0
"""m/s along each axis at an action of 1."""
MOST_YAW_RATE = 1.5
"""rad/s at a velocity action of 1."""
MOST_ASIDE, MOST_HEIGHT = 8.0, 5.0
"""m east and north of the origin, and m of height, at a position action of 1; a height action of -1 is the ground."""
MOST_OFFSET = 1.0
"""m from the vehicle along each axis at an offset action of 1."""


class ActionMeaning:
    """Converts (n, size) numbers in [-1, 1] into inputs of the controller."""

    def __init__(self, kind: str, params: Records) -> None:
        if kind not in SIZES:
            raise ScenarioError(f"no action kind named '{kind}'; {nearest_name(kind, SIZES)}")
        self.kind = kind
        self.size = SIZES[kind] or int(params["n_rotors"][0])
        self._weight = float(params["mass"][0] * params["gravity"][0])
        self._most_rates = params["max_rate"][0].copy()

    def checked(self, actions: ArrayLike, n: int) -> Array:
        """(n, size) float64, clipped. Raises SetpointError if a number is not finite."""
        numbers = np.asarray(actions, np.float64)
        if numbers.shape != (n, self.size):
            raise SetpointError(f"an action has shape {numbers.shape[1:]}, expected ({self.size},) for each of {n}")
        # a sum of finite numbers is finite for all reasonable values, and much faster than a check of each
        if not math.isfinite(numbers.sum()) and not np.isfinite(numbers).all():
            raise SetpointError("an action holds a number that is not finite")
        return np.minimum(np.maximum(numbers, -1.0), 1.0)

    # ---- in units, (n, ...) for (n, size) numbers

    def _rates(self, numbers: Array) -> tuple[Array, Array]:
        """N of collective thrust, and rad/s."""
        return self._weight * (1.0 + numbers[:, 0]), self._most_rates * numbers[:, 1:]

    def _velocity(self, numbers: Array) -> tuple[Array, Array]:
        """m/s and rad/s of yaw."""
        if self.kind == "climb":
            velocity = np.zeros((len(numbers), 3))
            velocity[:, 2] = MOST_SPEED * numbers[:, 0]
            return velocity, np.zeros(len(numbers))
        return MOST_SPEED * numbers[:, :3], MOST_YAW_RATE * numbers[:, 3]

    def _position(self, numbers: Array, positions: Array) -> tuple[Array, Array]:
        """m, and rad of heading; with "offset" the vehicle keeps its heading."""
        if self.kind == "offset":
            return positions + MOST_OFFSET * numbers, np.zeros(len(numbers))
        height = 0.5 * MOST_HEIGHT * (1.0 + numbers[:, 2:3])
        return np.concatenate([MOST_ASIDE * numbers[:, :2], height], 1), math.pi * numbers[:, 3]

    # ---- for the vehicles

    def setpoint(self, numbers: Array, positions: Array) -> Setpoint:
        """The setpoint of one vehicle, from (1, size) numbers and its position, (1, 3) m."""
        if self.kind == "rates":
            thrust, rates = self._rates(numbers)
            return Rates(rates[0], float(thrust[0]))
        if self.kind == "motors":
            return Motors(0.5 * (1.0 + numbers[0]))
        if self.kind in ("position", "offset"):
            position, yaw = self._position(numbers, positions)
            return Position(position[0], None if self.kind == "offset" else float(yaw[0]))
        velocity, yaw_rate = self._velocity(numbers)
        frame = "world" if self.kind == "velocity_world" else "body"
        return Velocity(velocity[0], frame=frame, yaw_rate=float(yaw_rate[0]))

    def write(self, inputs: Records, numbers: Array, positions: Array) -> None:
        """Write the inputs of (n,) vehicles, as their autopilots would write the setpoints."""
        if self.kind == "rates":
            inputs["kind"] = SET_RATES
            inputs["thrust"], inputs["rates"] = self._rates(numbers)
        elif self.kind == "motors":
            inputs["kind"] = SET_MOTORS
            inputs["throttle"][:, : self.size] = 0.5 * (1.0 + numbers)
        elif self.kind in ("position", "offset"):
            inputs["kind"] = SET_POSITION
            inputs["position"], inputs["yaw"] = self._position(numbers, positions)
            inputs["absolute_yaw"] = self.kind == "position"
        else:
            inputs["kind"] = SET_VELOCITY_WORLD if self.kind == "velocity_world" else SET_VELOCITY_BODY
            inputs["velocity"], inputs["yaw_rate"] = self._velocity(numbers)
