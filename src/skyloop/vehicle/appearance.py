"""How a vehicle looks."""

from __future__ import annotations

from skyloop.vehicle.airframe import Airframe
from skyloop.world.mesh import box
from skyloop.world.model import Shape


def vehicle_shape(airframe: Airframe) -> Shape:
    reach = max(max(abs(x), abs(y)) for x, y, _ in (rotor.position for rotor in airframe.rotors))
    return Shape(airframe.name, (box((2.0 * reach, 2.0 * reach, 0.1), colour=(40, 40, 45)),))
