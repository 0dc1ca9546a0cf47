import numpy as np
import pytest

from skyloop.world.scenery.actors.paths import MoverPath
from skyloop_client.errors import ScenarioError

SQUARE = [(0, 0), (10, 0), (10, 10), (0, 10)]


def test_a_square_with_round_corners_has_the_length_of_its_legs_and_one_circle():
    assert MoverPath(SQUARE, corner_radius=1.0).length == pytest.approx(4 * 8 + 2 * np.pi)


@pytest.mark.parametrize("closed", [True, False])
def test_position_and_heading_are_continuous_and_arc_length_is_true(closed):
    path = MoverPath([(0, 0), (8, 1), (9, 6), (2, 12)], closed=closed, corner_radius=1.5)
    s = np.arange(-0.7 * path.length, 2.3 * path.length, 1e-3)
    xy, heading = path.at(s)
    steps = np.diff(xy, axis=0)
    assert np.abs(np.linalg.norm(steps, axis=1) - 1e-3).max() < 1e-6
    # an arc of radius 0.75 m (the turns at the ends) turns 1/0.75 rad per metre, nothing turns faster
    assert np.abs(np.diff(heading)).max() < 1e-3 / 0.7
    middle = 0.5 * (heading[1:] + heading[:-1])
    assert np.abs(steps - 1e-3 * np.stack([np.cos(middle), np.sin(middle)], axis=1)).max() < 1e-6


def test_a_closed_path_comes_round_again_turned_once():
    path = MoverPath(SQUARE)
    s = np.linspace(-3.0, 50.0, 40)
    xy, heading = path.at(s)
    again, turned = path.at(s + 3 * path.length)
    assert again == pytest.approx(xy, abs=1e-9)
    assert turned == pytest.approx(heading + 6 * np.pi)


def test_corners_stay_within_their_radius_of_the_corner_points():
    path = MoverPath(SQUARE, corner_radius=2.0)
    xy, _ = path.at(np.linspace(0.0, path.length, 4001))
    for corner in SQUARE:
        nearest = np.linalg.norm(xy - corner, axis=1).min()
        assert nearest == pytest.approx(2.0 * (np.sqrt(2.0) - 1.0), abs=1e-3)


def test_a_radius_too_large_for_the_legs_is_reduced():
    path = MoverPath(SQUARE, corner_radius=100.0)
    assert path.length == pytest.approx(2 * np.pi * 5.0)


def test_an_open_path_goes_out_on_its_right_and_comes_back_on_the_other_side():
    path = MoverPath([(0, 0), (20, 0)], closed=False, corner_radius=1.0)
    # two straight legs 1 m apart, half circles of 0.5 m at the ends
    assert path.length == pytest.approx(2 * 19.0 + np.pi)
    xy, heading = path.at(np.linspace(0.0, path.length, 2001))
    out, back = np.cos(heading) > 0.999, np.cos(heading) < -0.999
    assert xy[out][:, 1] == pytest.approx(-0.5, abs=0.02)
    assert xy[back][:, 1] == pytest.approx(0.5, abs=0.02)
    assert xy[:, 0].min() == pytest.approx(0.0, abs=1e-3)
    assert xy[:, 0].max() == pytest.approx(20.0, abs=1e-3)


def test_vectorised_shapes_follow_the_input():
    path = MoverPath(SQUARE)
    xy, heading = path.at(3.0)
    assert xy.shape == (2,) and heading.shape == ()
    xy, heading = path.at(np.zeros((2, 3)))
    assert xy.shape == (2, 3, 2) and heading.shape == (2, 3)


@pytest.mark.parametrize(
    ("points", "said"),
    [
        ([(0, 0)], "two points"),
        ([(0, 0), (0, 0)], "two points"),
        ([(0, 0, 0), (1, 1, 1)], "shape"),
        ([(0, 0), (10, 0), (0, 0.1), (0, 10)], "doubles back"),
    ],
)
def test_unusable_points_are_refused(points, said):
    with pytest.raises(ScenarioError, match=said):
        MoverPath(points)


def test_an_open_path_that_doubles_back_is_refused():
    with pytest.raises(ScenarioError, match="doubles back at point 1"):
        MoverPath([(0, 0), (10, 0), (0, 0.1)], closed=False)
