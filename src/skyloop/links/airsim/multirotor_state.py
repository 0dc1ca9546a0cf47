"""AirSim's methods that return a multirotor's state and set its controller's gains."""

from __future__ import annotations

from typing import Any

import numpy as np

from skyloop.links.airsim.server_state import ServerState
from skyloop.links.airsim.structures import Map, geo_point, number_of
from skyloop_client.errors import LinkError

NO_STICKS = {
    "timestamp": 0, "pitch": 0.0, "roll": 0.0, "throttle": 0.0, "yaw": 0.0, "left_z": 0.0, "right_z": 0.0,
    "switches": 0, "vendor_id": "", "is_initialized": False, "is_valid": False,
}  # fmt: skip


class MultirotorState:
    def __init__(self, server: ServerState) -> None:
        self._server = server

    def getMultirotorState(self, vehicle_name: str = "") -> Map:
        vehicle = self._server.vehicle(vehicle_name)
        state = vehicle.port.belief
        return {
            "collision": vehicle.collision(forget=False),
            "kinematics_estimated": vehicle.axes.kinematics(state),
            "gps_location": geo_point(self._server.local_frame.geodetic_from_enu(state.position)),
            "timestamp": vehicle.now_ns,
            "landed_state": 1 if vehicle.port.is_flying else 0,
            "rc_data": vehicle.remote or NO_STICKS,
            "ready": True,
            "ready_message": "",
            "can_arm": True,
        }

    def getRotorStates(self, vehicle_name: str = "") -> Map:
        vehicle = self._server.vehicle(vehicle_name)
        truth, ratio = vehicle.truth, vehicle.port.geometry.torque_ratio
        rotors = [
            {"thrust": float(thrust), "torque_scaler": float(-spin * ratio * thrust), "speed": float(speed)}
            for thrust, speed, spin in zip(
                truth.rotor_thrusts, truth.rotor_speeds, vehicle.port.geometry.rotor_spins, strict=True
            )
        ]
        return {"timestamp": truth.t_ns, "rotors": rotors}

    def setAngleRateControllerGains(self, kp: Any, ki: Any, kd: Any, vehicle_name: str = "") -> None:
        self._set_gains(vehicle_name, {"rate_p": kp}, ki, kd)

    def setAngleLevelControllerGains(self, kp: Any, ki: Any, kd: Any, vehicle_name: str = "") -> None:
        self._set_gains(vehicle_name, {"attitude_p": kp}, ki, kd)

    def setVelocityControllerGains(self, kp: Any, ki: Any, kd: Any, vehicle_name: str = "") -> None:
        self._set_gains(vehicle_name, {"velocity_p": kp, "velocity_i": ki}, [0.0], kd)

    def setPositionControllerGains(self, kp: Any, ki: Any, kd: Any, vehicle_name: str = "") -> None:
        self._set_gains(vehicle_name, {"position_p": kp}, ki, kd)

    def _set_gains(self, vehicle_name: str, gains: dict[str, Any], ki: Any, kd: Any) -> None:
        vehicle = self._server.vehicle(vehicle_name)
        if any(number_of(gain) for gain in [*ki, *kd]):
            raise LinkError("SimpleFlight's cascade has an integral part for velocities only and no derivative part")
        for name, values in gains.items():
            if len(values) != 3:
                raise LinkError(f"{len(values)} gains; give one for each of three axes")
            vehicle.port.set_gain(name, np.array([number_of(value) for value in values]))
