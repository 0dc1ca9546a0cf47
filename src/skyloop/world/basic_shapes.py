"""Plain bodies of one metre that any world can be given, for those who put things into a running one."""

from __future__ import annotations

from skyloop.world.mesh import box, cylinder, ellipsoid
from skyloop.world.model import Shape


def basic_shapes() -> list[Shape]:
    """Cube, sphere, cylinder and cone, each around its middle."""
    bodies = {
        "Cube": box((1.0, 1.0, 1.0)),
        "Sphere": ellipsoid(0.5, rings=16, n=24),
        "Cylinder": cylinder(0.5, 1.0, 24).moved((0.0, 0.0, -0.5)),
        "Cone": cylinder(0.5, 1.0, 24, top=0.0).moved((0.0, 0.0, -0.5)),
    }
    return [Shape(name, (mesh.painted((186, 186, 190), material="plain"),)) for name, mesh in bodies.items()]
