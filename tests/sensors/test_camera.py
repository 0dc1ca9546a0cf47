from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError
from scipy.spatial.transform import Rotation

from painted_world import KEY, PERIOD_S, PaintedScene, Tumbling, camera_axes, moving, shape, shoot
from skyloop.core.keyed_random import KeyedRandom
from skyloop.sensors.camera import Camera, CameraConfig
from skyloop.sensors.camera_effects import extrapolated
from skyloop.sensors.faults import Fault, apply_faults, check_faults
from skyloop.sensors.sensor import MountConfig
from skyloop.world.mesh import box, quad
from skyloop.world.model import Model

PILLAR, WALKER = 2, 5


@pytest.fixture(scope="module")
def scene() -> Iterator[PaintedScene]:
    """Grey ground between white walls in the west and east, a thin black pillar, a box that moves to the north."""
    model = Model()
    model.place(
        shape(quad((-90, -90, 0), (90, -90, 0), (90, 90, 0), (-90, 90, 0), colour=(150, 150, 150))), is_a="ground"
    )
    model.place(shape(box((0.4, 0.4, 60.0), colour=(0, 0, 0))), (10.0, 0.0, 0.0), is_a="lamp")
    for x in (-40.0, 40.0):
        model.place(shape(box((0.1, 400.0, 400.0), colour=(200, 200, 200))), (x, 0.0, 0.0), is_a="wall")
    side = Tumbling((10.0, 8.0, 2.0), (0.0, 4.0, 0.0), (0.0, 0.0, 0.0))
    model.add_mover(side, [shape(box((0.5, 0.5, 4.0), colour=(255, 0, 0)))], is_a="person")
    painted = PaintedScene(model, clouds=0.0, visibility=100_000.0)
    yield painted
    painted.close()


def light(colour: np.ndarray) -> np.ndarray:
    return -np.log1p(-np.square(np.minimum(colour, 254.9) / 255.0))


def pillar_columns(colour: np.ndarray, row: int) -> np.ndarray:
    """Share of darkness of each pixel of a row against the background around it."""
    values = light(colour[row].astype(float)).mean(axis=1)
    return 1.0 - values / np.median(values)


def edges_of(truth, number: int) -> tuple[int, int]:
    columns = np.flatnonzero((truth.instances == number).any(axis=0))
    return int(columns[0]), int(columns[-1])


@pytest.mark.renders
def test_an_image_is_upright_and_left_is_left(scene) -> None:
    image, truth, _ = shoot(scene, moving(7, position=(0.0, 1.0, 2.0)), truth=("instances",))
    assert (image.t_ns, image.colour.shape) == (7, (240, 320, 3)) and image.colour.dtype == np.uint8
    assert (truth.instances[0] != 1).all() and (truth.instances[-1] == 1).all()
    assert edges_of(truth, PILLAR)[0] > 160, "the pillar is to the right"
    assert edges_of(truth, WALKER)[1] < 160


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "fisheye", "distortion": (0.1, 0.2)}, "takes 4 distortion coefficients, not 2"),
        ({"distortion": (0.1,)}, "model pinhole takes 0"),
        ({"horizontal_fov_deg": 180.0}, "take model: fisheye"),
        ({"label_classes": ("persn",)}, "did you mean 'person'"),
        ({"read_noise": 3.0}, "needs full_well"),
        ({"truth": ("colour",)}, "truth"),
    ],
)
def test_what_does_not_fit_is_refused(options, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        CameraConfig(**options)


@pytest.mark.renders
def test_requests_are_those_that_measure_asks_for(scene) -> None:
    options: dict[str, Any] = {
        "exposure_time": 0.01,
        "blur_samples": 3,
        "readout_time": 0.02,
        "readout_bands": 4,
        "quality": "medium",
    }
    variants: tuple[dict[str, Any], ...] = ({}, {"model": "fisheye", "horizontal_fov_deg": 170.0, "truth": ("depth",)})
    for more in variants:
        config = CameraConfig(**options, **more, width=64, height=48)
        camera, kinematics = Camera(config, PERIOD_S), moving(10**9, rates=(0.1, 0.2, 0.3), velocity=(1.0, 2.0, 3.0))
        state = camera.initial_state(KeyedRandom(KEY, 0))
        asked = camera.requests(kinematics, state)
        camera.measure(kinematics, scene, state, KeyedRandom(KEY, 0))
        assert len(asked) == len(scene.asked) >= 12
        for one, other in zip(asked, scene.asked, strict=True):
            assert (one.lens.width, one.lens.height, one.quality) == (other.lens.width, other.lens.height, "medium")
            assert one.pose.t_ns == other.pose.t_ns
            assert (one.pose.position == other.pose.position).all()
            assert (one.pose.quat_wxyz == other.pose.quat_wxyz).all()
    assert {request.pose.t_ns - 10**9 for request in asked} >= {0, -7_500_000 - 3_333_333, 7_500_000 + 3_333_333}


@pytest.mark.renders
def test_truth_has_the_cameras_pose(scene) -> None:
    kinematics = moving(position=(1.0, 2.0, 3.0), rotation_deg=(10.0, 20.0, 30.0))
    _, truth, _ = shoot(scene, kinematics, truth=("depth",))
    assert truth.position == pytest.approx([1.0, 2.0, 3.0])
    assert Rotation.from_quat(np.roll(truth.quat_wxyz, -1)).as_matrix() == pytest.approx(camera_axes(kinematics))


@pytest.mark.renders
def test_motion_blur_smears_by_rate_times_time(scene) -> None:
    """A 6.4 px pillar turned past by 1 rad/s · 160 px · 0.25 s = 40 px becomes a trapezium of that width."""
    kinematics = moving(position=(0.0, 0.0, 2.0), rates=(0.0, 0.0, 1.0))
    sharp, _, _ = shoot(scene, kinematics)
    dark = {}
    for samples in (4, 64):
        image, truth, _ = shoot(scene, kinematics, exposure_time=0.25, blur_samples=samples, truth=("instances",))
        dark[samples] = pillar_columns(image.colour, 20)
    width = pillar_columns(sharp.colour, 20)
    wide = 160.0 * 0.4 / 9.8
    assert width[110:210].sum() == pytest.approx(wide, abs=1.0)
    assert dark[64][110:210].sum() == pytest.approx(wide, rel=0.05)
    smeared = np.flatnonzero(dark[64] > 0.05)
    # its slopes, `wide` px long, reach 0.05 of their height wide/40 two pixels in from either end
    assert smeared[-1] - smeared[0] + 1 == pytest.approx(40.0 + wide - 4.0, abs=1.5)
    assert dark[64].max() == pytest.approx(wide / 40.0, rel=0.15)
    assert np.flatnonzero(dark[64] > 0.05).mean() == pytest.approx(159.5, abs=1.0), "the stamp is mid-exposure"
    # four instants leave four separate ghosts
    assert (np.diff((dark[4] > 0.1).astype(int)) == 1).sum() == 4
    assert edges_of(truth, PILLAR)[1] - edges_of(truth, PILLAR)[0] <= 6, "truth is sharp"


@pytest.mark.renders
def test_actors_move_during_the_exposure_too(scene) -> None:
    kinematics = moving(10**9, position=(0.0, 12.0, 2.0))
    gone, _, _ = shoot(scene, replace(kinematics, t_ns=15 * 10**9))
    sharp, _, _ = shoot(scene, kinematics)
    blurred, _, _ = shoot(scene, kinematics, exposure_time=0.2, blur_samples=16)
    sharp_px, blurred_px = (
        int((np.abs(image.colour[119].astype(int) - gone.colour[119]).max(axis=1) > 3).sum())
        for image in (sharp, blurred)
    )
    assert sharp_px == pytest.approx(160.0 * 0.5 / 9.75, abs=1.5)
    assert blurred_px - sharp_px == pytest.approx(160.0 * 4.0 * 0.2 / 9.75, abs=2.5)


@pytest.mark.renders
def test_a_rolling_shutter_slants_what_turns_past(scene) -> None:
    kinematics = moving(position=(0.0, 0.0, 20.0), rates=(0.0, 0.0, 1.0))
    columns = {}
    for bands in (4, 120):
        image, truth, _ = shoot(scene, kinematics, readout_time=0.2, readout_bands=bands, truth=("instances",))
        columns[bands] = np.array([pillar_columns(image.colour, row).argmax() for row in range(200)])
    # turning left, the pillar wanders right: later rows have it farther right, 1 rad/s · 160 px · 0.2 s over 240 rows
    slope = np.polyfit(np.arange(200), columns[120], 1)[0]
    assert slope == pytest.approx(160.0 * 0.2 / 240.0, rel=0.08)
    assert columns[120][119] == pytest.approx(truth.instances[119].tolist().index(PILLAR) + 2.5, abs=3.0)
    assert len(np.flatnonzero(np.abs(np.diff(columns[4])) > 3)) == 3, "steps between four bands"
    assert edges_of(truth, PILLAR)[1] - edges_of(truth, PILLAR)[0] <= 7


@pytest.mark.renders
def test_vignetting_is_the_fourth_power_of_the_cosine(scene) -> None:
    facing = moving(position=(-30.0, 0.0, 30.0), rotation_deg=(0.0, 0.0, 180.0))
    plain, _, _ = shoot(scene, facing)
    for strength in (1.0, 0.5):
        dark, _, _ = shoot(scene, facing, vignetting=strength)
        ratio = light(dark.colour.astype(float)).mean(axis=2) / light(plain.colour.astype(float)).mean(axis=2)
        for row, column in ((120, 160), (120, 5), (10, 10), (230, 310)):
            r2 = ((column - 159.5) ** 2 + (row - 119.5) ** 2) / 160.0**2
            natural = (1.0 + r2) ** -2
            assert ratio[row, column] == pytest.approx(1.0 - strength * (1.0 - natural), abs=0.02)


@pytest.mark.renders
@pytest.mark.parametrize(("full_well", "read_noise"), [(1000.0, 0.0), (4000.0, 0.0), (1000.0, 30.0)])
def test_noise_has_the_variance_of_counted_electrons(scene, full_well: float, read_noise: float) -> None:
    facing = moving(position=(-30.0, 0.0, 30.0), rotation_deg=(0.0, 0.0, 180.0))
    plain, _, _ = shoot(scene, facing)
    assert np.ptp(plain.colour[..., 0]) <= 3
    noisy, _, _ = shoot(scene, facing, full_well=full_well, read_noise=read_noise)
    share = np.square(noisy.colour[..., 0] / 255.0)
    true = np.square(plain.colour[..., 0] / 255.0).mean()
    assert share.mean() == pytest.approx(true, rel=0.01)
    assert share.std() == pytest.approx(math.sqrt(true * full_well + read_noise**2) / full_well, rel=0.05)
    assert abs(np.corrcoef(share[:, :-1].ravel(), share[:, 1:].ravel())[0, 1]) < 0.02
    again, _, _ = shoot(scene, facing, full_well=full_well, read_noise=read_noise)
    other, _, _ = shoot(scene, facing, index=1, full_well=full_well, read_noise=read_noise)
    assert (again.colour == noisy.colour).all() and (other.colour != noisy.colour).any()


@pytest.mark.renders
@pytest.mark.parametrize("exposure", [0.03, 8.0])
def test_automatic_exposure_comes_to_its_target(scene, exposure: float) -> None:
    kinematics, state, tau = moving(position=(0.0, 0.0, 2.0)), None, 0.2
    means = []
    for _ in range(30):
        options: dict[str, Any] = {
            "auto_exposure": True,
            "target_brightness": 0.4,
            "auto_exposure_tau": tau,
            "width": 64,
            "height": 48,
        }
        image, _, state = shoot(scene, kinematics, state, exposure=exposure, **options)
        means.append(image.colour.mean() / 255.0)
    assert means[-1] == pytest.approx(0.4, abs=0.01)
    assert abs(means[0] - 0.4) > 0.15
    # not at once: after one tau (four images) some 37 % are left, more where the image was clipped
    left = np.log(means[4] / 0.4) / np.log(means[0] / 0.4)
    assert 0.3 < left < (0.45 if exposure < 1.0 else 0.9)
    _, _, fixed = shoot(scene, kinematics, exposure=exposure)
    assert fixed.exposure == exposure


def horizon_rows(truth) -> np.ndarray:
    return (truth.instances == 1).argmax(axis=0)[[60, 100, 220, 300]]


@pytest.mark.renders
def test_gimbals(scene) -> None:
    tilted = moving(position=(0.0, 0.0, 3.0), rotation_deg=(20.0, 5.0, 0.0), rates=(2.0, 1.0, 0.5))
    want: dict[str, Any] = {"truth": ("instances", "flow")}
    _, free, _ = shoot(scene, tilted, **want)
    assert np.ptp(horizon_rows(free)) > 50
    _, level, _ = shoot(scene, tilted, gimbal="roll-pitch", **want)
    assert horizon_rows(level) == pytest.approx(119.5 + 160.0 * 3.0 / 40.0, abs=0.6)
    # only the turn of the heading is left; off the axis it moves pixels by 1 + x² times as much
    roll, pitch = np.radians([20.0, 5.0])
    yaw_rate = (np.sin(roll) * 1.0 + np.cos(roll) * 0.5) / np.cos(pitch)
    assert level.flow[119, 180] == pytest.approx([160.0 * (1.0 + (20.5 / 160.0) ** 2) * yaw_rate, 0.0], abs=0.5)
    _, fixed, _ = shoot(scene, tilted, gimbal="fixed", gimbal_attitude_deg=(0.0, 90.0, 0.0), **want)
    assert (fixed.instances == 1).all()
    assert np.abs(fixed.flow).max() < 1e-6
    mount = MountConfig(rotation_deg=(0.0, 90.0, 0.0))
    looking_down = moving(position=(0.0, 0.0, 3.0), rotation_deg=(0.0, 115.0, 0.0))
    _, steady, _ = shoot(scene, looking_down, gimbal="roll-pitch", mount=mount, truth=("depth",))
    assert np.abs(steady.depth - 3.0).max() <= 1e-3


def test_between_instants_the_motion_goes_on() -> None:
    start = moving(10**9, (1.0, 2.0, 3.0), (10.0, 20.0, 30.0), (1.0, -1.0, 2.0), (0.5, 1.0, -2.0), (3.0, 0.0, -1.0))
    later = extrapolated(start, 0.1)
    assert later.t_ns == 1_100_000_000
    assert later.position == pytest.approx([1.0 + 0.1 + 0.015, 2.0 - 0.1, 3.0 + 0.2 - 0.005])
    turned = Rotation.from_quat(np.roll(start.quat_wxyz, -1)) * Rotation.from_rotvec([0.05, 0.1, -0.2])
    assert Rotation.from_quat(np.roll(later.quat_wxyz, -1)).as_matrix() == pytest.approx(turned.as_matrix())


@pytest.mark.renders
def test_effects_work_through_a_bending_lens_too(scene) -> None:
    options: dict[str, Any] = {"model": "fisheye", "horizontal_fov_deg": 180.0, "width": 96, "height": 96}
    kinematics = moving(position=(0.0, 0.0, 2.0), rates=(0.0, 0.0, 2.0))
    plain, _, _ = shoot(scene, kinematics, **options)
    effects: tuple[dict[str, Any], ...] = (
        {"exposure_time": 0.1, "blur_samples": 3},
        {"readout_time": 0.2, "readout_bands": 6},
        {"vignetting": 1.0},
    )
    for effect in effects:
        image, truth, _ = shoot(scene, kinematics, truth=("instances",), **options, **effect)
        changed = (image.colour != plain.colour).any(axis=2)
        assert 0.01 < changed.mean() < 0.95
        assert truth.instances[-10, 48] == 1


@pytest.mark.renders
def test_colour_faults(scene) -> None:
    camera = Camera(CameraConfig(), PERIOD_S)
    fault = Fault(kind="bias", value=30.0)
    check_faults([fault], camera, "drone/camera")
    image, _, _ = shoot(scene, moving(position=(0.0, 0.0, 2.0)))
    brighter, _, _ = apply_faults([fault], camera, image, None, KeyedRandom(KEY, 0))
    assert brighter.colour.dtype == np.uint8
    assert (brighter.colour == np.minimum(image.colour.astype(int) + 30, 255)).all()
