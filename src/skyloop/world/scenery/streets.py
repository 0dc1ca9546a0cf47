"""A grid of four by four streets: carriageways, kerbs, pavements, markings, and the same as a height field.

The kerb is a ramp of one cell of the height field, so what is visible and what a vehicle lands on agree. Blocks between
the streets, and everything outside, are at height 0; carriageways are DROP lower.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import numpy as np

from skyloop.world.ground import Ground
from skyloop.world.model import Model, Shape
from skyloop.world.scenery.panels import Paint, Panels
from skyloop_client.messages import Array

PITCH: Final = 60.0
"""m between the middles of neighbouring streets."""
STREETS: Final = (-90.0, -30.0, 30.0, 90.0)
"""m, their middles, along both axes."""
HALF_ROAD: Final = 5.0
"""m from a street's middle to the kerb: a lane of 3 m and a strip of 2 m for parking."""
KERB: Final = 0.25
DROP: Final = 0.12
PAVEMENT: Final = 3.75
HALF_BLOCK: Final = 0.5 * PITCH - HALF_ROAD - KERB
"""m from a block's middle to the kerb's upper edge."""
HALF_LOT: Final = HALF_BLOCK - PAVEMENT
"""m from a block's middle to the house fronts."""
OUTER_KERB: Final = STREETS[-1] + HALF_ROAD
OUTER_FRONT: Final = OUTER_KERB + KERB + PAVEMENT
"""m from the town's middle to the fronts of the houses around it."""
LANE: Final = 1.5
"""m from a street's middle to that of a lane."""
PARKING: Final = 3.95
HORIZON: Final = 3000.0

ASPHALT, PAVING, STONE = Paint("asphalt"), Paint("paving"), Paint("cement", (215, 214, 210))
WHITE_PAINT: Final = Paint("paint", (235, 235, 230))
MARK_LIFT: Final = 0.02


def street_ground() -> Ground:
    def height(x: Array, y: Array) -> Array:
        on_x, on_y = (np.min([np.abs(c - s) for s in STREETS], axis=0) <= HALF_ROAD for c in (x, y))
        inside = np.maximum(np.abs(x), np.abs(y)) <= OUTER_KERB
        return np.where((on_x | on_y) & inside, -DROP, 0.0)

    reach = OUTER_KERB + 2.0
    return Ground.from_function(height, (-reach, -reach, reach, reach), KERB)


def block_centres() -> list[tuple[float, float]]:
    """The middles of the nine blocks."""
    middles = [0.5 * (a + b) for a, b in pairwise(STREETS)]
    return [(x, y) for x in middles for y in middles]


def place_streets(model: Model) -> None:
    roads, kerbs, pavements, outside = Panels(), Panels(), Panels(), Panels()
    cuts = sorted(s + side * HALF_ROAD for s in STREETS for side in (-1.0, 1.0))
    for i in range(7):
        for j in range(7):
            # even spans of `cuts` are carriageway
            if i % 2 == 0 or j % 2 == 0:
                roads.floor((cuts[i], cuts[j]), (cuts[i + 1], cuts[j + 1]), -DROP, ASPHALT)
    for centre in block_centres():
        _ring(kerbs, centre, (HALF_BLOCK, 0.0), (HALF_BLOCK + KERB, -DROP), STONE)
        _ring(pavements, centre, (HALF_LOT, 0.0), (HALF_BLOCK, 0.0), PAVING)
    inner, upper = (OUTER_KERB, -DROP), (OUTER_KERB + KERB, 0.0)
    _ring(kerbs, (0.0, 0.0), inner, upper, STONE, cuts[1:-1])
    _ring(pavements, (0.0, 0.0), upper, (OUTER_FRONT, 0.0), PAVING, cuts[1:-1])
    _ring(outside, (0.0, 0.0), (OUTER_FRONT, 0.0), (HORIZON, 0.0), Paint("grass"), cuts[1:-1])
    for name, panels, is_a in (
        ("roads", roads, "road"),
        ("kerbs", kerbs, "pavement"),
        ("pavements", pavements, "pavement"),
        ("meadows", outside, "grass"),
    ):
        shape = Shape(name, (panels.mesh(),), casts_shadow=False)
        # the height field stops vehicles here
        model.place(shape, is_a=is_a, name=name, solid=False)
    model.place(_markings(), (0.0, 0.0, MARK_LIFT - DROP), is_a="road", name="lane markings")


def _ring(
    panels: Panels,
    centre: tuple[float, float],
    inner: tuple[float, float],
    outer: tuple[float, float],
    paint: Paint,
    cuts: list[float] | None = None,
) -> None:
    """The band between two squares given as (half side, height); `cuts` are corners of neighbours along the sides."""
    loops = [_square(centre, half, z, cuts or []) for half, z in (inner, outer)]
    n = len(loops[0])
    for k in range(n):
        m = (k + 1) % n
        panels.quad(loops[1][k], loops[1][m], loops[0][m], loops[0][k], paint)


def _square(centre: tuple[float, float], half: float, z: float, cuts: list[float]) -> list[tuple[float, float, float]]:
    side = [-half, *cuts]
    turns = [(-half, s) for s in reversed([*cuts, half])]
    corners = [(s, -half) for s in side] + [(half, s) for s in side] + [(-s, half) for s in side] + turns
    return [(centre[0] + x, centre[1] + y, z) for x, y in corners]


def _markings() -> Shape:
    """Dashes in the middle, edges of the parking strips, zebra crossings and stop lines."""
    panels = Panels()
    for street in STREETS:
        for start, end in pairwise(STREETS):
            for across in (False, True):
                _street_marks(panels, street, 0.5 * (start + end), across)
                for crossing, side in ((start, 1.0), (end, -1.0)):
                    _zebra(panels, street, crossing, side, across)
    return Shape("lane markings", (panels.mesh(),), casts_shadow=False)


def _mark(panels: Panels, street: float, along: tuple[float, float], off: tuple[float, float], across: bool) -> None:
    """A white rectangle `along` a street and `off` its middle; streets run along y, or along x if `across`."""
    low, high = (street + off[0], along[0]), (street + off[1], along[1])
    panels.floor(low[::-1] if across else low, high[::-1] if across else high, 0.0, WHITE_PAINT)


def _street_marks(panels: Panels, street: float, middle: float, across: bool) -> None:
    for k in range(-2, 3):
        _mark(panels, street, (middle + 6.0 * k - 1.5, middle + 6.0 * k + 1.5), (-0.07, 0.07), across)
    for off in (-3.0, 3.0):
        _mark(panels, street, (middle - 18.0, middle + 18.0), (off - 0.05, off + 0.05), across)


def _zebra(panels: Panels, street: float, crossing: float, side: float, across: bool) -> None:
    def span(a: float, b: float) -> tuple[float, float]:
        low, high = sorted((crossing + side * a, crossing + side * b))
        return low, high

    for k in range(9):
        off = -4.25 + k
        _mark(panels, street, span(5.6, 8.6), (off, off + 0.5), across)
    # right-hand traffic: cars that approach the crossing keep to the right of the street's middle
    right = side if not across else -side
    low, high = sorted((right * -0.15, right * -2.95))
    _mark(panels, street, span(9.4, 9.8), (low, high), across)
