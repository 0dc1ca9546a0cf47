"""`skyloop bench maps` in miniature: every figure is there, and octomap gets the same images."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from skyloop.core.frames import SENSOR_FROM_CAMERA, Transform
from skyloop_autonomy.mapping import DepthLens
from skyloop_client.errors import MissingExtra
from skyloop_papers.benchmarks import maps

LENS = DepthLens(87.0, 87.0, 79.5, 44.5)


def views(n: int) -> list[maps.Shot]:
    """Towards a wall, a little nearer each time."""
    shots = []
    for number in range(n):
        body = np.array([0.05 * number, 0.0, 1.5])
        depth = np.full((90, 160), 3.05 - body[0], np.float32)
        shots.append(maps.Shot(depth, Transform(body, SENSOR_FROM_CAMERA), body))
    return shots


def test_times_and_memory_of_all_maps_are_told() -> None:
    found = {figure.key: figure for figure in maps.own_maps(views(6), LENS)}
    assert {key for key, figure in found.items() if figure.aim} == {"global_ms", "local_ms", "esdf_ms"}
    assert all(figure.value > 0.0 and figure.lower_is_better for figure in found.values())
    # one byte for the counter of a voxel and eight of scratch
    assert found["global_mb"].value == pytest.approx(9 * 110 * 110 * 15 / 1e6)


def test_octomap_maps_the_same_images() -> None:
    found = {figure.key: figure.value for figure in maps.octomap_maps(views(6), LENS)}
    assert found["octomap_ms"] > 0.0 and found["octomap_every_pixel_ms"] > 0.0 and found["octomap_esdf_ms"] > 0.0
    assert found["octomap_mb"] > 0.01


def test_without_octomap_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match="pip install 'skyloop\\[bench\\]'"):
        next(maps.maps())
