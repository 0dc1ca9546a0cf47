"""What the real renderer shows, and where, against closed forms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from painted_world import (
    PaintedScene,
    Tumbling,
    camera_axes,
    in_camera,
    intrinsics,
    moving,
    panel,
    pinhole_px,
    shape,
    shoot,
)
from skyloop.sensors.camera import Camera, CameraConfig
from skyloop.world.materials import MATERIAL_ID
from skyloop.world.mesh import box, ellipsoid
from skyloop.world.model import Model
from skyloop.world.semantics import CLASS_ID

pytestmark = pytest.mark.renders

TILTS = ((0.0, 0.0), (35.0, 0.0), (-60.0, 20.0), (10.0, 70.0))
"""Degrees about up and about across of the planes 10 m ahead, seen by cameras facing them from four sides."""
HEADINGS = (0.0, 90.0, 180.0, -90.0)
TUMBLING = Tumbling((0.0, 0.0, 25.0), (0.8, -1.5, 0.6), (0.9, -1.2, 2.0))
DOTS = [(5.0, y, 40.0 + z) for y in np.linspace(-12.0, 12.0, 9) for z in np.linspace(-6.0, 6.0, 5)]
BENT = {"model": "brown-conrady", "distortion": (-0.28, 0.074, 2e-4, -3e-4), "horizontal_fov_deg": 79.0}
FISHEYE = {"model": "fisheye", "distortion": (-0.02, 0.004, -0.001, 0.0), "horizontal_fov_deg": 190.0}


def plane_normal(number: int) -> np.ndarray:
    about_up, about_across = np.radians(TILTS[number])
    turn = Rotation.from_euler("ZY", [np.radians(HEADINGS[number]) + about_up, about_across])
    return turn.apply([-1.0, 0.0, 0.0])


def plane_centre(number: int) -> np.ndarray:
    heading = np.radians(HEADINGS[number])
    return np.array([10.0 * np.cos(heading), 10.0 * np.sin(heading), 0.0])


@pytest.fixture(scope="module")
def scene() -> Iterator[PaintedScene]:
    model = Model()
    for number in range(4):
        normal = plane_normal(number)
        across = np.cross([0.0, 0.0, 1.0], normal)
        across /= np.linalg.norm(across)
        mesh = panel(plane_centre(number), -4.0 * across, 4.0 * np.cross(normal, across), material="brick")
        model.place(shape(mesh), is_a="wall", name=f"plane {number}")
    # turned in its own plane, so that its edges cross pixel rows at every fraction
    turned = [np.cos(0.2), np.sin(0.2)]
    slanted = panel((8.0, 0.0, 15.0), (0.0, -turned[0], turned[1]), (0.0, turned[1], turned[0]), material="wood")
    model.place(shape(slanted), is_a="sign", name="slanted")
    model.add_mover(TUMBLING, [shape(box((1.2, 0.8, 0.6), material="plastic"))], is_a="car", name="tumbling")
    for k, dot in enumerate(DOTS):
        model.place(shape(ellipsoid(0.18, rings=12, n=24)), dot, is_a="block", name=f"dot {k}")
    painted = PaintedScene(model)
    yield painted
    painted.close()


def number_of(scene: PaintedScene, name: str) -> int:
    return next(k for k, instance in enumerate(scene.model.objects) if instance.name == name)


def outline(scene: PaintedScene, kinematics: Any, name: str, **options: Any) -> tuple[np.ndarray, np.ndarray]:
    """Rows and, in each, where the left edge of an object lies: half a pixel before its first pixel."""
    _, truth, _ = shoot(scene, kinematics, truth=("instances",), **options)
    mine = truth.instances == number_of(scene, name)
    rows = np.flatnonzero(mine.any(axis=1))
    return rows, mine[rows].argmax(axis=1) - 0.5


def slanted_left_edge(details: dict[str, Any], kinematics: Any, rows: np.ndarray) -> np.ndarray:
    c, s = np.cos(0.2), np.sin(0.2)
    lower, upper = [8.0, c - s, 15.0 - s - c], [8.0, c + s, 15.0 - s + c]
    (u0, v0), (u1, v1) = pinhole_px(details, in_camera(kinematics, [lower, upper]))
    inside = (rows > min(v0, v1)) & (rows < max(v0, v1))
    return np.where(inside, u0 + (rows - v0) / (v1 - v0) * (u1 - u0), np.nan)


@pytest.mark.parametrize("rotation_deg", [(0.0, 0.0, 0.0), (4.3, -4.0, 5.0)])
def test_edges_lie_where_the_projection_says(scene, rotation_deg) -> None:
    kinematics = moving(position=(0.5, 0.3, 14.6), rotation_deg=rotation_deg)
    rows, seen = outline(scene, kinematics, "slanted")
    error = seen - slanted_left_edge(intrinsics(), kinematics, rows)
    error = error[np.isfinite(error)]
    assert len(error) > 20
    # the first pixel centre inside is anywhere within the next pixel
    assert np.abs(error).max() < 0.51
    assert abs(error.mean()) < 0.08


def test_corners_of_a_box_are_upright_and_not_mirrored(scene) -> None:
    _, truth, _ = shoot(scene, moving(position=(-12.0, -2.0, 41.0)), truth=("instances",))
    for dot, side, up in ((DOTS[44], -1, -1), (DOTS[0], 1, 1)):
        mine = truth.instances == number_of(scene, f"dot {DOTS.index(dot)}")
        rows, columns = np.nonzero(mine)
        assert np.sign(columns.mean() - 159.5) == side
        assert np.sign(rows.mean() - 119.5) == up


@pytest.mark.parametrize("number", range(4))
def test_depth_of_planes_within_a_millimetre(scene, number: int) -> None:
    kinematics = moving(rotation_deg=(3.0, 2.0, HEADINGS[number] - 4.0))
    details = intrinsics()
    _, truth, _ = shoot(scene, kinematics, truth=("depth", "distance", "normals", "instances", "classes", "materials"))
    mine = truth.instances == number_of(scene, f"plane {number}")
    assert mine.sum() > 1500
    rows, columns = np.nonzero(mine)
    rays = np.stack(
        [(columns - details["cx"]) / details["fx"], (rows - details["cy"]) / details["fy"], np.ones(len(rows))], axis=1
    )
    normal = plane_normal(number)
    expected = (plane_centre(number) @ normal) / (rays @ camera_axes(kinematics).T @ normal)
    near = expected < 11.0
    assert near.sum() > 400
    np.testing.assert_allclose(truth.depth[mine][near], expected[near], rtol=0.0, atol=1e-3)
    np.testing.assert_allclose(truth.depth[mine], expected, rtol=1e-4)
    np.testing.assert_allclose(truth.distance[mine], expected * np.linalg.norm(rays, axis=1), rtol=1e-4)
    assert (truth.classes[mine] == CLASS_ID["wall"]).all()
    assert (truth.materials[mine] == MATERIAL_ID["brick"]).all()
    # normals travel as signed bytes
    assert (truth.normals[mine] @ normal).min() > np.cos(np.radians(0.6))
    sky = truth.instances == 0
    assert np.isinf(truth.depth[sky]).all() and (truth.classes[sky] == 0).all()


@pytest.mark.parametrize("distance", [3.0, 6.0])
def test_disparity_is_baseline_times_focal_length_over_depth(scene, distance: float) -> None:
    left = moving(position=(8.0 - distance, 0.1, 15.0))
    right = replace(left, position=left.position - np.array([0.0, 0.05, 0.0]))
    rows, in_left = outline(scene, left, "slanted", preset="d435-left")
    _, in_right = outline(scene, right, "slanted", preset="d435-right")
    f = 320.0 / np.tan(0.75)
    assert (in_left - in_right)[5:-5].mean() == pytest.approx(0.05 * f / distance, abs=0.06)
    assert len(rows) > 100


def test_velocities_of_a_tumbling_box(scene) -> None:
    t_ns = 400_000_000
    kinematics = moving(t_ns, position=(-4.0, 0.0, 25.0))
    _, truth, _ = shoot(scene, kinematics, truth=("velocities", "depth", "instances"))
    mine = truth.instances == number_of(scene, "tumbling")
    details, (rows, columns) = intrinsics(), np.nonzero(mine)
    rays = np.stack(
        [(columns - details["cx"]) / details["fx"], (rows - details["cy"]) / details["fy"], np.ones(len(rows))], axis=1
    )
    points = kinematics.position + (rays * truth.depth[mine][:, None]) @ camera_axes(kinematics).T
    origin = TUMBLING.position + 0.4 * TUMBLING.velocity
    assert truth.velocities[mine] == pytest.approx(
        TUMBLING.velocity + np.cross(TUMBLING.turn, points - origin), abs=2e-3
    )
    assert mine.sum() > 300
    assert not truth.velocities[~mine].any()


def moved_px(scene, lens: Any, kinematics: Any, mine: np.ndarray, truth: Any, dt: float) -> np.ndarray:
    """Where the surface points of pixels are seen `dt` later, by the paths of camera and object."""
    directions = lens.directions[mine]
    points = kinematics.position + (directions * truth.distance[mine][:, None]) @ camera_axes(kinematics).T
    t = kinematics.t_ns * 1e-9
    on_mover = truth.instances[mine] == number_of(scene, "tumbling")
    before, after = (TUMBLING.poses(t + step)[0] for step in (0.0, dt))
    carried = ((points - before[:, 3]) @ before[:, :3]) @ after[:, :3].T + after[:, 3]
    points = np.where(on_mover[:, None], carried, points)
    turn = Rotation.from_quat(np.roll(kinematics.quat_wxyz, -1)) * Rotation.from_rotvec(
        dt * kinematics.angular_velocity
    )
    later = replace(
        kinematics, position=kinematics.position + dt * kinematics.velocity_world, quat_wxyz=np.roll(turn.as_quat(), 1)
    )
    return lens.project(in_camera(later, points))


@pytest.mark.parametrize("options", [{}, BENT, FISHEYE], ids=["pinhole", "brown-conrady", "fisheye"])
def test_flow_is_the_finite_difference_of_projections(scene, options) -> None:
    kinematics = moving(
        200_000_000, (-3.0, 0.2, 25.3), (5.0, -3.0, 4.0), velocity=(2.0, -1.0, 0.7), rates=(0.5, -0.4, 0.9)
    )
    _, truth, _ = shoot(scene, kinematics, truth=("flow", "distance", "instances"), **options)
    lens = Camera(CameraConfig(**options), 0.05).lens
    mine = truth.instances > 0
    assert (truth.instances == number_of(scene, "tumbling")).sum() > 100
    before, after = (moved_px(scene, lens, kinematics, mine, truth, dt) for dt in (-5e-4, 5e-4))
    error = np.abs(truth.flow[mine] - (after - before) / 1e-3)
    assert error.max() / 30.0 < 0.05
    assert np.abs(truth.flow[mine]).max() / 30.0 > 1.0
    # the sky only turns
    sky = (truth.instances == 0) & np.isfinite(lens.directions[..., 2])
    far = replace(truth, distance=np.full_like(truth.distance, 1e9))
    still = replace(kinematics, velocity_world=np.zeros(3))
    before, after = (moved_px(scene, lens, still, sky, far, dt) for dt in (-5e-4, 5e-4))
    assert np.abs(truth.flow[sky] - (after - before) / 1e-3).max() / 30.0 < 0.05


def test_images_move_as_the_flow_says(scene) -> None:
    number = number_of(scene, "dot 22")
    first = moving(0, (-2.0, 0.5, 40.2), velocity=(1.0, 2.0, -1.5), rates=(0.3, 0.7, 0.5))
    dt = 0.04
    turn = Rotation.from_rotvec(dt * first.angular_velocity)
    second = replace(
        first, t_ns=round(dt * 1e9), position=dt * first.velocity_world + first.position,
        quat_wxyz=np.roll(turn.as_quat(), 1),
    )  # fmt: skip
    places, flows = [], []
    for kinematics in (first, second):
        _, truth, _ = shoot(scene, kinematics, truth=("flow", "instances"), width=960, height=720)
        rows, columns = np.nonzero(truth.instances == number)
        places.append([columns.mean(), rows.mean()])
        flows.append(truth.flow[rows, columns].mean(axis=0))
    moved = np.subtract(places[1], places[0])
    assert np.linalg.norm(moved) > 20.0
    assert moved == pytest.approx(dt * np.mean(flows, axis=0), abs=0.3)


@pytest.mark.parametrize("options", [BENT, FISHEYE])
def test_bending_lenses_show_things_where_they_project_them(scene, options) -> None:
    """tests/sensors/test_camera_lens.py has the projections against their formulas."""
    size = {"width": 640, "height": 400, **options}
    lens, checked, widest = Camera(CameraConfig(**size), 0.05).lens, 0, 0.0
    # the fisheye also looks along the wall of dots, so that they reach to its very edge
    for rotation_deg in ((4.0, 0.0, 0.0), (4.0, 0.0, 88.0))[: 1 if options is BENT else 2]:
        kinematics = moving(position=(-6.0 if options is BENT else -2.0, 0.4, 39.5), rotation_deg=rotation_deg)
        _, truth, _ = shoot(scene, kinematics, truth=("instances", "distance"), **size)
        for k, dot in enumerate(DOTS):
            rows, columns = np.nonzero(truth.instances == number_of(scene, f"dot {k}"))
            at_edge = len(rows) == 0 or min(rows) == 0 or max(rows) == 399 or min(columns) == 0 or max(columns) == 639
            place = in_camera(kinematics, dot)
            widest = max(widest, np.degrees(np.arccos(place[2] / np.linalg.norm(place)))) if not at_edge else widest
            if at_edge:
                continue
            assert [float(columns.mean()), float(rows.mean())] == pytest.approx(lens.project(place[None])[0], abs=0.5)
            assert abs(truth.distance[rows, columns].min() - np.linalg.norm(place) + 0.18) < 0.02
            checked += 1
    assert checked > 20
    assert widest > (35.0 if options is BENT else 90.0)
