"""The LiDAR bench measures what it says, at tiny sizes; how fast anything is, is not asserted."""

from __future__ import annotations

import inspect

import numpy as np

from skyloop_papers.benchmarks import lidar


def test_every_figure_is_there_and_positive() -> None:
    figures = {figure.key: figure for figure in lidar.lidar(rounds=1, sweeps=1, cells=40, objects=20)}
    assert figures["vs_raw_embree"].aim == 0.8
    assert {"airsim_points_per_s", "raw_rays_per_s", "vlp16_vs_raw_embree"} <= set(figures)
    assert all(np.isfinite(figure.value) and figure.value > 0.0 for figure in figures.values())


def test_embree_alone_gets_the_very_rays_of_the_lidar() -> None:
    scene = lidar.StandingScene(lidar.generated_world(40, 20))
    run = lidar.Run("airsim", scene)
    origins, directions = run._rays
    assert len(directions) == 624 * 16 and np.allclose(origins, [0.0, 0.0, lidar.HEIGHT])
    sample = run.sweep(0)
    met = scene.cast(origins, directions, 100.0)
    assert len(sample.ranges) == np.isfinite(met.distance).sum() > 5000


def test_the_world_has_the_size_that_is_claimed() -> None:
    default = inspect.signature(lidar.lidar).parameters
    model = lidar.generated_world(default["cells"].default, default["objects"].default)
    assert 250_000 < lidar.StandingScene(model).triangles < 350_000
