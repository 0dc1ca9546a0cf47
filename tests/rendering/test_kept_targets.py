"""What the renderer keeps from one request to the next stays within its bytes, and what is in use is never dropped."""

from __future__ import annotations

import numpy as np

from skyloop.rendering.post_processing import KeptTargets


def test_however_many_sizes_are_asked_for_the_bytes_are_bounded() -> None:
    kept: KeptTargets[object] = KeptTargets(1000)
    chance = np.random.default_rng(1)
    for size in chance.integers(1, 400, 2000).tolist():
        kept.begin_request()
        kept.get(("view", size), size, object)
        assert kept.total_bytes <= 1000


def test_what_is_asked_for_again_is_the_same_and_the_longest_unused_goes_first() -> None:
    kept: KeptTargets[object] = KeptTargets(1000)
    made = []
    for name in ("a", "b", "c"):
        kept.begin_request()
        made.append(kept.get(name, 400 if name == "c" else 300, object))
    kept.begin_request()
    assert kept.get("a", 300, object) is made[0]
    kept.begin_request()
    kept.get("d", 300, object)
    kept.begin_request()
    assert kept.get("a", 300, object) is made[0]
    assert kept.get("b", 300, object) is not made[1]


def test_views_of_one_request_stay_even_where_they_are_too_many() -> None:
    kept: KeptTargets[object] = KeptTargets(1000)
    kept.begin_request()
    views = [kept.get(number, 600, object) for number in range(4)]
    assert [kept.get(number, 600, object) for number in range(4)] == views
    kept.begin_request()
    kept.get("small", 10, object)
    assert kept.total_bytes <= 1000
