"""Drawing the depth of a scene before its colours spares work and changes no pixel."""

from __future__ import annotations

import numpy as np
import pytest

from photography import looking, weather
from skyloop.core.frames import matrix_from_quat
from skyloop.rendering import painter as painting
from skyloop.rendering.buffers import pack_model, used_textures
from skyloop.rendering.painter import Painter, Shot
from skyloop.rendering.process import open_context
from skyloop.rendering.textures import texture_layers
from skyloop.world.model import Model
from skyloop.world.views import Pinhole

pytestmark = pytest.mark.renders


@pytest.fixture(scope="module")
def painter(model: Model) -> Painter:
    ctx, _ = open_context()
    return Painter(ctx, pack_model(model), *texture_layers(used_textures(model), 0))


@pytest.mark.parametrize("quality", ["low", "medium", "high"])
@pytest.mark.parametrize("surface", [False, True])
def test_the_picture_is_the_same(
    painter: Painter, model: Model, monkeypatch: pytest.MonkeyPatch, quality: str, surface: bool
) -> None:
    lens, pose, air = Pinhole.from_fov(160, 120, 1.4), looking((-9, -7, 4), (10, 5, 1)), weather()
    sky = {**air.config.model_dump(), "sun_direction": air.sun_direction.tolist(), "extinction": air.extinction}
    shot = Shot(
        lens.width, lens.height, lens.fx, lens.fy, lens.cx, lens.cy, quality, pose.position,
        matrix_from_quat(pose.quat_wxyz), model.motion(0).poses, None, sky, 1.0, 0.0, True, surface,
    )  # fmt: skip
    seen, shaded = [], []
    for threshold in (0, 10**9):
        monkeypatch.setattr(painting, "DEPTH_FIRST_SAMPLES", threshold)
        counted = painter.ctx.query(primitives=True)
        with counted:
            pixels = painter.paint(shot, 0)
        shaded.append(counted.primitives)
        seen.append(
            [pixels.read(components=4)] + [pixels.read(components=4, attachment=1, dtype="u4") for _ in range(surface)]
        )
    assert seen[0] == seen[1]
    assert len(np.unique(np.frombuffer(seen[0][0], np.uint8))) > 50
    # the depth pass was really there
    assert shaded[0] > shaded[1]
