"""The world of the environments: level grass, posts for orientation, and the gate or the pad."""

from __future__ import annotations

import math
from typing import Any

from skyloop.gym.episodes import BAR, HEIGHT, OPENING
from skyloop.world.ground import Ground, place_terrain
from skyloop.world.mesh import Colour, box, cylinder, merged
from skyloop.world.model import Model, Shape
from skyloop.world.scenery.landing_marker import LandingMarker
from skyloop_client import part

POSTS = 12
AROUND = 22.0
"""m from the origin to the posts, beyond the range of any episode."""
SUNK = 0.028
"""m of the marker's 0.03 that are below the ground."""
COLOURS: tuple[Colour, ...] = ((200, 40, 40), (40, 80, 200), (230, 190, 40))


@part
class Arena:
    """The gate and the pad are visible but have no collisions. The task detects touches, for one vehicle or many."""

    def __init__(self, seed: int, *, task: str = "hover") -> None:
        self.ground = Ground.flat(0.0)
        self.model = Model()
        place_terrain(self.model, self.ground)
        posts = [Shape(f"post {k}", (cylinder(0.2, 3.0, 10, colour=colour),)) for k, colour in enumerate(COLOURS)]
        for k in range(POSTS):
            angle = 2.0 * math.pi * k / POSTS
            position = (AROUND * math.cos(angle), AROUND * math.sin(angle), 0.0)
            self.model.place(posts[k % len(posts)], position, is_a="object", name="post")
        if task == "gate":
            self.model.place(_gate(), is_a="object", name="gate", solid=False)
        if task == "landing":
            self.model.place(LandingMarker().shape(), (0.0, 0.0, -SUNK), is_a="marker", name="pad", solid=False)


def _gate() -> Shape:
    """Four bars around the opening, on two legs."""
    thick, side, orange = 2.0 * BAR, OPENING + BAR, (245, 120, 20)
    look: dict[str, Any] = {"material": "paint", "colour": orange}
    long = 2.0 * side + thick
    parts = [box((thick, long, thick), centre=(0.0, 0.0, HEIGHT + sign * side), **look) for sign in (-1.0, 1.0)]
    parts += [box((thick, thick, long), centre=(0.0, sign * side, HEIGHT), **look) for sign in (-1.0, 1.0)]
    below = HEIGHT - side
    parts += [box((thick, thick, below), centre=(0.0, sign * side, 0.5 * below), **look) for sign in (-1.0, 1.0)]
    return Shape("gate", (merged(parts),))
