"""The landing fabric, simulated clock by clock, against the reference: bit for bit on images made to break it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from pixel_patterns import even_threshold, image_of, patterns

from skyloop_client.errors import StreamError
from skyloop_landing.fpga.config import MIN_CONTRAST_ADDRESS, small_config
from skyloop_landing.fpga.simulated import SimulatedFabric
from skyloop_landing.vision.object_list import ObjectFinder, ObjectList

pytestmark = [pytest.mark.slow("synthesises and compiles the logic"), pytest.mark.needs("g++")]
SHAPE = (131, 267)
"""px, height and width: 2 x 3 tiles, the last ones cut off, and an odd width. One size for all: each is compiled."""
CAPACITY = 32


class Pair:
    """The logic and the reference, which are given the same."""

    def __init__(self) -> None:
        height, width = SHAPE
        self.logic = SimulatedFabric(small_config(width, height, capacity=CAPACITY))
        self.reference = ObjectFinder(width, height, capacity=CAPACITY)

    def reset(self) -> None:
        self.logic.reset()
        self.reference.reset()

    def same(self, image: np.ndarray, min_area: int = 1, name: str = "") -> ObjectList:
        found = self.reference.find(image, min_area)
        np.testing.assert_array_equal(self.logic.objects_of(image, min_area), found.words(), err_msg=name)
        return found


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    pair = Pair()
    yield pair
    pair.logic.close()


def test_hard_patterns(pair: Pair) -> None:
    for name, binary in patterns(SHAPE).items():
        pair.reset()
        pair.same(even_threshold(SHAPE), name=name)
        pair.same(image_of(binary), name=name)
        np.testing.assert_array_equal(pair.reference.binary, binary, err_msg=name)  # the image makes this pattern
        pair.same(image_of(binary), 32, name=name)  # and behind itself, whatever the threshold then makes of it


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
    image[:, 260:] = 90
    pair.reset()
    pair.same(image)
    assert len(pair.same(image).objects) == 2
    published = ObjectFinder(SHAPE[1], SHAPE[0], min_contrast=0, capacity=CAPACITY)
    with SimulatedFabric(pair.logic.config, min_contrast=0) as logic:
        for _ in range(2):
            expected = published.find(image, 1).words()
            np.testing.assert_array_equal(logic.objects_of(image, 1), expected)
        assert expected[1] > 20
        assert logic.read(MIN_CONTRAST_ADDRESS) == 0


def test_random_patterns(pair: Pair) -> None:
    """Of all densities, with stripes; many overflow the list."""
    random = np.random.default_rng(7)
    pair.reset()
    overflows = 0
    for k in range(40):
        density = random.random(SHAPE[1] if k % 2 else 1) ** (1 + k % 3)
        pair.same(even_threshold(SHAPE), 1)
        listed = pair.same(image_of((random.random(SHAPE) < density).astype(np.uint8)), 1 + k % 5)
        overflows += listed.overflow
    assert 8 < overflows < 32
    assert pair.reference.frame == 80


def test_beyond_the_list_there_is_nothing(pair: Pair) -> None:
    pair.reset()
    pair.same(even_threshold(SHAPE))
    listed = pair.same(image_of(patterns(SHAPE)["columns"]))
    assert len(listed.objects) == CAPACITY and listed.dropped == 134 - CAPACITY
    few = pair.same(np.full(SHAPE, 255, np.uint8))
    assert len(few.objects) == 0
    # the older list still lies in memory, and is not shown
    assert [pair.logic.read(4 * k) for k in range(4 + 8 * CAPACITY)] == [few.frame] + [0] * (3 + 8 * CAPACITY)


def test_a_broken_image_is_reported_and_spoils_no_more_than_the_next(pair: Pair) -> None:
    random = np.random.default_rng(8)
    images = random.integers(0, 256, (5, *SHAPE), dtype=np.uint8)
    pair.reset()
    pair.same(images[0])
    assert pair.logic.state == 0
    pair.logic.send(images[1], lines=10)
    assert pair.logic.read(0) == 1  # no list of it
    pair.logic.objects_of(images[2])
    assert pair.logic.state == 0b10
    pair.reference.find(images[2])
    for image in images[3:]:
        assert pair.logic.objects_of(image, 1).tolist() == pair.reference.find(image, 1).words().tolist()


def test_two_at_once_know_nothing_of_each_other_and_repeat_exactly(pair: Pair) -> None:
    random = np.random.default_rng(9)
    images = random.integers(0, 256, (4, *SHAPE), dtype=np.uint8)
    config = pair.logic.config
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


def test_an_image_of_another_size_is_refused_in_one_line(pair: Pair) -> None:
    with pytest.raises(StreamError, match=r"shape \(267, 131\).*give it 267 x 131 px"):
        pair.logic.objects_of(np.zeros((267, 131), np.uint8))
