"""Commands to one vehicle: velocities, goals, trajectories, estimates, and arming, take-off and landing."""

from __future__ import annotations

import logging
from collections.abc import Callable

import numpy as np

from skyloop.core.frames import matrix_from_quat, rotate, yaw_from_quat
from skyloop.links.ros2.dds_types import Quality
from skyloop.links.ros2.rtps.server import Taken
from skyloop.links.ros2.services import Fields, Services, refusal
from skyloop.recording.ros2.tf_frames import WORLD
from skyloop.recording.ros2.types import RosMessage, decode
from skyloop.sim.simulation_port import SimulationPort
from skyloop.vehicle.behaviours import Cubics, Track
from skyloop_client.messages import (
    Arm,
    Array,
    Disarm,
    Estimate,
    Goal,
    GoHome,
    Hover,
    Land,
    Position,
    Request,
    Setpoint,
    TakeOff,
    Velocity,
)
from skyloop_client.streams import NS_PER_S, Rate

MOST_POINTS = 10_000


def trajectory_from(message: RosMessage) -> Cubics:
    """Raises ValueError with one line if it cannot be flown."""
    points = message.points
    if not 0 < len(points) <= MOST_POINTS:
        raise ValueError(f"a trajectory has 1 to {MOST_POINTS} points, not {len(points)}")
    if any(not point.transforms for point in points):
        raise ValueError("every point of a trajectory needs a transform")
    transforms = [point.transforms[0] for point in points]
    times = np.array([p.time_from_start.sec + p.time_from_start.nanosec / NS_PER_S for p in points])
    positions = np.array(
        [[transform.translation.x, transform.translation.y, transform.translation.z] for transform in transforms]
    )
    turns = np.array([[turn.w, turn.x, turn.y, turn.z] for turn in (transform.rotation for transform in transforms)])
    if np.any(np.diff(times) <= 0.0) or times[0] < 0.0:
        raise ValueError("time_from_start must rise from point to point")
    velocities = _velocities(points, times, positions)
    if not (np.isfinite(positions).all() and np.isfinite(velocities).all() and np.isfinite(turns).all()):
        raise ValueError("a trajectory contains a number that is not finite")
    if np.any(np.abs(np.linalg.norm(turns, axis=1) - 1.0) > 1e-2):
        raise ValueError("a rotation of a trajectory is no unit quaternion")
    yaws = np.unwrap([float(yaw_from_quat(turn)) for turn in turns])
    return Cubics(times, positions, velocities, np.asarray(yaws))


def _velocities(points: list[RosMessage], times: Array, positions: Array) -> Array:
    """As given, or from the neighbouring points."""
    if all(point.velocities for point in points):
        linear = [point.velocities[0].linear for point in points]
        return np.array([[velocity.x, velocity.y, velocity.z] for velocity in linear])
    if len(points) == 1:
        return np.zeros((1, 3))
    found = np.gradient(positions, times, axis=0)
    found[0] = found[-1] = 0.0
    return np.asarray(found)


# ---- commands to a vehicle


log = logging.getLogger(__name__)

NAME = "ros2"
"""Who commands, as the vehicle remembers it."""
FOLLOWING = Rate(50)
"""Setpoints per simulated second along a trajectory."""
MOST_TOLD = 50
"""Different complaints in the log. A flood of wrong messages must not fill a disk."""
ACCEPTED, FAILED = 0, 4
"""MAVLink's results of a command."""
MODES: dict[str, Request] = {
    "AUTO.LAND": Land(), "AUTO.RTL": GoHome(), "AUTO.LOITER": Hover(), "AUTO.TAKEOFF": TakeOff(),
}  # fmt: skip
"""MAVROS's modes that are requests here. OFFBOARD needs none: a setpoint is enough."""


class VehicleOrders:
    """Everything that ROS 2 nodes may ask of one vehicle."""

    def __init__(
        self,
        port: SimulationPort,
        vehicle: str,
        services: Services,
        read: Callable[[str, str, Quality, Taken], None],
    ) -> None:
        """`read` opens a topic: its name, its type, its quality, and who gets its messages."""
        self._port, self._vehicle = port, port.vehicle(vehicle)
        self._services, self._read = services, read
        self._track: Track | None = None
        self._following = False
        self._told: set[str] = set()

    def open(self, namespaces: list[str], mavros: str) -> None:
        """`namespaces`: of topics such as `/drone`; RViz's click also has one without a name."""
        own = namespaces[0]
        listen = self._listen
        listen(f"{own}/cmd_vel", "geometry_msgs/msg/Twist", "stream", lambda twist: self._fly(twist, "body"))
        for topic in (f"{own}/cmd_vel", f"{own}/cmd_vel_stamped"):
            listen(topic, "geometry_msgs/msg/TwistStamped", "stream", self._twist_stamped)
        for space in namespaces:
            listen(f"{space}/goal_pose", "geometry_msgs/msg/PoseStamped", "order", self._goal)
        trajectory = "trajectory_msgs/msg/MultiDOFJointTrajectory"
        listen(f"{own}/command/trajectory", trajectory, "order", self._take_trajectory)
        velocity = f"{mavros}/setpoint_velocity/cmd_vel"
        listen(velocity, "geometry_msgs/msg/TwistStamped", "stream", lambda stamped: self._fly(stamped.twist, "world"))
        listen(f"{velocity}_unstamped", "geometry_msgs/msg/Twist", "stream", lambda twist: self._fly(twist, "world"))
        listen(f"{mavros}/setpoint_position/local", "geometry_msgs/msg/PoseStamped", "stream", self._setpoint)
        for stream, outside in self._port.user_streams.outside.items():
            if outside.setup.vehicle == self._vehicle.name:
                listen(f"/{stream}", "nav_msgs/msg/Odometry", "estimate", self._estimator(stream, outside.sender))
        requests: dict[str, Request] = {"takeoff": TakeOff(), "land": Land(), "hover": Hover(), "go_home": GoHome()}
        for name, request in requests.items():
            self._open_order(f"{own}/{name}", self._order(request))
        listen(f"{own}/arm", "std_msgs/msg/Bool", "order", lambda message: self._arm(message.data))
        self._services.simple(f"{own}/arm", "std_srvs/srv/SetBool", lambda request: _said(self._arm(request.data)))
        self._open_mavros(mavros)

    def _open_order(self, name: str, order: Callable[[], str]) -> None:
        self._listen(name, "std_msgs/msg/Empty", "order", lambda _: order())
        self._services.simple(name, "std_srvs/srv/Trigger", lambda _: _said(order()))

    def _open_mavros(self, mavros: str) -> None:
        serve = self._services.simple
        serve(f"{mavros}/cmd/arming", "mavros_msgs/srv/CommandBool", lambda asked: _result(self._arm(asked.value)))
        serve(f"{mavros}/cmd/takeoff", "mavros_msgs/srv/CommandTOL", self._take_off_to)
        serve(f"{mavros}/cmd/land", "mavros_msgs/srv/CommandTOL", lambda _: _result(self._order(Land())()))
        serve(f"{mavros}/set_mode", "mavros_msgs/srv/SetMode", self._set_mode)

    def _listen(self, topic: str, kind: str, quality: Quality, act: Callable[[RosMessage], str]) -> None:
        def taken(data: bytes, sender: object) -> None:
            try:
                why = refusal(lambda: act(decode(kind, data)))
            except ValueError as error:
                why = str(error)
            if why:
                self._complain(f"{topic}: {why}")

        self._read(topic, kind, quality, taken)

    def _complain(self, line: str) -> None:
        if line not in self._told and len(self._told) < MOST_TOLD:
            self._told.add(line)
            log.warning("ROS 2: %s", line)

    # ---- orders

    def _send(self, *items: Setpoint | Request) -> str:
        """Why it was refused; empty if it was not."""
        return self._vehicle.send(*items, by=NAME)

    def _order(self, request: Request) -> Callable[[], str]:
        def give() -> str:
            self._track = None
            arming = [Arm()] if isinstance(request, TakeOff) and not self._vehicle.status.armed else []
            return refusal(lambda: self._send(*arming, request))

        return give

    def _arm(self, on: bool) -> str:
        return self._order(Arm() if on else Disarm())()

    def _take_off_to(self, asked: RosMessage) -> Fields:
        """MAVROS's altitude is above the ellipsoid. One not above the vehicle means our own height."""
        frame = self._port.editor.local_frame
        above = float(asked.altitude) - frame.home.altitude - float(self._vehicle.truth.position[2])
        height = above if np.isfinite(above) and 0.1 < above < 1e4 else TakeOff().altitude
        return _result(self._order(TakeOff(height))())

    def _set_mode(self, asked: RosMessage) -> Fields:
        mode = asked.custom_mode.upper()
        if mode == "OFFBOARD":
            return (True,)
        return (mode in MODES and not self._order(MODES[mode])(),)

    # ---- setpoints

    def _twist_stamped(self, message: RosMessage) -> str:
        frame = message.header.frame_id
        if frame not in ("", WORLD, f"{self._vehicle.name}/base_link", "base_link"):
            raise ValueError(f"frame '{frame[:40]}' is unknown; give {WORLD} or {self._vehicle.name}/base_link")
        return self._fly(message.twist, "world" if frame == WORLD else "body")

    def _fly(self, twist: RosMessage, frame: str) -> str:
        velocity = vector(twist.linear)
        rate = float(twist.angular.z)
        if not np.isfinite(rate):
            raise ValueError("the yaw rate is not finite")
        self._track = None
        return self._send(Velocity(velocity, frame, yaw_rate=rate))

    def _goal(self, message: RosMessage) -> str:
        position, yaw = self._position(message)
        if position[2] == 0.0:
            # RViz's click has no height
            position[2] = self._vehicle.truth.position[2]
        self._track = None
        return self._send(Goal(position, yaw))

    def _setpoint(self, message: RosMessage) -> str:
        position, yaw = self._position(message)
        self._track = None
        return self._send(Position(position, yaw))

    def _position(self, message: RosMessage) -> tuple[Array, float]:
        """World position and yaw."""
        frame = message.header.frame_id
        position, turn = vector(message.pose.position), quaternion(message.pose.orientation)
        if frame in ("", WORLD):
            return position, float(yaw_from_quat(turn))
        if frame == f"{self._vehicle.name}/base_link":
            state = self._vehicle.truth
            forward = rotate(state.quat_wxyz, matrix_from_quat(turn)[:, 0])
            return state.position + rotate(state.quat_wxyz, position), float(np.arctan2(forward[1], forward[0]))
        raise ValueError(f"frame '{frame[:40]}' is unknown; give {WORLD} or {self._vehicle.name}/base_link")

    # ---- trajectories

    def _take_trajectory(self, message: RosMessage) -> str:
        self._track = Track(trajectory_from(message))
        if not self._following:
            self._following = True
            self._port.every(FOLLOWING, self._follow)
        return self._send(self._track.update(self._vehicle.situation))

    def _follow(self, t_ns: int) -> None:
        if self._track is None:
            return
        track, setpoint = self._track, self._track.update(self._vehicle.situation)
        why = refusal(lambda: self._send(setpoint))
        if why or track.done:
            self._track = None
        if why:
            self._complain(f"trajectory: {why}")

    # ---- estimates

    def _estimator(self, stream: str, sender: str) -> Callable[[RosMessage], str]:
        name = stream.removeprefix(f"{self._vehicle.name}/")

        def take(message: RosMessage) -> str:
            self._vehicle.publish(name, estimate_from(message, self._port.now_ns), sender=sender)
            return ""

        return take


def estimate_from(message: RosMessage, now_ns: int) -> Estimate:
    """nav_msgs/Odometry: the pose in the world, the twist in body axes. Its stamp is simulated time."""
    stamp = message.header.stamp
    t_ns = stamp.sec * NS_PER_S + stamp.nanosec
    pose, twist = message.pose, message.twist
    turn = quaternion(pose.pose.orientation)
    pose_covariance, twist_covariance = (np.asarray(part.covariance).reshape(6, 6) for part in (pose, twist))
    velocity = rotate(turn, vector(twist.twist.linear))
    turned = matrix_from_quat(turn) @ twist_covariance[:3, :3] @ matrix_from_quat(turn).T
    sigmas = [
        np.sqrt(np.maximum(np.diagonal(part), 0.0))
        for part in (pose_covariance[:3, :3], turned, pose_covariance[3:, 3:])
    ]
    # no stamp, or one of another clock, would be refused as not of this flight
    t_ns = t_ns if 0 < t_ns <= now_ns else now_ns
    position, rates = vector(pose.pose.position), vector(twist.twist.angular)
    position_sd, velocity_sd, attitude_sd = sigmas
    return Estimate(t_ns, position, velocity, turn, rates, position_sd, velocity_sd, attitude_sd, True)


def vector(values: RosMessage) -> Array:
    found = np.array([values.x, values.y, values.z], float)
    if not np.isfinite(found).all():
        raise ValueError("a vector contains a number that is not finite")
    return found


def quaternion(values: RosMessage) -> Array:
    """All zero is no turn, as many nodes leave it."""
    found = np.array([values.w, values.x, values.y, values.z], float)
    length = float(np.linalg.norm(found))
    if length == 0.0:
        return np.array([1.0, 0.0, 0.0, 0.0])
    if not np.isfinite(length) or abs(length - 1.0) > 1e-2:
        raise ValueError("an orientation is no unit quaternion")
    return found / length


def _said(why: str) -> Fields:
    return not why, why


def _result(why: str) -> Fields:
    return not why, FAILED if why else ACCEPTED
