from __future__ import annotations

from itertools import pairwise

import pytest

from skyloop.recording.formats.label_images import SPLITS, split
from skyloop_client.errors import SkyloopError


@pytest.mark.parametrize("method", ["blocks", "random"])
def test_shares(method):
    for n in (5, 10, 50, 60, 500, 997):
        names = split(n, method)
        assert len(names) == n
        for name, share in zip(SPLITS, (0.6, 0.2, 0.2), strict=True):
            assert abs(names.count(name) - share * n) <= 3


@pytest.mark.parametrize(("n", "counts"), [(0, [0, 0, 0]), (1, [1, 0, 0]), (2, [2, 0, 0]), (3, [2, 1, 0])])
def test_the_few_train(n, counts):
    assert [split(n).count(name) for name in SPLITS] == counts


def test_blocks_are_few_and_of_every_part_of_the_flight():
    names = split(500)
    borders = [k for k in range(1, 500) if names[k] != names[k - 1]]
    assert len(borders) == 8
    # none of the splits begins at the same phase of a third twice
    begins = {name: [k % (500 / 3) for k in [0, *borders] if names[k] == name] for name in SPLITS}
    for phases in begins.values():
        assert len(phases) == 3
        assert min(abs(a - b) for a in phases for b in phases if a is not b) > 20


def test_random_mixes_and_repeats():
    names = split(500, "random")
    assert sum(a != b for a, b in pairwise(names)) > 150
    assert names == split(500, "random")
    assert names != split(500, "random", seed=1)


def test_unknown_method():
    with pytest.raises(SkyloopError, match=r"no split named 'blokcs'.*blocks"):
        split(10, "blokcs")
