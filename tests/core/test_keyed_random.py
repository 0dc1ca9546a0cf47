from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest
from scipy import stats

from skyloop.core.keyed_random import KeyedRandom, philox, stream_key


@numba.njit(error_model="numpy")  # type: ignore[untyped-decorator]
def _words(key: Any, index: Any, block: Any) -> Any:
    return philox(key, index, block)


def words(key: int, index: int, block: int) -> list[str]:
    return [f"{word:08x}" for word in _words(np.uint64(key), np.uint64(index), np.uint64(block))]


ONES = 2**64 - 1


@pytest.mark.parametrize(
    ("key", "index", "block", "expected"),
    [
        (0, 0, 0, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        (ONES, ONES, ONES, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (0x299F31D0A4093822, 0x85A308D3243F6A88, 0x0370734413198A2E, "d16cfe09 94fdcceb 5001e420 24126ea1"),
    ],
)
def test_philox_gives_the_published_known_answers(key: int, index: int, block: int, expected: str) -> None:
    assert words(key, index, block) == expected.split()


def test_a_sample_does_not_depend_on_what_else_was_drawn() -> None:
    key = stream_key(1, "drone/imu")
    alone = KeyedRandom(key, 7).normal(6)
    KeyedRandom(key, 6).normal(100)
    again = KeyedRandom(key, 7)
    np.testing.assert_array_equal(np.concatenate([again.normal(2), again.normal(4)]), alone)
    np.testing.assert_array_equal(KeyedRandom(key, 7).normal(5), alone[:5])


def test_seed_name_index_and_draw_all_matter() -> None:
    draws = [
        KeyedRandom(stream_key(seed, name), index).uniform(2)
        for seed in (1, 2)
        for name in ("drone/imu", "drone/imu2")
        for index in (0, 1)
    ]
    assert len({float(x) for pair in draws for x in pair}) == 16
    rng = KeyedRandom(stream_key(1, "a"), 0)
    assert not np.array_equal(rng.normal(2), rng.normal(2))


def test_normals_and_uniforms_have_their_distributions() -> None:
    key = stream_key(3, "statistics")
    normal = KeyedRandom(key, 0).normal(100_000)
    uniform = KeyedRandom(key, 1).uniform(100_000)
    assert stats.kstest(normal, "norm").pvalue > 0.01
    assert stats.kstest(uniform, "uniform").pvalue > 0.01
    assert abs(normal.mean()) < 4 / np.sqrt(1e5)
    assert abs(normal.var() - 1) < 4 * np.sqrt(2 / 1e5)
    assert 0 < uniform.min() < uniform.max() < 1


def test_neighbouring_indices_and_names_are_uncorrelated() -> None:
    key, other = stream_key(3, "a"), stream_key(3, "b")
    by_index = np.array([KeyedRandom(key, k).normal(2) for k in range(20_000)])
    by_name = np.array([KeyedRandom(other, k).normal(2) for k in range(20_000)])
    limit = 4 / np.sqrt(20_000)
    assert abs(np.corrcoef(by_index[:-1, 0], by_index[1:, 0])[0, 1]) < limit
    assert abs(np.corrcoef(by_index[:, 0], by_index[:, 1])[0, 1]) < limit
    assert abs(np.corrcoef(by_index[:, 0], by_name[:, 0])[0, 1]) < limit


def test_generators_are_keyed_alike() -> None:
    key = stream_key(1, "lidar")
    first, second = KeyedRandom(key, 5), KeyedRandom(key, 5)
    np.testing.assert_array_equal(first.generator().poisson(5.0, 20), second.generator().poisson(5.0, 20))
    assert not np.array_equal(first.generator().random(20), KeyedRandom(key, 6).generator().random(20))
