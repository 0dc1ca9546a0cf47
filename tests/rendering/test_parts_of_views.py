"""A camera that needs only colours or only surfaces gets them unchanged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from photography import looking, weather
from skyloop.rendering.client import Renderer
from skyloop.world.views import Pinhole, ViewRequest

pytestmark = pytest.mark.renders

LENS = Pinhole.from_fov(96, 72, 1.4)


@pytest.mark.parametrize("quality", ["low", "medium", "high", "epic", "cinematic"])
def test_a_part_of_a_view_alone_has_the_same_bytes(renderer: Renderer, quality: str) -> None:
    asked = ViewRequest(LENS, looking((-9, -7, 4), (10, 5, 1)), quality)
    (whole,) = renderer.render([asked], weather())
    (painted,) = renderer.render([replace(asked, surface=False)], weather())
    (ranged,) = renderer.render([replace(asked, colour=False)], weather())
    assert painted.surface.size == ranged.colour.size == 0
    np.testing.assert_array_equal(painted.colour, whole.colour)
    np.testing.assert_array_equal(ranged.surface, whole.surface)
