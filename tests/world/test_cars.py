import numpy as np
import pytest

from skyloop.world.generation import generator
from skyloop.world.ground import Ground
from skyloop.world.materials import MATERIAL_ID
from skyloop.world.model import Model
from skyloop.world.scenery.actors import cars
from skyloop.world.scenery.actors.car_shapes import STYLES, body_shape, parked_shape, wheel_places, wheel_shape
from skyloop.world.scenery.actors.paths import MoverPath
from skyloop.world.semantics import CLASS_ID
from skyloop_client.errors import ScenarioError

FLAT = Ground.flat()
BLOCK = MoverPath([(0, 0), (60, 0), (60, 40), (0, 40)], corner_radius=8.0)
MID_CORNER = 44.0 + 2.0 * np.pi
"""m: after a leg of 44 m, half way round a corner of 8 m radius."""
HATCHBACK = STYLES[0]


def driving(path=BLOCK, ground=FLAT, speed=8.0, start=0.0, style=HATCHBACK):
    return cars.Car(style, path, ground, speed, start)


@pytest.mark.parametrize("style", STYLES, ids=lambda style: style.name)
def test_cars_have_car_sizes_materials_and_budgets(style):
    shape = parked_shape(style)
    size = np.ptp(shape.lods[0].positions, axis=0)
    assert 3.8 < size[0] < 5.2
    assert style.width - 0.01 < size[1] < style.width + 0.4  # mirrors stand out
    assert 1.4 < size[2] < 2.1
    assert shape.lods[0].positions[:, 2].min() == pytest.approx(0.0, abs=0.01)
    full, middle, far = (len(mesh.faces) for mesh in shape.lods)
    assert 600 < full < 1300
    assert middle < 450
    assert far < 110
    for name in ("car paint", "glass", "rubber", "metal", "plastic"):
        assert MATERIAL_ID[name] in shape.lods[0].materials
    assert shape.lods[0].radius < 3.2
    for mesh in shape.lods:
        assert np.linalg.norm(mesh.normals, axis=1) == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("style", STYLES, ids=lambda style: style.name)
def test_a_car_s_skin_faces_outwards(style):
    mesh = body_shape(style).lods[0]
    paint = mesh.materials == MATERIAL_ID["car paint"]
    outwards = mesh.positions[paint] - [0.5 * style.wheelbase, 0.0, 0.6]
    outwards[:, 0] *= 0.1  # long: what counts is which side and how high
    assert (np.sum(outwards * mesh.normals[paint], axis=1) > 0.0).mean() > 0.95


def test_left_and_right_are_mirror_images():
    mesh = body_shape(HATCHBACK).lods[0]
    left = {tuple(point) for point in np.round(mesh.positions, 4).tolist() if point[1] > 1e-3}
    right = {(x, -y, z) for x, y, z in np.round(mesh.positions, 4).tolist() if y < -1e-3}
    assert left == right
    assert np.array_equal(np.unique(wheel_places(HATCHBACK)[:, 1]), [-0.5 * HATCHBACK.track, 0.5 * HATCHBACK.track])


def test_the_middle_of_the_rear_axle_follows_the_path_at_the_speed_asked_for():
    car = driving(speed=8.0, start=5.0)
    for t in np.linspace(-20.0, 60.0, 60):
        pose = car.poses(t)[0]
        xy, heading = BLOCK.at(5.0 + 8.0 * t)
        assert pose[:2, 3] == pytest.approx(xy, abs=1e-9)
        assert pose[:2, 0] == pytest.approx([np.cos(heading), np.sin(heading)], abs=1e-9)


def test_wheels_roll_without_slipping_on_the_straight_and_in_bends():
    model = Model()
    model.add_mover(
        driving(), [body_shape(HATCHBACK), *(wheel_shape(HATCHBACK, side) for side in (1, -1, 1, -1))], is_a="car"
    )
    model.freeze()
    radius = HATCHBACK.wheel
    for s in (30.0, MID_CORNER):
        motion = model.motion(round(s / 8.0 * 1e9))
        for wheel in range(1, 5):
            contact = motion.velocities[wheel] + np.cross(motion.angular_velocities[wheel], [0.0, 0.0, -radius])
            assert np.linalg.norm(contact) < 0.005 * 8.0
            assert motion.poses[wheel, 2, 3] == pytest.approx(radius)


def test_front_wheels_point_along_their_own_circles_in_a_bend():
    poses = driving().poses(MID_CORNER / 8.0)
    body = poses[0]
    for k, hub in enumerate(wheel_places(HATCHBACK)):
        axle = body[:, :3].T @ poses[1 + k][:, 1]
        wanted = np.arctan2(hub[0], 8.0 - hub[1])
        assert np.arctan2(-axle[0], axle[1]) == pytest.approx(wanted, abs=1e-6)


def test_poses_are_rigid_continuous_and_pure():
    car = driving(speed=12.0)
    for t in generator(1, "instants").uniform(-40.0, 80.0, 200):
        now, later = car.poses(t), car.poses(t + 1e-3)
        turned = np.einsum("nji,njk->nik", now[:, :, :3], now[:, :, :3])
        assert turned == pytest.approx(np.tile(np.eye(3), (5, 1, 1)), abs=1e-9)
        assert np.linalg.det(now[:, :, :3]) == pytest.approx(1.0)
        assert np.linalg.norm(later[:, :, 3] - now[:, :, 3], axis=1).max() < 0.02
        assert np.abs(later[0, :, :3] - now[0, :, :3]).max() < 0.01
        assert np.array_equal(car.poses(t), now)


def test_a_car_lies_on_sloping_ground():
    ground = Ground.from_function(lambda x, y: 0.08 * x + 0.05 * y, (-50, -50, 150, 150), 20.0)
    poses = driving(ground=ground).poses(3.7)
    up = np.array([-0.08, -0.05, 1.0]) / np.linalg.norm([-0.08, -0.05, 1.0])
    assert poses[0][:, 2] == pytest.approx(up, abs=1e-9)
    model = Model()
    cars.park_car(model, generator(0, "slope"), ground, (12.0, -7.0), 0.9)
    model.freeze()
    pose = model.standing_poses[0]
    assert pose[:, 2] == pytest.approx(up, abs=1e-9)
    assert pose[:, 3] == pytest.approx([12.0, -7.0, 0.08 * 12 - 0.05 * 7])
    assert np.arctan2(pose[1, 0], pose[0, 0]) == pytest.approx(0.9)


def test_cars_differ_by_seed_and_repeat_with_it():
    def street(seed):
        model = Model()
        chance = generator(seed, "street")
        for k in range(12):
            number = cars.park_car(model, chance, FLAT, (6.0 * k, 0.0), 0.0)
            assert model.objects[number].class_id == CLASS_ID["car"]
        moving = cars.add_car(model, chance, FLAT, BLOCK, speed=7.0)
        model.freeze()
        assert len(model.objects[moving].rows) == 5
        return model

    one, same, other = street(1), street(1), street(2)
    assert np.array_equal(one.part_shape, same.part_shape) and np.array_equal(one.part_palette, same.part_palette)
    assert len(set(one.part_shape[:12])) >= 3 and len(set(one.part_palette[:12])) >= 4
    assert [one.shapes[k].name for k in one.part_shape] != [other.shapes[k].name for k in other.part_shape]


@pytest.mark.parametrize("speed", [0.0, -3.0, 100.0, float("nan")])
def test_impossible_speeds_are_refused(speed):
    with pytest.raises(ScenarioError, match="cannot drive"):
        cars.add_car(Model(), generator(1, "x"), FLAT, BLOCK, speed=speed)
