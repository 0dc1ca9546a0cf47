from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from skyloop.sensors.camera_effects import image_motion
from skyloop.sensors.camera_lens import FISHEYE_SIGHT, Lens, Mosaic
from skyloop_client.errors import ScenarioError

EUROC = (-0.28340811, 0.07395907, 0.00019359, 1.76187114e-05)
LENSES = {
    "pinhole": Lens.from_fov("pinhole", 96, 64, 1.4, ()),
    "brown-conrady": Lens.from_fov("brown-conrady", 96, 64, 1.3, EUROC),
    "brown-conrady, pincushion": Lens.from_fov("brown-conrady", 96, 64, 1.3, (0.1, 0.02, 1e-3, -2e-3, 0.01)),
    "fisheye": Lens.from_fov("fisheye", 96, 64, math.radians(150.0), (0.03, -0.01, 0.002, -1e-4)),
    "wide fisheye": Lens.from_fov("fisheye", 96, 96, math.radians(190.0), ()),
}


@pytest.mark.parametrize("lens", LENSES.values(), ids=LENSES)
def test_every_pixels_direction_is_projected_back_onto_it(lens: Lens) -> None:
    p, directions = lens.pinhole, lens.directions
    seen = np.isfinite(directions[..., 0])
    rows, columns = np.nonzero(seen)
    assert lens.project(7.0 * directions[seen]) == pytest.approx(np.stack([columns, rows], axis=1), abs=1e-6)
    assert np.linalg.norm(directions[seen], axis=1) == pytest.approx(1.0, abs=1e-12)
    assert seen[p.height // 2].all()


def test_brown_conrady_against_its_formula() -> None:
    lens = LENSES["brown-conrady, pincushion"]
    k1, k2, p1, p2, k3 = lens.distortion
    x, y = 0.31, -0.22
    r2 = x * x + y * y
    radial = 1 + k1 * r2 + k2 * r2**2 + k3 * r2**3
    u = lens.pinhole.fx * (x * radial + 2 * p1 * x * y + p2 * (r2 + 2 * x * x)) + 47.5
    v = lens.pinhole.fy * (y * radial + p1 * (r2 + 2 * y * y) + 2 * p2 * x * y) + 31.5
    assert lens.project(np.array([[3 * x, 3 * y, 3.0]]))[0] == pytest.approx([u, v], abs=1e-12)
    assert np.isnan(lens.project(np.array([[0.0, 0.0, -1.0]]))).all()


def test_fisheye_against_its_formula() -> None:
    lens = LENSES["fisheye"]
    k1, k2, k3, k4 = lens.distortion
    for angle, around in ((0.4, 0.3), (1.2, -2.5), (1.7, 1.0)):
        bent = angle * (1 + k1 * angle**2 + k2 * angle**4 + k3 * angle**6 + k4 * angle**8)
        point = 4.0 * np.array(
            [math.sin(angle) * math.cos(around), math.sin(angle) * math.sin(around), math.cos(angle)]
        )
        expected = [lens.pinhole.fx * bent * math.cos(around) + 47.5, lens.pinhole.fy * bent * math.sin(around) + 31.5]
        assert lens.project(point[None])[0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("name", "fov_deg"), [("pinhole", math.degrees(1.4)), ("fisheye", 150.0)])
def test_the_middle_row_sees_the_angle_asked_for(name: str, fov_deg: float) -> None:
    lens = LENSES[name]
    half = math.radians(0.5 * fov_deg)
    edge = lens.project(np.array([[math.sin(half), 0.0, math.cos(half)]]))[0, 0]
    assert edge == pytest.approx(95.5, abs=1e-9)


def test_beyond_its_sight_a_fisheye_is_blind() -> None:
    lens = LENSES["wide fisheye"]
    radius = np.hypot(*np.meshgrid(np.arange(96) - 47.5, np.arange(96) - 47.5))
    expected = radius / lens.pinhole.fx <= FISHEYE_SIGHT
    assert (np.isfinite(lens.directions[..., 0]) == expected).all()
    assert not expected.all()


def test_a_lens_that_folds_is_refused() -> None:
    with pytest.raises(ScenarioError, match="folds the image before its corner"):
        _ = Lens.from_fov("brown-conrady", 320, 240, 1.6, (-0.5, 0.0, 0.0, 0.0)).directions
    # where it folds, points from outside must not come back into the image
    lens = LENSES["brown-conrady"]
    far = np.array([[2.0, 0.0, 1.0], [5.0, 5.0, 1.0]])
    assert np.isnan(Lens.from_fov("brown-conrady", 96, 64, 1.3, (-0.2, 0.0, 0.0, 0.0)).project(far)).all()
    assert np.isfinite(lens.project(np.array([[0.5, 0.2, 1.0]]))).all()


def test_wide_lenses_are_made_of_the_sides_of_a_cube_and_narrow_ones_of_one_view() -> None:
    assert len(Mosaic(LENSES["wide fisheye"], 0, 96).faces) == 5
    assert len(Mosaic(LENSES["brown-conrady"], 0, 64).faces) == 1
    assert len(Mosaic(Lens.from_fov("fisheye", 96, 64, math.radians(80.0), ()), 0, 64).faces) == 1
    band = Mosaic(LENSES["brown-conrady"], 20, 30).faces[0].lens
    assert 10 <= band.height <= 16


@pytest.mark.parametrize("lens", LENSES.values(), ids=LENSES)
def test_image_motion_is_the_derivative_of_the_projection(lens: Lens) -> None:
    rng = np.random.Generator(np.random.Philox(key=5))
    shape = lens.directions.shape[:2]
    distance = rng.uniform(2.0, 9.0, shape).astype(np.float32)
    velocities = rng.normal(size=(*shape, 3)).astype(np.float32)
    start = Rotation.from_euler("xyz", [0.3, -0.2, 1.1])
    velocity, turn = np.array([1.0, -0.5, 0.3]), np.array([0.2, -0.6, 0.4])
    seen = np.isfinite(lens.directions[..., 0])
    points = (lens.directions[seen] * distance[seen][:, None]) @ start.as_matrix().T

    def place(dt: float) -> np.ndarray:
        attitude = start * Rotation.from_rotvec(dt * turn)
        return lens.project((points + dt * (velocities[seen] - velocity)) @ attitude.as_matrix())

    expected = (place(1e-4) - place(-1e-4)) / 2e-4
    flow = image_motion(lens, distance, velocities, start.as_matrix(), velocity, turn)
    np.testing.assert_allclose(flow[seen], expected, rtol=1e-4, atol=2e-3)
