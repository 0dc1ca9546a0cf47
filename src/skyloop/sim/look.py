"""Makes a picture of a world, without flying. Behind `skyloop look`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from skyloop.rendering.client import Renderer
from skyloop.rendering.quality import QUALITIES
from skyloop.sensors.external_camera import looking
from skyloop.sim.scenario import Scenario
from skyloop.world.views import Pinhole, View, ViewPose, ViewRequest
from skyloop.world.weather import randomised, weather_at
from skyloop.world.world import build_world
from skyloop_client.errors import RendererError, ScenarioError
from skyloop_client.streams import NS_PER_S


def views_of(
    scenario: Scenario,
    views: Sequence[tuple[Sequence[float], Sequence[float]]],
    *,
    quality: str = "high",
    size: tuple[int, int] = (960, 600),
    fov_deg: float = 80.0,
    t: float = 0.0,
) -> list[View]:
    """The scenario's world and weather at `t` seconds from each (eye, target), without its vehicles."""
    if quality not in QUALITIES:
        raise RendererError(f"no quality '{quality}'; choose one of {', '.join(QUALITIES)}")
    if not 8 <= min(size) <= max(size) <= 8192:
        raise ScenarioError(f"a picture of {size[0]} by {size[1]} px cannot be made; give 8 to 8192 each way")
    folder = None if scenario.folder is None else Path(scenario.folder)
    topics = scenario.world.randomise
    world = build_world(scenario.world, scenario.seed, folder)
    world.model.freeze()
    weather = weather_at(randomised(scenario.weather, scenario.seed, topics), scenario.earth.latitude_deg)
    lens = Pinhole.from_fov(*size, np.radians(fov_deg))
    requests = []
    for from_point, at_point in views:
        eye, target = np.asarray(from_point, float), np.asarray(at_point, float)
        pose = ViewPose(round(t * NS_PER_S), eye, looking(eye, target))
        requests.append(ViewRequest(lens, pose, quality))
    renderer = Renderer(world.model, texture_seed=scenario.seed if "textures" in topics else 0)
    try:
        # one by one, because many large images together need much memory
        return [renderer.render([request], weather)[0] for request in requests]
    finally:
        renderer.close()
