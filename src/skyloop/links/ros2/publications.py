"""What a running simulation publishes. A message is built only if somebody listens to its topic."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from skyloop.links.ros2 import live_messages as live
from skyloop.links.ros2.participant import Participant, Writer
from skyloop.links.ros2.qualities import Quality
from skyloop.links.ros2.urdf import urdf_of
from skyloop.recording.ros2.frames import body_frame, topic_of
from skyloop.recording.ros2.samples import odometry
from skyloop.recording.ros2.types import RosMessage, encode, std_msgs
from skyloop.recording.ros2.views import View, check_topics, mounts, views_of
from skyloop.sim.simulation_port import SimulationPort
from skyloop.sim.vehicle_port import VehiclePort
from skyloop_client.messages import Array, Message, VehicleState
from skyloop_client.streams import NS_PER_S, StreamInfo

log = logging.getLogger(__name__)

CLOCK_NS = 4_000_000
"""Simulated time between two messages on /clock."""
SLOW_NS = NS_PER_S
"""Simulated time between two messages of paths, diagnostics and MAVROS's state."""
TRACK_STEP, TRACK_POINTS = 0.2, 2000
"""m between two points of a flown path, and how many are kept."""
FROM_SENSORS = {
    "sensor_msgs/msg/Image", "sensor_msgs/msg/CameraInfo", "sensor_msgs/msg/CompressedImage",
    "sensor_msgs/msg/PointCloud2", "sensor_msgs/msg/Imu", "sensor_msgs/msg/NavSatFix", "sensor_msgs/msg/MagneticField",
    "sensor_msgs/msg/FluidPressure", "sensor_msgs/msg/Range", "radar_msgs/msg/RadarScan",
    "std_msgs/msg/Float32MultiArray",
}  # fmt: skip
LATCHED = {"nav_msgs/msg/OccupancyGrid", "tf2_msgs/msg/TFMessage"}
MAVROS_COPIES = {
    "ImuSample": "imu/data_raw", "GnssFix": "global_position/raw/fix", "BatteryState": "battery",
    "MagnetometerSample": "imu/mag", "BarometerSample": "imu/static_pressure",
}  # fmt: skip
"""By record: the topic under mavros/ that carries the first such stream of a vehicle too."""


def quality_of(topic: str, kind: str) -> Quality:
    if kind in FROM_SENSORS:
        return "sensor"
    return "latched" if kind in LATCHED and topic != "/tf" else "state"


class Publications:
    def __init__(self, participant: Participant, port: SimulationPort, silent: set[str]) -> None:
        """`silent`: streams that come from ROS themselves and are not sent back."""
        self._participant, self._port = participant, port
        self._silent = silent
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
            writer = self._participant.writer(topic, kind, quality or quality_of(topic, kind))
            self._writers[topic] = (writer, kind)

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
            self._tell_belief(info, message.data)
        except Exception as error:
            # a user's record may differ from ours of the same name; that must not end a flight
            log.warning("ROS 2: %s cannot be shown: %s: %s", info.name, type(error).__name__, error)
            self._by_stream[info.name] = []

    def _show(self, info: StreamInfo, message: Message) -> None:
        for topic, view in self._by_stream[info.name]:
            wanted = [one for one in (topic, self._copies.get(topic, "")) if self.wants(one)]
            if not wanted:
                if quality_of(topic, view.kind) == "latched":
                    self._unsent[info.name] = message
                continue
            self._unsent.pop(info.name, None)
            made = view.make(info, message.data)
            if made is not None:
                data = encode(made)
                for one in wanted:
                    self._writers[one][0].send(data)

    def _tell_belief(self, info: StreamInfo, state: Any) -> None:
        """The state that a vehicle flies on, under the names that others use for it."""
        if info.message not in ("VehicleState", "Estimate") or info.vehicle not in self._port.vehicles:
            return
        vehicle, body = self._port.vehicle(info.vehicle), body_frame(info)
        own, mavros = topic_of(vehicle.name), self.mavros(vehicle.name)
        if isinstance(state, VehicleState):
            self._remember(vehicle.name, state)
            self._say(f"{own}/wrench", lambda: live.rotor_wrench(state, vehicle.geometry, body))
        if info.name != self._flown_on(vehicle) or not getattr(state, "valid", True):
            return
        for topic in (f"{own}/odom", topic_of(f"{mavros}/local_position/odom"[1:])):
            self._say(topic, lambda: odometry(info, state))
        for topic in (f"{own}/pose", topic_of(f"{mavros}/local_position/pose"[1:])):
            self._say(topic, lambda: live.pose_stamped(state))
        self._say(topic_of(f"{mavros}/local_position/velocity_local"[1:]), lambda: live.velocity_in_world(state))

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
        self._say("/clock", lambda: live.clock(now_ns))
        if now_ns // SLOW_NS == self._slow:
            return
        self._slow = now_ns // SLOW_NS
        vehicles = list(self._port.vehicles.values())
        whole = self._participant
        self._say("/diagnostics", lambda: live.diagnostics(now_ns, vehicles, whole.sent, whole.lost))
        for vehicle in vehicles:
            track = list(self._tracks.get(vehicle.name, ()))
            self._say(f"{topic_of(vehicle.name)}/path", lambda track=track: live.path(now_ns, track))  # type: ignore[misc]
            self._say(
                topic_of(f"{self.mavros(vehicle.name)}/state"[1:]),
                lambda vehicle=vehicle: live.mavros_state(vehicle, now_ns),  # type: ignore[misc]
            )

    def next_tick(self, t_ns: int) -> int:
        """The instant before `t_ns` at which nodes must be told the time, if there is one: a clock is regular."""
        tick_ns = (self._port.now_ns // CLOCK_NS + 1) * CLOCK_NS
        return tick_ns if tick_ns < t_ns and self.wants("/clock") else t_ns

    def tell_clock(self, now_ns: int) -> None:
        """Exactly this instant, as after a step."""
        self._tick = now_ns // CLOCK_NS
        self._say("/clock", lambda: live.clock(now_ns))

    def _tell_mounts(self, now_ns: int) -> None:
        """Latched: sent once, and again when a sensor or a vehicle is added."""
        infos = self._port.bus.infos
        if self._mounted == (len(infos), len(self._port.vehicles)):
            return
        self._mounted = (len(infos), len(self._port.vehicles))
        static = mounts(infos.values(), now_ns)
        self._writers["/tf_static"][0].send(encode(static))
        for vehicle in self._port.vehicles.values():
            frames = [one for one in static.transforms if one.child_frame_id.startswith(f"{vehicle.name}/")]
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
