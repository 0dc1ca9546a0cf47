"""Adds a vehicle to a running simulation, with the airframe and sensors of an existing one."""

from __future__ import annotations

from dataclasses import replace

from skyloop.sim.parts import AutopilotPart, Context
from skyloop.sim.sensing import SensorPart
from skyloop.sim.simulation import Simulation
from skyloop.sim.vehicle_port import VehiclePort
from skyloop.vehicle.autopilot import Autopilot
from skyloop.vehicle.fleet import VehicleMover
from skyloop_client.messages import Array


def join(
    simulation: Simulation, context: Context, seed: int, name: str, like: str, position: Array, quat_wxyz: Array
) -> None:
    """The new vehicle flies on truth and has the sensors of `like` without their faults.

    A snapshot from before it joined cannot be restored afterwards."""
    model, fleet, clock = context.scene.model, context.fleet, simulation.clock
    old = simulation.autopilots[like]
    index = fleet.add(old.index, simulation.editor.start_of(old.index))
    fleet.names.append(name)
    for autopilot in simulation.autopilots.values():
        autopilot.take_row()
    own = Autopilot(fleet, index, limits=old.limits, failsafes=old.failsafes, on_estimate=False)
    simulation.autopilots[name] = own
    simulation.port.add_vehicle(VehiclePort(name, own, context, clock))
    rate = context.bus.infos[f"{like}/status"].rate
    assert rate is not None
    parts: list[AutopilotPart | SensorPart] = [AutopilotPart(own, name, rate, context)]
    for part in simulation.parts:
        if isinstance(part, SensorPart) and part.info.vehicle == like:
            info = replace(part.info, name=name + part.info.name.removeprefix(like), vehicle=name)
            parts.append(SensorPart(part.sensor, info, index, (), seed, context))
    simulation.parts += parts
    row = context.scene.vehicle_rows[old.index][0]
    shape = model.shapes[model.row_shape[row]]
    thing = model.add_mover(VehicleMover(fleet, index, lambda: clock.now_ns), [shape], is_a="vehicle", name=name)
    simulation.editor.take_vehicle(thing, index, position, quat_wxyz)
