"""Forklifts: counterbalanced trucks that stand on the origin, forks towards +x; and one that drives along a path."""

from __future__ import annotations

from typing import Final

import numpy as np

from skyloop.world.ground import Ground
from skyloop.world.mesh import Colour, Mesh, cylinder, merged
from skyloop.world.model import Shape
from skyloop.world.scenery.actors.paths import Path
from skyloop.world.scenery.panels import Paint, Panels
from skyloop_client.messages import Array

FORK_TIP: Final = 1.95
"""m ahead of the origin."""
TAIL: Final = 1.25
"""m behind it."""
HALF_WIDTH: Final = 0.58
COLOURS: Final[tuple[Colour, ...]] = ((240, 180, 30), (226, 96, 32), (190, 40, 36), (60, 120, 70))
"""The colours of paint slot 1."""

BODY, DARK = Paint("car paint", (255, 255, 255), 1), Paint("metal", (48, 50, 54))
BLACK: Final = Paint("rubber", (28, 28, 30))


def forklift_shape(*, lift: float = 0.12) -> Shape:
    """lift: m of the forks above the floor."""
    return Shape("forklift", (_near(lift), _middle(lift), _far(lift)), (15.0, 40.0))


def _wheel(x: float, y: float, radius: float, width: float, n: int) -> Mesh:
    tyre = cylinder(radius, width, n, **BLACK.look)
    hub = cylinder(0.55 * radius, width + 0.02, n, material="metal", colour=(200, 200, 200)).moved((0, 0, -0.01))
    # on its side, with the axle along y
    lying = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
    return merged([tyre, hub]).moved((x, y - 0.5 * width, radius), rotation=lying)


def _mast(panels: Panels, lift: float) -> None:
    for y in (-0.36, 0.28):
        panels.box((0.72, y, 0.08), (0.86, y + 0.08, 2.15), DARK)
    for z in (0.5, 1.3, 2.07):
        panels.box((0.74, -0.28, z), (0.82, 0.28, z + 0.08), DARK)
    # the carriage with its load guard, and the forks
    for y in (-0.42, -0.02, 0.38):
        panels.box((0.86, y, lift + 0.04), (0.9, y + 0.04, lift + 1.1), DARK)
    for z in (0.08, 0.4, 1.06):
        panels.box((0.87, -0.46, lift + z), (0.93, 0.46, lift + z + 0.06), DARK)
    for y in (-0.3, 0.18):
        panels.box((0.9, y, lift - 0.04), (FORK_TIP, y + 0.12, lift), Paint("metal", (90, 92, 96)))
        panels.box((0.9, y, lift), (0.95, y + 0.12, lift + 0.5), Paint("metal", (90, 92, 96)))


def _guard(panels: Panels, bars: int) -> None:
    """The roof over the driver."""
    for x, y in ((0.5, -0.46), (0.5, 0.4), (-0.75, -0.46), (-0.75, 0.4)):
        panels.box((x, y, 0.9 if x < 0 else 0.6), (x + 0.06, y + 0.06, 2.05), DARK, without=("-z", "+z"))
    for y in (-0.46, 0.4):
        panels.box((-0.75, y, 2.05), (0.56, y + 0.06, 2.11), DARK)
    for k in range(bars):
        x = -0.75 + 1.25 * k / (bars - 1)
        panels.box((x, -0.4, 2.06), (x + 0.06, 0.4, 2.1), DARK, without=("-y", "+y"))


def _near(lift: float) -> Mesh:
    panels = Panels()
    w = HALF_WIDTH - 0.1
    panels.box((-0.7, -w, 0.22), (0.66, w, 0.62), BODY)
    # the counterweight slopes inwards at the back
    outline = ((-0.7, 0.22), (-0.7, 1.0), (-1.05, 0.98), (-TAIL, 0.75), (-TAIL, 0.3), (-1.1, 0.22))
    for (x0, z0), (x1, z1) in zip(outline, (*outline[1:], outline[0]), strict=True):
        panels.quad((x0, -w, z0), (x0, w, z0), (x1, w, z1), (x1, -w, z1), BODY)
    for y, order in ((-w, -1), (w, 1)):
        ring = [(x, y, z) for x, z in outline][::order]
        panels.quad(ring[0], ring[1], ring[2], ring[3], BODY)
        panels.quad(ring[0], ring[3], ring[4], ring[5], BODY)
    panels.box((-0.7, -0.4, 0.62), (-0.1, 0.4, 0.86), BODY)
    panels.box((-0.6, -0.27, 0.86), (-0.1, 0.27, 0.96), BLACK)
    panels.box((-0.68, -0.27, 0.9), (-0.58, 0.27, 1.45), BLACK)
    panels.box((0.42, -0.42, 0.62), (0.62, 0.42, 1.05), BODY)
    panels.box((-TAIL - 0.012, -0.3, 0.45), (-TAIL, 0.3, 0.6), Paint("plastic", (245, 240, 200)), without=("+x",))
    _mast(panels, lift)
    _guard(panels, 6)
    tilt = np.array([[0.8, 0.0, -0.6], [0.0, 1.0, 0.0], [0.6, 0.0, 0.8]])
    steering = cylinder(0.17, 0.03, 12, **BLACK.look).moved((0.24, 0.05, 1.12), rotation=tilt)
    column = cylinder(0.03, 0.35, 6, **BLACK.look).moved((0.42, 0.05, 0.85), rotation=tilt)
    beacon = cylinder(0.06, 0.1, 8, material="plastic", colour=(255, 150, 30)).moved((-0.5, 0.0, 2.1))
    wheels = [_wheel(x, y, r, 0.2, 14) for x, r in ((0.52, 0.33), (-0.78, 0.27)) for y in (-0.48, 0.48)]
    return merged([panels.mesh(), steering, column, beacon, *wheels])


def _middle(lift: float) -> Mesh:
    panels = Panels()
    w = HALF_WIDTH - 0.1
    panels.box((-0.7, -w, 0.22), (0.66, w, 0.7), BODY)
    panels.box((-TAIL + 0.05, -w, 0.24), (-0.7, w, 0.98), BODY)
    panels.box((-0.68, -0.27, 0.7), (-0.58, 0.27, 1.45), BLACK)
    _mast(panels, lift)
    _guard(panels, 3)
    wheels = [_wheel(x, y, r, 0.2, 8) for x, r in ((0.52, 0.33), (-0.78, 0.27)) for y in (-0.48, 0.48)]
    return merged([panels.mesh(), *wheels])


def _far(lift: float) -> Mesh:
    panels = Panels()
    w = HALF_WIDTH - 0.1
    panels.box((-TAIL + 0.05, -w, 0.1), (0.66, w, 0.8), BODY)
    panels.box((0.74, -0.36, 0.08), (0.9, 0.36, 2.15), DARK)
    panels.box((0.9, -0.3, lift - 0.04), (FORK_TIP, 0.3, lift), DARK)
    panels.box((-0.75, -0.48, 2.0), (0.56, 0.48, 2.1), DARK)
    return panels.mesh()


class DrivingForklift:
    """Drives along a closed path for ever."""

    n_rows = 1

    def __init__(self, path: Path, ground: Ground, *, speed: float, start: float = 0.0) -> None:
        """speed: m/s; start: m along the path at t = 0."""
        self._path, self._ground, self._speed, self._start = path, ground, speed, start

    def poses(self, t: float) -> Array:
        """(1, 3, 4) world_from_part."""
        place, heading = self._path.at([self._start + self._speed * t])
        x, y = place[0]
        c, s = np.cos(heading[0]), np.sin(heading[0])
        return np.array([[[c, -s, 0.0, x], [s, c, 0.0, y], [0.0, 0.0, 1.0, self._ground.at(x, y)[0]]]])
