"""AirSim's clients as a link: `--link airsim[:[HOST:]PORT]`, and behind `skyloop serve`.

Every call is handled in the simulation's thread. The methods are in separate files by group; docs/how-to/airsim.md
lists them all."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from skyloop.links.airsim.calls import LATER, Methods, Reply, RpcListener, RpcPeer
from skyloop.links.airsim.cameras import CameraMethods, CameraSet
from skyloop.links.airsim.flight import FlightMethods
from skyloop.links.airsim.images import DetectionMethods, Images, ImageTaker
from skyloop.links.airsim.lamps import LampMethods
from skyloop.links.airsim.options import AirSimOptions, SensorOptions, VehicleOptions
from skyloop.links.airsim.plot_markers import PlotMethods, Plots
from skyloop.links.airsim.segmentation import Segmentation, SegmentationMethods
from skyloop.links.airsim.sensors import MultirotorState, Sensors
from skyloop.links.airsim.server_state import ServerState
from skyloop.links.airsim.session_methods import AirSimRecording, SessionMethods
from skyloop.links.airsim.wire import Call, dialect_of
from skyloop.links.airsim.world import WeatherMethods, WorldMethods
from skyloop.links.inbox import Inbox
from skyloop.links.link_gate import Link, LinkConfig, LinkGate, Summary, all_vehicles
from skyloop.links.registry import Address
from skyloop.sim.scenario import Scenario, Vehicle
from skyloop.sim.simulation_port import SimulationPort
from skyloop_client.errors import LinkError
from skyloop_client.messages import Message
from skyloop_client.streams import NS_PER_S, Rate

TICK = Rate(50)
"""The period of running moves."""


class ServerEnds(Exception):
    """Raised when the server is asked to end."""


def cannot_load(level: str) -> None:
    raise LinkError("this run keeps its world; `skyloop serve` changes it")


class AirSimServer(Link):
    name = "airsim"

    def __init__(
        self,
        listener: RpcListener,
        options: AirSimOptions,
        say: Callable[[str], None] = lambda line: None,
        ends: Callable[[], bool] = lambda: False,
        load_level: Callable[[str], None] = cannot_load,
    ) -> None:
        """`say` gets lines for people. When `ends` says so, ServerEnds is raised. `load_level`: see SessionMethods."""
        self.options = options
        self.state = ServerState(options, say)
        self.listener = listener
        listener.taker = self.receive
        self.calls = 0
        self.peers: set[RpcPeer] = set()
        self._ends, self._load_level = ends, load_level

    def attach(self, port: SimulationPort, folder: Path | None, link_gate: LinkGate) -> None:
        self.state.attach(port, link_gate.pace)
        self.methods = Methods(self._groups())
        port.every(TICK, self._tick)

    def _groups(self) -> list[object]:
        state = self.state
        segmentation, plots, cameras = Segmentation(state), Plots(state), CameraSet(state)
        taker, weather = ImageTaker(state, cameras, segmentation, plots), WeatherMethods(state)
        if self.options.time_of_day:
            weather.simSetTimeOfDay(**self.options.time_of_day)
        self._recording = AirSimRecording(state, taker)
        return [
            SessionMethods(state, self._load_level), FlightMethods(state), MultirotorState(state),
            CameraMethods(cameras), Images(state, cameras, taker), Sensors(state, segmentation),
            WorldMethods(state, segmentation), weather, SegmentationMethods(state, segmentation),
            DetectionMethods(state, cameras), PlotMethods(state, plots), LampMethods(state), self._recording,
        ]  # fmt: skip

    # ---- called by the link gate

    @property
    def allows_realtime(self) -> bool:
        return not self.peers

    def stop_at(self, t_ns: int) -> int:
        return self.state.time.stop_at(t_ns)

    def blocks_time(self, t_ns: int) -> bool:
        return self.state.time.is_paused

    def poll(self) -> None:
        if self._ends():
            raise ServerEnds
        self.state.time.poll()
        if self.is_waiting:
            began = time.perf_counter()
            self.state.editor.attend()
            self.state.busy_s += time.perf_counter() - began

    @property
    def is_waiting(self) -> bool:
        """Whether it waits for images and must be called again soon."""
        return self.state.editor.is_painting

    def detach(self) -> None:
        """What was under way ends: images are delivered, moves return False, waits for time fail, recordings stop."""
        self.state.editor.settle()
        self._recording.stopRecording()
        self.state.time.fail("another world was loaded")
        for vehicle in self.state.vehicles.values():
            vehicle.drop_task()

    def finish(self, why: str) -> None:
        self._recording.stopRecording()
        self.state.time.fail(why)
        for vehicle in self.state.vehicles.values():
            if vehicle.task is not None:
                vehicle.task.reply.fail(why)
        self.close()

    def close(self) -> None:
        self.listener.close()

    def summary(self) -> Summary:
        return {
            "calls": self.calls, "failed": self.state.failed, "busy_s": self.state.busy_s,
            "painting_s": self.state.painting_s, "notes": self.state.notes,
        }  # fmt: skip

    # ---- incoming calls

    def receive(self, peer: RpcPeer, message: Call | str) -> None:
        """Handle a call, or the reason why a client has left."""
        if isinstance(message, str):
            self._leave(peer, message)
            return
        peer.taken += 1
        self.peers.add(peer)
        self.state.take_back()
        self.state.caller = peer
        peer.dialect = dialect_of(message) or peer.dialect
        began = time.perf_counter()
        reply = Reply(peer, message.number, message.method, self.state.complain)
        self.calls += 1
        reply.give_what(lambda: self._do(message, reply))
        self.state.busy_s += time.perf_counter() - began

    def _do(self, call: Call, reply: Reply) -> object:
        method = self.methods.find(call.method)
        result = method.call(reply, call.params)
        return LATER if method.answers_later else result

    def _leave(self, peer: RpcPeer, why: str) -> None:
        """Vehicles of a client that has left hover. When no client is left, they land after a while."""
        self.peers.discard(peer)
        for vehicle in self.state.vehicles.values():
            if vehicle.task is not None and vehicle.task.reply.peer is peer:
                vehicle.cancel()
        if not self.peers:
            self.state.release_all()
            # no client is left to end a pause
            self.state.time.pause(False)

    # ---- at each tick

    def _tick(self, t_ns: int) -> None:
        for vehicle in self.state.vehicles.values():
            vehicle.tick(t_ns)
        for act in self.state.every_tick:
            try:
                act(t_ns)
            except Exception as error:
                # a full disk or a wrong system clock must not end the simulation
                self.state.note(f"{type(error).__name__}: {error}")


# ---- options, and the link of a scenario


PORT = 41451
READY_NS = NS_PER_S // 2
"""Simulated ns after which every sensor has a sample: one of the GNSS takes 0.2 s to arrive."""
SENSOR_KINDS = ("imu", "gnss", "barometer", "magnetometer", "rangefinder", "lidar", "radar")
"""Of a scenario, that have a method for clients."""


def _say_nothing(line: str) -> None:
    pass


class AirSimConfig(LinkConfig):
    """Scripts for AirSim fly, without Unreal."""

    kind: ClassVar[str] = "airsim"
    bare: ClassVar[str] = "address"
    invitation: ClassVar[str] = "AirSim clients may connect to %s"

    address: Address = ("127.0.0.1", PORT)
    paused: bool = False
    """Time waits until a client continues it, so that a script that steps time gives the same results every time."""
    quality: Literal["low", "medium", "high", "epic", "cinematic"] = "medium"
    """Of images."""
    options: AirSimOptions | None = Field(default=None, exclude=True)
    """Of a settings.json. None: those that fit the scenario."""
    say: Callable[[str], None] = Field(default=_say_nothing, exclude=True)
    """Gets lines for people."""
    ends: Callable[[], bool] = Field(default=lambda: False, exclude=True)
    """Asked regularly whether the server shall end."""
    load_level: Callable[[str], None] = Field(default=cannot_load, exclude=True)
    """Called with the name of a world that a client asks for; raises what forbids it."""

    def flown(self, scenario: Scenario) -> frozenset[str]:
        # an autopilot outside may fly vehicles of a settings.json
        return frozenset() if self.options is not None else all_vehicles(scenario)

    def open(self, scenario: Scenario, inbox: Inbox) -> Sequence[Link]:
        options = self.options or AirSimOptions(
            {vehicle.name: _options_of(vehicle) for vehicle in scenario.vehicles}, quality=self.quality
        )
        listener = RpcListener(inbox, self.address[0], (self.address[1],))
        return [ServedAirSim(listener, options, self)]


class ServedAirSim(AirSimServer):
    """Accepts clients when the sensors have samples, and tells people what happens on other links."""

    def __init__(self, listener: RpcListener, options: AirSimOptions, config: AirSimConfig) -> None:
        super().__init__(listener, options, config.say, config.ends, config.load_level)
        self._config = config
        self._begins_paused = config.paused
        self._is_open = False

    def attach(self, port: SimulationPort, folder: Path | None, link_gate: LinkGate) -> None:
        super().attach(port, folder, link_gate)
        # links that are attached later announce theirs later
        port.bus.on_new(lambda info: port.bus.on(info.name, self._tell) if info.name.startswith("link/") else None)
        port.editor.expect_views()
        port.at(port.now_ns + READY_NS, self._open)

    def detach(self) -> None:
        self._begins_paused = self.state.time.is_paused
        super().detach()

    def _open(self) -> None:
        self.state.time.pause(self._begins_paused)
        if self._is_open:
            asked, self.state.level_asked = self.state.level_asked, []
            for reply in asked:
                reply.give(True)
            return
        self._is_open = True
        self.listener.open()
        self._config.announce(f"{self.listener.host}:{self.listener.ports[0]}")

    def _tell(self, message: Message) -> None:
        event = message.data
        self._config.say(f"{message.stream.removeprefix('link/')} {event.kind}: {event.text}")


def _options_of(vehicle: Vehicle) -> VehicleOptions:
    sensors = {
        name: SensorOptions(config.kind, name)
        for name, config in vehicle.sensors.items()
        if config.kind in SENSOR_KINDS
    }
    return VehicleOptions(vehicle.name, sensors=sensors)
