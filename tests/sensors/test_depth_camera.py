"""The depth camera: Kim's noise, and what each of its options does, on pictures written by hand and one rendered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError
from scipy.stats import truncnorm

from skyloop.core.keyed_random import KeyedRandom, stream_key
from skyloop.rendering.client import Renderer
from skyloop.sensors.depth_camera import DepthCamera, DepthCameraConfig
from skyloop.sensors.faults import Fault, apply_faults, check_faults
from skyloop.world.materials import MATERIAL_ID, MATERIALS
from skyloop.world.mesh import quad
from skyloop.world.model import Model, Shape
from skyloop.world.views import Pinhole, View, ViewRequest
from skyloop.world.weather import Weather, WeatherConfig, weather_at
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import DepthImage, Kinematics

KEY = stream_key(3, "drone/depth")
STILL = Kinematics(0, *(np.array(v, float) for v in ([0] * 3, [0] * 3, [1, 0, 0, 0], [0] * 3, [0] * 3, [0] * 3)))
MODEL = Model()
MODEL.place(Shape("wall", (quad((9, 5, -5), (9, -5, -5), (9, -5, 5), (9, 5, 5)),)), is_a="wall")
MODEL.freeze()


def packed(normal: Sequence[float]) -> int:
    """Octahedral, 2 by 12 bits above the material's byte, as the renderer writes it."""
    n = np.array(normal, float) / np.abs(normal).sum()
    x, y = n[:2] if n[2] >= 0 else (1 - np.abs(n[1::-1])) * np.where(n[:2] >= 0, 1, -1)
    return round(float(x + 1) * 2047) << 8 | round(float(y + 1) * 2047) << 20


@dataclass
class Picture:
    """A scene whose one view has this depth, these materials and one normal; the sun shines from `sun`."""

    depth: Any
    material: Any = "cement"
    normal: Sequence[float] = (-1.0, 0.0, 0.0)
    sun: Sequence[float] = (-1.0, 0.0, 0.0)
    shaded_beyond: float = np.inf
    """y from which something stands before the sun."""
    weather: Weather = field(init=False)

    def __post_init__(self) -> None:
        self.weather = Weather(WeatherConfig(clouds=0.0), np.array(self.sun))

    def views(self, requests: Sequence[ViewRequest]) -> list[View]:
        (request,) = requests
        names = np.broadcast_to(self.material, self.depth.shape)
        surface = np.zeros((*self.depth.shape, 4), np.uint32)
        surface[..., 0] = np.asarray(self.depth, np.float32).view(np.uint32)
        surface[..., 1] = np.isfinite(self.depth)
        surface[..., 2] = packed(self.normal) | np.vectorize(MATERIAL_ID.get)(names).astype(np.uint32)
        return [View(request.lens, request.pose, MODEL, MODEL.motion(0), np.zeros((1, 1, 3), np.uint8), surface)]

    def cast(self, origins: Any, directions: Any, max_range: float, t_ns: int | None = None) -> Any:
        return SimpleNamespace(distance=np.where(origins[:, 1] > self.shaded_beyond, 3.0, np.inf))


def camera(**options: Any) -> DepthCamera:
    usual: dict[str, Any] = {"width": 200, "height": 150, "preset": "kim"}
    return DepthCamera(DepthCameraConfig(**(usual | options)), 1 / 30)


def depth_of(scene: Any, index: int = 0, **options: Any) -> Any:
    image = camera(**options).measure(STILL, scene, (), KeyedRandom(KEY, index))[0]
    assert image.depth.dtype == np.float32
    return image.depth


def flat(distance: float, **more: Any) -> Picture:
    return Picture(np.full((150, 200), distance, np.float32), **more)


def sd(depth: Any) -> float:
    return float(np.std(depth[depth > 0]))


@pytest.mark.parametrize("material", ["cement", "formboard", "plastic", "brick"])
def test_sigma_grows_with_distance_by_material_and_stays_beyond_8_m(material: str) -> None:
    m = MATERIALS[MATERIAL_ID[material]].depth_noise
    for distance in (0.5, 2.013, 4.0, 8.0, 11.0):
        sigma = 0.005 * np.exp(m * min(distance, 8.0))
        depth = depth_of(flat(distance, material=material), max_range=100.0, zero_share=0.0)
        kept = truncnorm((0.1 - distance) / sigma, np.inf, distance, sigma)
        assert sd(depth) == pytest.approx(kept.std(), rel=0.02)
        assert depth[depth > 0].mean() == pytest.approx(kept.mean(), abs=4 * sigma / np.sqrt(30_000))


def test_the_papers_materials_have_table_1() -> None:
    told = {name: MATERIALS[MATERIAL_ID[name]].depth_noise for name in ("cement", "formboard", "plastic")}
    assert told == {"cement": 0.50, "formboard": 0.55, "plastic": 0.85}


def test_each_pixel_has_the_noise_of_its_own_material() -> None:
    names = np.where(np.arange(200) < 100, "brick", "plastic")
    depth = depth_of(flat(4.0, material=names))
    assert sd(depth[:, :100]) == pytest.approx(0.005 * np.exp(0.42 * 4), rel=0.03)
    assert sd(depth[:, 100:]) == pytest.approx(0.005 * np.exp(0.85 * 4), rel=0.03)


def test_what_is_published_lies_within_the_limits_or_is_zero() -> None:
    depth = depth_of(flat(8.0, material="plastic"), min_range=0.3, max_range=12.0, zero_share=0.0)
    values = depth[depth > 0]
    assert values.min() >= 0.3 and values.max() <= 12.0
    sigma = 0.005 * np.exp(0.85 * 8)
    outside = 1 - truncnorm.cdf(12.0, -np.inf, np.inf, 8.0, sigma) + truncnorm.cdf(0.3, -np.inf, np.inf, 8.0, sigma)
    assert np.mean(depth == 0) == pytest.approx(outside, rel=0.05)


def test_too_near_too_far_and_the_sky_are_zero() -> None:
    picture = flat(5.0)
    picture.depth[:50], picture.depth[50:100] = np.inf, 0.2
    depth = depth_of(picture, preset="perfect", min_range=0.25, max_range=5.0)
    assert not depth[:100].any()
    np.testing.assert_array_equal(depth[100:], 5.0)
    assert not depth_of(picture, preset="perfect", min_range=0.25, max_range=4.99).any()


def test_one_percent_of_the_pixels_are_lost_and_never_the_same() -> None:
    lost = np.array([depth_of(flat(2.0), index) == 0 for index in range(8)])
    assert lost.mean() == pytest.approx(0.01, abs=4 * np.sqrt(0.01 / lost.size))
    assert (lost[0] & lost[1]).mean() < 0.001
    assert depth_of(flat(2.0), zero_share=0.0).all()
    assert not depth_of(flat(2.0), zero_share=1.0).any()


def test_noise_is_a_function_of_key_and_index_and_white() -> None:
    first, other, again = (depth_of(flat(3.0), index, zero_share=0.0) for index in (4, 5, 4))
    assert first.tobytes() == again.tobytes()
    errors = [(image - 3.0) / sd(image) for image in (first, other)]
    bound = 4 / np.sqrt(first.size)
    assert abs(np.mean(errors[0] * errors[1])) < bound
    for rows, columns in ((1, 0), (0, 1), (0, 4), (0, 8)):
        shifted = errors[0][rows:, columns:] * errors[0][: 150 - rows, : 200 - columns]
        assert abs(shifted.mean()) < bound


def test_any_size_gets_noise_in_its_last_pixel() -> None:
    for width in (8, 9, 11, 13):
        images = [
            depth_of(Picture(np.full((8, width), 2.0)), k, width=width, height=8, zero_share=0.0) for k in range(9)
        ]
        assert (np.std(images, axis=0) > 0.002).all()


def test_incidence_raises_sigma_by_its_power_of_the_cosine() -> None:
    oblique = flat(3.0, normal=(-0.5, np.sqrt(0.75), 0.0))
    narrow: dict[str, Any] = {"horizontal_fov_deg": 1.0, "zero_share": 0.0}
    plain = sd(depth_of(oblique, **narrow))
    assert sd(depth_of(oblique, incidence=1.0, **narrow)) == pytest.approx(2.0 * plain, rel=0.03)
    assert sd(depth_of(oblique, incidence=2.0, **narrow)) == pytest.approx(4.0 * plain, rel=0.03)
    square = depth_of(flat(3.0), incidence=2.0, **narrow)
    assert sd(square) == pytest.approx(plain, rel=0.01)


def test_flying_pixels_hang_between_the_two_depths_of_an_edge_only() -> None:
    picture = flat(2.0)
    picture.depth[:, 100:] = 6.0
    depth = depth_of(picture, preset="d435", flying_pixels=0.6)
    np.testing.assert_array_equal(np.delete(depth, [99, 100], axis=1), np.delete(picture.depth, [99, 100], axis=1))
    edge = depth[:, 99:101]
    flying = edge[(edge > 2.0) & (edge < 6.0)]
    assert flying.size / edge.size == pytest.approx(0.6, abs=0.12)
    assert flying.mean() == pytest.approx(4.0, abs=0.4)
    slope = Picture(np.tile(np.linspace(2.0, 8.0, 200), (150, 1)))
    np.testing.assert_allclose(depth_of(slope, preset="d435", flying_pixels=1.0), slope.depth, rtol=1e-6)


def test_disparity_comes_in_steps_that_widen_with_the_square_of_distance() -> None:
    ramp = Picture(np.tile(np.linspace(1.0, 9.0, 200), (150, 1)))
    sensor = camera(preset="d435", disparity_step=0.03125)
    depth = depth_of(ramp, preset="d435", disparity_step=0.03125)
    steps = 0.05 * sensor.lens.fx / depth / 0.03125
    np.testing.assert_allclose(steps, np.rint(steps), atol=1e-3)
    assert np.abs(depth - ramp.depth).max() <= 0.5 * 9.3**2 * 0.03125 / (0.05 * sensor.lens.fx)
    widths = {round(z): np.diff(np.unique(depth[np.abs(depth - z) < 1.5])).mean() for z in (3.0, 7.0)}
    assert widths[7] / widths[3] == pytest.approx((7 / 3) ** 2, rel=0.3)
    # too far for half a step of disparity
    assert not depth_of(flat(19.0), preset="d435", disparity_step=1.0, baseline=0.05, max_range=20.0).any()


def test_sun_on_a_surface_raises_sigma_and_loses_pixels_unless_shaded() -> None:
    dull = sd(depth_of(flat(3.0)))
    full = (-np.sqrt(0.75), 0.0, 0.5)
    lit = depth_of(flat(3.0, sun=full, shaded_beyond=0.0), sunlight=1.0, flying_pixels=0.0)
    shade, sunny = lit[:, :96], lit[:, 104:]  # the left of the image is towards +y
    assert sd(shade) == pytest.approx(dull, rel=0.02)
    assert sd(sunny) == pytest.approx(dull * (1 + np.sqrt(0.75)), rel=0.02)
    assert np.mean(shade == 0) == pytest.approx(0.01, abs=0.004)
    assert np.mean(sunny == 0) == pytest.approx(0.01 + 0.1 * np.sqrt(0.75), abs=0.01)
    night = depth_of(flat(3.0, sun=(-0.9, 0.0, -0.43)), sunlight=1.0)
    assert sd(night) == pytest.approx(dull, rel=0.02)
    behind = depth_of(flat(3.0, sun=(0.866, 0.0, 0.5)), sunlight=1.0)
    assert sd(behind) == pytest.approx(dull, rel=0.02)


def test_faults_move_values_and_leave_zeros_alone() -> None:
    sensor = camera(preset="d435")
    depth = np.array([[0.0, 1.0, 19.95]], np.float32)
    bias = Fault(kind="bias", value=0.1)
    check_faults([bias], sensor, "drone/depth")
    moved = apply_faults([bias], sensor, DepthImage(0, depth), None, KeyedRandom(KEY, 0))[0]
    assert moved.depth.dtype == np.float32
    np.testing.assert_allclose(moved.depth, [[0.0, 1.1, 0.0]], rtol=1e-6)
    spike = Fault(kind="spike", field="depth", value=0.5, probability=1.0)
    seen = {
        round(float(apply_faults([spike], sensor, DepthImage(0, depth), None, KeyedRandom(KEY, k))[0].depth[0, 1]), 3)
        for k in range(20)
    }
    assert seen == {0.5, 1.5}
    with pytest.raises(ScenarioError, match="depth"):
        check_faults([Fault(kind="bias", field="range", value=1.0)], sensor, "drone/depth")


def test_it_has_an_angle_of_its_own() -> None:
    lens = camera(preset="d435", width=None, height=None).lens
    assert (lens.width, lens.height) == (640, 360)
    assert lens.fx == pytest.approx(348.0, abs=0.05)
    assert Pinhole.from_fov(640, 360, 1.5).fx == pytest.approx(343.5, abs=0.05)


def test_limits_the_wrong_way_round_are_refused() -> None:
    with pytest.raises(ValidationError, match=r"min_range 20\.0 m must be below"):
        DepthCameraConfig(min_range=20.0)


@pytest.mark.renders
def test_a_rendered_board_before_a_wall_stands_where_the_lens_puts_it() -> None:
    model = Model()
    for x, half, material in ((6.0, 9.0, "cement"), (3.0, 1.0, "plastic")):
        board = quad((x, half, -half), (x, -half, -half), (x, -half, half), (x, half, half), material=material)
        model.place(Shape(material, (board,)), is_a="wall")
    model.freeze()
    renderer, weather = Renderer(model), weather_at(WeatherConfig(), 47.0)
    scene: Any = SimpleNamespace(views=lambda requests: renderer.render(requests, weather), weather=weather)
    size: dict[str, Any] = {"width": None, "height": None}
    try:
        clean = depth_of(scene, preset="d435", **size)
        noisy = depth_of(scene, preset="d435-kim", **size)
    finally:
        renderer.close()
    f, cx, cy = 348.0, 319.5, 179.5
    columns, rows = np.arange(640), np.arange(360)
    board = (np.abs(rows - cy) < f / 3)[:, None] & (np.abs(columns - cx) < f / 3)
    wrong = np.abs(clean - np.where(board, 3.0, 6.0)) > 1e-3
    assert wrong.sum() <= 8 * f / 3 * 0.5  # at most half of the board's rim
    assert not wrong[np.abs(np.abs(rows - cy) - f / 3) > 1].any(where=np.abs(np.abs(columns - cx) - f / 3) > 1)
    assert sd((noisy - clean + 10)[board & (noisy > 0)]) == pytest.approx(0.005 * np.exp(0.85 * 3), rel=0.03)
    assert sd((noisy - clean + 10)[~board & (noisy > 0) & ~wrong]) == pytest.approx(0.005 * np.exp(0.5 * 6), rel=0.03)


@pytest.mark.parametrize(
    ("preset", "distance", "published"),
    [("kinect", 3.0, 0.0012 + 0.0019 * 2.6**2), ("l515", 1.0, 0.0025), ("l515", 8.0, 0.0123), ("xtion", 2.0, 0.0061)],
)
def test_other_cameras_have_the_noise_that_was_published_for_them(
    preset: str, distance: float, published: float
) -> None:
    assert sd(depth_of(flat(distance), preset=preset, disparity_step=0.0)) == pytest.approx(published, rel=0.03)


def test_a_scenario_changes_the_noise_of_a_material_and_of_an_object() -> None:
    model = Model()
    wall = Shape("wall", (quad((9, 5, -5), (9, -5, -5), (9, -5, 5), (9, 5, 5)),))
    crate = model.place(wall, is_a="box", name="crate 1")
    changed = camera()

    def noise() -> float:
        """Of the first object, which is of brick."""
        changed.enter(model)
        scene: Any = flat(3.0, material="brick")
        return sd(changed.measure(STILL, scene, (), KeyedRandom(KEY, 0))[0].depth)

    model.change_surfaces({"brick": 0.8})
    assert noise() == pytest.approx(0.005 * np.exp(0.8 * 3.0), rel=0.03)
    model.change_surfaces({"crate *": 0.2})
    assert noise() == pytest.approx(0.005 * np.exp(0.2 * 3.0), rel=0.03)
    assert changed.details()["noise_growth_per_m"][f"object {crate}"] == 0.2
    with pytest.raises(ScenarioError, match="no material or object is named 'brik'; did you mean 'brick'"):
        model.change_surfaces({"brik": 0.8})
