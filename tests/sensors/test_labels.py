from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from painted_world import PaintedScene, Tumbling, intrinsics, moving, panel, shape, shoot
from skyloop.sensors.camera import CameraConfig
from skyloop.sensors.labels import box_in_space
from skyloop.world.mesh import box, ellipsoid
from skyloop.world.model import Model, Shape

pytestmark = pytest.mark.renders

FREE, HALF, CUT, NEAR, TURNING = "free", "half hidden", "at the edge", "around the camera", "turning"
PLACES = {FREE: (10.0, 0.0, 2.0), HALF: (20.0, 6.0, 2.0)}
FISHEYE: dict[str, Any] = {"model": "fisheye", "horizontal_fov_deg": 180.0}


class Walker:
    """Two parts, one beside the other, walking north-west."""

    n_rows = 2

    def poses(self, t: float) -> np.ndarray:
        heading = math.radians(135.0)
        c, s = math.cos(heading), math.sin(heading)
        turned = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        out = np.empty((2, 3, 4))
        for k, offset in enumerate(([0.0, 0.3, 0.0], [0.1, -0.3, 0.5])):
            out[k, :, :3] = turned
            out[k, :, 3] = np.array([12.0, -6.0, 1.0]) + 2.0 * t * turned[:, 0] + turned @ offset
        return out


@pytest.fixture(scope="module")
def scene() -> Iterator[PaintedScene]:
    """Flat signs facing -x (their areas are known) and movers; a wall hides the right half of one sign."""
    model = Model()
    for name, place in PLACES.items():
        model.place(shape(panel(place, (0, -1, 0), (0, 0, 1))), is_a="car", name=name)
    model.place(shape(panel((15.0, 3.5, 2.0), (0, -1, 0), (0, 0, 3))), is_a="wall")
    # 10 m ahead the image ends 10 m to the left: three quarters of 4 m are outside
    model.place(shape(panel((10.0, 11.0, 2.0), (0, -2, 0), (0, 0, 1))), is_a="car", name=CUT)
    model.place(shape(panel((0.5, -2.0, 1.0), (3.0, 0, 0), (0, 0, 0.3))), is_a="car", name=NEAR)
    model.add_mover(Walker(), [shape(box((0.4, 0.2, 1.0))), shape(box((0.2, 0.2, 1.0)))], is_a="person", name="walker")
    turning = Tumbling((10.0, -8.0, 5.0), (0, 0, 0), (0.0, 0.0, 0.5))
    detailed = Shape("detailed", (ellipsoid((1.0, 0.5, 0.25), rings=24, n=48), ellipsoid((1.0, 0.5, 0.25))), (3.0,))
    model.add_mover(turning, [detailed], is_a="vehicle", name=TURNING)
    painted = PaintedScene(model)
    yield painted
    painted.close()


def labelled(scene, t_ns: int = 0, position=(0.0, 0.0, 2.0), rotation_deg=(0.0, 0.0, 0.0), **options):
    _, truth, _ = shoot(scene, moving(t_ns, position, rotation_deg), truth=("labels", "instances"), **options)
    return {label.name: label for label in truth.labels}, truth


def test_the_box_is_that_of_the_visible_pixels(scene) -> None:
    labels, truth = labelled(scene)
    free = labels[FREE]
    # ±1 m at 10 m, 160 px: from 143.5 to 175.5 and 103.5 to 135.5
    assert free.box_px == pytest.approx((143.5, 103.5, 175.5, 135.5), abs=0.5)
    assert free.visible_px == pytest.approx(32 * 32, abs=33)
    assert (truth.instances == free.instance).sum() == free.visible_px
    assert (free.class_name, free.occlusion, free.truncation) == ("car", 0.0, 0.0)
    assert free.distance == pytest.approx(10.0, abs=1e-6)
    assert free.centre == pytest.approx(PLACES[FREE])
    assert free.size == pytest.approx([0.0, 2.0, 2.0])


def test_occlusion_is_the_hidden_share(scene) -> None:
    labels, _ = labelled(scene)
    half = labels[HALF]
    # seen from the origin the wall's left edge, y = 4.5 at 15 m, falls on y = 6 at 20 m: the sign's middle
    assert half.occlusion == pytest.approx(0.5, abs=0.04)
    assert half.box_px[2] == pytest.approx(159.5 - 160.0 * 6.0 / 20.0, abs=0.6)
    seen_from_the_side, _ = labelled(scene, position=(12.0, 12.0, 2.0), rotation_deg=(0, 0, -37))
    assert seen_from_the_side[HALF].occlusion == 0.0


@pytest.mark.parametrize("options", [{}, {"model": "brown-conrady", "distortion": (-0.05, 0.0, 0.0, 0.0)}])
def test_truncation_is_the_share_outside_the_image(scene, options) -> None:
    labels, _ = labelled(scene, **options)
    cut = labels[CUT]
    if not options:
        # y from 9 to 13 at 10 m: the image ends at y = 10
        assert cut.truncation == pytest.approx(0.75, abs=0.03)
        assert cut.box_px[0] == 0
    else:
        # barrel distortion brings more of it in
        assert 0.4 < cut.truncation < 0.72
    assert cut.occlusion == pytest.approx(0.0, abs=0.02)
    assert labels[FREE].truncation == 0.0


def test_a_thing_that_reaches_behind_the_camera_is_cut_off_there(scene) -> None:
    labels, _ = labelled(scene, label_min_px=5)
    near = labels[NEAR]
    # x up to 3.5 m at y = -2: its far end stands at column 159.5 + 160·2/3.5; the canvas ends 480 px right of the axis
    assert near.box_px[0] == pytest.approx(159.5 + 160.0 * 2.0 / 3.5, abs=0.6)
    assert near.box_px[2] == 319
    # height over column u - cx = d is 0.6·d/2: area up to d is 0.15·d²
    first, edge, last = 160.0 * 2.0 / 3.5, 160.0, 480.0
    expected = (last**2 - edge**2) / (last**2 - first**2)
    assert near.truncation == pytest.approx(expected, abs=0.02)
    assert near.occlusion == pytest.approx(0.0, abs=0.02)


def test_boxes_in_space_follow_the_heading(scene) -> None:
    t = 1.5
    labels, _ = labelled(scene, round(t * 1e9))
    walker = labels["walker"]
    assert walker.yaw == pytest.approx(math.radians(135.0))
    # along: -0.2 to 0.2 and 0.0 to 0.2; across: 0.3 ± 0.1 and -0.3 ± 0.1; up: ±0.5 and 0.5 ± 0.5
    assert walker.size == pytest.approx([0.4, 0.8, 1.5], abs=1e-6)
    forward = np.array([math.cos(walker.yaw), math.sin(walker.yaw), 0.0])
    assert walker.centre == pytest.approx(np.array([12.0, -6.0, 1.25]) + 2.0 * t * forward, abs=1e-6)
    assert walker.distance == pytest.approx(np.linalg.norm(walker.centre - [0.0, 0.0, 2.0]))
    turning = labels[TURNING]
    assert turning.yaw == pytest.approx(0.5 * t)
    assert turning.size == pytest.approx([2.0, 1.0, 0.5], abs=1e-5)
    assert turning.centre == pytest.approx([10.0, -8.0, 5.0], abs=1e-5)


def test_a_scaled_and_turned_standing_thing() -> None:
    model = Model()
    model.place(shape(box((1.0, 2.0, 3.0))), (5.0, 6.0, 7.0), yaw=0.7, scale=2.0, is_a="car")
    model.freeze()
    centre, size, yaw = box_in_space(model, model.objects[1].rows, [model.standing_poses[0]])
    assert centre == pytest.approx([5.0, 6.0, 7.0])
    assert size == pytest.approx([2.0, 4.0, 6.0], abs=1e-5)
    assert yaw == pytest.approx(0.7)


def test_a_coarser_level_of_detail_is_not_called_hidden(scene) -> None:
    for quality in ("low", "cinematic"):
        labels, _ = labelled(scene, quality=quality)
        assert labels[TURNING].occlusion < 0.04
        assert labels[TURNING].visible_px > 50


def test_what_is_labelled_can_be_chosen(scene) -> None:
    everything, _ = labelled(scene)
    assert set(everything) == {FREE, HALF, CUT, NEAR, "walker", TURNING}
    people, _ = labelled(scene, label_classes=("person",))
    assert set(people) == {"walker"}
    large, _ = labelled(scene, label_min_px=500)
    assert set(large) == {name for name, label in everything.items() if label.visible_px >= 500}
    assert "walker" not in large
    with pytest.raises(ValidationError):
        CameraConfig(label_min_px=0)


def test_labels_through_a_fisheye(scene) -> None:
    labels, truth = labelled(scene, **FISHEYE)
    f = intrinsics(**FISHEYE)["fx"]
    free = labels[FREE]
    assert free.box_px[2] == pytest.approx(159.5 + f * math.atan(0.1), abs=1.0)
    assert (truth.instances == free.instance).sum() == free.visible_px
    assert free.occlusion == 0.0
    assert labels[HALF].occlusion == pytest.approx(0.5, abs=0.12)
    assert labels[CUT].truncation == 0.0, "it sees all of it"
    assert labels[CUT].occlusion < 0.02
