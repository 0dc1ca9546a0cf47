"""What AirSim's groups of methods share: the vehicles, time, the world's editor, whose call it is, notes for people."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from skyloop.core.frames import LocalFrame
from skyloop.links.airsim.listener import RpcPeer
from skyloop.links.airsim.options import AirSimOptions
from skyloop.links.airsim.time import TimeKeeper
from skyloop.links.airsim.vehicle import VehicleSide
from skyloop.links.pace import Pace
from skyloop_client.errors import unknown_name
from skyloop_client.messages import Array

if TYPE_CHECKING:
    from skyloop.sim.simulation import Simulation
    from skyloop.sim.world_editor import WorldEditor

MOST_NOTES = 200


class ServerState:
    simulation: Simulation
    vehicles: dict[str, VehicleSide]
    time: TimeKeeper
    editor: WorldEditor
    local_frame: LocalFrame
    caller: RpcPeer
    """Whose call is being looked at."""

    def __init__(self, options: AirSimOptions, say: Callable[[str], None]) -> None:
        """`say` is given lines for people."""
        self.options = options
        self.scan_truth: dict[str, Any] = {}
        """A vehicle's state when its LiDAR looked last, by stream."""
        self.painting_s = 0.0
        """Wall time that the renderer painted."""
        self.notes: list[str] = []
        self.every_tick: list[Callable[[int], None]] = []
        self.on_join: list[Callable[[VehicleSide], None]] = []
        """Called with each vehicle that joins a running simulation."""
        self._say = say

    def attach(self, simulation: Simulation, pace: Pace) -> None:
        self.simulation = simulation
        self.editor = simulation.editor
        self.editor.offer_basic_shapes()
        self.local_frame = simulation.editor.scene.local_frame
        self.time = TimeKeeper(simulation, pace)
        self.vehicles = {
            name: VehicleSide(name, options, simulation) for name, options in self.options.vehicles.items()
        }
        for vehicle in self.vehicles.values():
            if not vehicle.options.flies:
                self.editor.make_weightless(vehicle.index)
            if not vehicle.options.collides:
                self.editor.make_ghost(vehicle.index)
            self._watch_scans(vehicle)

    def _watch_scans(self, vehicle: VehicleSide) -> None:
        """Keep where a vehicle was when its LiDAR looked."""
        for sensor in vehicle.options.sensors.values():
            if sensor.kind in ("lidar", "gpu lidar"):
                stream = f"{vehicle.options.vehicle}/{sensor.stream}"
                self.simulation.bus.on(stream, partial(self._keep_scan, vehicle))

    def _keep_scan(self, vehicle: VehicleSide, message: Any) -> None:
        self.scan_truth[message.stream] = vehicle.simulation.fleet.state(vehicle.index, message.t_ns)

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
        self._watch_scans(vehicle)
        for act in self.on_join:
            act(vehicle)

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
