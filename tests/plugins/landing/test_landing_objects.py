"""The object list of the landing detector against plain numpy and scipy, bit by bit, on kind and unkind images."""

from __future__ import annotations

import numpy as np
import pytest
from pixel_patterns import patterns
from scipy import ndimage

from skyloop_client.errors import StreamError
from skyloop_landing.vision.object_list import (
    ObjectFinder,
    ObjectList,
    dark,
    grey,
    listed,
    smoothed,
    tiles_of,
)

RANDOM = np.random.default_rng(11)
SMALL = (150, 300)
"""px, height and width; the last tiles are cut off on both sides."""


def plain_smoothed(image: np.ndarray) -> np.ndarray:
    weights = np.array([1, 48, 158, 48, 1])
    along_rows = ndimage.correlate1d(image.astype(np.int64), weights, axis=1, mode="nearest")
    return (ndimage.correlate1d(along_rows, weights, axis=0, mode="nearest") + 32768) >> 16


def plain_dark(g: np.ndarray, tiles: np.ndarray) -> np.ndarray:
    """The formula of the page, pixel by pixel."""
    out = np.zeros(g.shape, np.uint8)
    t = tiles.astype(int)
    for y, x in np.ndindex(g.shape):
        (i, a), (j, b) = divmod(x - 64, 128), divmod(y - 64, 128)
        i0, i1 = np.clip([i, i + 1], 0, t.shape[1] - 1)
        j0, j1 = np.clip([j, j + 1], 0, t.shape[0] - 1)
        left, right = t[j0, i0] * (128 - b) + t[j1, i0] * b, t[j0, i1] * (128 - b) + t[j1, i1] * b
        out[y, x] = (int(g[y, x]) << 15) < left * (128 - a) + right * a
    return out


def plain_objects(binary: np.ndarray, min_area: int) -> np.ndarray:
    """By labels, sorted afterwards: last row, then the leftmost pixel in it."""
    labels, count = ndimage.label(binary, structure=np.ones((3, 3)))
    rows = []
    for number, (ys, xs) in enumerate(ndimage.find_objects(labels), 1):
        y, x = np.nonzero(labels[ys, xs] == number)
        y, x = y + ys.start, x + xs.start
        if len(y) >= min_area:
            figures = [len(y), x.sum(), y.sum(), x.min(), x.max(), y.min(), y.max()]
            rows.append(((int(y.max()), int(x[y == y.max()].min())), figures))
    assert len(labels) and count >= len(rows)
    return np.array([figures for _, figures in sorted(rows)], np.int64).reshape(-1, 7)


PATTERNS = patterns(SMALL)


@pytest.mark.parametrize("name", PATTERNS)
@pytest.mark.parametrize("min_area", [1, 32])
def test_components_are_those_of_scipy_in_the_order_of_the_page(name: str, min_area: int) -> None:
    binary = PATTERNS[name]
    expected = plain_objects(binary, min_area)
    found = listed(binary, min_area=min_area, capacity=50_000)
    np.testing.assert_array_equal(found.objects, expected)
    assert not found.overflow


def test_a_spiral_is_one_object_and_every_second_column_half_as_many_as_pixels() -> None:
    assert len(listed(PATTERNS["fine spiral"], min_area=200).objects) == 1
    assert len(listed(PATTERNS["columns"]).objects) == SMALL[1] // 2


def test_a_full_list_counts_what_it_drops() -> None:
    binary = np.zeros((720, 1280), np.uint8)
    binary[::2, ::2] = 1
    found = listed(binary, min_area=1)
    assert (len(found.objects), found.overflow, found.dropped) == (256, True, 65535)  # of 230 144
    np.testing.assert_array_equal(found.objects[:, 3], 2 * np.arange(256))
    assert not found.objects[:, 5].any()
    few = listed(binary[:2, :514], min_area=1)
    assert (len(few.objects), few.overflow, few.dropped) == (256, True, 1)
    assert few.words()[2] == 1 | 1 << 16


def test_grey_and_gauss_are_the_integers_of_the_page() -> None:
    rgb = RANDOM.integers(0, 256, (*SMALL, 3), dtype=np.uint8)
    red, green, blue = np.moveaxis(rgb.astype(int), 2, 0)
    y = grey(rgb)
    np.testing.assert_array_equal(y, (77 * red + 150 * green + 29 * blue + 128) >> 8)
    np.testing.assert_array_equal(smoothed(y), plain_smoothed(y))
    white = np.full(SMALL, 255, np.uint8)
    np.testing.assert_array_equal(smoothed(white), white)  # the widest sums
    assert grey(np.full((4, 5, 3), 255, np.uint8)).min() == 255


def test_tiles_and_threshold_are_the_integers_of_the_page() -> None:
    g = RANDOM.integers(0, 256, SMALL, dtype=np.uint8)
    g[:128, :128] = np.clip(g[:128, :128], 40, 90)
    g[128:, 256:] = 255
    tiles = tiles_of(g, 0)
    assert tiles.shape == (2, 3)
    assert (tiles[0, 0], tiles[1, 2]) == (130, 510)
    np.testing.assert_array_equal(dark(g, tiles), plain_dark(g, tiles))


def test_a_tile_without_contrast_gets_the_threshold_of_the_image() -> None:
    """Snow would fill the list with its grain, and a figure larger than a tile would be full of holes."""
    g = RANDOM.integers(200, 223, (256, 256), dtype=np.uint8)
    g[128:, 128:] = 20
    g[130:140, 130:140] = 21
    assert tiles_of(g, 0).tolist() == [[422, 422], [422, 41]]
    assert tiles_of(g, 23).tolist() == [[242, 242], [242, 242]]
    assert tiles_of(g, 22).tolist() == [[422, 422], [422, 242]]
    (one,) = listed(dark(g, tiles_of(g))).objects
    assert one[0] == 128 * 128
    assert len(listed(dark(g, tiles_of(g, 0)), min_area=1).objects) > 100


def test_the_threshold_is_that_of_the_image_before() -> None:
    finder = ObjectFinder(width=256, height=128)
    bright = np.full((128, 256, 3), 200, np.uint8)
    bright[40:60, 100:130] = 20
    dim = bright // 4
    assert len(finder.find(bright).objects) == 0  # nothing is dark after a reset
    assert [finder.find(bright).objects[0, 0], finder.frame] == [600, 2]
    # of a bright image before, the threshold is above all of a dim one
    assert finder.find(dim).objects[0, 0] == 128 * 256
    assert finder.find(dim).objects[0, 0] == 600
    finder.reset()
    assert (len(finder.find(bright).objects), finder.frame) == (0, 1)
    ((area, sum_x, sum_y, *box),) = finder.find(bright).objects.tolist()
    assert (sum_x / area, sum_y / area, box) == (114.5, 49.5, [100, 129, 40, 59])


def test_a_grey_image_gives_the_same_as_its_colours() -> None:
    rgb = RANDOM.integers(0, 256, (128, 256, 3), dtype=np.uint8)
    lists = []
    for image in (rgb, grey(rgb)):
        finder = ObjectFinder(width=256, height=128, capacity=5000)
        finder.find(image)
        lists.append(finder.find(image, min_area=1).words().tobytes())
    assert lists[0] == lists[1]


def test_words_are_those_of_the_page_and_can_be_read_back() -> None:
    objects = np.array([[921_600, 589_363_200, 331_315_200, 0, 1279, 0, 719], [40, 5, 6, 7, 8, 9, 10]])
    there = ObjectList(3, objects, dropped=7)
    words = there.words()
    assert words.dtype == np.dtype("<u4")
    assert words.tolist() == [
        3, 2, 1 | 7 << 16, 0,
        921_600, 589_363_200, 331_315_200, 1279 << 16, 719 << 16, 0, 0, 0,
        40, 5, 6, 7 | 8 << 16, 9 | 10 << 16, 0, 0, 0,
    ]  # fmt: skip
    again = ObjectList.from_words(words)
    assert (again.frame, again.dropped) == (3, 7)
    np.testing.assert_array_equal(again.objects, objects)


def test_an_image_of_another_size_is_refused_in_one_line() -> None:
    with pytest.raises(StreamError, match=r"shape \(100, 200, 3\).*give it 1280 x 720 px"):
        ObjectFinder().find(np.zeros((100, 200, 3), np.uint8))
