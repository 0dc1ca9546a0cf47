"""The LiDAR: where it looks, what comes back, and what each of its options does."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError
from scipy.spatial.transform import Rotation

from skyloop.errors import ScenarioError
from skyloop.keyed_random import KeyedRandom, stream_key
from skyloop.messages import Kinematics, LidarScan
from skyloop.sensors.faults import Fault, apply_faults, check_faults
from skyloop.sensors.lidar import PRESETS, Lidar, LidarConfig
from skyloop.sensors.lidar_kernels import ECHO_DEPTH, ECHO_REFLECTANCE
from skyloop.world.materials import MATERIAL_ID, MATERIALS
from skyloop.world.mesh import box, quad
from skyloop.world.model import Model, Shape
from skyloop.world.rays import RayHits, RayTracer
from skyloop.world.semantics import CLASS_ID
from skyloop.world.weather import Weather, WeatherConfig

KEY = stream_key(5, "drone/lidar")
PERIOD = 0.1
NO_ERRORS: dict[str, Any] = {
    "range_noise_sd": 0.0,
    "min_reflectance": 0.0,
    "min_range": 0.0,
    "weather": False,
    "motion_distortion": False,
}


@dataclass
class TracedScene:
    """A model seen through a RayTracer, as the simulation's scene sees it."""

    model: Model
    weather: Weather = field(default_factory=lambda: Weather(WeatherConfig(), np.array([0.0, 0.0, 1.0])))
    now_ns: int = 0
    asked: list[int | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.model.freeze()
        self.tracer = RayTracer(self.model)

    def cast(self, origins: Any, directions: Any, max_range: float, t_ns: int | None = None) -> RayHits:
        self.asked.append(t_ns)
        motion = self.model.motion(self.now_ns if t_ns is None else t_ns)
        return self.tracer.cast(origins, directions, max_range, motion)


def in_weather(scene: TracedScene, **config: float) -> TracedScene:
    scene.weather = replace(scene.weather, config=WeatherConfig(**config))
    return scene


def wall_ahead(distance: float, material: str = "plaster") -> TracedScene:
    """One wall across the forward axis."""
    model = Model()
    d, h = distance, 500.0
    face = quad((d, h, -h), (d, -h, -h), (d, -h, h), (d, h, h), material=material)
    model.place(Shape("wall", (face,)), is_a="wall")
    return TracedScene(model)


def room(half: float = 10.0) -> TracedScene:
    """A closed box around the origin: every beam returns."""
    model = Model()
    model.place(Shape("room", (box((2 * half, 2 * half, 2 * half), material="plaster"),)), is_a="building")
    return TracedScene(model)


def still(**changes: Any) -> Kinematics:
    level = np.array([1.0, 0.0, 0.0, 0.0])
    rest = Kinematics(0, np.zeros(3), np.zeros(3), level, np.zeros(3), np.zeros(3), np.zeros(3))
    return replace(rest, **{k: v if k == "t_ns" else np.array(v, float) for k, v in changes.items()})


def lidar(preset: str = "perfect", period_s: float = PERIOD, **options: Any) -> Lidar:
    return Lidar(LidarConfig(preset=preset, **options), period_s)


def narrow(**options: Any) -> Lidar:
    """A thousand beams within half a degree of forward."""
    plane = {"channels": 1, "vertical_fov_deg": (0.0, 0.0), "horizontal_fov_deg": (-0.5, 0.5)}
    return lidar(points_per_second=3.6e6, **plane, **options)


def close(values: np.ndarray, expected: Any, within: float) -> bool:
    """As pytest.approx, which takes a second for ten thousand values."""
    return len(values) > 0 and bool(np.abs(np.asarray(values, float) - expected).max() <= within)


def scan(sensor: Lidar, scene: TracedScene, kinematics: Kinematics | None = None, index: int = 0) -> LidarScan:
    sample, _ = sensor.measure(kinematics or still(), scene, (), KeyedRandom(KEY, index))
    return sample


# ---- where it looks


def angles(sensor: Lidar) -> tuple[np.ndarray, np.ndarray]:
    d = sensor.pattern.directions.astype(float)
    return np.degrees(np.arctan2(d[:, 1], d[:, 0])), np.degrees(np.arcsin(d[:, 2]))


@pytest.mark.parametrize(
    ("preset", "channels", "lower", "upper", "columns"),
    [
        ("airsim", 16, -45.0, -15.0, 624),  # of 625 all around; the last lies beyond 359 degrees
        ("vlp16", 16, -15.0, 15.0, 1875),
        ("hdl32", 32, -30.67, 10.67, 2172),
        ("os1-64", 64, -16.6, 16.6, 1024),
        ("rplidar", 1, 0.0, 0.0, 800),
        ("perfect", 16, -15.0, 15.0, 1875),
    ],
)
def test_spinning_patterns(preset: str, channels: int, lower: float, upper: float, columns: int) -> None:
    sensor = lidar(preset)
    azimuth, elevation = angles(sensor)
    assert len(azimuth) == channels * columns
    rings = sensor.pattern.rings
    for ring, expected in enumerate(np.linspace(lower, upper, channels)):
        assert close(elevation[rings == ring], expected, 1e-4)
    all_around = round(sensor.numbers.points_per_second * PERIOD / channels)
    steps = np.diff(np.unwrap(azimuth[rings == 0], period=360.0))
    assert close(steps, 360.0 / all_around, 1e-3)
    offsets = sensor.pattern.offsets_ns
    assert offsets[0] == -100_000_000 and offsets[-1] < 0 and (np.diff(offsets) >= 0).all()
    assert close(np.linalg.norm(sensor.pattern.directions, axis=1), 1.0, 1e-6)


def test_airsims_numbers_are_its_defaults() -> None:
    numbers = PRESETS["airsim"]
    assert (numbers.channels, numbers.max_range, numbers.points_per_second) == (16, 100.0, 100_000.0)
    assert numbers.horizontal_fov_deg == (0.0, 359.0) and numbers.vertical_fov_deg == (-45.0, -15.0)
    assert numbers.range_noise_sd == 0.0 and not numbers.intensity and not numbers.weather
    assert LidarConfig(preset="airsim").rate_hz == 10.0


def test_a_narrower_horizontal_field_keeps_the_step_and_the_times() -> None:
    whole, part = lidar(), lidar(horizontal_fov_deg=(30.0, 120.0))
    azimuth, _ = angles(part)
    assert azimuth.min() == pytest.approx(30.0, abs=1e-3) and azimuth.max() == pytest.approx(120.0, abs=0.2)
    assert len(azimuth) == pytest.approx(len(whole.pattern.rings) / 4, abs=16)
    assert part.pattern.offsets_ns[-1] == pytest.approx(-75e6, abs=1e5)


def test_the_head_turns_on_between_staggered_channels_only() -> None:
    together, staggered = lidar(), lidar(staggered=True)
    per_column = together.pattern.offsets_ns.reshape(-1, 16)
    assert (per_column == per_column[:, :1]).all()
    steps = np.diff(staggered.pattern.offsets_ns)
    assert close(steps, 1e8 / 30_000, 1.1)
    azimuth, _ = angles(staggered)
    turned = np.diff(np.unwrap(azimuth, period=360.0))
    assert close(turned, 360.0 / 30_000, 1e-4)


def test_points_per_second_rate_and_channels_set_the_number_of_firings() -> None:
    assert len(lidar(points_per_second=64_000.0, channels=4).pattern.rings) == 6400
    assert len(lidar(points_per_second=64_000.0, channels=4, period_s=0.05).pattern.rings) == 3200
    assert len(np.unique(lidar(channels=4).pattern.rings)) == 4


def test_the_rosette_fills_its_cone_and_never_repeats() -> None:
    sensor = lidar("livox-mid40")
    sweeps = [sensor.pattern.directions_at(k * 100_000_000).astype(float) for k in (1, 2, 3, 4, 5)]
    first, second = sweeps[:2]
    off_axis = np.degrees(np.arccos(np.clip(first[:, 0], -1.0, 1.0)))
    assert len(first) == 10_000 and (sensor.pattern.rings == 0).all()
    assert off_axis.max() == pytest.approx(19.2, abs=0.01)
    # through the middle twice per swing; ten swings in a tenth of a second
    assert np.sum((off_axis[1:-1] < off_axis[:-2]) & (off_axis[1:-1] <= off_axis[2:])) == 20
    # it goes on where it stopped: no step between sweeps is longer than one within
    step = np.linalg.norm(np.diff(first, axis=0), axis=1).max()
    assert np.linalg.norm(second[0] - first[-1]) < 1.01 * step
    # and fills the cone in time
    cells = [set(zip(*np.round(np.degrees(sweep[:, 1:].T)).astype(int), strict=True)) for sweep in sweeps]
    assert len(set.union(*cells)) > 1.5 * len(cells[0])


def test_a_wider_rosette() -> None:
    sensor = lidar("livox-mid40", horizontal_fov_deg=(-35.0, 35.0))
    assert np.degrees(np.arccos(sensor.pattern.directions[:, 0].min())) == pytest.approx(35.0, abs=0.01)


# ---- what comes back


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_every_preset_without_its_errors_measures_a_room_exactly(preset: str) -> None:
    sensor = lidar(preset, **NO_ERRORS)
    sample = scan(sensor, room(5.0))
    assert len(sample.ranges) == len(sensor.pattern.rings)
    assert np.abs(np.abs(sample.points).max(axis=1) - 5.0).max() < 1e-4
    assert close(np.linalg.norm(sample.points, axis=1), sample.ranges, 1e-5)
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
    assert abs(np.corrcoef(*errors)[0, 1]) < 0.1 and abs(np.corrcoef(errors[0][1:], errors[0][:-1])[0, 1]) < 0.1
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


def test_intensity_off() -> None:
    assert (scan(lidar(intensity=False), room()).intensities == 0.0).all()
    assert (scan(lidar(), room()).intensities > 0.1).all()


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


# ---- weather


def test_fog_removes_far_returns_and_dims_near_ones() -> None:
    options = {"min_reflectance": 0.6, "max_range": 100.0}
    sensor = narrow(weather=True, **options)
    assert len(scan(sensor, wall_ahead(80.0)).ranges) > 900
    foggy = in_weather(wall_ahead(80.0), visibility=100.0)
    assert (scan(sensor, foggy).instances == 0).all()
    assert (scan(narrow(weather=False, **options), foggy).instances > 0).sum() > 900
    near = in_weather(wall_ahead(20.0), visibility=300.0)
    seen = scan(sensor, near)
    solid = seen.instances > 0
    assert solid.sum() > 900
    cosine = seen.points[solid, 0] / seen.ranges[solid]
    expected = 0.6 * cosine * np.exp(-2.0 * 3.912 / 300.0 * seen.ranges[solid])
    assert close(seen.intensities[solid], expected, 1e-5)


@pytest.mark.parametrize(
    ("weather", "rate"),
    [
        ({"rain": 100.0}, 0.365 * 100.0**0.63 / 4343.0),
        ({"snow": 20.0}, 1.8 * 20.0**0.75 / 4343.0),
        ({"dust": 60.0}, 0.6e-3 * 60.0),
        ({"visibility": 60.0}, 0.1 * 3.912 / 60.0),
        ({"visibility": 1500.0}, 0.0),
    ],
)
def test_the_air_sends_back_sparse_near_echoes(weather: dict[str, float], rate: float) -> None:
    """As many as 1 - exp(-rate·depth), ever rarer farther away."""
    scene = in_weather(room(500.0), **weather)
    sensor = lidar(weather=True, max_range=100.0, points_per_second=1e6)
    sample = scan(sensor, scene)
    n = len(sensor.pattern.rings)
    expected = -np.expm1(-rate * ECHO_DEPTH)
    assert len(sample.ranges) / n == pytest.approx(expected, abs=4 * np.sqrt(expected / n))
    if rate > 0.0:
        assert np.mean(sample.ranges) == pytest.approx(ECHO_DEPTH, rel=0.2)
        assert close(sample.intensities, ECHO_REFLECTANCE, 1e-7)
    assert (sample.classes == 0).all() and (sample.instances == 0).all()
    assert len(scan(lidar(max_range=100.0), scene).ranges) == 0


def test_echoes_come_from_before_the_wall_only_and_not_in_clear_air() -> None:
    sample = scan(lidar(weather=True), in_weather(room(2.0), rain=200.0, dust=500.0))
    echoes = sample.instances == 0
    assert echoes.sum() > 50
    assert np.abs(sample.points[echoes]).max() < 2.0
    assert np.abs(np.abs(sample.points[~echoes]).max(axis=1) - 2.0).max() < 1e-4
    assert (scan(lidar(weather=True), room(2.0)).instances > 0).all()


# ---- motion

PLACE, VELOCITY, ACCELERATION = np.array([1.0, 2.0, 0.5]), np.array([12.0, 5.0, -1.0]), np.array([1.5, -2.0, 0.7])
RATE = np.array([0.3, -0.4, 2.5])
ATTITUDE = Rotation.from_euler("ZYX", [0.3, 0.1, -0.2])


def flying(spin: float = 1.0) -> Kinematics:
    return still(
        t_ns=3_000_000_000,
        position=PLACE,
        velocity_world=VELOCITY,
        acceleration_world=ACCELERATION,
        quat_wxyz=np.roll(ATTITUDE.as_quat(), 1),
        angular_velocity=spin * RATE,
    )


def off_the_walls(points: np.ndarray) -> float:
    return float(np.abs(np.abs(points).max(axis=1) - 30.0).max())


@pytest.mark.parametrize("spin", [1.0, 8.0])
@pytest.mark.parametrize("options", [{}, {"staggered": True}, {"pattern": "rosette"}], ids=str)
def test_undistorting_with_the_true_motion_recovers_the_walls(options: dict[str, Any], spin: float) -> None:
    if "pattern" in options:
        options = {**options, "channels": 1, "horizontal_fov_deg": (-60.0, 60.0)}
    sample = scan(lidar(motion_distortion=True, **options), room(30.0), flying(spin))
    assert len(sample.ranges) == 30_000
    assert sample.offsets_ns[0] == -100_000_000 and sample.offsets_ns[-1] < 0
    t = 1e-9 * sample.offsets_ns[:, None]
    place = PLACE + t * VELOCITY + 0.5 * t**2 * ACCELERATION
    assert off_the_walls((ATTITUDE * Rotation.from_rotvec(t * spin * RATE)).apply(sample.points) + place) < 2e-3
    # taken as if of one instant, the walls are bent by what was flown in a sweep
    assert off_the_walls(ATTITUDE.apply(sample.points) + PLACE) > 1.0


def test_without_distortion_the_sweep_is_of_one_instant() -> None:
    sample = scan(lidar(motion_distortion=False), room(30.0), flying())
    assert off_the_walls(ATTITUDE.apply(sample.points) + PLACE) < 1e-3
    assert (sample.offsets_ns == 0).all()
    assert sample.t_ns == 3_000_000_000


@dataclass
class Gliding:
    """A wide box that moves along x at 10 m/s."""

    n_rows: int = 1

    def poses(self, t: float) -> np.ndarray:
        return np.column_stack([np.eye(3), [6.0 + 10.0 * t, 0.0, 0.0]])[None]


def with_glider() -> TracedScene:
    model = Model()
    model.place(Shape("floor", (quad((-50, -50, -9), (50, -50, -9), (50, 50, -9), (-50, 50, -9)),)), is_a="floor")
    model.add_mover(Gliding(), [Shape("box", (box((1, 40, 20)),))], is_a="car")
    return TracedScene(model, now_ns=2_000_000_000)


def test_movers_are_seen_at_the_time_of_their_slice() -> None:
    def face(**options: Any) -> tuple[np.ndarray, np.ndarray]:
        sample = scan(lidar(**options), with_glider(), still(t_ns=2_000_000_000))
        car = sample.classes == CLASS_ID["car"]
        assert car.sum() > 1000
        return sample.points[car, 0].astype(float), 1e-9 * sample.offsets_ns[car]

    x, _ = face(motion_distortion=False)
    assert close(x, 25.5, 1e-3)
    for slices in (1, 8, 50):
        x, t = face(motion_distortion=True, slices=slices)
        error = np.abs(x - (25.5 + 10.0 * t)).max()
        # at most half a slice too early or late, and coarse slices nearly that
        assert error <= 10.0 * 0.5 * PERIOD / slices + 1e-3
        assert error > 10.0 * 0.1 * PERIOD / slices


def test_a_world_in_which_nothing_moves_is_cast_at_once_and_time_begins_at_zero() -> None:
    standing, moving = room(), with_glider()
    scan(lidar("vlp16"), standing)
    assert standing.asked == [None]
    scan(lidar("vlp16"), moving)
    assert len(moving.asked) == 8 and min(moving.asked) == 0


# ---- what was hit


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


# ---- the rest


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


def test_details_say_what_is_simulated() -> None:
    details = lidar("vlp16", max_range=77.0).details()
    assert details["preset"] == "vlp16" and details["max_range"] == 77.0 and details["sweep"] == PERIOD
    assert details["elevations_deg"] == pytest.approx(np.arange(-15.0, 16.0, 2.0))
    assert details["points_per_sweep"] == 30_000 and details["classes"][CLASS_ID["tree"]] == "tree"
    assert "elevations_deg" not in lidar("livox-mid40").details()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_range": 200.0}, "must be below max_range"),
        ({"vertical_fov_deg": (10.0, -10.0)}, "must rise within"),
        ({"horizontal_fov_deg": (0.0, 400.0)}, "must rise by at most 360"),
        ({"preset": "livox-mid40", "channels": 4}, "a rosette has one channel"),
        ({"preset": "livox-mid40", "vertical_fov_deg": (-1.0, 1.0)}, "a rosette has one channel"),
        ({"preset": "livox-mid40", "horizontal_fov_deg": (-100.0, 100.0)}, "must rise by at most 180"),
    ],
)
def test_what_cannot_be_built_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        LidarConfig(**options)


def test_a_sweep_of_millions_is_refused() -> None:
    with pytest.raises(ScenarioError, match="lower points_per_second"):
        lidar(points_per_second=1e8)
