from collections import Counter

import numpy as np
import pytest
from embree_probe import Probe, disc, visible_triangles
from model_rays import triangles
from model_rows import all_triangles

from skyloop.world.scenery.streets import DROP, HALF_LOT, OUTER_FRONT, OUTER_KERB, block_centres
from skyloop.world.semantics import CLASSES
from skyloop.world.worlds.urban import Urban

SURFACES = ("roads", "kerbs", "pavements", "meadows", "lane markings", "plaza", "bed", "court", "lawn", "garden paths")
FURNITURE = ("lamp", "bench", "bin", "sign", "traffic light", "furniture", "fence")


@pytest.fixture(scope="module")
def town() -> Urban:
    world = Urban(1)
    world.model.freeze()
    return world


def _kind(name: str) -> str:
    return name.rstrip("0123456789 ")


def _standing(world: Urban, *kinds: str) -> list[tuple[int, np.ndarray]]:
    """(row, pose) of the standing objects whose name or class is one of `kinds`."""
    model = world.model
    found = []
    for row, pose in enumerate(model.standing_poses):
        instance = model.objects[model.part_object[row]]
        if _kind(instance.name) in kinds or CLASSES[min(instance.class_id, len(CLASSES) - 1)] in kinds:
            found.append((row, pose))
    return found


def _check_free_and_whole(world: Urban) -> None:
    model = world.model
    probe = Probe.of_model(model)
    tops, _ = probe.tops(disc(3.0))
    assert np.abs(tops).max() < 0.05
    for t in np.arange(0.0, 200.0, 7.0):
        near = np.linalg.norm(model.motion(int(t * 1e9)).poses[:, :2, 3], axis=1).min()
        assert near > 5.0
    # the horizon of a camera on the plaza is houses and trees, not a wall in front of it
    around = np.linspace(0.0, 2.0 * np.pi, 90, endpoint=False)
    ways = np.column_stack([np.cos(around), np.sin(around), np.zeros(90)])
    distance, _ = probe.cast([[0.0, 0.0, 2.5]], ways)
    assert np.median(distance) > 25.0
    assert all_triangles(model) < 500_000


def test_take_off_place_is_free_and_open(town: Urban) -> None:
    _check_free_and_whole(town)


@pytest.mark.slow("ten towns")
@pytest.mark.parametrize("seed", range(10))
def test_ten_seeds(seed: int) -> None:
    world = Urban(seed)
    world.model.freeze()
    _check_free_and_whole(world)
    _check_posts_and_cars(world)


def test_ground_is_what_is_seen(town: Urban) -> None:
    model = town.model
    corners, objects = triangles(model)
    surface = np.array([_kind(instance.name) in SURFACES for instance in model.objects])
    probe = Probe(corners[surface[objects]], objects[surface[objects]])
    places = np.random.default_rng(0).uniform(-98.0, 98.0, (4000, 2))
    tops, _ = probe.tops(places)
    truth = np.array([town.ground.at(x, y)[0] for x, y in places])
    # markings are 2 cm and garden paths 3 cm thick
    assert (tops - truth > -0.01).all() and (tops - truth < 0.031).all()
    assert np.unique(np.round(truth[np.abs(truth) % DROP < 1e-9], 3)).tolist() == [-DROP, 0.0]
    assert town.ground.at(30.0, 10.0)[0] == -DROP and town.ground.at(0.0, 0.0)[0] == 0.0
    # half way up the kerb
    assert town.ground.at(25.0 - 0.125, 10.0)[0] == pytest.approx(-0.5 * DROP)


def _check_posts_and_cars(world: Urban) -> None:
    model, ground = world.model, world.ground
    standing = _standing(world, *FURNITURE, "person", "tree", "car")
    assert len(standing) > 250
    for row, pose in standing:
        instance = model.objects[model.part_object[row]]
        mesh = model.shapes[model.part_shape[row]].lods[0]
        foot = float((mesh.positions @ pose[:, :3].T + pose[:, 3])[:, 2].min())
        height = ground.at(pose[0, 3], pose[1, 3])[0]
        buried = 0.5 if "tree" in instance.name else 0.02
        assert height - buried <= foot <= height + 0.03, instance.name
        on_road = height < -0.5 * DROP
        assert on_road == ("car" in instance.name), instance.name
    houses = [pose[:2, 3] for _, pose in _standing(world, "house")]
    for row, pose in _standing(world, "house"):
        points = model.shapes[model.part_shape[row]].lods[0].positions @ pose[:, :3].T + pose[:, 3]
        # awnings and door steps reach over the pavement, never over the road
        heights = [ground.at(x, y)[0] for x, y in points[:: len(points) // 40, :2]]
        assert min(heights) == 0.0
    assert len(houses) > 80


def test_things_stand_on_the_ground_where_they_belong(town: Urban) -> None:
    _check_posts_and_cars(town)


def test_moving_cars_keep_to_the_road_and_apart(town: Urban) -> None:
    model = town.model
    parked = np.array([pose[:2, 3] for _, pose in _standing(town, "car")])
    cars = [
        instance.rows[0] - model.n_standing for instance in model.objects if instance.class_id == CLASSES.index("car")
    ]
    driving = [row for row in cars if row >= 0]
    assert len(driving) == 8 and len(parked) == 36
    moved = []
    for t in np.arange(0.0, 40.0, 0.7):
        poses = model.motion(int(t * 1e9)).poses[driving]
        # the body's origin is its rear axle; its middle is some 1.3 m ahead
        places = poses[:, :2, 3] + 1.3 * poses[:, :2, 0]
        moved.append(places)
        assert all(town.ground.at(x, y)[0] == -DROP for x, y in places)
        apart = np.linalg.norm(places[:, None] - places[None], axis=2) + 1e3 * np.eye(len(places))
        # side by side in neighbouring lanes cars pass at 3 m
        assert apart.min() > 2.5
        assert np.linalg.norm(places[:, None] - parked[None], axis=2).min() > 2.2
    assert (np.linalg.norm(moved[10] - moved[0], axis=1) > 10.0).all()


def test_walkers_keep_to_the_pavement_and_off_the_posts(town: Urban) -> None:
    model = town.model
    people = [instance for instance in model.objects if instance.class_id == CLASSES.index("person")]
    assert len(people) == 16
    walkers = [instance.rows[0] - model.n_standing for instance in people if instance.rows[0] >= model.n_standing]
    assert len(walkers) == 12
    posts = np.array([pose[:2, 3] for _, pose in _standing(town, "lamp", "tree", "bench", "bin", "sign", "person")])
    for t in np.arange(0.0, 120.0, 3.1):
        places = model.motion(int(t * 1e9)).poses[walkers][:, :2, 3]
        assert all(town.ground.at(x, y)[0] == 0.0 for x, y in places)
        assert np.linalg.norm(places[:, None] - posts[None], axis=2).min() > 0.55
        from_middle = [np.abs(place - np.array(block_centres())).max(axis=1).min() for place in places]
        assert min(from_middle) > HALF_LOT + 0.8


def test_everything_a_town_has_is_there_and_named(town: Urban) -> None:
    model = town.model
    classes = {CLASSES[instance.class_id] for instance in model.objects if instance.class_id < len(CLASSES)}
    wanted = "road pavement grass path building tree lamp bench bin sign fence furniture person car"
    assert {*wanted.split(), "traffic light"} <= classes
    counts = Counter(instance.name for instance in model.objects)
    assert all(n == 1 for n in counts.values()), counts.most_common(3)
    high = [pose for row, pose in _standing(town, "house") if np.abs(pose[:2, 3]).max() > OUTER_KERB]
    assert len(high) > 30 and all(np.abs(pose[:2, 3]).max() > OUTER_FRONT for pose in high)


def test_street_views_stay_within_the_triangle_budget(town: Urban) -> None:
    for eye, heading in (((0.0, 0.0, 2.0), 0.3), ((28.0, -28.0, 2.0), 1.5), ((-88.0, -88.0, 6.0), 0.78)):
        assert visible_triangles(town.model, eye, heading) < 60_000


def test_other_textures_and_numbers_of_people_and_cars(town: Urban) -> None:
    other = Urban(2, people=4, cars=0, randomise=frozenset({"textures", "colours", "people"}))
    other.model.freeze()

    def variants(world: Urban) -> set[int]:
        return {int(world.model.part_variant[row]) for row, _ in _standing(world, "house")}

    assert variants(town) == {0} and len(variants(other)) == 3
    people = [instance for instance in other.model.objects if instance.class_id == CLASSES.index("person")]
    assert 2 <= len(people) <= 8
    assert all(len(mover.poses(0.0)) > 5 for mover in other.model.movers), "no car drives"
