"""The world as one frame for a page: shapes, colours and positions; and what is turning on its vehicles."""

from __future__ import annotations

import numpy as np

from skyloop.cockpit.wire import Fields, FramePayload, frame
from skyloop.sim.vehicle_port import VehiclePort
from skyloop.sim.world_view import Appearance


def world_frame(look: Appearance) -> bytes:
    payload = FramePayload()
    used = sorted({group.shape for group in look.groups})
    number = {shape: index for index, shape in enumerate(used)}
    shapes: list[list[object]] = []
    for shape in used:
        vertices, faces = look.shapes[shape]
        kind = np.uint16 if len(vertices) < 1 << 16 else np.uint32
        shapes.append([payload.add(vertices.astype(np.float32)), payload.add(faces.astype(kind))])
    groups = [
        {"shape": number[group.shape], "colours": payload.add(group.colours), "rows": group.rows}
        for group in look.groups
    ]
    header = {
        "k": "world",
        "shapes": shapes,
        "groups": groups,
        "poses": payload.add(look.poses),
        "standing": look.n_standing,
        "classes": look.classes,
        "vehicles": {str(index): rows for index, rows in look.vehicles.items()},
    }
    return frame(header, payload.bytes())


def looks(vehicle: VehiclePort, has_planner: bool = False) -> Fields:
    """What a page knows of a vehicle."""
    rotors = [[*map(float, position)] for position in vehicle.geometry.rotor_positions]
    spins = [float(spin) for spin in vehicle.geometry.rotor_spins]
    return {"index": vehicle.index, "rotors": rotors, "spins": spins, "planner": has_planner}
