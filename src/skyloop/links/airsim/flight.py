"""AirSim's flight methods: take-off, landing, moves, gains and the state of the vehicle."""

from __future__ import annotations

import math

import numpy as np

from skyloop.core.frames import GeoPoint, enu_from_ned, flu_from_frd
from skyloop.links.airsim.listener import Reply
from skyloop.links.airsim.methods import later
from skyloop.links.airsim.move_arguments import Climb, Stretch, Way, heading_of
from skyloop.links.airsim.multirotor_state import NO_STICKS
from skyloop.links.airsim.server_state import ServerState
from skyloop.links.airsim.structures import FARTHEST, Map, number_of, vector_of, yaw_of_ned
from skyloop.links.airsim.vehicle import Task, VehicleSide, seconds
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


class Flight:
    def __init__(self, server: ServerState) -> None:
        self._server = server

    def _reach(self, reply: Reply, vehicle: VehicleSide, behaviour: Behaviour, timeout_sec: float) -> None:
        vehicle.begin(Task(behaviour, reply, seconds(timeout_sec), ends_well=False))

    def _keep(self, reply: Reply, vehicle: VehicleSide, behaviour: Behaviour, duration: float) -> None:
        vehicle.begin(Task(behaviour, reply, seconds(duration), ends_well=True))

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

    @later
    def takeoff(self, reply: Reply, timeout_sec: float = 20.0, vehicle_name: str = "") -> None:
        vehicle = self._server.vehicle(vehicle_name)
        speed = float(np.linalg.norm(vehicle.truth.velocity_world))
        if speed > REST_M_S and vehicle.port.is_flying:
            raise LinkError(f"the vehicle moves at {speed:.2f} m/s; it can take off only at rest")
        up = vehicle.truth.position + np.array([0.0, 0.0, TAKEOFF_M])
        self._reach(reply, vehicle, FollowPath([up], TAKEOFF_M_S, start=vehicle.truth.position), timeout_sec)

    @later
    def land(self, reply: Reply, timeout_sec: float = 60.0, vehicle_name: str = "") -> None:
        vehicle = self._server.vehicle(vehicle_name)
        self._reach(reply, vehicle, Once(Land()), timeout_sec)

    @later
    def goHome(self, reply: Reply, timeout_sec: float = 3e38, vehicle_name: str = "") -> None:
        """Fly at the current height to above the start, then land."""
        vehicle = self._server.vehicle(vehicle_name)
        above = np.array([*vehicle.start.position[:2], vehicle.truth.position[2]])
        way = FollowPath([above], GO_HOME_M_S, start=vehicle.truth.position)
        self._reach(reply, vehicle, Steps(way, Land()), timeout_sec)

    @later
    def hover(self, reply: Reply, vehicle_name: str = "") -> None:
        vehicle = self._server.vehicle(vehicle_name)
        vehicle.make_ready()
        vehicle.drop_task()
        vehicle.send(Hover())
        reply.give(True)

    def cancelLastTask(self, vehicle_name: str = "") -> None:
        self._server.vehicle(vehicle_name).cancel()

    # ---- positions

    @later
    def moveToPosition(self, reply: Reply, x: float, y: float, z: float, way: Way) -> None:
        vehicle = self._server.vehicle(way.vehicle_name)
        self._fly_to(reply, vehicle, [self._place(vehicle, x, y, z)], way)

    @later
    def moveOnPath(self, reply: Reply, path: list[Map], way: Way) -> None:
        vehicle = self._server.vehicle(way.vehicle_name)
        if not 1 <= len(path) <= MOST_POINTS:
            raise LinkError(f"the path has {len(path)} points; give 1 to {MOST_POINTS}")
        points = [vehicle.axes.world(vector_of(point, f"path[{k}]")) for k, point in enumerate(path)]
        self._fly_to(reply, vehicle, points, way)

    @later
    def moveToGPS(self, reply: Reply, latitude: float, longitude: float, altitude: float, way: Way) -> None:
        vehicle = self._server.vehicle(way.vehicle_name)
        point = GeoPoint(number_of(latitude), number_of(longitude), number_of(altitude))
        self._fly_to(reply, vehicle, [self._server.local_frame.enu_from_geodetic(point)], way)

    @later
    def moveToZ(self, reply: Reply, z: float, climb: Climb) -> None:
        vehicle = self._server.vehicle(climb.vehicle_name)
        place = np.array([*vehicle.truth.position[:2], self._height(vehicle, z)])
        self._fly_to(reply, vehicle, [place], climb)

    def _fly_to(self, reply: Reply, vehicle: VehicleSide, points: list[Array], way: Way | Climb) -> None:
        heading = heading_of(way)
        speed, ahead = number_of(way.velocity, "velocity"), number_of(way.lookahead, "lookahead")
        adaptive = number_of(way.adaptive_lookahead, "adaptive_lookahead") > 0.0
        lookahead = ahead if ahead > 0.0 else None if adaptive else NOT_ADAPTIVE * own_lookahead(speed)
        path = FollowPath(points, speed, heading, lookahead=lookahead, start=vehicle.truth.position)
        self._reach(reply, vehicle, path, way.timeout_sec)

    # ---- velocities

    @later
    def moveByVelocity(self, reply: Reply, vx: float, vy: float, vz: float, stretch: Stretch) -> None:
        velocity = enu_from_ned([number_of(v) for v in (vx, vy, vz)])
        self._move(reply, velocity, None, stretch, body=False)

    @later
    def moveByVelocityZ(self, reply: Reply, vx: float, vy: float, z: float, stretch: Stretch) -> None:
        velocity = enu_from_ned([number_of(vx), number_of(vy), 0.0])
        self._move(reply, velocity, z, stretch, body=False)

    @later
    def moveByVelocityBodyFrame(self, reply: Reply, vx: float, vy: float, vz: float, stretch: Stretch) -> None:
        velocity = flu_from_frd([number_of(v) for v in (vx, vy, vz)])
        self._move(reply, velocity, None, stretch, body=True)

    @later
    def moveByVelocityZBodyFrame(self, reply: Reply, vx: float, vy: float, z: float, stretch: Stretch) -> None:
        velocity = flu_from_frd([number_of(vx), number_of(vy), 0.0])
        self._move(reply, velocity, z, stretch, body=True)

    def _move(self, reply: Reply, velocity: Array, z: float | None, stretch: Stretch, *, body: bool) -> None:
        vehicle = self._server.vehicle(stretch.vehicle_name)
        height = None if z is None else self._height(vehicle, z)
        move = FlyVelocity(velocity, heading_of(stretch), body=body, height=height)
        self._keep(reply, vehicle, move, stretch.duration)

    # ---- attitudes; clients send FRD

    @later
    def moveByRollPitchYawZ(
        self, reply: Reply, roll: float, pitch: float, yaw: float, z: float, duration: float, vehicle_name: str = ""
    ) -> None:
        self._tilt(reply, vehicle_name, duration, roll=roll, pitch=pitch, yaw=yaw, z=z)

    @later
    def moveByRollPitchYawThrottle(
        self, reply: Reply, roll: float, pitch: float, yaw: float, throttle: float, duration: float,
        vehicle_name: str = "",
    ) -> None:  # fmt: skip
        self._tilt(reply, vehicle_name, duration, roll=roll, pitch=pitch, yaw=yaw, throttle=throttle)

    @later
    def moveByRollPitchYawrateZ(
        self, reply: Reply, roll: float, pitch: float, yaw_rate: float, z: float, duration: float,
        vehicle_name: str = "",
    ) -> None:  # fmt: skip
        self._tilt(reply, vehicle_name, duration, roll=roll, pitch=pitch, yaw_rate=yaw_rate, z=z)

    @later
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

    @later
    def moveByAngleRatesZ(
        self, reply: Reply, roll_rate: float, pitch_rate: float, yaw_rate: float, z: float, duration: float,
        vehicle_name: str = "",
    ) -> None:  # fmt: skip
        vehicle = self._server.vehicle(vehicle_name)
        rates = flu_from_frd([number_of(rate) for rate in (roll_rate, pitch_rate, yaw_rate)])
        self._keep(reply, vehicle, HoldRates(rates, self._held(vehicle, z)), duration)

    @later
    def moveByAngleRatesThrottle(
        self, reply: Reply, roll_rate: float, pitch_rate: float, yaw_rate: float, throttle: float, duration: float,
        vehicle_name: str = "",
    ) -> None:  # fmt: skip
        vehicle = self._server.vehicle(vehicle_name)
        rates = flu_from_frd([number_of(rate) for rate in (roll_rate, pitch_rate, yaw_rate)])
        self._keep(reply, vehicle, Hold(Rates(rates, _thrust(vehicle, number_of(throttle)))), duration)

    @later
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
        places = np.sign(geometry.rotor_positions[:, :2]).astype(int)
        throttle = np.clip([corner[tuple(place)] for place in places.tolist()], 0.0, 1.0)
        self._keep(reply, vehicle, Hold(Motors(throttle)), duration)

    # ---- yaw and remote control

    @later
    def rotateToYaw(
        self, reply: Reply, yaw: float, timeout_sec: float = 3e38, margin: float = 5.0, vehicle_name: str = ""
    ) -> None:
        vehicle = self._server.vehicle(vehicle_name)
        goal = yaw_of_ned(math.radians(number_of(yaw, "yaw")))
        turn = TurnTo(goal, math.radians(max(number_of(margin, "margin"), 0.1)), vehicle.truth.position)
        self._reach(reply, vehicle, turn, timeout_sec)

    @later
    def rotateByYawRate(self, reply: Reply, yaw_rate: float, duration: float, vehicle_name: str = "") -> None:
        vehicle = self._server.vehicle(vehicle_name)
        rate = -math.radians(number_of(yaw_rate, "yaw_rate"))
        self._keep(reply, vehicle, Hold(Position(vehicle.truth.position, None, rate)), duration)

    @later
    def moveByManual(self, reply: Reply, vx_max: float, vy_max: float, z_min: float, stretch: Stretch) -> None:
        vehicle = self._server.vehicle(stretch.vehicle_name)
        fastest = (abs(number_of(vx_max)), abs(number_of(vy_max)))
        # z_min is a NED value, so it is the least height
        sticks = FlySticks(vehicle, fastest, self._height(vehicle, z_min), heading_of(stretch))
        self._keep(reply, vehicle, sticks, stretch.duration)

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

    def _place(self, vehicle: VehicleSide, x: float, y: float, z: float) -> Array:
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
