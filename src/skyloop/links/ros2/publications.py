"""What a running simulation publishes. A message is built only if somebody listens to its topic."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from xml.sax.saxutils import quoteattr

import numpy as np

from skyloop.core.frames import matrix_from_quat
from skyloop.links.ros2.dds_types import Quality
from skyloop.links.ros2.participant import Participant, Writer
from skyloop.recording.ros2.samples import odometry
from skyloop.recording.ros2.tf_frames import WORLD, body_frame, header, pose_of, stamp, topic_of, twist_of
from skyloop.recording.ros2.types import (
    RosMessage,
    diagnostic_msgs,
    encode,
    geometry_msgs,
    mavros_msgs,
    nav_msgs,
    rosgraph_msgs,
    std_msgs,
)
from skyloop.recording.ros2.views import View, check_topics, is_latched, mounts, views_of
from skyloop.sim.simulation_port import SimulationPort
from skyloop.sim.vehicle_port import VehicleGeometry, VehiclePort
from skyloop_client.messages import Array, Estimate, Message, VehicleState
from skyloop_client.streams import NS_PER_S, StreamInfo

OK, WARN, ERROR = 0, 1, 2
ACTIVE, STANDBY = 4, 3
"""MAVLink's numbers of a system's state."""
MAVROS_MODES = {
    "takeoff": "AUTO.TAKEOFF", "hover": "AUTO.LOITER", "setpoint": "OFFBOARD", "goal": "AUTO.MISSION",
    "home": "AUTO.RTL", "land": "AUTO.LAND",
}  # fmt: skip
"""PX4's names, which MAVROS shows, for our autopilot's modes."""
State = VehicleState | Estimate
LEVEL = np.array([1.0, 0.0, 0.0, 0.0])


def clock(t_ns: int) -> RosMessage:
    return rosgraph_msgs.Clock(stamp(t_ns))


def pose_stamped(state: State) -> RosMessage:
    return geometry_msgs.PoseStamped(header(state.t_ns, WORLD), pose_of(state.position, state.quat_wxyz))


def velocity_in_world(state: State) -> RosMessage:
    """As MAVROS's local_position/velocity_local: linear in world axes, angular in body axes."""
    twist = twist_of(state.velocity_world, state.angular_velocity_body)
    return geometry_msgs.TwistStamped(header(state.t_ns, WORLD), twist)


def rotor_wrench(state: VehicleState, geometry: VehicleGeometry, frame_id: str) -> RosMessage:
    """Force and torque of the rotors on the body, about the body origin, body axes."""
    thrusts = state.rotor_thrusts[: geometry.n_rotors]
    x, y = geometry.rotor_positions[:, 0], geometry.rotor_positions[:, 1]
    # a rotor that turns counter-clockwise drags the body clockwise
    drag = -geometry.torque_ratio * float(np.dot(geometry.rotor_spins, thrusts))
    force = geometry_msgs.Vector3(0.0, 0.0, float(thrusts.sum()))
    torque = geometry_msgs.Vector3(float(np.dot(y, thrusts)), -float(np.dot(x, thrusts)), drag)
    return geometry_msgs.WrenchStamped(header(state.t_ns, frame_id), geometry_msgs.Wrench(force, torque))


def path(t_ns: int, positions: list[Array]) -> RosMessage:
    head = header(t_ns, WORLD)
    return nav_msgs.Path(head, [geometry_msgs.PoseStamped(head, pose_of(position, LEVEL)) for position in positions])


def mavros_state(vehicle: VehiclePort, t_ns: int) -> RosMessage:
    status = vehicle.status
    return mavros_msgs.State(
        header(t_ns, ""), connected=True, armed=status.armed, guided=status.mode == "setpoint", manual_input=False,
        mode=MAVROS_MODES.get(status.mode, "MANUAL"), system_status=ACTIVE if vehicle.is_flying else STANDBY,
    )  # fmt: skip


def diagnosis(vehicle: VehiclePort) -> RosMessage:
    status, battery = vehicle.status, vehicle.battery
    level = ERROR if status.failsafe else OK if vehicle.knows_where else WARN
    said = status.failsafe or ("" if vehicle.knows_where else "its estimate is not valid") or status.mode
    values = {
        "mode": status.mode, "armed": str(status.armed).lower(), "landed": str(status.landed).lower(),
        "charge": f"{battery.state_of_charge:.3f}", "commander": vehicle.commander,
    }  # fmt: skip
    return _status(level, f"skyloop: {vehicle.name}", said, vehicle.name, values)


def diagnostics(t_ns: int, vehicles: list[VehiclePort], sent: int, lost: int) -> RosMessage:
    link = _status(OK, "skyloop: link", f"{sent} messages sent", "", {"sent": str(sent), "lost": str(lost)})
    return diagnostic_msgs.DiagnosticArray(header(t_ns, ""), [link, *(diagnosis(vehicle) for vehicle in vehicles)])


def _status(level: int, name: str, message: str, hardware: str, values: dict[str, str]) -> RosMessage:
    pairs = [diagnostic_msgs.KeyValue(*pair) for pair in values.items()]
    return diagnostic_msgs.DiagnosticStatus(level, name, message, hardware, pairs)


# ---- URDF


BODY_SHARE, ROTOR_SHARE = 0.6, 0.45
"""Of the distance from the centre to a rotor: the width of the body's box, and the radius of a rotor's disc."""
THICK = 0.06
"""m, the height of the body's box."""


def urdf_of(name: str, geometry: VehicleGeometry, frames: Iterable[RosMessage]) -> str:
    """`frames`: the transforms of /tf_static on the vehicle."""
    body = f"{name}/base_link"
    arm = float(np.max(np.linalg.norm(geometry.rotor_positions[:, :2], axis=1), initial=0.1))
    side = BODY_SHARE * arm
    # a solid box of this size; URDF wants an inertia and the flight does not use it
    across = geometry.mass * (side**2 + THICK**2) / 12.0
    up = geometry.mass * (2.0 * side**2) / 12.0
    parts = [
        f"<link name={quoteattr(body)}>",
        f'<inertial><mass value="{geometry.mass:.6g}"/><inertia ixx="{across:.6g}" iyy="{across:.6g}" '
        f'izz="{up:.6g}" ixy="0" ixz="0" iyz="0"/></inertial>',
        f'<visual><geometry><box size="{side:.4g} {side:.4g} {THICK:g}"/></geometry></visual>',
        *(_rotor(position, ROTOR_SHARE * arm) for position in geometry.rotor_positions),
        "</link>",
    ]
    for one in frames:
        parent, child = one.header.frame_id, one.child_frame_id
        parts.append(f"<link name={quoteattr(child)}/>")
        parts.append(
            f'<joint name={quoteattr(child + "_joint")} type="fixed"><parent link={quoteattr(parent)}/>'
            f"<child link={quoteattr(child)}/><origin {_origin(one.transform)}/></joint>"
        )
    return f'<?xml version="1.0"?>\n<robot name={quoteattr(name)}>\n' + "\n".join(parts) + "\n</robot>\n"


def _rotor(position: Array, radius: float) -> str:
    x, y, z = position.tolist()
    disc = f'<cylinder radius="{radius:.4g}" length="0.01"/>'
    return f'<visual><origin xyz="{x:.6g} {y:.6g} {z:.6g}" rpy="0 0 0"/><geometry>{disc}</geometry></visual>'


def _origin(transform: RosMessage) -> str:
    """URDF's fixed-axis roll, pitch, yaw: R = Rz(yaw) · Ry(pitch) · Rx(roll)."""
    position, q = transform.translation, transform.rotation
    turn = matrix_from_quat(np.array([q.w, q.x, q.y, q.z]))
    pitch = float(np.arcsin(np.clip(-turn[2, 0], -1.0, 1.0)))
    if abs(turn[2, 0]) < 1.0 - 1e-9:
        roll, yaw = float(np.arctan2(turn[2, 1], turn[2, 2])), float(np.arctan2(turn[1, 0], turn[0, 0]))
    else:
        roll, yaw = 0.0, float(np.arctan2(-turn[0, 1], turn[1, 1]))
    return f'xyz="{position.x:.9g} {position.y:.9g} {position.z:.9g}" rpy="{roll:.9g} {pitch:.9g} {yaw:.9g}"'


# ---- publishing


log = logging.getLogger(__name__)

CLOCK_NS = 4_000_000
"""Simulated time between two messages on /clock."""
SLOW_NS = NS_PER_S
"""Simulated time between two messages of paths, diagnostics and MAVROS's state."""
TRACK_STEP, TRACK_POINTS = 0.2, 2000
"""m between two points of a flown path, and how many are kept."""
LARGE = {
    "sensor_msgs/msg/Image", "sensor_msgs/msg/CompressedImage", "sensor_msgs/msg/PointCloud2",
    "std_msgs/msg/Float32MultiArray",
}  # fmt: skip
SMALL = {
    "sensor_msgs/msg/CameraInfo",
    "sensor_msgs/msg/Imu",
    "sensor_msgs/msg/NavSatFix",
    "sensor_msgs/msg/MagneticField",
    "sensor_msgs/msg/FluidPressure",
    "sensor_msgs/msg/Range",
    "radar_msgs/msg/RadarScan",
}
"""What sensors measure, by the size of its messages."""
MAVROS_COPIES = {
    "ImuSample": "imu/data_raw", "GnssFix": "global_position/raw/fix", "BatteryState": "battery",
    "MagnetometerSample": "imu/mag", "BarometerSample": "imu/static_pressure",
}  # fmt: skip
"""By record: the topic under mavros/ that carries the first such stream of a vehicle too."""


class Publications:
    def __init__(
        self, participant: Participant, port: SimulationPort, silent: set[str], *, lossy: bool = False
    ) -> None:
        """`silent`: streams that come from ROS themselves and are not sent back. `lossy`: sensors are best effort."""
        self._participant, self._port = participant, port
        self._silent, self._lossy = silent, lossy
        check_topics(port.bus.infos)
        self._writers: dict[str, tuple[Writer, str]] = {}
        """By topic, with its type."""
        self._by_stream: dict[str, list[tuple[str, View]]] = {}
        """By stream: the topics that its messages go to."""
        self._copies: dict[str, str] = {}
        """By topic: the MAVROS topic that carries the same."""
        self._unsent: dict[str, Message] = {}
        """By stream of a latched topic: the newest message, if nobody was there to hear it."""
        self._tracks: dict[str, deque[Array]] = {}
        self._mounted: object = None
        self._tick = self._slow = -1
        self._open("/clock", "rosgraph_msgs/msg/Clock", "newest")
        self._open("/tf", "tf2_msgs/msg/TFMessage")
        self._open("/tf_static", "tf2_msgs/msg/TFMessage")
        self._open("/diagnostics", "diagnostic_msgs/msg/DiagnosticArray")
        port.bus.on_new(self._watch)
        for vehicle in port.vehicles.values():
            self.add_vehicle(vehicle)
        port.bus.on_every(self._on_message)

    def add_vehicle(self, vehicle: VehiclePort) -> None:
        own, mavros = f"/{vehicle.name}", self.mavros(vehicle.name)
        for topic, kind in (
            (f"{own}/odom", "nav_msgs/msg/Odometry"), (f"{own}/pose", "geometry_msgs/msg/PoseStamped"),
            (f"{own}/path", "nav_msgs/msg/Path"), (f"{own}/wrench", "geometry_msgs/msg/WrenchStamped"),
            (f"{mavros}/local_position/pose", "geometry_msgs/msg/PoseStamped"),
            (f"{mavros}/local_position/odom", "nav_msgs/msg/Odometry"),
            (f"{mavros}/local_position/velocity_local", "geometry_msgs/msg/TwistStamped"),
            (f"{mavros}/state", "mavros_msgs/msg/State"),
        ):  # fmt: skip
            self._open(topic_of(topic[1:]), kind)
        self._open(topic_of(f"{vehicle.name}/robot_description"), "std_msgs/msg/String", "latched")
        if len(self._port.vehicles) == 1:
            self._open("/robot_description", "std_msgs/msg/String", "latched")
        self._mounted = None

    def mavros(self, vehicle: str) -> str:
        """MAVROS's namespace: of its own with one vehicle, under the vehicle's name with several."""
        return "/mavros" if len(self._port.vehicles) == 1 else f"/{vehicle}/mavros"

    def _open(self, topic: str, kind: str, quality: Quality | None = None) -> None:
        if topic not in self._writers:
            writer = self._participant.writer(topic, kind, quality or self._quality_of(topic, kind))
            self._writers[topic] = (writer, kind)

    def _quality_of(self, topic: str, kind: str) -> Quality:
        if is_latched(topic, kind):
            return "latched"
        if kind in LARGE or kind in SMALL:
            return "lossy" if self._lossy else "large" if kind in LARGE else "sensor"
        return "state"

    def _watch(self, info: StreamInfo) -> None:
        """Open the topics of a stream."""
        views = () if info.name in self._silent else views_of(info)
        topics = self._by_stream[info.name] = [(view.topic_of(info), view) for view in views]
        for topic, view in topics:
            self._open(topic, view.kind)
        copy = MAVROS_COPIES.get(info.message)
        if copy and topics and info.name.startswith(f"{info.vehicle}/"):
            there = topic_of(f"{self.mavros(info.vehicle)}/{copy}"[1:])
            if there not in self._writers:
                topic, view = topics[0]
                self._open(there, view.kind)
                self._copies[topic] = there
        self._mounted = None

    # ---- with every message

    def _on_message(self, message: Message) -> None:
        info = self._port.bus.infos[message.stream]
        try:
            self._show(info, message)
            if info.message in ("VehicleState", "Estimate") and info.vehicle in self._port.vehicles:
                self._tell_belief(info, message.data)
        except Exception as error:
            # a user's record may differ from ours of the same name; that must not end a flight
            log.warning("ROS 2: %s cannot be shown: %s: %s", info.name, type(error).__name__, error)
            self._by_stream[info.name] = []

    def _show(self, info: StreamInfo, message: Message) -> None:
        for topic, view in self._by_stream[info.name]:
            wanted = [one for one in (topic, self._copies.get(topic, "")) if self.wants(one)]
            if not wanted:
                if is_latched(topic, view.kind):
                    self._unsent[info.name] = message
                continue
            self._unsent.pop(info.name, None)
            built = view.make(info, message.data)
            if built is not None:
                data = encode(built)
                for one in wanted:
                    self._writers[one][0].send(data)

    def _tell_belief(self, info: StreamInfo, state: VehicleState | Estimate) -> None:
        """The state that a vehicle flies on, under the names that others use for it."""
        vehicle, body = self._port.vehicle(info.vehicle), body_frame(info)
        own, mavros = topic_of(vehicle.name), self.mavros(vehicle.name)
        if isinstance(state, VehicleState):
            self._remember(vehicle.name, state)
            self._say(f"{own}/wrench", lambda: rotor_wrench(state, vehicle.geometry, body))
        if info.name != self._flown_on(vehicle) or (isinstance(state, Estimate) and not state.valid):
            return
        for topic in (f"{own}/odom", topic_of(f"{mavros}/local_position/odom"[1:])):
            self._say(topic, lambda: odometry(info, state))
        for topic in (f"{own}/pose", topic_of(f"{mavros}/local_position/pose"[1:])):
            self._say(topic, lambda: pose_stamped(state))
        self._say(topic_of(f"{mavros}/local_position/velocity_local"[1:]), lambda: velocity_in_world(state))

    def _flown_on(self, vehicle: VehiclePort) -> str:
        """The stream of the state that it flies on: the truth, or the estimate that its controller got last."""
        if not vehicle.flies_on_estimate:
            return f"truth/{vehicle.name}"
        belief = vehicle.belief
        mine = [info.name for info in self._port.bus.infos.values() if info.message == "Estimate"]
        return next((name for name in mine if self._port.bus.latest(name) is belief), "")

    def _remember(self, vehicle: str, state: VehicleState) -> None:
        track = self._tracks.setdefault(vehicle, deque(maxlen=TRACK_POINTS))
        if not track or np.linalg.norm(state.position - track[-1]) >= TRACK_STEP:
            track.append(state.position.copy())

    # ---- from time to time

    def tell_time(self, *, again: bool = False) -> None:
        """Called often. `again`: repeat the clock, for nodes that came while time stands still."""
        now_ns = self._port.now_ns
        self._tell_mounts(now_ns)
        for message in list(self._unsent.values()):
            self._show(self._port.bus.infos[message.stream], message)
        if not again and now_ns // CLOCK_NS == self._tick:
            return
        self._tick = now_ns // CLOCK_NS
        self._say("/clock", lambda: clock(now_ns))
        if now_ns // SLOW_NS == self._slow:
            return
        self._slow = now_ns // SLOW_NS
        vehicles = list(self._port.vehicles.values())
        participant = self._participant
        self._say("/diagnostics", lambda: diagnostics(now_ns, vehicles, participant.sent, participant.lost))
        for vehicle in vehicles:
            track = list(self._tracks.get(vehicle.name, ()))
            self._say(f"{topic_of(vehicle.name)}/path", partial(path, now_ns, track))
            self._say(
                topic_of(f"{self.mavros(vehicle.name)}/state"[1:]),
                partial(mavros_state, vehicle, now_ns),
            )

    def next_tick(self, t_ns: int) -> int:
        """The instant before `t_ns` at which nodes must get the time, if there is one: a clock is regular."""
        tick_ns = (self._port.now_ns // CLOCK_NS + 1) * CLOCK_NS
        return tick_ns if tick_ns < t_ns and self.wants("/clock") else t_ns

    def tell_clock(self, now_ns: int) -> None:
        """Exactly this instant, as after a step."""
        self._tick = now_ns // CLOCK_NS
        self._say("/clock", lambda: clock(now_ns))

    def _tell_mounts(self, now_ns: int) -> None:
        """Latched: sent once, and again when a sensor or a vehicle is added."""
        infos = self._port.bus.infos
        if self._mounted == (len(infos), len(self._port.vehicles)):
            return
        self._mounted = (len(infos), len(self._port.vehicles))
        static = mounts(infos.values(), now_ns)
        self._writers["/tf_static"][0].send(encode(static))
        for vehicle in self._port.vehicles.values():
            frames = [one for one in static.transforms if one.header.frame_id.startswith(f"{vehicle.name}/")]
            text = urdf_of(vehicle.name, vehicle.geometry, frames)
            for name in (topic_of(f"{vehicle.name}/robot_description"), "/robot_description"):
                if name in self._writers:
                    self._writers[name][0].send(encode(std_msgs.String(text)))

    # ---- sending

    def wants(self, topic: str) -> bool:
        return topic in self._writers and self._writers[topic][0].is_wanted

    def _say(self, topic: str, make: Callable[[], RosMessage]) -> None:
        """Send the result of `make` if somebody listens."""
        if self.wants(topic):
            self._writers[topic][0].send(encode(make()))
