"""AirSim's flight methods: take-off, landing, moves, gains and the state of the vehicle."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from skyloop.core.frames import GeoPoint, enu_from_ned, flu_from_frd
from skyloop.links.airsim.listener import Reply
from skyloop.links.airsim.methods import later
from skyloop.links.airsim.move_arguments import Climb, Stretch, Way
from skyloop.links.airsim.moves import (
    STRAIGHT,
    Heading,
    fly_path,
    fly_remote,
    fly_velocity,
    hold_attitude,
    hold_rates,
    own_lookahead,
    spin_motors,
    turn_at,
    turn_to,
)
from skyloop.links.airsim.multirotor_state import NO_STICKS
from skyloop.links.airsim.server_state import ServerState
from skyloop.links.airsim.structures import FARTHEST, Map, number_of, vector_of, yaw_of_ned
from skyloop.links.airsim.vehicle import Act, Task, VehicleSide, seconds
from skyloop_client.errors import LinkError
from skyloop_client.messages import Array, Hover, Land

TAKEOFF_M, TAKEOFF_M_S = 2.0, 0.5
GO_HOME_M_S = 2.0
MOST_POINTS = 10_000
NOT_ADAPTIVE = 4.0 / 3.0
"""Factor on the lookahead distance when adaptive_lookahead is off."""
REST_M_S = 0.05
"""A vehicle faster than this counts as moving, and take-off is refused."""


class Flight:
    def __init__(self, server: ServerState) -> None:
        self._server = server

    def _begin(self, reply: Reply, vehicle: VehicleSide, act: Act, lasts: float, *, ends_well: bool) -> None:
        vehicle.begin(Task(act, reply, lasts, ends_well=ends_well))

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
        act = fly_path(vehicle, [up], TAKEOFF_M_S, STRAIGHT, -1.0)
        self._begin(reply, vehicle, act, seconds(timeout_sec), ends_well=False)

    @later
    def land(self, reply: Reply, timeout_sec: float = 60.0, vehicle_name: str = "") -> None:
        vehicle = self._server.vehicle(vehicle_name)
        vehicle.make_ready()
        vehicle.drop_task()
        vehicle.send(Land())
        self._begin(reply, vehicle, lambda state, now_ns: False, seconds(timeout_sec), ends_well=False)

    @later
    def goHome(self, reply: Reply, timeout_sec: float = 3e38, vehicle_name: str = "") -> None:
        """Fly at the current height to above the start, then land."""
        vehicle = self._server.vehicle(vehicle_name)
        above = np.array([*vehicle.start.position[:2], vehicle.truth.position[2]])
        way = fly_path(vehicle, [above], GO_HOME_M_S, STRAIGHT, -1.0)

        def act(state: Any, now_ns: int) -> bool:
            if vehicle.port.status.mode != "land" and way(state, now_ns):
                vehicle.send(Land())
            return False

        self._begin(reply, vehicle, act, seconds(timeout_sec), ends_well=False)

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
        self._fly_to(reply, vehicle, [place], climb.way)

    def _fly_to(self, reply: Reply, vehicle: VehicleSide, points: list[Array], way: Way) -> None:
        heading = Heading.read(way.drivetrain, way.yaw_mode)
        speed, ahead = number_of(way.velocity, "velocity"), number_of(way.lookahead, "lookahead")
        if ahead <= 0.0 and number_of(way.adaptive_lookahead, "adaptive_lookahead") <= 0.0:
            ahead = NOT_ADAPTIVE * own_lookahead(speed)
        act = fly_path(vehicle, points, speed, heading, ahead)
        self._begin(reply, vehicle, act, seconds(way.timeout_sec), ends_well=False)

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
        act = fly_velocity(vehicle, velocity, height, Heading.read(stretch.drivetrain, stretch.yaw_mode), body=body)
        self._begin(reply, vehicle, act, seconds(stretch.duration), ends_well=True)

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
        height = 0.0 if z is None else self._height(vehicle, z)
        lift = None if throttle is None else number_of(throttle, "throttle")
        act = hold_attitude(vehicle, number_of(roll), -number_of(pitch), facing, turning, lift, height)
        self._begin(reply, vehicle, act, seconds(duration), ends_well=True)

    @later
    def moveByAngleRatesZ(
        self, reply: Reply, roll_rate: float, pitch_rate: float, yaw_rate: float, z: float, duration: float,
        vehicle_name: str = "",
    ) -> None:  # fmt: skip
        vehicle = self._server.vehicle(vehicle_name)
        rates = flu_from_frd([number_of(rate) for rate in (roll_rate, pitch_rate, yaw_rate)])
        act = hold_rates(vehicle, rates, None, self._height(vehicle, z))
        self._begin(reply, vehicle, act, seconds(duration), ends_well=True)

    @later
    def moveByAngleRatesThrottle(
        self, reply: Reply, roll_rate: float, pitch_rate: float, yaw_rate: float, throttle: float, duration: float,
        vehicle_name: str = "",
    ) -> None:  # fmt: skip
        vehicle = self._server.vehicle(vehicle_name)
        rates = flu_from_frd([number_of(rate) for rate in (roll_rate, pitch_rate, yaw_rate)])
        self._begin(
            reply, vehicle, hold_rates(vehicle, rates, number_of(throttle), 0.0), seconds(duration), ends_well=True
        )

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
        self._begin(reply, vehicle, spin_motors(vehicle, throttle), seconds(duration), ends_well=True)

    # ---- yaw and remote control

    @later
    def rotateToYaw(
        self, reply: Reply, yaw: float, timeout_sec: float = 3e38, margin: float = 5.0, vehicle_name: str = ""
    ) -> None:
        vehicle = self._server.vehicle(vehicle_name)
        goal = yaw_of_ned(math.radians(number_of(yaw, "yaw")))
        act = turn_to(vehicle, goal, math.radians(max(number_of(margin, "margin"), 0.1)))
        self._begin(reply, vehicle, act, seconds(timeout_sec), ends_well=False)

    @later
    def rotateByYawRate(self, reply: Reply, yaw_rate: float, duration: float, vehicle_name: str = "") -> None:
        vehicle = self._server.vehicle(vehicle_name)
        act = turn_at(vehicle, -math.radians(number_of(yaw_rate, "yaw_rate")))
        self._begin(reply, vehicle, act, seconds(duration), ends_well=True)

    @later
    def moveByManual(self, reply: Reply, vx_max: float, vy_max: float, z_min: float, stretch: Stretch) -> None:
        vehicle = self._server.vehicle(stretch.vehicle_name)
        fastest = (abs(number_of(vx_max)), abs(number_of(vy_max)))
        # z_min is a NED value, so it is the least height
        heading = Heading.read(stretch.drivetrain, stretch.yaw_mode)
        act = fly_remote(vehicle, fastest, self._height(vehicle, z_min), heading)
        self._begin(reply, vehicle, act, seconds(stretch.duration), ends_well=True)

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
        act = hold_attitude(
            vehicle, sticks["roll"] * lean, -sticks["pitch"] * lean, None, -sticks["yaw"], sticks["throttle"], 0.0
        )
        vehicle.begin(
            Task(act, Reply(self._server.caller, None, "moveByRC", self._server.complain), 1.0, ends_well=True)
        )

    # ---- small queries

    def _place(self, vehicle: VehicleSide, x: float, y: float, z: float) -> Array:
        return vehicle.axes.world(
            [number_of(x, "x", FARTHEST), number_of(y, "y", FARTHEST), number_of(z, "z", FARTHEST)]
        )

    def _height(self, vehicle: VehicleSide, z: float) -> float:
        return float(vehicle.axes.origin[2]) - number_of(z, "z", FARTHEST)
