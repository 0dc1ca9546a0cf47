"""AirSim's flight methods: take-off, landing, moves by position, velocity, attitude and remote control."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from skyloop.core.frames import GeoPoint, enu_from_ned, flu_from_frd
from skyloop.links.airsim.calls import Reply
from skyloop.links.airsim.sensors import NO_STICKS
from skyloop.links.airsim.server_state import ServerState
from skyloop.links.airsim.structures import FARTHEST, Map, number_of, vector_of, yaw_of_ned
from skyloop.links.airsim.vehicle import AwaitedMove, VehicleSide, seconds
from skyloop.vehicle.behaviours import (
    Behaviour,
    FlyVelocity,
    FollowPath,
    Heading,
    HeldHeight,
    Hold,
    HoldAttitude,
    HoldRates,
    Once,
    Order,
    Situation,
    Steps,
    TurnTo,
    own_lookahead,
)
from skyloop_client.errors import LinkError
from skyloop_client.messages import Array, Hover, Land, Motors, Position, Rates

FORWARD_ONLY = 1
"""The drivetrain whose nose points along the path."""


@dataclass(frozen=True, slots=True)
class PathArguments:
    """How to fly to positions."""

    velocity: float
    """m/s."""
    timeout_sec: float
    drivetrain: int
    yaw_mode: Map
    lookahead: float = -1.0
    """m. At 0 or less it follows from the speed."""
    adaptive_lookahead: float = 1.0
    vehicle_name: str = ""


@dataclass(frozen=True, slots=True)
class ClimbArguments:
    """How to fly to a height: like Way, but clients send no drivetrain."""

    drivetrain: ClassVar[int] = 0
    velocity: float
    """m/s."""
    timeout_sec: float
    yaw_mode: Map
    lookahead: float = -1.0
    """m. At 0 or less it follows from the speed."""
    adaptive_lookahead: float = 1.0
    vehicle_name: str = ""


@dataclass(frozen=True, slots=True)
class VelocityArguments:
    """How to fly at a velocity, and for how long."""

    duration: float
    """s."""
    drivetrain: int
    yaw_mode: Map
    vehicle_name: str = ""


def heading_of(how: PathArguments | ClimbArguments | VelocityArguments) -> Heading:
    """The yaw that drivetrain and yaw_mode ask for."""
    yaw_mode = how.yaw_mode
    if not isinstance(yaw_mode, dict):
        raise LinkError(f"yaw_mode is {yaw_mode!r}; give a map with is_rate and yaw_or_rate")
    is_rate, value = bool(yaw_mode.get("is_rate")), math.radians(number_of(yaw_mode.get("yaw_or_rate"), "yaw"))
    if how.drivetrain == FORWARD_ONLY:
        if is_rate and value:
            raise LinkError("drivetrain ForwardOnly cannot turn at a rate; give YawMode(False, degrees)")
        return Heading(-value, ahead=True)
    return Heading(rate=-value) if is_rate else Heading(yaw_of_ned(value))


# ---- the methods


TAKEOFF_M, TAKEOFF_M_S = 2.0, 0.5
GO_HOME_M_S = 2.0
MOST_POINTS = 10_000
NOT_ADAPTIVE = 4.0 / 3.0
"""Factor on the lookahead distance when adaptive_lookahead is off."""
REST_M_S = 0.05
"""A vehicle faster than this counts as moving, and take-off is refused."""


class FlySticks(FlyVelocity):
    """Follows the latest data of moveByRC, with a limit on horizontal speed and a least world height."""

    def __init__(self, vehicle: VehicleSide, fastest: tuple[float, float], lowest: float, heading: Heading) -> None:
        super().__init__(np.zeros(3), heading, body=True, lowest=lowest)
        self._vehicle, self._fastest = vehicle, fastest

    def update(self, now: Situation) -> Order | None:
        pitch, roll, throttle = (float(self._vehicle.remote.get(name, 0.0)) for name in ("pitch", "roll", "throttle"))
        # a stick pushed forward gives negative pitch, which is nose down
        climb = 2.0 * (throttle - 0.5) if self._vehicle.remote else 0.0
        self.velocity[:] = -pitch * self._fastest[0], -roll * self._fastest[1], climb
        return super().update(now)


class FlightMethods:
    def __init__(self, server: ServerState) -> None:
        self._server = server

    def _reach(self, reply: Reply, vehicle: VehicleSide, behaviour: Behaviour, timeout_sec: float) -> None:
        vehicle.begin(AwaitedMove(behaviour, reply, seconds(timeout_sec), ends_well=False))

    def _keep(self, reply: Reply, vehicle: VehicleSide, behaviour: Behaviour, duration: float) -> None:
        vehicle.begin(AwaitedMove(behaviour, reply, seconds(duration), ends_well=True))

    # ---- API control and arming

    def enableApiControl(self, is_enabled: bool, vehicle_name: str = "") -> None:
        vehicle = self._server.vehicle(vehicle_name)
        if not is_enabled:
            vehicle.cancel()
        vehicle.may_fly = bool(is_enabled)

    def isApiControlEnabled(self, vehicle_name: str = "") -> bool:
        return self._server.vehicle(vehicle_name).may_fly

    def armDisarm(self, arm: bool, vehicle_name: str = "") -> bool:
        vehicle = self._server.vehicle(vehicle_name)
        vehicle.refuse_if_foreign()
        if not vehicle.may_fly:
            self._server.note_once(f"failed: armDisarm: {vehicle.needs_control}")
            return False
        vehicle.is_armed = bool(arm)
        if arm:
            vehicle.make_ready()
        else:
            vehicle.disarm()
        return vehicle.port.status.armed == bool(arm)

    # ---- take-off, landing, home, hover

    def takeoff(self, reply: Reply, timeout_sec: float = 20.0, vehicle_name: str = "") -> None:
        vehicle = self._server.vehicle(vehicle_name)
        speed = float(np.linalg.norm(vehicle.truth.velocity_world))
        if speed > REST_M_S and vehicle.port.is_flying:
            raise LinkError(f"the vehicle moves at {speed:.2f} m/s; it can take off only at rest")
        up = vehicle.truth.position + np.array([0.0, 0.0, TAKEOFF_M])
        self._reach(reply, vehicle, FollowPath([up], TAKEOFF_M_S, start=vehicle.truth.position), timeout_sec)

    def land(self, reply: Reply, timeout_sec: float = 60.0, vehicle_name: str = "") -> None:
        vehicle = self._server.vehicle(vehicle_name)
        self._reach(reply, vehicle, Once(Land()), timeout_sec)

    def goHome(self, reply: Reply, timeout_sec: float = 3e38, vehicle_name: str = "") -> None:
        """Fly at the current height to above the start, then land."""
        vehicle = self._server.vehicle(vehicle_name)
        above = np.array([*vehicle.start.position[:2], vehicle.truth.position[2]])
        way = FollowPath([above], GO_HOME_M_S, start=vehicle.truth.position)
        self._reach(reply, vehicle, Steps(way, Land()), timeout_sec)

    def hover(self, reply: Reply, vehicle_name: str = "") -> None:
        vehicle = self._server.vehicle(vehicle_name)
        vehicle.make_ready()
        vehicle.drop_task()
        vehicle.send(Hover())
        reply.give(True)

    def cancelLastTask(self, vehicle_name: str = "") -> None:
        self._server.vehicle(vehicle_name).cancel()

    # ---- positions

    def moveToPosition(self, reply: Reply, x: float, y: float, z: float, how: PathArguments) -> None:
        vehicle = self._server.vehicle(how.vehicle_name)
        self._fly_to(reply, vehicle, [self._position(vehicle, x, y, z)], how)

    def moveOnPath(self, reply: Reply, path: list[Map], how: PathArguments) -> None:
        vehicle = self._server.vehicle(how.vehicle_name)
        if not 1 <= len(path) <= MOST_POINTS:
            raise LinkError(f"the path has {len(path)} points; give 1 to {MOST_POINTS}")
        points = [vehicle.axes.world(vector_of(point, f"path[{k}]")) for k, point in enumerate(path)]
        self._fly_to(reply, vehicle, points, how)

    def moveToGPS(self, reply: Reply, latitude: float, longitude: float, altitude: float, how: PathArguments) -> None:
        vehicle = self._server.vehicle(how.vehicle_name)
        point = GeoPoint(number_of(latitude), number_of(longitude), number_of(altitude))
        self._fly_to(reply, vehicle, [self._server.local_frame.enu_from_geodetic(point)], how)

    def moveToZ(self, reply: Reply, z: float, how: ClimbArguments) -> None:
        vehicle = self._server.vehicle(how.vehicle_name)
        position = np.array([*vehicle.truth.position[:2], self._height(vehicle, z)])
        self._fly_to(reply, vehicle, [position], how)

    def _fly_to(
        self, reply: Reply, vehicle: VehicleSide, points: list[Array], how: PathArguments | ClimbArguments
    ) -> None:
        heading = heading_of(how)
        speed, ahead = number_of(how.velocity, "velocity"), number_of(how.lookahead, "lookahead")
        adaptive = number_of(how.adaptive_lookahead, "adaptive_lookahead") > 0.0
        lookahead = ahead if ahead > 0.0 else None if adaptive else NOT_ADAPTIVE * own_lookahead(speed)
        path = FollowPath(points, speed, heading, lookahead=lookahead, start=vehicle.truth.position)
        self._reach(reply, vehicle, path, how.timeout_sec)

    # ---- velocities

    def moveByVelocity(self, reply: Reply, vx: float, vy: float, vz: float, how: VelocityArguments) -> None:
        velocity = enu_from_ned([number_of(v) for v in (vx, vy, vz)])
        self._move(reply, velocity, None, how, body=False)

    def moveByVelocityZ(self, reply: Reply, vx: float, vy: float, z: float, how: VelocityArguments) -> None:
        velocity = enu_from_ned([number_of(vx), number_of(vy), 0.0])
        self._move(reply, velocity, z, how, body=False)

    def moveByVelocityBodyFrame(self, reply: Reply, vx: float, vy: float, vz: float, how: VelocityArguments) -> None:
        velocity = flu_from_frd([number_of(v) for v in (vx, vy, vz)])
        self._move(reply, velocity, None, how, body=True)

    def moveByVelocityZBodyFrame(self, reply: Reply, vx: float, vy: float, z: float, how: VelocityArguments) -> None:
        velocity = flu_from_frd([number_of(vx), number_of(vy), 0.0])
        self._move(reply, velocity, z, how, body=True)

    def _move(self, reply: Reply, velocity: Array, z: float | None, how: VelocityArguments, *, body: bool) -> None:
        vehicle = self._server.vehicle(how.vehicle_name)
        height = None if z is None else self._height(vehicle, z)
        move = FlyVelocity(velocity, heading_of(how), body=body, height=height)
        self._keep(reply, vehicle, move, how.duration)

    # ---- attitudes; clients send FRD

    def moveByRollPitchYawZ(
        self, reply: Reply, roll: float, pitch: float, yaw: float, z: float, duration: float, vehicle_name: str = ""
    ) -> None:
        self._tilt(reply, vehicle_name, duration, roll=roll, pitch=pitch, yaw=yaw, z=z)

    def moveByRollPitchYawThrottle(
        self, reply: Reply, roll: float, pitch: float, yaw: float, throttle: float, duration: float,
        vehicle_name: str = "",
    ) -> None:  # fmt: skip
        self._tilt(reply, vehicle_name, duration, roll=roll, pitch=pitch, yaw=yaw, throttle=throttle)

    def moveByRollPitchYawrateZ(
        self, reply: Reply, roll: float, pitch: float, yaw_rate: float, z: float, duration: float,
        vehicle_name: str = "",
    ) -> None:  # fmt: skip
        self._tilt(reply, vehicle_name, duration, roll=roll, pitch=pitch, yaw_rate=yaw_rate, z=z)

    def moveByRollPitchYawrateThrottle(
        self, reply: Reply, roll: float, pitch: float, yaw_rate: float, throttle: float, duration: float,
        vehicle_name: str = "",
    ) -> None:  # fmt: skip
        self._tilt(reply, vehicle_name, duration, roll=roll, pitch=pitch, yaw_rate=yaw_rate, throttle=throttle)

    def _tilt(
        self, reply: Reply, name: str, duration: float, *, roll: float, pitch: float, yaw: float | None = None,
        yaw_rate: float | None = None, throttle: float | None = None, z: float | None = None,
    ) -> None:  # fmt: skip
        vehicle = self._server.vehicle(name)
        facing = None if yaw is None else yaw_of_ned(number_of(yaw, "yaw"))
        turning = 0.0 if yaw_rate is None else -number_of(yaw_rate, "yaw_rate")
        thrust = self._held(vehicle, z) if throttle is None else _thrust(vehicle, number_of(throttle, "throttle"))
        tilt = HoldAttitude(number_of(roll), -number_of(pitch), facing, thrust, turning)
        self._keep(reply, vehicle, tilt, duration)

    def moveByAngleRatesZ(
        self, reply: Reply, roll_rate: float, pitch_rate: float, yaw_rate: float, z: float, duration: float,
        vehicle_name: str = "",
    ) -> None:  # fmt: skip
        vehicle = self._server.vehicle(vehicle_name)
        rates = flu_from_frd([number_of(rate) for rate in (roll_rate, pitch_rate, yaw_rate)])
        self._keep(reply, vehicle, HoldRates(rates, self._held(vehicle, z)), duration)

    def moveByAngleRatesThrottle(
        self, reply: Reply, roll_rate: float, pitch_rate: float, yaw_rate: float, throttle: float, duration: float,
        vehicle_name: str = "",
    ) -> None:  # fmt: skip
        vehicle = self._server.vehicle(vehicle_name)
        rates = flu_from_frd([number_of(rate) for rate in (roll_rate, pitch_rate, yaw_rate)])
        self._keep(reply, vehicle, Hold(Rates(rates, _thrust(vehicle, number_of(throttle)))), duration)

    def moveByMotorPWMs(
        self, reply: Reply, front_right_pwm: float, rear_left_pwm: float, front_left_pwm: float, rear_right_pwm: float,
        duration: float, vehicle_name: str = "",
    ) -> None:  # fmt: skip
        vehicle = self._server.vehicle(vehicle_name)
        geometry = vehicle.port.geometry
        if geometry.n_rotors != 4:
            raise LinkError(f"'{vehicle.name}' has {geometry.n_rotors} rotors, not four")
        given = (front_right_pwm, rear_left_pwm, front_left_pwm, rear_right_pwm)
        corner = dict(zip(((1, -1), (-1, 1), (1, 1), (-1, -1)), map(number_of, given), strict=True))
        positions = np.sign(geometry.rotor_positions[:, :2]).astype(int)
        throttle = np.clip([corner[tuple(position)] for position in positions.tolist()], 0.0, 1.0)
        self._keep(reply, vehicle, Hold(Motors(throttle)), duration)

    # ---- yaw and remote control

    def rotateToYaw(
        self, reply: Reply, yaw: float, timeout_sec: float = 3e38, margin: float = 5.0, vehicle_name: str = ""
    ) -> None:
        vehicle = self._server.vehicle(vehicle_name)
        goal = yaw_of_ned(math.radians(number_of(yaw, "yaw")))
        turn = TurnTo(goal, math.radians(max(number_of(margin, "margin"), 0.1)), vehicle.truth.position)
        self._reach(reply, vehicle, turn, timeout_sec)

    def rotateByYawRate(self, reply: Reply, yaw_rate: float, duration: float, vehicle_name: str = "") -> None:
        vehicle = self._server.vehicle(vehicle_name)
        rate = -math.radians(number_of(yaw_rate, "yaw_rate"))
        self._keep(reply, vehicle, Hold(Position(vehicle.truth.position, None, rate)), duration)

    def moveByManual(self, reply: Reply, vx_max: float, vy_max: float, z_min: float, how: VelocityArguments) -> None:
        vehicle = self._server.vehicle(how.vehicle_name)
        fastest = (abs(number_of(vx_max)), abs(number_of(vy_max)))
        # z_min is a NED value, so it is the least height
        sticks = FlySticks(vehicle, fastest, self._height(vehicle, z_min), heading_of(how))
        self._keep(reply, vehicle, sticks, how.duration)

    def moveByRC(self, rcdata: Map, vehicle_name: str = "") -> None:
        """Remote control: roll and pitch lean by up to 30 degrees, yaw turns by up to 1 rad/s, throttle is 0 to 1."""
        vehicle = self._server.vehicle(vehicle_name)
        if not isinstance(rcdata, dict):
            raise LinkError(f"rcdata is {rcdata!r}; give a map")
        sticks = {name: number_of(rcdata.get(name, 0.0), name) for name in ("roll", "pitch", "yaw", "throttle")}
        vehicle.remote = {**NO_STICKS, **sticks, "is_initialized": True, "is_valid": True}
        if vehicle.task is not None and vehicle.task.reply.method == "moveByManual":
            return
        lean = math.radians(30.0)
        thrust = _thrust(vehicle, sticks["throttle"])
        tilt = HoldAttitude(sticks["roll"] * lean, -sticks["pitch"] * lean, None, thrust, -sticks["yaw"])
        self._keep(Reply(self._server.caller, None, "moveByRC", self._server.complain), vehicle, tilt, 1.0)

    # ---- small queries

    def _position(self, vehicle: VehicleSide, x: float, y: float, z: float) -> Array:
        return vehicle.axes.world(
            [number_of(x, "x", FARTHEST), number_of(y, "y", FARTHEST), number_of(z, "z", FARTHEST)]
        )

    def _height(self, vehicle: VehicleSide, z: float) -> float:
        return float(vehicle.axes.origin[2]) - number_of(z, "z", FARTHEST)

    def _held(self, vehicle: VehicleSide, z: float | None) -> HeldHeight:
        height = 0.0 if z is None else self._height(vehicle, z)
        return HeldHeight(height, vehicle.port.geometry.mass, vehicle.port.geometry.gravity)


def _thrust(vehicle: VehicleSide, throttle: float) -> float:
    """N."""
    return min(max(throttle, 0.0), 1.0) * vehicle.port.geometry.max_thrust
