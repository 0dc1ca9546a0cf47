"""`mode: grey`: one channel, the luma of the painted picture, with the effects of a sensor that has one channel."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from PIL import Image

from painted_world import KEY, PERIOD_S, PaintedScene, intrinsics, moving, shape, shoot
from skyloop.core.keyed_random import KeyedRandom
from skyloop.recording.formats.png_image import encode_png
from skyloop.sensors.camera import Camera, CameraConfig
from skyloop.sensors.faults import Fault, apply_faults
from skyloop.world.mesh import box, quad
from skyloop.world.model import Model
from skyloop_client.messages import CameraImage

pytestmark = pytest.mark.renders


@pytest.fixture(scope="module")
def scene() -> Iterator[PaintedScene]:
    """A green ground and a red pillar in front of a blue wall."""
    model = Model()
    model.place(
        shape(quad((-90, -90, 0), (90, -90, 0), (90, 90, 0), (-90, 90, 0), colour=(20, 160, 40))), is_a="ground"
    )
    model.place(shape(box((0.4, 0.4, 60.0), colour=(220, 10, 10))), (6.0, 0.0, 0.0), is_a="lamp")
    model.place(shape(box((0.1, 400.0, 400.0), colour=(20, 30, 200))), (30.0, 0.0, 0.0), is_a="wall")
    painted = PaintedScene(model, clouds=0.0, visibility=100_000.0)
    yield painted
    painted.close()


def weighed(colour: np.ndarray) -> np.ndarray:
    """BT.601 in real numbers, as the oracle."""
    return colour.astype(float) @ [0.299, 0.587, 0.114]


def pictures(scene: PaintedScene, **options: Any) -> tuple[np.ndarray, np.ndarray]:
    where = moving(position=(0.0, 0.5, 2.0))
    size = {"width": 64, "height": 48, **options}
    return shoot(scene, where, **size)[0].colour, shoot(scene, where, mode="grey", **size)[0].colour


def test_it_is_the_luma_of_the_colour_picture(scene: PaintedScene) -> None:
    colour, plain = pictures(scene)
    assert plain.shape == (48, 64) and plain.dtype == np.uint8
    assert np.abs(plain - weighed(colour)).max() <= 1.0
    assert np.ptp(plain) > 50, "the picture has contrast"
    # ground, pillar and wall are told apart by the weights of their colours
    assert len(np.unique(plain)) >= 3


def test_the_lens_bends_it_as_it_bends_colours(scene: PaintedScene) -> None:
    colour, plain = pictures(scene, model="brown-conrady", distortion=(-0.3, 0.1, 0.0, 0.0))
    straight = pictures(scene)[1]
    assert np.abs(plain - weighed(colour)).max() <= 1.5
    assert (plain != straight).mean() > 0.02


def test_noise_is_that_of_one_channel(scene: PaintedScene) -> None:
    """Luma of three noisy channels would have a sigma of 0.67 of this."""
    plain = pictures(scene)[1].astype(float)
    noisy = pictures(scene, full_well=1000.0)[1].astype(float)
    ground = np.s_[40:, :20]
    share = np.square(plain[ground].mean() / 255.0)
    # d(255 √s) = 127.5/√s ds, with σ_s = √(s / full_well)
    expected = 127.5 / np.sqrt(share) * np.sqrt(share / 1000.0)
    assert np.std(noisy[ground] - plain[ground]) == pytest.approx(expected, rel=0.15)


def test_blur_rolling_shutter_and_exposure_work_on_it(scene: PaintedScene) -> None:
    fast = moving(position=(0.0, 0.5, 2.0), velocity=(0.0, 8.0, 0.0))
    size: dict[str, Any] = {"width": 64, "height": 48, "mode": "grey"}
    effects: tuple[dict[str, Any], ...] = ({}, {"exposure_time": 0.05}, {"readout_time": 0.1})
    sharp, blurred, rolled = (shoot(scene, fast, **size, **more)[0].colour.astype(float) for more in effects)
    assert np.abs(np.diff(blurred, axis=1)).max() < 0.7 * np.abs(np.diff(sharp, axis=1)).max()
    assert blurred.mean() == pytest.approx(sharp.mean(), rel=0.03)
    pillar = [int(np.argmax(np.abs(rolled[row] - np.median(rolled[row])))) for row in (2, 14)]
    assert pillar[0] != pillar[1], "the pillar leans"
    camera = Camera(CameraConfig(**size, auto_exposure=True, target_brightness=0.8), PERIOD_S)
    rng = KeyedRandom(KEY, 0)
    _, state = camera.measure(fast, scene, camera.initial_state(rng), rng)  # type: ignore[arg-type]
    assert state.exposure > 1.0


def test_a_fault_changes_it_by_the_luma_of_its_value(scene: PaintedScene) -> None:
    camera = Camera(CameraConfig(mode="grey"), PERIOD_S)
    sample = CameraImage(0, np.full((4, 5), 100, np.uint8))
    brighter, _, _ = apply_faults([Fault(kind="bias", value=30.0)], camera, sample, None, KeyedRandom(KEY, 0))
    redder, _, _ = apply_faults(
        [Fault(kind="bias", value=(100.0, 0.0, 0.0))], camera, sample, None, KeyedRandom(KEY, 0)
    )
    assert brighter is not None and (brighter.colour == 130).all()
    assert redder is not None and (redder.colour == 130).all()


def test_its_stream_says_so_and_readers_get_grey_from_both() -> None:
    assert intrinsics(mode="grey")["mode"] == "grey" and intrinsics()["mode"] == "colour"
    rng = np.random.default_rng(3)
    colour = rng.integers(0, 256, (6, 7, 3), dtype=np.uint8)
    plain = CameraImage(0, colour).grey
    assert np.abs(plain - weighed(colour)).max() <= 1.0
    assert CameraImage(0, plain).grey is plain
    read = Image.open(io.BytesIO(encode_png(plain)))
    assert read.mode == "L" and (np.asarray(read) == plain).all()
