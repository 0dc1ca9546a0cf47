"""The anchor in images drawn here: angle, distance, strays, losing it and finding it again."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from numpy.typing import NDArray

from skyloop_client.errors import SetupError, TaskError
from skyloop_client.tasks.anchor import Anchor, AnchorTracker, Intrinsics

LENS = Intrinsics(381.0, 381.0, 319.5, 239.5)
BLUE, WALL = (3, 3, 215), (200, 190, 170)


def drawn(u0: int, v0: int, wide: int, tall: int, colour: tuple[int, int, int] = BLUE) -> NDArray[np.uint8]:
    image = np.full((480, 640, 3), WALL, np.uint8)
    image[v0 : v0 + tall, u0 : u0 + wide] = colour
    return image


@pytest.mark.parametrize(
    ("u0", "v0", "wide", "tall"), [(300, 200, 40, 40), (5, 100, 20, 48), (600, 400, 30, 30), (100, 20, 9, 12)]
)
def test_angle_and_distance_are_those_of_a_pinhole(u0: int, v0: int, wide: int, tall: int) -> None:
    roi = AnchorTracker(Anchor()).find(drawn(u0, v0, wide, tall))
    assert roi is not None
    assert roi.pixels == wide * tall
    assert (roi.u, roi.v, roi.height) == (u0 + 0.5 * (wide - 1), v0 + 0.5 * (tall - 1), tall)
    # positive to the left
    assert roi.angle(LENS) == pytest.approx(math.atan((319.5 - roi.u) / 381.0))
    depth = 381.0 * 0.5 / tall
    point = depth * np.array([(roi.u - 319.5) / 381.0, (roi.v - 239.5) / 381.0, 1.0])
    assert roi.distance(LENS, 0.5) == pytest.approx(float(np.linalg.norm(point)))


def test_a_tilted_camera_changes_the_distance_little() -> None:
    """A square of 40 px turned by 6° is 40/cos 6° px tall in all but its outer columns."""
    turn, half = math.radians(6.0), 20.0
    v, u = np.mgrid[0:480, 0:640] - np.array([239.5, 319.5])[:, None, None]
    inside = (
        np.maximum(abs(u * math.cos(turn) + v * math.sin(turn)), abs(v * math.cos(turn) - u * math.sin(turn))) < half
    )
    roi = AnchorTracker(Anchor()).find(np.where(inside[..., None], BLUE, WALL).astype(np.uint8))
    assert roi is not None
    assert roi.height == pytest.approx(40.0 / math.cos(turn), abs=0.3)


def test_sky_and_pale_blue_are_no_anchor() -> None:
    for colour in ((120, 160, 205), (110, 130, 160), (0, 180, 190), (40, 0, 200)):
        assert AnchorTracker(Anchor()).find(drawn(200, 100, 60, 60, colour)) is None


def test_strays_far_away_do_not_count() -> None:
    image = drawn(300, 200, 40, 40)
    image[50, 20:24] = BLUE
    image[400, 600] = BLUE
    roi = AnchorTracker(Anchor()).find(image)
    assert roi is not None
    assert roi.pixels == 1600


def test_it_is_followed_lost_and_found_again() -> None:
    tracker = AnchorTracker(Anchor())
    for u0 in (100, 110, 125, 150):
        roi = tracker.find(drawn(u0, 200, 40, 40))
        assert roi is not None
        assert roi.u == u0 + 19.5
    assert tracker.find(np.full((480, 640, 3), WALL, np.uint8)) is None
    roi = tracker.find(drawn(560, 30, 40, 40))
    assert roi is not None
    assert roi.u == 579.5


def test_too_few_pixels_are_not_believed() -> None:
    assert AnchorTracker(Anchor()).find(drawn(300, 200, 3, 3)) is None
    assert AnchorTracker(Anchor(smallest_px=9)).find(drawn(300, 200, 3, 3)) is not None


def test_another_colour() -> None:
    roi = AnchorTracker(Anchor(hue=60)).find(drawn(300, 200, 30, 30, (0, 220, 0)))
    assert roi is not None
    assert roi.pixels == 900


def test_the_lens_is_told_by_the_stream() -> None:
    details = {"fx": 190, "fy": 190, "cx": 159.5, "cy": 119.5, "model": "pinhole", "width": 320}
    assert Intrinsics.from_details(details) == Intrinsics(190.0, 190.0, 159.5, 119.5)
    with pytest.raises(TaskError, match="pinhole"):
        Intrinsics.from_details({**details, "model": "fisheye"})
    with pytest.raises(TaskError, match="is it a camera"):
        Intrinsics.from_details({"preset": "mpu6000"})


def test_without_opencv_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(SetupError, match="pip install opencv-python-headless"):
        AnchorTracker(Anchor()).find(drawn(300, 200, 30, 30))
