"""The MAVLink link behind the link gate: sockets, vehicles and their ticks of simulated time."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar

from skyloop.core.frames import GeoPoint
from skyloop.links.inbox import Inbox
from skyloop.links.link_gate import Factor, Link, LinkConfig, LinkGate, Summary, all_vehicles, home_of
from skyloop.links.mavlink.dialect import MavMessage, mavlink
from skyloop.links.mavlink.listener import Address, ClientChannel, MavlinkListener
from skyloop.links.mavlink.system import System
from skyloop.links.mavlink.vehicle import MavlinkVehicle
from skyloop.links.mavlink.video import VideoServer
from skyloop.links.mavlink.wire import Geography
from skyloop.links.sockets import own_address_towards
from skyloop.sim.scenario import Scenario
from skyloop.sim.simulation_port import SimulationPort
from skyloop_client.errors import LinkError
from skyloop_client.streams import NS_PER_S

log = logging.getLogger(__name__)
TICK_NS = 10_000_000
READY_NS = 250_000_000
"""Simulated ns after which every sensor has a sample. Then the vehicles are announced and answer."""
BEAT_S = 1.5
"""Wall s without a heartbeat after which one is sent, however slowly simulated time passes."""
GROUND_STATION, COMPANION = 14550, 14540
"""UDP ports that clients listen on."""
OWN_GROUND_STATION, OWN_COMPANION, OWN_TCP = 18570, 14580, 5760
"""UDP ports of ours as in PX4's simulator, TCP as in ArduPilot's."""
OWN_VIDEO = 8580
"""TCP port for the video of all cameras."""
TCP_STEP = 10
"""Distance between the TCP ports of two vehicles."""


LEAST_OFFSET, MOST_OFFSET = -5000, 46_000
"""Beyond these there are no such ports."""


class MavlinkConfig(LinkConfig):
    """MAVLink clients fly: every vehicle announces itself as a PX4."""

    kind: ClassVar[str] = "mavlink"
    bare: ClassVar[str] = "port_offset"
    most_hurry_s: ClassVar[float] = 0.2
    """Offboard setpoints may be missing for 0.5 s."""

    pace: Factor = 1.0
    """Above 1 some clients cannot keep up."""
    host: str = "127.0.0.1"
    """Address of our ports. 0.0.0.0 lets other machines connect."""
    remote: str = "127.0.0.1"
    """Host of the ground stations and companions to which the vehicle is announced."""
    port_offset: int | None = 0
    """Added to every port. None picks free ports, and the vehicle is not announced."""
    until_landed: bool = False
    """The flight is over when every vehicle that took off has landed and disarmed."""

    def model_post_init(self, context: object) -> None:
        if not LEAST_OFFSET <= (self.port_offset or 0) <= MOST_OFFSET:
            raise LinkError(f"port offset {self.port_offset}: give {LEAST_OFFSET} to {MOST_OFFSET}")

    def flown(self, scenario: Scenario) -> frozenset[str]:
        return all_vehicles(scenario)

    def open(self, scenario: Scenario, inbox: Inbox) -> Sequence[Link]:
        link = MavlinkLink(inbox, len(scenario.vehicles), home_of(scenario), self)
        link.on_open = lambda: self._tell(link)
        return [link]

    def _tell(self, link: MavlinkLink) -> None:
        """Once for each vehicle."""
        for number, (ports, remotes) in enumerate(zip(link.ports, link.remotes, strict=True)):
            address = f"{self.host}:{ports['tcp']}"
            if self.opened is not None:
                self.opened(address)
                continue
            log.info(
                "MAVLink system %d: UDP to %s (ground station) and %s (MAVSDK), TCP server on %s; Ctrl-C ends",
                number + 1, *remotes, address,
            )  # fmt: skip


class MavlinkLink(Link):
    """All vehicles of a simulation as MAVLink systems 1, 2, 3... Its clients run in real time."""

    name = "mavlink"
    allows_realtime = True

    def __init__(self, inbox: Inbox, vehicles: int, home: GeoPoint, options: MavlinkConfig | None = None) -> None:
        self.options = options or MavlinkConfig()
        self.is_open = False
        """Clients are accepted and answered."""
        self.on_open: Callable[[], None] = lambda: None
        """Called once, when the link opens."""
        self.listener = MavlinkListener(inbox, self.options.host)
        self.listener.taker = self.receive
        self.vehicles: list[MavlinkVehicle] = []
        self.ports: list[dict[str, int]] = []
        """Our ports by vehicle: ground_station, companion (UDP), tcp."""
        self.remotes: list[tuple[str, str]] = []
        """By vehicle, the addresses to which it is announced: ground station, companion."""
        self._home = home
        self._channels: list[list[ClientChannel]] = []
        self._flown: set[int] = set()
        self._ticked_ns = -1
        self._due_ns = -1
        self._beat = time.monotonic()
        self._video: VideoServer | None = None
        # bound before the world is built, so that a port in use is reported at once
        for number in range(vehicles):
            self._bind(number)

    def _bind(self, number: int) -> None:
        options, offset = self.options, self.options.port_offset
        own = [OWN_GROUND_STATION + number, OWN_COMPANION + number, OWN_TCP + TCP_STEP * number]
        ports = [0, 0, 0] if offset is None else [port + offset for port in own]
        remotes: list[Address | None] = [None, None]
        if offset is not None:
            remotes = [(options.remote, GROUND_STATION + offset), (options.remote, COMPANION + number + offset)]
        ground, companion = ("nobody" if remote is None else f"{remote[0]}:{remote[1]}" for remote in remotes)
        self.remotes.append((ground, companion))
        channels = [self.listener.udp(number, number + 1, ports[k], remotes[k]) for k in range(2)]
        tcp = self.listener.tcp(number, number + 1, ports[2])
        self._channels.append(channels)
        numbers = [channel.socket.getsockname()[1] for channel in channels]
        self.ports.append({"ground_station": numbers[0], "companion": numbers[1], "tcp": tcp})

    # ---- called by the link gate

    def attach(self, port: SimulationPort, folder: Path | None, link_gate: LinkGate) -> None:
        self._port = port
        for number, own in enumerate(port.vehicles.values()):
            geography = Geography(self._home, own.truth.position)
            vehicle = MavlinkVehicle(System(own, port.bus, number + 1, geography), folder)
            self.vehicles.append(vehicle)
        self._open_video(port)
        self._opens_ns = port.now_ns + READY_NS
        self._schedule(port.now_ns)

    def _open_video(self, port: SimulationPort) -> None:
        """Serve the images of the cameras, if there are any."""
        cameras = [camera for vehicle in self.vehicles for camera in vehicle.payload.cameras.values()]
        if not cameras:
            return
        offset = self.options.port_offset
        number = 0 if offset is None else OWN_VIDEO + offset
        host = self.options.host
        shown = (own_address_towards(self.options.remote) or "127.0.0.1") if host in ("0.0.0.0", "::") else host
        self._video = VideoServer(host, number, [camera.info.name for camera in cameras], port.bus, shown)
        for camera in cameras:
            camera.video_uri = self._video.uri(camera.info.name)
            log.info("video of %s: %s", camera.info.name, camera.video_uri)

    @property
    def over(self) -> bool | None:
        if not self.options.until_landed:
            return None
        return bool(self._flown) and not any(vehicle.system.port.status.armed for vehicle in self.vehicles)

    def poll(self) -> None:
        """Clients expect heartbeats even while simulated time is slow or paused."""
        if not self.is_open or time.monotonic() - self._beat < BEAT_S:
            return
        self._beat = time.monotonic()
        for vehicle in self.vehicles:
            vehicle.send_now(mavlink.MAVLINK_MSG_ID_HEARTBEAT)

    def stop_at(self, t_ns: int) -> int:
        now = self._port.now_ns
        if not self._ticked_ns <= now <= self._due_ns:
            # a restored snapshot does not hold the scheduled tick of this link
            for vehicle in self.vehicles:
                vehicle.restart()
            self._schedule(now)
        return t_ns

    def finish(self, why: str) -> None:
        for vehicle in self.vehicles:
            vehicle.say(6, why)
            vehicle.log.close()
        self.close()

    def close(self) -> None:
        self.listener.close()
        if self._video is not None:
            self._video.close()

    def summary(self) -> Summary:
        return {
            "ports": self.ports,
            "refused_clients": self.listener.refused,
            "vehicles": [
                {
                    "vehicle": vehicle.system.port.name,
                    "system_id": vehicle.system.system_id,
                    "messages_received": vehicle.received,
                    "bad_bytes": sum(channel.inlet.bad for channel in vehicle.channels),
                    "dropped": sum(channel.dropped for channel in vehicle.channels),
                }
                for vehicle in self.vehicles
            ],
        }

    # ---- ticks and messages

    def _schedule(self, t_ns: int) -> None:
        self._due_ns = self._ticked_ns = t_ns
        self._port.at(t_ns, self._tick)

    def _tick(self) -> None:
        now = self._port.now_ns
        if now // NS_PER_S != self._ticked_ns // NS_PER_S:
            self._beat = time.monotonic()
        self._ticked_ns, self._due_ns = now, now + TICK_NS
        if not self.is_open and now >= self._opens_ns:
            self.is_open = True
            for vehicle, channels in zip(self.vehicles, self._channels, strict=True):
                vehicle.channels += channels
            self.listener.start()
            self.on_open()
        for number, vehicle in enumerate(self.vehicles):
            vehicle.tick()
            if vehicle.system.port.is_flying:
                self._flown.add(number)
        self._port.at(self._due_ns, self._tick)

    def receive(self, channel: ClientChannel, message: MavMessage) -> None:
        """Handle a message, "opened", or None when a TCP client has come or gone."""
        if not self.vehicles:
            return
        vehicle = self.vehicles[channel.vehicle]
        if message is None:
            vehicle.channels = [each for each in vehicle.channels if each is not channel]
        elif message == "opened":
            vehicle.channels.append(channel)
        else:
            channel.taken += 1
            vehicle.take(message, channel)
