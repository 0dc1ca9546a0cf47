"""The moves of AirSim's multirotor. Each move is a function that is called fifty times per simulated second."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from skyloop.core.frames import quat_from_euler, yaw_from_quat
from skyloop.links.airsim.structures import number_of, yaw_of_ned
from skyloop.links.airsim.vehicle import Act, Blocked, VehicleSide, level
from skyloop_client.errors import LinkError
from skyloop_client.messages import Array, Attitude, Motors, Position, Rates, Velocity
from skyloop_client.streams import NS_PER_S

ARRIVED_M = 0.25
"""A path counts as flown at this distance from its end."""
NEARLY_M, STILL_M_S = 0.5, 0.3
"""It also counts as flown at this distance and below this speed. The distance is AirSim's accuracy of 0.5 m."""
STANDS_S = 0.4
"""Simulated s on a surface after which a goal below the vehicle counts as out of reach."""
TURNED_RAD_S = 0.01
"""AirLib's value: at a lower rate the vehicle no longer turns."""
QUIET_S = 0.2
"""Simulated s below that rate. The wait is needed because the rate also passes zero when the vehicle swings back."""
BRAKING = 0.4
"""1/s: speed per m of remaining distance. SimpleFlight follows velocities with a lag of 0.9 s."""
CLIMB_GAIN = 1.0
"""1/s: vertical speed per m of height error."""
FORWARD_ONLY = 1


@dataclass(frozen=True, slots=True)
class Heading:
    """The yaw that drivetrain and yaw_mode ask for."""

    is_rate: bool
    value: float
    """rad/s about world up, or rad anticlockwise from east."""
    forward: bool
    """The nose points along the path, plus `value`."""

    @staticmethod
    def read(drivetrain: Any, yaw_mode: Any) -> Heading:
        if not isinstance(yaw_mode, dict):
            raise LinkError(f"yaw_mode is {yaw_mode!r}; give a map with is_rate and yaw_or_rate")
        is_rate, value = bool(yaw_mode.get("is_rate")), math.radians(number_of(yaw_mode.get("yaw_or_rate"), "yaw"))
        forward = drivetrain == FORWARD_ONLY
        if forward and is_rate and value:
            raise LinkError("drivetrain ForwardOnly cannot turn at a rate; give YawMode(False, degrees)")
        return Heading(is_rate and not forward, -value if is_rate or forward else yaw_of_ned(value), forward)

    def of(self, velocity: Array) -> dict[str, Any]:
        """The yaw for a setpoint that moves at this world velocity."""
        if self.is_rate:
            return {"yaw_rate": self.value}
        if not self.forward:
            return {"yaw": self.value}
        if math.hypot(velocity[0], velocity[1]) < 0.1:
            return {}
        return {"yaw": math.atan2(velocity[1], velocity[0]) + self.value}


STRAIGHT = Heading(True, 0.0, False)


def own_lookahead(speed: float) -> float:
    """The lookahead distance in m when the client gives none."""
    return max(0.5, speed)


def fly_path(vehicle: VehicleSide, points: list[Array], speed: float, heading: Heading, lookahead: float) -> Act:
    """Fly along straight lines through world points, then stay. A negative `lookahead` (m) follows from the speed."""
    if not speed > 0.0:
        raise LinkError(f"velocity is {speed}; give more than 0 m/s")
    corners = np.array([vehicle.truth.position, *points])
    along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(corners, axis=0), axis=1))])
    ahead = lookahead if lookahead > 0.0 else own_lookahead(speed)
    flown, stood_ns = 0.0, -1
    columns = np.ascontiguousarray(corners.T)

    def points_at(s: Array) -> Array:
        return np.stack([np.interp(s, along, column) for column in columns], axis=1)

    def watch_ground(state: Any, goal: Array, now_ns: int) -> None:
        """A goal below the ground is never reached. As in AirSim, touch-down ends the move."""
        nonlocal stood_ns
        still = float(np.linalg.norm(state.velocity_world)) < STILL_M_S
        if not (vehicle.port.is_touching and still and goal[2] < state.position[2] - 0.05):
            stood_ns = -1
        elif stood_ns < 0:
            stood_ns = now_ns
        elif now_ns - stood_ns > STANDS_S * NS_PER_S:
            raise Blocked

    def act(state: Any, now_ns: int) -> bool:
        nonlocal flown
        # the nearest point of the path, searched from the previous one to a little beyond
        places = flown + np.linspace(0.0, 2.0 * ahead, 41)
        gaps = np.linalg.norm(points_at(places) - state.position, axis=1)
        flown = min(float(places[int(np.argmin(gaps))]), float(along[-1]))
        left, last = float(along[-1]) - flown, corners[-1]
        away = float(np.linalg.norm(last - state.position))
        # the nose follows the path rather than every correction
        start = min(flown, max(float(along[-1]) - 0.5, 0.0))
        aim, begin, end = points_at(np.array([flown + ahead, start, start + ahead]))
        watch_ground(state, aim, now_ns)
        towards = aim - state.position
        if left < 1.0 or (flown + ahead >= along[-1] and away < 1.5):
            vehicle.send(Position(last, **heading.of(np.zeros(3))))
            still = float(np.linalg.norm(state.velocity_world)) < STILL_M_S
            return away < ARRIVED_M or (away < NEARLY_M and still)
        pace = min(speed, 0.3 + BRAKING * left)
        velocity = towards * (pace / max(float(np.linalg.norm(towards)), 1e-6))
        vehicle.send(Velocity(velocity, **heading.of(pace * (end - begin))))
        return False

    return act


def fly_velocity(vehicle: VehicleSide, velocity: Array, height: float | None, heading: Heading, *, body: bool) -> Act:
    """Fly at a velocity, world or FLU. With a world `height`, that is held in place of the vertical velocity."""

    def act(state: Any, now_ns: int) -> bool:
        wanted = np.array(velocity)
        if height is not None:
            wanted[2] = np.clip(CLIMB_GAIN * (height - state.position[2]), -3.0, 3.0)
        yaw = float(yaw_from_quat(state.quat_wxyz)) if body else 0.0
        c, s = math.cos(yaw), math.sin(yaw)
        in_world = np.array([c * wanted[0] - s * wanted[1], s * wanted[0] + c * wanted[1], wanted[2]])
        vehicle.send(Velocity(in_world, **heading.of(in_world)))
        return False

    return act


def hold_attitude(
    vehicle: VehicleSide,
    roll: float,
    pitch: float,
    yaw: float | None,
    yaw_rate: float,
    lift: float | None,
    height: float,
) -> Act:
    """rad, FLU, yaw from east. `lift` is a share of full throttle; None holds `height`. Yaw None turns at yaw_rate."""

    def act(state: Any, now_ns: int) -> bool:
        facing = float(yaw_from_quat(state.quat_wxyz)) if yaw is None else yaw
        thrust = thrust_for(vehicle, state, lift, height)
        vehicle.send(Attitude(quat_from_euler(roll, pitch, facing), thrust, yaw_rate))
        return False

    return act


def hold_rates(vehicle: VehicleSide, rates: Array, lift: float | None, height: float) -> Act:
    """(3,) rad/s, FLU."""

    def act(state: Any, now_ns: int) -> bool:
        vehicle.send(Rates(rates, thrust_for(vehicle, state, lift, height)))
        return False

    return act


def thrust_for(vehicle: VehicleSide, state: Any, lift: float | None, height: float) -> float:
    """N: from a throttle, or from the controller that holds a world height."""
    if lift is not None:
        return min(max(lift, 0.0), 1.0) * vehicle.port.geometry.max_thrust
    geometry = vehicle.port.geometry
    w, x, y, z = state.quat_wxyz.tolist()
    upright = max(w * w - x * x - y * y + z * z, 0.5)
    climb = 4.0 * (height - float(state.position[2])) - 3.0 * float(state.velocity_world[2])
    return float(geometry.mass * (geometry.gravity + min(max(climb, -4.0), 4.0)) / upright)


def spin_motors(vehicle: VehicleSide, throttle: Array) -> Act:
    def act(state: Any, now_ns: int) -> bool:
        vehicle.send(Motors(throttle))
        return False

    return act


def turn_to(vehicle: VehicleSide, yaw: float, margin: float) -> Act:
    """Turn on the spot to a yaw in rad anticlockwise from east. The move ends when the vehicle no longer turns."""
    place = np.array(vehicle.truth.position)
    turned_ns = -1

    def act(state: Any, now_ns: int) -> bool:
        nonlocal turned_ns
        vehicle.send(Position(place, yaw))
        gap = float(yaw_from_quat(state.quat_wxyz)) - yaw
        turns = abs(float(state.angular_velocity_body[2])) > TURNED_RAD_S
        if turns or abs(math.remainder(gap, 2.0 * math.pi)) > margin:
            turned_ns = now_ns
        turned_ns = now_ns if turned_ns < 0 else turned_ns
        return now_ns - turned_ns >= QUIET_S * NS_PER_S

    return act


def turn_at(vehicle: VehicleSide, yaw_rate: float) -> Act:
    """Turn on the spot at a rate in rad/s about world up."""
    place = np.array(vehicle.truth.position)

    def act(state: Any, now_ns: int) -> bool:
        vehicle.send(Position(place, None, yaw_rate))
        return False

    return act


def fly_remote(vehicle: VehicleSide, fastest: tuple[float, float], lowest: float, heading: Heading) -> Act:
    """Follow the latest data of moveByRC, with a limit on horizontal speed and a least world height."""

    def act(state: Any, now_ns: int) -> bool:
        stick = {name: float(vehicle.remote.get(name, 0.0)) for name in ("pitch", "roll", "throttle")}
        yaw = float(yaw_from_quat(state.quat_wxyz))
        c, s = math.cos(yaw), math.sin(yaw)
        # a stick pushed forward gives negative pitch, which is nose down
        ahead, left = -stick["pitch"] * fastest[0], -stick["roll"] * fastest[1]
        climb = 2.0 * (stick["throttle"] - 0.5) if vehicle.remote else 0.0
        climb = max(climb, CLIMB_GAIN * (lowest - float(state.position[2])))
        velocity = np.array([c * ahead - s * left, s * ahead + c * left, climb])
        vehicle.send(Velocity(velocity, **heading.of(level(velocity))))
        return False

    return act
