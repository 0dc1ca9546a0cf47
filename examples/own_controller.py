"""A controller of your own: PD on position, geometric PD on attitude, and throttles for the rotors."""

import numpy as np

from skyloop.core.frames import matrix_from_quat
from skyloop.vehicle.airframe import Airframe
from skyloop_client.errors import SetpointError
from skyloop_client.messages import Array, Estimate, Goal, Position, Setpoint, VehicleState

GRAVITY = 9.80665


class Geometric:
    def __init__(self, airframe: Airframe, period_s: float, stiffness: float = 6.0) -> None:
        """stiffness: 1/s², gain of the position loop."""
        motor = airframe.motor
        self.mass = airframe.mass
        self.inertia = np.array(airframe.inertia)
        self.thrusts_from_wrench = airframe.mixer()
        self.full_thrust = motor.thrust_coefficient * motor.max_speed**2
        self.position_p, self.velocity_p = stiffness, 2.0 * 0.9 * np.sqrt(stiffness)
        self.attitude_p, self.rate_p = 150.0, 20.0

    def throttle(self, state: VehicleState | Estimate, setpoint: Setpoint, t_ns: int) -> Array:
        if not isinstance(setpoint, Position | Goal):
            raise SetpointError(
                f"Geometric follows Position and Goal only, got {type(setpoint).__name__}; "
                "use the built-in controller for the others"
            )
        target = setpoint if isinstance(setpoint, Position) else Position(setpoint.position, setpoint.yaw)
        force = self._wanted_force(state, target)
        turn = matrix_from_quat(state.quat_wxyz)
        torque = self._wanted_torque(turn, state.angular_velocity_body, force, target)
        thrusts = self.thrusts_from_wrench @ np.array([force @ turn[:, 2], *torque])
        # throttle is linear in rotor speed, thrust in its square
        return np.sqrt(np.clip(thrusts / self.full_thrust, 0.0, 1.0))

    def _wanted_force(self, state: VehicleState | Estimate, target: Position) -> Array:
        error = target.position - state.position
        error *= min(1.0, 1.0 / max(float(np.linalg.norm(error)), 1e-9))
        acceleration = (
            target.acceleration + self.position_p * error + self.velocity_p * (target.velocity - state.velocity_world)
        )
        return self.mass * (acceleration + np.array([0.0, 0.0, GRAVITY]))

    def _wanted_torque(self, turn: Array, rates: Array, force: Array, target: Position) -> Array:
        yaw = target.yaw if target.yaw is not None else np.arctan2(turn[1, 0], turn[0, 0])
        up = force / np.linalg.norm(force)
        left = np.cross(up, [np.cos(yaw), np.sin(yaw), 0.0])
        left /= np.linalg.norm(left)
        wanted = np.column_stack([np.cross(left, up), left, up])
        off = 0.5 * (wanted.T @ turn - turn.T @ wanted)
        error = np.array([off[2, 1], off[0, 2], off[1, 0]])
        return self.inertia * (-self.attitude_p * error - self.rate_p * rates)
