"""AirSim's server as a link behind the link_gate; every call is looked at in the simulation's thread.

The methods stand in files of their own, by groups; docs/how-to/airsim.md lists them all.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from skyloop.core.frames import LocalFrame
from skyloop.links.airsim.cameras import CameraMethods, CameraSet
from skyloop.links.airsim.detections import Detections
from skyloop.links.airsim.flight import Flight
from skyloop.links.airsim.images import Images
from skyloop.links.airsim.listener import Reply, RpcListener, RpcPeer
from skyloop.links.airsim.methods import Methods
from skyloop.links.airsim.options import AirSimOptions
from skyloop.links.airsim.plots import PlotMethods, Plots
from skyloop.links.airsim.recording import Recording
from skyloop.links.airsim.segmentation import Segmentation, SegmentationMethods
from skyloop.links.airsim.sensors import Sensors
from skyloop.links.airsim.session_methods import Session
from skyloop.links.airsim.time import TimeKeeper
from skyloop.links.airsim.vehicle import VehicleSide
from skyloop.links.airsim.weather import WeatherMethods
from skyloop.links.airsim.wire import Call
from skyloop.links.airsim.world import WorldMethods
from skyloop.links.link_gate import LinkGate
from skyloop_client.errors import LinkError, SkyloopError, unknown_name
from skyloop_client.messages import Array, Land
from skyloop_client.streams import NS_PER_S, Rate

if TYPE_CHECKING:
    from skyloop.sim.simulation import Simulation
    from skyloop.sim.world_editor import WorldEditor

TICK = Rate(50)
"""Of moves under way."""
MOST_NOTES = 200


class ServerEnds(Exception):
    """Somebody asked the server to end."""


class AirSimServer:
    vehicles: dict[str, VehicleSide]
    time: TimeKeeper
    editor: WorldEditor
    local_frame: LocalFrame

    def __init__(
        self,
        listener: RpcListener,
        options: AirSimOptions,
        say: Callable[[str], None] = lambda line: None,
        ends: Callable[[], bool] = lambda: False,
    ) -> None:
        """`say` is given lines for people; `ends` is asked now and then whether to raise ServerEnds."""
        self.options = options
        self.listener = listener
        listener.taker = self.receive
        self.caller: RpcPeer
        """Whose call is being looked at."""
        self.calls = 0
        self.failed = 0
        self.busy_s = 0.0
        """Wall time spent on calls, pictures included."""
        self.scan_truth: dict[str, Any] = {}
        self.painting_s = 0.0
        """Wall time of it that the renderer painted."""
        self.notes: list[str] = []
        self.every_tick: list[Callable[[int], None]] = []
        self.peers: set[RpcPeer] = set()
        self._say, self._ends = say, ends
        self._alone_ns: int | None = None

    def attach(self, simulation: Simulation, folder: Path | None, link_gate: LinkGate) -> None:
        self.simulation = simulation
        self.editor = simulation.editor
        self.editor.offer_basic_shapes()
        self.local_frame = simulation.editor.scene.local_frame
        self.time = TimeKeeper(simulation, link_gate.pace)
        self.vehicles = {
            name: VehicleSide(name, options, simulation) for name, options in self.options.vehicles.items()
        }
        for vehicle in self.vehicles.values():
            if not vehicle.options.flies:
                self.editor.make_weightless(vehicle.index)
            if not vehicle.options.collides:
                self.editor.make_ghost(vehicle.index)
            self._watch_scans(vehicle)
        self.methods = Methods(self._groups())
        simulation.schedule.every(TICK, self._tick)

    def _groups(self) -> list[object]:
        self.segmentation, self.plots = Segmentation(self), Plots(self)
        cameras = self._cameras = CameraSet(self)
        images, weather = Images(self, cameras), WeatherMethods(self)
        if self.options.time_of_day:
            weather.simSetTimeOfDay(**self.options.time_of_day)
        self._recording = Recording(self, images)
        return [
            Session(self), Flight(self), CameraMethods(cameras), images, Sensors(self), WorldMethods(self), weather,
            SegmentationMethods(self, self.segmentation), Detections(self, cameras), PlotMethods(self, self.plots),
            self._recording,
        ]  # fmt: skip

    def _watch_scans(self, vehicle: VehicleSide) -> None:
        """Keep where a vehicle was when its LiDAR looked."""
        for sensor in vehicle.options.sensors.values():
            if sensor.kind in ("lidar", "gpu lidar"):
                stream = f"{vehicle.options.vehicle}/{sensor.stream}"
                self.simulation.bus.on(stream, partial(self._keep_scan, vehicle))

    def _keep_scan(self, vehicle: VehicleSide, message: Any) -> None:
        self.scan_truth[message.stream] = vehicle.simulation.fleet.state(vehicle.index, message.t_ns)

    # ---- what methods ask

    @property
    def now_ns(self) -> int:
        return self.simulation.clock.now_ns

    def vehicle(self, name: str) -> VehicleSide:
        if not name:
            return next(iter(self.vehicles.values()))
        if name not in self.vehicles:
            raise unknown_name("vehicle", str(name), self.vehicles)
        return self.vehicles[name]

    def add_vehicle(self, name: str, position: Array, quat_wxyz: Array) -> None:
        """Built, equipped and treated as the first one."""
        like = next(iter(self.vehicles.values()))
        self.editor.join(name, like.options.vehicle, position, quat_wxyz)
        vehicle = self.vehicles[name] = VehicleSide(
            name, replace(like.options, vehicle=name, autopilot=None), self.simulation
        )
        self._cameras.equip(vehicle)
        self._watch_scans(vehicle)
        self.segmentation.ids_changed()

    def note(self, line: str) -> None:
        """A line for people, and for the summary."""
        if len(self.notes) < MOST_NOTES:
            self.notes.append(line)
            self._say(line)

    def forget_forces(self) -> None:
        """After a reset."""
        for vehicle in self.vehicles.values():
            if vehicle.options.flies:
                self.editor.push(vehicle.index, np.zeros(3))

    # ---- what the link_gate asks

    @property
    def over(self) -> bool:
        return False

    @property
    def leisurely(self) -> bool:
        return not self.peers

    def stop_at(self, t_ns: int) -> int:
        # rows that were numbered anew must be known before anything moves
        self.editor.refresh()
        return self.time.stop_at(t_ns)

    def holds(self, t_ns: int) -> bool:
        return self.time.is_paused

    def look_round(self) -> None:
        if self._ends():
            raise ServerEnds

    def finish(self, why: str) -> None:
        if hasattr(self, "_recording"):
            self._recording.stopRecording()
            self.time.fail(why)
            for vehicle in self.vehicles.values():
                if vehicle.task is not None:
                    vehicle.task.reply.fail(why)
        self.listener.close()

    def summary(self) -> dict[str, Any]:
        return {
            "calls": self.calls, "failed": self.failed, "busy_s": self.busy_s, "painting_s": self.painting_s,
            "notes": self.notes,
        }  # fmt: skip

    # ---- what comes in

    def receive(self, peer: RpcPeer, message: Call | str) -> None:
        """A call, or why a client has gone."""
        if isinstance(message, str):
            self._leave(peer, message)
            return
        peer.taken += 1
        self.peers.add(peer)
        self._alone_ns = None
        self.caller = peer
        began = time.perf_counter()
        reply = Reply(peer, message.number, message.method)
        self.calls += 1
        try:
            self._do(message, reply)
        except SkyloopError as error:
            self._fail(reply, str(error))
        except Exception as error:
            # whatever a client sends, the simulation goes on
            self._fail(reply, f"{type(error).__name__}: {error}")
        self.busy_s += time.perf_counter() - began

    def _do(self, call: Call, reply: Reply) -> None:
        method = self.methods.find(call.method)
        arguments = [reply, *call.params] if method.answers_later else call.params
        try:
            method.signature.bind(*arguments)
        except TypeError as error:
            raise LinkError(f"{error}; it takes {method.signature}") from None
        result = method.function(*arguments)
        if not method.answers_later:
            reply.give(result)

    def _fail(self, reply: Reply, why: str) -> None:
        self.failed += 1
        reply.fail(why)

    def _leave(self, peer: RpcPeer, why: str) -> None:
        """Whoever flies for a client that has gone hovers, and lands when nobody comes."""
        self.peers.discard(peer)
        for vehicle in self.vehicles.values():
            if vehicle.task is not None and vehicle.task.reply.peer is peer:
                vehicle.cancel()
        if not self.peers:
            self._alone_ns = self.now_ns
            # nobody is left who could end a pause
            self.time.pause(False)

    # ---- at each tick

    def _tick(self, t_ns: int, index: int) -> None:
        self.look_round()
        for vehicle in self.vehicles.values():
            vehicle.tick(t_ns)
        for act in self.every_tick:
            try:
                act(t_ns)
            except Exception as error:
                # a full disk or a mad clock must not end the simulation
                self.note(f"{type(error).__name__}: {error}")
        if self._alone_ns is not None and t_ns - self._alone_ns > self.options.land_after_s * NS_PER_S:
            self._alone_ns = None
            for vehicle in self.vehicles.values():
                if vehicle.is_flying and vehicle.is_ours:
                    vehicle.send(Land())
                    self.note(f"no client for {self.options.land_after_s:g} s: {vehicle.name} lands")
