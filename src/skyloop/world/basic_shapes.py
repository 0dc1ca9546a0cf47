"""Simple bodies of one metre that can be placed in any running world."""

from __future__ import annotations

from skyloop.world.mesh import Mesh, box, cylinder, ellipsoid, loft
from skyloop.world.model import Shape


def _bevelled_cube(bevel: float) -> Mesh:
    half, inner = 0.5, 0.5 - bevel
    corners = [(half, inner), (inner, half), (-inner, half), (-half, inner)]
    outline = corners + [(-x, -y) for x, y in corners]
    shrunk = inner / half
    rings = [
        [(share * x, share * y, z) for x, y in outline]
        for share, z in ((shrunk, -half), (1.0, -inner), (1.0, inner), (shrunk, half))
    ]
    return loft(rings).flat()


def basic_shapes() -> list[Shape]:
    """Cube, sphere, cylinder, cone and the cube with bevelled edges of Unreal's templates, each around its middle."""
    bodies = {
        "Cube": box((1.0, 1.0, 1.0)),
        "Sphere": ellipsoid(0.5, rings=16, n=24),
        "Cylinder": cylinder(0.5, 1.0, 24).moved((0.0, 0.0, -0.5)),
        "Cone": cylinder(0.5, 1.0, 24, top=0.0).moved((0.0, 0.0, -0.5)),
        "1M_Cube_Chamfer": _bevelled_cube(0.05),
    }
    return [Shape(name, (mesh.painted((186, 186, 190), material="plain"),)) for name, mesh in bodies.items()]
