"""The planners' bench measures what it says, at tiny sizes; how fast anything is, is not asserted."""

from __future__ import annotations

import numpy as np
import pytest

from skyloop_papers.benchmarks import plan


def test_every_figure_is_there_and_positive() -> None:
    figures = {figure.key: figure for figure in plan.plan(worlds=1, boxes=3, positions=2, optima=1)}
    assert {"global_ms": 13.0, "local_ms": 3.2, "path_ratio": 1.15}.items() <= {
        key: figure.aim for key, figure in figures.items()
    }.items()
    assert {"global_worst_ms", "local_worst_ms", "space_ms"} <= set(figures)
    assert all(np.isfinite(figure.value) and figure.value > 0.0 for figure in figures.values())
    assert 0.98 < figures["path_ratio"].value <= 1.15


def test_the_optimum_is_the_taut_string_around_a_box() -> None:
    """Around a square box the shortest way turns at the rounded corner that lies farthest from the diagonal."""
    world = plan.BoxWorld(8.0, np.array([[3.0, 3.0, 5.0, 5.0]]))
    corner = np.array([3.0 - 0.5 / np.sqrt(2.0), 5.0 + 0.5 / np.sqrt(2.0)])
    taut = 2.0 * float(np.linalg.norm(corner - world.start[:2]))
    straight = float(np.linalg.norm(world.goal - world.start))
    assert plan.shortest_length(world, 0.5) == pytest.approx(taut, rel=0.03)
    assert plan.shortest_length(plan.BoxWorld(8.0, np.array([[6.0, 1.0, 6.5, 1.5]])), 0.5) == pytest.approx(straight)
