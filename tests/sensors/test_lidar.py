"""The LiDAR: what comes back, what each return says of what was hit, and its faults."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from lidar_scans import (
    KEY,
    NO_ERRORS,
    TracedScene,
    close,
    flying,
    in_weather,
    lidar,
    narrow,
    room,
    scan,
    still,
    wall_ahead,
)
from scipy.spatial.transform import Rotation

from skyloop.core.keyed_random import KeyedRandom
from skyloop.sensors.faults import Fault, apply_faults, check_faults
from skyloop.sensors.lidar import PRESETS
from skyloop.world.materials import MATERIAL_ID, MATERIALS
from skyloop.world.mesh import box, quad
from skyloop.world.model import Model, Shape
from skyloop.world.semantics import CLASS_ID
from skyloop_client.messages import LidarScan


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_every_preset_without_its_errors_measures_a_room_exactly(preset: str) -> None:
    sensor = lidar(preset, **NO_ERRORS)
    sample = scan(sensor, room(5.0))
    assert len(sample.ranges) == len(sensor.pattern.rings)
    assert np.abs(np.abs(sample.points).max(axis=1) - 5.0).max() < 1e-4
    assert close(np.linalg.norm(sample.points, axis=1), sample.ranges, 1e-5)
    array: Any
    for array, kind in zip(
        (sample.points, sample.ranges, sample.intensities, sample.rings, sample.offsets_ns, sample.classes),
        (np.float32, np.float32, np.float32, np.uint16, np.int64, np.uint8),
        strict=True,
    ):
        assert array.dtype == kind and len(array) == len(sample.instances)


def test_points_are_in_the_sensors_axes_wherever_it_is_and_looks() -> None:
    turn = Rotation.from_euler("ZYX", [2.0, 0.4, -0.3])
    kinematics = still(position=[3.0, -2.0, 1.0], quat_wxyz=np.roll(turn.as_quat(), 1))
    sample = scan(lidar(), room(), kinematics)
    world = turn.apply(sample.points) + kinematics.position
    assert np.abs(np.abs(world).max(axis=1) - 10.0).max() < 1e-4


def test_a_plane_100_m_away_is_within_a_millimetre() -> None:
    sample = scan(lidar(horizontal_fov_deg=(-40.0, 40.0)), wall_ahead(90.0))
    near = sample.ranges < 110.0
    assert near.sum() > 1000
    assert np.abs(sample.points[near, 0] - 90.0).max() < 1e-3


def test_min_and_max_range() -> None:
    assert len(scan(narrow(min_range=5.0), wall_ahead(4.9)).ranges) == 0
    assert len(scan(narrow(min_range=4.0), wall_ahead(4.9)).ranges) > 900
    assert len(scan(narrow(max_range=50.0), wall_ahead(51.0)).ranges) == 0
    assert len(scan(narrow(max_range=52.0), wall_ahead(51.0)).ranges) > 900


def test_range_noise_is_white_along_the_beam() -> None:
    sensor = narrow(range_noise_sd=0.03)
    first, second = (scan(sensor, wall_ahead(40.0), index=index) for index in (0, 1))
    errors = [sample.ranges - 40.0 / sensor.pattern.directions[:, 0] for sample in (first, second)]
    together = np.concatenate(errors)
    assert np.std(together) == pytest.approx(0.03, rel=0.06)
    assert np.mean(together) == pytest.approx(0.0, abs=0.003)
    assert (
        abs(np.corrcoef(errors[0], errors[1])[0, 1]) < 0.1
        and abs(np.corrcoef(errors[0][1:], errors[0][:-1])[0, 1]) < 0.1
    )
    assert close(first.points / first.ranges[:, None], sensor.pattern.directions, 1e-6)


@pytest.mark.parametrize("preset", ["vlp16", "hdl32", "os1-64", "livox-mid40", "rplidar"])
def test_the_presets_noise(preset: str) -> None:
    noisy = scan(lidar(preset, motion_distortion=False), room(4.0))
    exact = scan(lidar(preset, motion_distortion=False, range_noise_sd=0.0), room(4.0))
    assert np.std(noisy.ranges - exact.ranges) == pytest.approx(PRESETS[preset].range_noise_sd, rel=0.1)


def test_noise_does_not_leave_the_range() -> None:
    sample = scan(narrow(range_noise_sd=0.1, min_range=1.0, max_range=2.0), wall_ahead(1.01))
    assert 300 < len(sample.ranges) < 700
    assert sample.ranges.min() >= 1.0


def beams(sample: LidarScan) -> np.ndarray:
    """A number per firing."""
    azimuth = np.degrees(np.arctan2(sample.points[:, 1], sample.points[:, 0]))
    return np.rint((azimuth + 180.0) / 360.0 * 1875).astype(int) * 16 + sample.rings


def test_dropouts_lose_their_share_and_no_beam_changes_anothers_chance() -> None:
    sensor = lidar(dropout=0.2)
    sample = scan(sensor, room())
    n = len(sensor.pattern.rings)
    assert len(sample.ranges) / n == pytest.approx(0.8, abs=4 * np.sqrt(0.16 / n))
    assert len(scan(lidar(dropout=1.0), room()).ranges) == 0
    # beams that meet the wall are dropped alike, whatever the others meet
    ahead = scan(sensor, wall_ahead(10.0))
    assert 0 < len(ahead.ranges) < len(sample.ranges)
    assert np.isin(beams(ahead), beams(sample)).all()


@pytest.mark.parametrize(("material", "distance"), [("plaster", 10.0), ("asphalt", 30.0), ("plaster", 45.0)])
def test_intensity_is_reflectance_times_cosine_at_any_range(material: str, distance: float) -> None:
    sample = scan(lidar(horizontal_fov_deg=(-60.0, 60.0)), wall_ahead(distance, material))
    cosine = sample.points[:, 0] / sample.ranges
    assert close(sample.intensities, MATERIALS[MATERIAL_ID[material]].reflectance * cosine, 1e-5)
    assert np.ptp(cosine) > 0.4


def test_dark_oblique_and_far_surfaces_are_lost() -> None:
    """Seen where ρ·cos ≥ min_reflectance·(r / max_range)²."""
    sensor = narrow(min_reflectance=0.6, max_range=100.0)
    assert len(scan(sensor, wall_ahead(99.0, "plaster")).ranges) > 900  # 0.60
    assert len(scan(sensor, wall_ahead(76.0, "brick")).ranges) > 900  # 0.35: to 76.4 m
    assert len(scan(sensor, wall_ahead(77.0, "brick")).ranges) == 0
    assert len(scan(sensor, wall_ahead(29.0, "water")).ranges) == 0  # 0.05: to 28.9 m
    wide = lidar(min_reflectance=0.6, max_range=100.0, vertical_fov_deg=(0.0, 0.0), channels=1)
    sample = scan(wide, wall_ahead(50.0, "plaster"))
    cosine = sample.points[:, 0] / sample.ranges
    # at 50 m / cos: 0.6·cos ≥ 0.6·0.25 / cos², so cos³ ≥ 0.25
    assert cosine.min() == pytest.approx(0.25 ** (1 / 3), abs=1e-3)


def test_class_and_instance_of_each_return() -> None:
    model = Model()
    ground = quad((-90, -90, -2), (90, -90, -2), (90, 90, -2), (-90, 90, -2), material="grass")
    terrain = model.place(Shape("ground", (ground,)), is_a="by material", solid=False)
    tree = model.place(Shape("tree", (box((1, 1, 8), material="bark"),)), (8.0, 0.0, 0.0), is_a="tree")
    car = model.place(Shape("car", (box((1, 1, 8), material="car paint"),)), (0.0, 8.0, 0.0), is_a="car")
    sample = scan(lidar(), TracedScene(model))
    for instance, kind in ((terrain, "grass"), (tree, "tree"), (car, "car")):
        mine = sample.instances == instance
        assert mine.sum() > 50
        assert (sample.classes[mine] == CLASS_ID[kind]).all()
    assert close(sample.points[sample.instances == tree, 0], 7.5, 1e-4)
    assert close(sample.points[sample.instances == car, 1], 7.5, 1e-4)
    assert close(sample.points[sample.instances == terrain, 2], -2.0, 1e-4)


def test_same_key_same_bytes() -> None:
    scene = in_weather(room(20.0), rain=30.0, visibility=500.0)
    first, again = (scan(lidar("vlp16", dropout=0.1), scene, flying(), index=7) for _ in range(2))
    other = scan(lidar("vlp16", dropout=0.1), scene, flying(), index=8)
    for name in ("points", "ranges", "intensities", "rings", "offsets_ns", "classes", "instances"):
        assert getattr(first, name).tobytes() == getattr(again, name).tobytes()
    assert first.ranges.tobytes() != other.ranges.tobytes()


def test_faults_move_the_points_with_their_ranges() -> None:
    sensor, sample, rng = lidar(), scan(lidar(), room()), KeyedRandom(KEY, 0)
    faults = (Fault(kind="bias", value=0.5), Fault(kind="bias", field="intensities", value=0.1))
    check_faults(faults, sensor, "drone/lidar")
    wrong, _, _ = apply_faults(faults, sensor, sample, None, rng)
    assert close(wrong.ranges, sample.ranges + 0.5, 1e-5)
    assert close(wrong.points, sample.points * (wrong.ranges / sample.ranges)[:, None], 1e-4)
    assert close(wrong.intensities, sample.intensities + 0.1, 1e-6)
    assert wrong.points.dtype == wrong.ranges.dtype == wrong.intensities.dtype == np.float32
    spike = Fault(kind="spike", value=0.3, probability=1.0)
    spiked, _, _ = apply_faults((spike,), sensor, sample, None, rng)
    assert close(np.abs(spiked.ranges - sample.ranges), 0.3, 1e-5)
