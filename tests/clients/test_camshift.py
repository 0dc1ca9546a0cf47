"""The C++ example's CamShift against OpenCV's, from pixels to box."""

import itertools
import json
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

pytestmark = [pytest.mark.processes, pytest.mark.needs("g++")]

WIDTH, HEIGHT, BINS, REPEATS = 320, 240, 30, 10
Picture = NDArray[np.uint8]


@pytest.fixture(scope="session")
def probe(build: Callable[..., Path]) -> Path:
    return build("tests/clients/camshift_probe.cpp", "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")


def painted(random: np.random.Generator) -> tuple[Picture, tuple[float, float], tuple[float, float], float]:
    """A vivid blue blob, upright or turned, before a dull wall with stains; where it is and how large."""
    base = random.integers(60, 200)
    tint = random.integers(-8, 9, 3)
    slope = np.linspace(-20, 20, WIDTH)[None, :, None] * random.uniform(-1, 1)
    image = np.clip(base + tint + slope + random.normal(0, 4, (HEIGHT, WIDTH, 3)), 0, 255).astype(np.uint8)
    for _ in range(6):  # stains of other hues, some of them vivid
        x, y = random.integers(0, (WIDTH, HEIGHT))
        colour = [(150, 90, 60), (60, 160, 70), (200, 40, 40), (210, 190, 60)][random.integers(4)]
        cv2.circle(image, (int(x), int(y)), int(random.integers(3, 14)), colour, -1)
    centre = (float(random.uniform(60, WIDTH - 60)), float(random.uniform(60, HEIGHT - 60)))
    size = (float(random.uniform(14, 70)), float(random.uniform(14, 70)))
    turn = float(random.uniform(-90, 90))
    blue = (20, 30, int(random.integers(150, 256)))
    if random.random() < 0.5:
        corners = cv2.boxPoints((centre, size, turn))
        cv2.fillConvexPoly(image, np.round(corners).astype(np.int32), blue)
    else:
        cv2.ellipse(image, (centre, size, turn), blue, -1)
    noisy = np.clip(image + random.normal(0, 3, image.shape), 0, 255).astype(np.uint8)
    return noisy, centre, size, turn


def by_opencv(image: Picture, learn: tuple[int, int, int, int], window: Sequence[int]) -> Any:
    hsv = cv2.cvtColor(image, cv2.COLOR_RGB2HSV)
    mask = cv2.inRange(hsv, np.array([0, 60, 32]), np.array([180, 255, 255]))
    x, y, w, h = learn
    counts = cv2.calcHist([hsv[y : y + h, x : x + w]], [0], mask[y : y + h, x : x + w], [BINS], [0, 180])
    counts *= 255 / counts.max()
    likelihood = cv2.bitwise_and(cv2.calcBackProject([hsv], [0], counts, [0, 180], 1), mask)
    box: Any = None
    for _ in range(REPEATS):
        box, window = cv2.CamShift(likelihood, window, (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 10, 1))
    # CamShift rounds the centroid, builds a window around it and calls the window's middle the centre, half a pixel
    # further on where the window is odd; this is the centroid again
    centre = window[0] + window[2] // 2, window[1] + window[3] // 2
    return centre, box[1], box[2]


def test_camshift_agrees_with_opencv(probe: Path) -> None:
    random = np.random.default_rng(5)
    data, expected = b"", []
    for _ in range(40):
        image, (x, y), size, _turn = painted(random)
        learn = (int(x) - 5, int(y) - 5, 10, 10)
        shift = random.integers(-12, 13, 2)
        w, h = (max(16, round(side)) for side in size)
        window = (int(x + shift[0] - w / 2), int(y + shift[1] - h / 2), w, h)
        data += np.array([WIDTH, HEIGHT, *learn, *window, BINS, REPEATS], "<i4").tobytes() + image.tobytes()
        expected.append(by_opencv(image, learn, window))
    done = subprocess.run([probe], input=data, capture_output=True, timeout=60, check=True)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == len(expected)
    for (x, y, length, width, angle, *_), (centre, size, turn_deg) in zip(found, expected, strict=True):
        assert np.hypot(x - centre[0], y - centre[1]) < 1.0
        np.testing.assert_allclose((width, length), sorted(size), rtol=0.05)
        if length > 1.2 * width:  # a round blob has no direction
            # OpenCV turns the rectangle's width from the image's right, so its height, the longer, is 90 degrees on
            apart = np.degrees(angle) - turn_deg - 90
            assert abs((apart + 90) % 180 - 90) < 3.0


def test_the_box_is_four_sigma(probe: Path) -> None:
    image = np.full((HEIGHT, WIDTH, 3), 128, np.uint8)
    image[101:141, 50:150] = (20, 30, 220)
    head = np.array([WIDTH, HEIGHT, 90, 110, 20, 20, 40, 90, 120, 60, BINS, 5], "<i4")
    done = subprocess.run([probe], input=head.tobytes() + image.tobytes(), capture_output=True, timeout=60, check=True)
    x, y, length, width, angle, *window = json.loads(done.stdout)
    assert (x, y) == (99.5, 120.5)
    assert length == pytest.approx(4 * np.sqrt((100**2 - 1) / 12), abs=1e-5)
    assert width == pytest.approx(4 * np.sqrt((40**2 - 1) / 12), abs=1e-5)
    assert angle % np.pi == pytest.approx(0.0, abs=1e-5)
    assert window[0] < 50 and window[1] < 101 and window[0] + window[2] > 150 and window[1] + window[3] > 141


def test_nothing_likely_gives_nothing(probe: Path) -> None:
    grey = np.full((HEIGHT, WIDTH, 3), 128, np.uint8)
    head = np.array([WIDTH, HEIGHT, -5, -5, 20, 20, 300, 230, 100, 100, BINS, 2], "<i4")
    done = subprocess.run([probe], input=head.tobytes() + grey.tobytes(), capture_output=True, timeout=60, check=True)
    assert json.loads(done.stdout) is None


def test_hue_saturation_value_agree_with_opencv(probe: Path) -> None:
    steps = [0, 1, 17, 60, 101, 128, 200, 254, 255]
    colours = np.array(list(itertools.product(steps, repeat=3)), np.uint8)
    done = subprocess.run([probe, "hsv"], input=colours.tobytes(), capture_output=True, timeout=60, check=True)
    found = np.array([json.loads(line) for line in done.stdout.splitlines()])
    expected = cv2.cvtColor(colours[None], cv2.COLOR_RGB2HSV)[0].astype(int)
    assert np.all(found[:, 2] == expected[:, 2])
    assert np.max(np.abs(found[:, 1] - expected[:, 1])) <= 1
    assert np.max(np.abs((found[:, 0] - expected[:, 0] + 90) % 180 - 90)) <= 1
