"""State that AirSim's groups of methods share: vehicles, time, the world's editor, the current caller, notes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from skyloop.core.frames import LocalFrame
from skyloop.links.airsim.calls import Reply, RpcPeer
from skyloop.links.airsim.options import AirSimOptions
from skyloop.links.airsim.structures import Axes
from skyloop.links.airsim.vehicle import COMMANDER, VehicleSide
from skyloop.links.airsim.wire import Dialect
from skyloop.links.pace import Pace
from skyloop.sim.simulation_port import SimulationPort
from skyloop.sim.world_editor import WorldEditor
from skyloop_client.errors import unknown_name
from skyloop_client.messages import Array, Event, EventKind, Message, VehicleState


class TimeKeeper:
    def __init__(self, port: SimulationPort, pace: Pace) -> None:
        self._port, self._pace = port, pace
        self.is_paused = False
        self._until_ns: int | None = None
        self._waiting: list[Reply] = []

    @property
    def is_free(self) -> bool:
        """Whether time passes freely, neither paused nor in an exact step."""
        return not self.is_paused and self._until_ns is None and self._pace.factor is not None

    def pause(self, is_paused: bool) -> None:
        """A pause also ends an exact step early."""
        self._until_ns = None
        self._release()
        if self.is_paused and not is_paused:
            self._pace.restart()
        self.is_paused = is_paused

    def continue_for(self, span_ns: int, reply: Reply) -> None:
        self.pause(False)
        self._pace.restart()
        self._until_ns = self._port.now_ns + span_ns
        self._waiting.append(reply)

    def poll(self) -> None:
        """Called when all events of this instant are done: pause if the exact step ends here."""
        if self._until_ns is not None and self._port.now_ns >= self._until_ns:
            self._until_ns, self.is_paused = None, True
            self._release()

    def _release(self) -> None:
        waiting, self._waiting = self._waiting, []
        for reply in waiting:
            reply.give(None)

    def fail(self, why: str) -> None:
        """Answer waiting calls that time does not continue."""
        waiting, self._waiting = self._waiting, []
        for reply in waiting:
            reply.fail(why)

    def stop_at(self, t_ns: int) -> int:
        return t_ns if self._until_ns is None else min(t_ns, self._until_ns)


# ---- all shared state


MOST_NOTES = 200


class ServerState:
    port: SimulationPort
    vehicles: dict[str, VehicleSide]
    time: TimeKeeper
    editor: WorldEditor
    local_frame: LocalFrame
    world: Axes
    """Axes for objects, external cameras and marks: NED with the origin at the start of a vehicle at X, Y, Z of 0.

    So such a vehicle has the same height as a vehicle and as an object."""
    caller: RpcPeer
    """The client whose call is being handled."""
    scan_truth: dict[str, VehicleState]
    """By stream, the vehicle's state at its LiDAR's last scan."""
    every_tick: list[Callable[[int], None]]
    on_join: list[Callable[[VehicleSide], None]]
    """Called with each vehicle that joins a running simulation."""

    def __init__(self, options: AirSimOptions, say: Callable[[str], None]) -> None:
        """`say` gets lines for people."""
        self.options = options
        self.failed = 0
        """Number of failed calls."""
        self.busy_s = 0.0
        """Wall s spent on calls, including images."""
        self.painting_s = 0.0
        """Wall s of rendering."""
        self.notes: list[str] = []
        self.level_asked: list[Reply] = []
        """Calls that are answered when the world they asked for is there."""
        self._say = say
        self._complaints: set[str] = set()
        self._released: set[str] = set()
        """Vehicles that hover because the last client has left."""

    def attach(self, port: SimulationPort, pace: Pace) -> None:
        self.port, self.editor = port, port.editor
        self.scan_truth, self.every_tick, self.on_join = {}, [], []
        self._released.clear()
        self.local_frame = self.editor.local_frame
        self.time = TimeKeeper(port, pace)
        self.vehicles = {
            name: VehicleSide(name, options, port.vehicle(options.vehicle), self.editor)
            for name, options in self.options.vehicles.items()
        }
        first = next(iter(self.vehicles.values()))
        self.world = Axes([0.0, 0.0, float(first.start.position[2]) - first.options.height])
        for vehicle in self.vehicles.values():
            if not vehicle.options.flies:
                self.editor.make_weightless(vehicle.index)
            if not vehicle.options.collides:
                self.editor.make_ghost(vehicle.index)
            self._watch(vehicle)

    def _watch(self, vehicle: VehicleSide) -> None:
        """Report when its commander is lost, and keep its state at each LiDAR scan."""
        vehicle.port.on_event(partial(self._say_released, vehicle.name))
        for sensor in vehicle.options.sensors.values():
            if sensor.kind in ("lidar", "gpu lidar"):
                stream = f"{vehicle.options.vehicle}/{sensor.stream}"
                self.port.bus.on(stream, partial(self._keep_scan, vehicle))

    def _keep_scan(self, vehicle: VehicleSide, message: Message) -> None:
        # a scan is taken and published at the same instant
        self.scan_truth[message.stream] = vehicle.truth

    def _say_released(self, name: str, event: Event) -> None:
        if event.kind == EventKind.RELEASED and name in self._released:
            self.note(f"{name}: {event.text}")

    @property
    def now_ns(self) -> int:
        return self.port.now_ns

    @property
    def dialect(self) -> Dialect:
        """The dialect of the current caller."""
        return self.caller.dialect or self.options.dialect

    def vehicle(self, name: str) -> VehicleSide:
        if not name:
            return next(iter(self.vehicles.values()))
        if name not in self.vehicles:
            raise unknown_name("vehicle", str(name), self.vehicles)
        return self.vehicles[name]

    def add_vehicle(self, name: str, position: Array, quat_wxyz: Array) -> None:
        """Its airframe, sensors and options are those of the first vehicle. Where it would overlap something, it starts
        beside that, as Unreal puts it."""
        like = next(iter(self.vehicles.values()))
        free = self.editor.free_place(like.index, position, quat_wxyz)
        if (moved := float(np.linalg.norm(free - position))) > 0.0:
            self.note(f"{name}: its position is taken; it starts {moved:.1f} m from there")
        self.editor.join(name, like.options.vehicle, free, quat_wxyz)
        options = replace(like.options, vehicle=name, external_autopilot=None)
        vehicle = self.vehicles[name] = VehicleSide(name, options, self.port.vehicle(name), self.editor)
        self._watch(vehicle)
        for act in self.on_join:
            act(vehicle)

    def note(self, line: str) -> None:
        """Report a line to people and in the summary."""
        if len(self.notes) < MOST_NOTES:
            self.notes.append(line)
            self._say(line)

    @property
    def paints_beside(self) -> bool:
        """Whether flight continues while images are rendered: time has a pace, and no client steps it."""
        return self.time.is_free and not self.options.deterministic

    def count_painting(self, wall_s: float) -> None:
        """Count wall time of rendering in parallel with the simulation."""
        self.painting_s += wall_s
        self.busy_s += wall_s

    def complain(self, line: str) -> None:
        """Report a failed call."""
        self.failed += 1
        self.note_once(f"failed: {line}")

    def note_once(self, line: str) -> None:
        """Report this line only the first time."""
        if line not in self._complaints and len(self._complaints) < MOST_NOTES:
            self._complaints.add(line)
            self.note(line)

    def release_all(self) -> None:
        """No client is left: their vehicles hover, and land if no client comes back."""
        for name, vehicle in self.vehicles.items():
            flies = vehicle.port.is_flying
            if vehicle.port.release(COMMANDER, hover=self.options.land_after_s) and flies:
                self._released.add(name)

    def take_back(self) -> None:
        """A client is back: its vehicles keep hovering, unless another link has taken them."""
        for name in self._released:
            port = self.vehicles[name].port
            if not port.commander and port.status.mode == "hover":
                port.claim(COMMANDER)
        self._released.clear()

    def forget_forces(self) -> None:
        """Called after a reset."""
        for vehicle in self.vehicles.values():
            if vehicle.options.flies:
                self.editor.push(vehicle.index, np.zeros(3))
