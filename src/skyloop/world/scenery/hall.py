"""The shell of a steel hall: floor, sheet walls on a plinth, gates, and a roof of sheet and skylights on beams."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import numpy as np

from skyloop.world.model import Model, Shape
from skyloop.world.scenery.interiors import place_floor, place_plain
from skyloop.world.scenery.panels import Paint, Panels

HALF_X, HALF_Y, HEIGHT = 30.0, 20.0, 9.0
"""m, inside."""
WALL: Final = 0.3
PLINTH: Final = 2.4
"""m, height of the concrete part of the walls."""
FRAME: Final = 6.0
"""m between the steel frames."""
GATES: Final = (-8.0, 0.0, 8.0)
"""m along the +x wall, the middles of the gates."""
GATE: Final = (4.0, 4.5)
"""m wide and high."""

CONCRETE, SHEET = Paint("cement", (186, 196, 204)), Paint("metal", (226, 232, 236))
RIB: Final = Paint("metal", (196, 206, 214))
STEEL: Final = Paint("metal", (190, 196, 202))
GLASS: Final = Paint("glass", (215, 232, 240))
LIGHT: Final = Paint("plastic", (255, 252, 238))


def place_hall(model: Model, variant: int = 0) -> None:
    rim = WALL - 0.05
    area = (-HALF_X - rim, -HALF_Y - rim, HALF_X + rim, HALF_Y + rim)
    place_floor(model, area, material="cement", colour=(196, 196, 192), variant=variant)
    place_plain(model, area, material="asphalt")
    for k, panels in enumerate(_walls()):
        _shell(model, panels, "wall", f"wall {k + 1}")
    _shell(model, _roof(), "ceiling", "roof")
    _shell(model, _frames(), "ceiling", "steel frames")
    for k, y in enumerate(GATES):
        _shell(model, _gate(y), "door", f"gate {k + 1}")
    _shell(model, _side_door(), "door", "door 1")
    lamp = Panels()
    lamp.box((-0.75, -0.14, 0.0), (0.75, 0.14, 0.1), Paint("metal", (240, 240, 240)))
    lamp.box((-0.7, -0.1, -0.03), (0.7, 0.1, 0.0), LIGHT, without=("+z",))
    lamp.box((-0.02, -0.02, 0.1), (0.02, 0.02, 1.1), STEEL, without=("-z", "+z"))
    shape = Shape("hall lamp", (lamp.mesh(),), casts_shadow=False)
    places = [(x, y) for x in np.arange(-24.0, 25.0, 12.0) for y in (-15.7, -9.6, 0.0, 9.6, 15.7)]
    for k, (x, y) in enumerate(places):
        model.place(shape, (x, y, HEIGHT - 1.1), is_a="lamp", name=f"hall lamp {k + 1}")


def _shell(model: Model, panels: Panels, is_a: str, name: str) -> None:
    model.place(Shape(name, (panels.mesh(),), casts_shadow=False), is_a=is_a, name=name)


def _walls() -> list[Panels]:
    """Four boxes, plinth below and sheet above, with upright ribs on both faces of the sheet."""
    x, y, t = HALF_X, HALF_Y, WALL
    outlines = ((x, -y - t, x + t, y + t), (-x - t, -y - t, -x, y + t), (-x, y, x, y + t), (-x, -y - t, x, -y))
    walls = []
    for x0, y0, x1, y1 in outlines:
        panels = Panels()
        panels.box((x0, y0, 0.0), (x1, y1, PLINTH), CONCRETE, without=("-z", "+z"))
        panels.box((x0, y0, PLINTH), (x1, y1, HEIGHT), SHEET, without=("-z", "+z"))
        along_x = x1 - x0 > y1 - y0
        low, high = (x0, x1) if along_x else (y0, y1)
        for s in np.arange(low + 0.5, high - 0.3, 1.0):
            for face, way in ((y0 if along_x else x0, -1.0), (y1 if along_x else x1, 1.0)):
                a, b = sorted((face, face + 0.08 * way))
                hidden = ("-z", "+y" if way < 0 else "-y") if along_x else ("-z", "+x" if way < 0 else "-x")
                corners = ((s, a), (s + 0.25, b)) if along_x else ((a, s), (b, s + 0.25))
                panels.box((*corners[0], PLINTH + 0.1), (*corners[1], HEIGHT), RIB, without=(*hidden, "+z"))
        walls.append(panels)
    return walls


def _roof() -> Panels:
    """Strips across the hall: sheet, and glass between the frames."""
    panels = Panels()
    x, y = HALF_X + WALL + 0.2, HALF_Y + WALL + 0.2
    cuts = [-x, *(v + off for v in np.arange(-27.0, 28.0, FRAME) for off in (-0.9, 0.9)), x]
    for k, (x0, x1) in enumerate(pairwise(cuts)):
        paint = GLASS if k % 2 else SHEET
        panels.floor((x0, -y), (x1, y), HEIGHT + 0.15, paint)
        panels.quad((x0, y, HEIGHT), (x1, y, HEIGHT), (x1, -y, HEIGHT), (x0, -y, HEIGHT), paint)
    for (x0, y0), (x1, y1) in (((-x, -y), (x, -y)), ((x, -y), (x, y)), ((x, y), (-x, y)), ((-x, y), (-x, -y))):
        low, high = HEIGHT, HEIGHT + 0.15
        panels.quad((x0, y0, low), (x1, y1, low), (x1, y1, high), (x0, y0, high), SHEET)
    return panels


def _frames() -> Panels:
    """Columns along the walls, girders across, purlins along the hall."""
    panels = Panels()
    for x in np.arange(-HALF_X + FRAME, HALF_X - 0.1, FRAME):
        for y in (-HALF_Y, HALF_Y - 0.4):
            panels.box((x - 0.15, y, 0.0), (x + 0.15, y + 0.4, 8.2), STEEL, without=("-z", "+z"))
            band = Paint("paint", (240, 195, 30))
            panels.box((x - 0.17, y - 0.02, 0.1), (x + 0.17, y + 0.42, 1.2), band, without=("-z",))
        panels.box((x - 0.12, -HALF_Y, 8.2), (x + 0.12, HALF_Y, 8.75), STEEL, without=("-y", "+y"))
    for y in (-16.0, -12.0, -8.0, -4.0, 0.0, 4.0, 8.0, 12.0, 16.0):
        panels.box((-HALF_X, y - 0.06, 8.75), (HALF_X, y + 0.06, 8.95), STEEL, without=("-x", "+x"))
    return panels


def _gate(y: float) -> Panels:
    """A roller gate in front of the wall: slats between yellow and black posts."""
    panels = Panels()
    wide, high = 0.5 * GATE[0], GATE[1]
    # in front of the wall's ribs
    front = HALF_X - 0.12
    for k in range(15):
        z = 0.3 * k
        panels.box((front, y - wide, z + 0.02), (HALF_X - 0.05, y + wide, z + 0.28), Paint("metal", (150, 175, 200)))
    panels.box((HALF_X - 0.05, y - wide, 0.0), (HALF_X - 0.045, y + wide, high), Paint("metal", (90, 100, 110)))
    for side in (-1.0, 1.0):
        low, far = sorted((y + side * wide, y + side * (wide + 0.25)))
        for k in range(9):
            paint = Paint("paint", (240, 195, 30)) if k % 2 else Paint("paint", (30, 30, 30))
            panels.box((HALF_X - 0.15, low, 0.5 * k), (HALF_X, far, 0.5 * k + 0.5), paint, without=("-z", "+z", "+x"))
    panels.box((HALF_X - 0.35, y - wide - 0.25, high), (HALF_X, y + wide + 0.25, high + 0.45), STEEL)
    for k in range(1 + round((y - GATES[0]) / 8.0)):
        # the number of dots is the gate's number
        panels.box(
            (HALF_X - 0.1, y - 0.6 + 0.5 * k, 5.3),
            (HALF_X - 0.05, y - 0.3 + 0.5 * k, 5.6),
            Paint("plastic", (30, 70, 150)),
        )
    return panels


def _side_door() -> Panels:
    """A door for people in the -x wall, with a green sign over it."""
    panels = Panels()
    x = -HALF_X
    panels.box((x, -0.6, 0.0), (x + 0.08, -0.5, 2.2), STEEL, without=("-x", "-z"))
    panels.box((x, 0.5, 0.0), (x + 0.08, 0.6, 2.2), STEEL, without=("-x", "-z"))
    panels.box((x, -0.6, 2.2), (x + 0.08, 0.6, 2.3), STEEL, without=("-x",))
    panels.box((x, -0.5, 0.0), (x + 0.04, 0.5, 2.2), Paint("metal", (70, 110, 150)), without=("-x", "-z"))
    panels.box((x + 0.04, 0.3, 1.0), (x + 0.1, 0.42, 1.06), Paint("metal", (210, 210, 210)))
    panels.box((x, -0.4, 2.45), (x + 0.1, 0.4, 2.75), Paint("plastic", (30, 150, 80)), without=("-x",))
    panels.box((x + 0.1, -0.25, 2.53), (x + 0.115, 0.1, 2.67), Paint("plastic", (240, 250, 240)), without=("-x",))
    return panels
