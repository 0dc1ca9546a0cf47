"""The radar lab: one person on open ground, walking to and fro at the speed asked for."""

from __future__ import annotations

import numpy as np
import pytest

from skyloop.world.semantics import CLASS_ID
from skyloop.world.worlds.open_ground import RadarLab


def middles(world: RadarLab, times: np.ndarray) -> np.ndarray:
    """(n, 3) mean place of the person's parts."""
    return np.array([world.model.motion(int(t * 1e9)).poses[:, :, 3].mean(axis=0) for t in times])


@pytest.mark.parametrize("seed", range(3))
def test_one_person_walks_in_front_of_the_origin(seed: int) -> None:
    world = RadarLab(seed)
    world.model.freeze()
    classes = [instance.class_id for instance in world.model.objects]
    assert classes.count(CLASS_ID["person"]) == 1
    assert set(classes) - {CLASS_ID["person"], 0, 255} == set()
    places = middles(world, np.arange(0.0, 20.0, 0.25))
    assert places[:, 0].min() > 3.0
    assert 3.0 < np.ptp(places[:, 0]) < 6.0
    assert places[:, 0].max() < 8.6
    assert np.abs(places[:, 1]).max() < 1.0
    assert 0.5 < places[:, 2].min() < places[:, 2].max() < 1.5
    assert world.ground.at(5.0, 0.0)[0] == 0.0


@pytest.mark.parametrize("speed", [0.5, 1.0, 2.0])
def test_the_walk_has_the_speed_asked_for(speed: float) -> None:
    world = RadarLab(1, speed=speed)
    world.model.freeze()
    lap = world.path.length / speed
    times = np.linspace(0.0, lap, 400)
    places = middles(world, times)[:, :2]
    travelled = np.linalg.norm(np.diff(places, axis=0), axis=1).sum()
    # limbs swing about the walked line, and in the turns the middle of the body cuts the corner a little
    assert travelled / lap == pytest.approx(speed, rel=0.08)
    np.testing.assert_allclose(places[0], places[-1], atol=0.15)
