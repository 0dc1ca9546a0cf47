"""The AirSim server as a link behind the link gate. Every call is handled in the simulation's thread.

The methods are in separate files by group; docs/how-to/airsim.md lists them all."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from skyloop.links.airsim.cameras import CameraMethods, CameraSet
from skyloop.links.airsim.detections import Detections
from skyloop.links.airsim.dialect import dialect_of
from skyloop.links.airsim.flight import Flight
from skyloop.links.airsim.images import Images, ImageTaker
from skyloop.links.airsim.listener import LATER, Reply, RpcListener, RpcPeer
from skyloop.links.airsim.methods import Methods
from skyloop.links.airsim.multirotor_state import MultirotorState
from skyloop.links.airsim.options import AirSimOptions
from skyloop.links.airsim.plot_markers import PlotMethods, Plots
from skyloop.links.airsim.recording import Recording
from skyloop.links.airsim.segmentation import Segmentation, SegmentationMethods
from skyloop.links.airsim.sensors import Sensors
from skyloop.links.airsim.server_state import ServerState
from skyloop.links.airsim.session_methods import SessionMethods
from skyloop.links.airsim.weather import WeatherMethods
from skyloop.links.airsim.wire import Call
from skyloop.links.airsim.world import WorldMethods
from skyloop.links.link_gate import Link, LinkGate
from skyloop.sim.simulation_port import SimulationPort
from skyloop_client.streams import Rate

TICK = Rate(50)
"""The period of running moves."""


class ServerEnds(Exception):
    """Raised when the server is asked to end."""


class AirSimServer(Link):
    name = "airsim"

    def __init__(
        self,
        listener: RpcListener,
        options: AirSimOptions,
        say: Callable[[str], None] = lambda line: None,
        ends: Callable[[], bool] = lambda: False,
    ) -> None:
        """`say` gets lines for people. When `ends` says so, ServerEnds is raised."""
        self.options = options
        self.state = ServerState(options, say)
        self.listener = listener
        listener.taker = self.receive
        self.calls = 0
        self.peers: set[RpcPeer] = set()
        self._ends = ends

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
        self._recording = Recording(state, taker)
        return [
            SessionMethods(state), Flight(state), MultirotorState(state), CameraMethods(cameras),
            Images(state, cameras, taker), Sensors(state, segmentation), WorldMethods(state, segmentation), weather,
            SegmentationMethods(state, segmentation), Detections(state, cameras), PlotMethods(state, plots),
            self._recording,
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

    def finish(self, why: str) -> None:
        self._recording.stopRecording()
        self.state.time.fail(why)
        for vehicle in self.state.vehicles.values():
            if vehicle.task is not None:
                vehicle.task.reply.fail(why)
        self.close()

    def close(self) -> None:
        self.listener.close()

    def summary(self) -> dict[str, Any]:
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

    def _do(self, call: Call, reply: Reply) -> Any:
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
