import numpy as np
import pytest

from skyloop.world.generation import generator
from skyloop.world.ground import Ground
from skyloop.world.materials import MATERIAL_ID
from skyloop.world.model import Model
from skyloop.world.scenery.actors import body, people
from skyloop.world.scenery.actors.body import BOTTOMS, TOPS, Outfit
from skyloop.world.scenery.actors.body_tables import BMI, LENGTH, SOLE, STATURE, Build
from skyloop.world.scenery.actors.gait import PARTS, Gait, stride_of
from skyloop.world.scenery.actors.heads import HAIR_STYLES
from skyloop.world.scenery.actors.paths import MoverPath
from skyloop.world.scenery.actors.people import STANCES, draw_person, standing_poses
from skyloop.world.semantics import CLASS_ID
from skyloop_client.errors import ScenarioError

FLAT = Ground.flat()
STRAIGHT = MoverPath([(-500, 0), (1000, 0), (1000, 400), (-500, 400)])
ROUND = MoverPath([(0, 0), (8, 0), (8, 6), (0, 6)], corner_radius=1.5)
MAN = Build("male", 22.0)
ROW = {part: row for row, part in enumerate(PARTS)}
SPEEDS = (0.5, 0.9, 1.4, 2.0)


def walking(speed, path=STRAIGHT, ground=FLAT, build=MAN, scale=1.0, strides=2, samples=160):
    """(times, (n, 15, 3, 4) poses) over some strides."""
    gait = Gait.of(build, scale, speed, 100.0 if path is STRAIGHT else 0.0)
    times = np.linspace(0.0, strides * gait.walk["stride"][0] / speed, samples)
    return times, np.array([gait.poses(t, path, ground) for t in times])


def soles(poses, build=MAN, side="left"):
    """(n, v, 3) world positions of a foot's vertices."""
    points = body.foot(build, 1 if side == "left" else -1, 0).positions
    foot = poses[:, ROW[f"{side} foot"]]
    return np.einsum("nij,vj->nvi", foot[:, :, :3], points) + foot[:, None, :, 3]


@pytest.mark.parametrize("sex", ["male", "female"])
@pytest.mark.parametrize("bmi", BMI)
def test_a_body_is_as_tall_as_its_stature_in_its_shoes(sex, bmi):
    build = Build(sex, bmi)
    poses = standing_poses(build, "hanging")
    meshes = [shape.lods[0] for shape in people.part_shapes(build, Outfit("t-shirt", "jeans", "bald"))]
    z = [mesh.positions @ pose[2, :3] + pose[2, 3] for mesh, pose in zip(meshes, poses, strict=True)]
    assert min(part.min() for part in z) == pytest.approx(0.0, abs=1e-3)
    # legs stand slightly apart, which costs less than a millimetre
    assert max(part.max() for part in z) == pytest.approx(build.stature + SOLE, abs=1.5e-3)


def test_segments_have_the_tabulated_share_of_stature():
    scale = 1.08
    _, poses = walking(1.3, scale=scale, samples=12)
    stature = scale * MAN.stature
    for near, far, segment in (
        ("upper arm", "forearm", "upper arm"),
        ("forearm", "hand", "forearm"),
        ("thigh", "shank", "thigh"),
        ("shank", "foot", "shank"),
    ):
        for side in ("left", "right"):
            apart = poses[:, ROW[f"{side} {far}"], :, 3] - poses[:, ROW[f"{side} {near}"], :, 3]
            assert np.linalg.norm(apart, axis=1) == pytest.approx(LENGTH[segment] * stature, rel=2e-3)


def test_limbs_have_the_girths_of_their_build():
    for build in (MAN, Build("female", 31.0)):
        shank = body.shank(build, "shorts", 0).positions
        level = shank[np.abs(shank[:, 2] + 0.28 * build.length("shank")) < 1e-3, :2]
        around = level[np.argsort(np.arctan2(*(level - level.mean(axis=0)).T))]
        girth = np.linalg.norm(np.diff(around, axis=0, append=around[:1]), axis=1).sum()
        assert girth == pytest.approx(build.girth("calf"), rel=0.04)


def test_statures_and_sexes_are_those_of_adults():
    drawn = [draw_person(generator(seed, "stature")) for seed in range(400)]
    for sex, (mean, sd) in STATURE.items():
        statures = np.array([p.scale * p.build.stature for p in drawn if p.build.sex == sex])
        assert len(statures) > 150
        assert statures.mean() == pytest.approx(mean, abs=3 * sd / np.sqrt(len(statures)))
        assert 0.7 * sd < statures.std() < 1.2 * sd


def test_triangles_stay_within_their_budget():
    for top in TOPS:
        for bottom in BOTTOMS:
            for sex, hair in (("male", "cap"), ("female", "long")):
                shapes = people.part_shapes(Build(sex, 26.0), Outfit(top, bottom, hair))
                full, middle, far = (sum(len(shape.lods[lod].faces) for shape in shapes) for lod in range(3))
                assert 1500 < full < 2800
                assert middle < 700
                assert far < 220


def test_a_head_encloses_the_volume_of_a_head():
    p = people.part_shapes(MAN, Outfit("shirt", "jeans", "bald"))[ROW["head"]].lods[0]
    corners = p.positions[p.faces].astype(float)
    litres = 1e3 * np.sum(corners[:, 0] * np.cross(corners[:, 1], corners[:, 2])) / 6.0
    assert 3.5 < litres < 6.5  # with the neck, of which a part is inside


@pytest.mark.parametrize("lod", [0, 1, 2])
def test_normals_are_units_on_the_front_of_their_faces(lod):
    for style in HAIR_STYLES:
        for shape in people.part_shapes(Build("female", 22.0), Outfit("jacket", "skirt", style)):
            mesh = shape.lods[lod]
            assert np.linalg.norm(mesh.normals, axis=1) == pytest.approx(1.0, abs=1e-4)
            a, b, c = mesh.positions[mesh.faces].transpose(1, 0, 2)
            front = np.cross(b - a, c - a)
            assert np.linalg.norm(front, axis=1).min() > 1e-9  # no face without area
            facing = np.einsum("fi,fi->f", front, mesh.normals[mesh.faces].mean(axis=1))
            assert (facing > 0.0).mean() > 0.97


@pytest.mark.parametrize("speed", SPEEDS)
def test_a_walker_advances_at_the_speed_asked_for(speed):
    times, poses = walking(speed)
    pelvis = poses[:, ROW["pelvis"], :, 3]
    assert (pelvis[-1, 0] - pelvis[0, 0]) / (times[-1] - times[0]) == pytest.approx(speed, rel=1e-6)


@pytest.mark.parametrize("speed", SPEEDS)
@pytest.mark.parametrize("path", [STRAIGHT, ROUND], ids=["straight", "round"])
def test_a_foot_on_the_ground_does_not_slide(speed, path):
    times, poses = walking(speed, path, samples=500)
    dt = times[1] - times[0]
    for side in ("left", "right"):
        points = soles(poses, side=side)
        lowest = points[..., 2].argmin(axis=1)
        row = np.arange(len(points))
        standing = points[row, lowest, 2] < 1e-3
        assert 0.5 < standing.mean() < 0.8
        both = standing[1:] & standing[:-1]
        # the lowest point rolls on from vertex to vertex; what slides is the one that touches now
        slid = points[row[1:], lowest[1:]] - points[row[:-1], lowest[1:]]
        slip = np.linalg.norm(slid[:, :2], axis=1)[both] / dt
        assert slip.mean() < 0.05 * speed


@pytest.mark.parametrize("speed", SPEEDS)
@pytest.mark.parametrize("build", [MAN, Build("female", 31.0)], ids=["man", "woman"])
def test_feet_neither_sink_nor_float(speed, build):
    _, poses = walking(speed, build=build)
    low = np.stack([soles(poses, build, side)[..., 2].min(axis=1) for side in ("left", "right")])
    assert low.min() > -0.01
    assert low.min(axis=0).max() < 0.005
    assert 0.012 < low.max() < 0.05


def test_walking_up_and_down_hill_keeps_the_feet_on_the_ground():
    hill = Ground.from_function(lambda x, y: 0.10 * x, (-600, -10, 1100, 500), 50.0)
    for start in (100.0, 0.5 * STRAIGHT.length + 100.0):
        gait = Gait.of(MAN, 1.0, 1.2, start)
        poses = np.array([gait.poses(t, STRAIGHT, hill) for t in np.linspace(0.0, 3.0, 200)])
        points = np.concatenate([soles(poses, side=side) for side in ("left", "right")], axis=1)
        height = points[..., 2] - 0.10 * points[..., 0]
        assert height.min() > -0.02
        assert height.min(axis=1).max() < 0.02


def test_joint_angles_are_those_of_normal_walking():
    # degrees at every tenth of the stride, after Winter's tables for natural cadence
    hip = [20, 18, 9, -1, -8, -11, -4, 9, 19, 22]
    knee = [4, 17, 16, 9, 6, 13, 39, 62, 51, 17]
    gait = Gait.of(MAN, 1.0, 1.35)
    stride = gait.walk["stride"][0]
    first = np.ceil(200.0 / stride)
    poses = np.array([gait.poses((first + k / 10) * stride / 1.35, STRAIGHT, FLAT) for k in range(10)])
    bends = {}
    for part in ("thigh", "shank"):
        axis = -poses[:, ROW[f"left {part}"], :, 2]
        bends[part] = np.degrees(np.arctan2(axis[:, 0], -axis[:, 2]))
    measured_knee = bends["thigh"] - bends["shank"]
    assert np.sqrt(np.mean((bends["thigh"] - hip) ** 2)) < 8.0
    assert np.sqrt(np.mean((measured_knee - knee) ** 2)) < 10.0
    assert np.corrcoef(bends["thigh"], hip)[0, 1] > 0.95
    assert np.corrcoef(measured_knee, knee)[0, 1] > 0.9


def test_stride_and_support_follow_the_published_relations():
    stride, duty = stride_of(1.4, 0.93)
    # a step of 0.733 m at 114.6 steps a minute
    assert stride == pytest.approx(2 * 0.733, abs=0.002)
    assert duty == pytest.approx(0.752 - 0.143 / (120 / 114.6), abs=0.002)
    strides = [stride_of(v, 0.93)[0] for v in SPEEDS]
    assert strides == sorted(strides)


def test_arms_swing_against_the_legs():
    _, poses = walking(1.4, samples=300)
    ahead = poses[:, :, 0, 3] - poses[:, :1, 0, 3]
    for side in ("left", "right"):
        assert np.corrcoef(ahead[:, ROW[f"{side} hand"]], ahead[:, ROW[f"{side} foot"]])[0, 1] < -0.8


@pytest.mark.parametrize("speed", SPEEDS)
def test_poses_are_rigid_and_continuous(speed):
    scale = 0.93
    gait = Gait.of(MAN, scale, speed)
    for t in generator(3, "instants").uniform(-30.0, 60.0, 150):
        now, later = gait.poses(t, ROUND, FLAT), gait.poses(t + 1e-3, ROUND, FLAT)
        turned = np.einsum("nji,njk->nik", now[:, :, :3], now[:, :, :3])
        assert turned == pytest.approx(np.tile(scale**2 * np.eye(3), (15, 1, 1)), abs=1e-9)
        assert np.linalg.det(now[:, :, :3]) == pytest.approx(scale**3)
        assert np.linalg.norm(later[:, :, 3] - now[:, :, 3], axis=1).max() < 0.02
        assert np.abs(later[:, :, :3] - now[:, :, :3]).max() < 0.03


def test_a_walk_is_a_function_of_time_alone():
    gait, twin = Gait.of(MAN, 1.0, 1.3), Gait.of(MAN, 1.0, 1.3)
    later = gait.poses(1e6 + 0.25, ROUND, FLAT)
    assert np.isfinite(later).all()
    gait.poses(-5.0, ROUND, FLAT)
    assert np.array_equal(gait.poses(1e6 + 0.25, ROUND, FLAT), later)
    assert np.array_equal(twin.poses(1e6 + 0.25, ROUND, FLAT), later)


def test_a_walker_stays_on_its_path_and_together():
    _, poses = walking(1.4, ROUND, strides=12, samples=200)
    along, _ = ROUND.at(np.linspace(0.0, ROUND.length, 3000))
    pelvis = poses[:, ROW["pelvis"], :2, 3]
    assert np.linalg.norm(pelvis[:, None] - along, axis=2).min(axis=1).max() < 0.06
    assert np.linalg.norm(poses[:, :, :, 3] - poses[:, :1, :, 3], axis=2).max() < 0.6 * MAN.stature


@pytest.mark.parametrize("speed", [0.3, 2.5, float("nan")])
def test_nobody_walks_too_slowly_or_too_fast(speed):
    with pytest.raises(ScenarioError, match="cannot walk"):
        Gait.of(MAN, 1.0, speed)


def crowd(seed, randomise=frozenset()):
    model = Model()
    chance = generator(seed, "crowd")
    walkers = [people.add_walker(model, chance, FLAT, ROUND, start=2.0 * k, randomise=randomise) for k in range(6)]
    standers = [people.add_stander(model, chance, FLAT, (k, 20.0), 0.5, randomise=randomise) for k in range(6)]
    model.freeze()
    return model, walkers, standers


def test_people_are_things_of_their_own_with_shared_shapes():
    model, walkers, standers = crowd(1)
    assert len({*walkers, *standers}) == 12
    for number in (*walkers, *standers):
        assert model.objects[number].class_id == CLASS_ID["person"]
        assert model.objects[number].name == f"person {number}"
    assert all(len(model.objects[number].rows) == len(PARTS) for number in walkers)
    assert all(len(model.objects[number].rows) == 1 for number in standers)
    assert len(model.shapes) < 6 * len(PARTS)
    again, _, _ = crowd(2)
    shared = {id(shape) for shape in model.shapes} & {id(shape) for shape in again.shapes}
    assert len(shared) >= 3


def test_people_look_different_from_each_other():
    looks = {(p.build, p.outfit, p.palette) for p in (draw_person(generator(seed, "looks")) for seed in range(40))}
    assert len(looks) == 40
    usual = {draw_person(generator(seed, "looks")).palette[3] for seed in range(40)}
    wild = {draw_person(generator(seed, "looks"), frozenset({"colours"})).palette[3] for seed in range(40)}
    # trousers are muted unless colours are randomised
    assert max(max(c) - min(c) for c in usual) < 90 < max(max(c) - min(c) for c in wild)


def test_motion_reports_the_speeds_of_limbs():
    model, _, _ = crowd(1)
    speed = model.movers[0].gait.walk["speed"][0]
    swing = []
    for t_ns in range(0, 1_200_000_000, 10_000_000):
        motion = model.motion(t_ns)
        assert np.linalg.norm(motion.velocities[ROW["pelvis"]][:2]) == pytest.approx(speed, abs=0.35)
        swing.append(np.linalg.norm(motion.velocities[ROW["left foot"]]))
    assert min(swing) < 0.05
    assert 2.0 * speed < max(swing) < 4.0 * speed


@pytest.mark.parametrize("stance", STANCES)
def test_standers_stand_on_both_feet_within_reach(stance):
    for build in (MAN, Build("female", 26.0)):
        poses = standing_poses(build, stance)
        for side in ("left", "right"):
            low = soles(poses[None], build, side)[..., 2].min()
            assert -1e-3 < low < 0.02
        assert np.linalg.norm(poses[:, :2, 3], axis=1).max() < 0.6
    model = Model()
    people.add_stander(model, generator(4, stance), FLAT, (3.0, -2.0), 1.0)
    model.freeze()
    pose = model.standing_poses[0]
    shape = model.shapes[model.part_shape[0]]
    assert pose[:, 3] == pytest.approx([3.0, -2.0, 0.0])
    assert 1.4 < np.cbrt(np.linalg.det(pose[:, :3])) * np.ptp(shape.lods[0].positions[:, 2]) < 2.05
    assert shape.lods[0].radius < 2.1


def test_every_part_of_a_person_is_made_of_a_person_s_materials():
    allowed = {MATERIAL_ID[name] for name in ("skin", "hair", "cloth", "rubber")}
    for shape in people.part_shapes(Build("female", 22.0), Outfit("jacket", "skirt", "tail")):
        for mesh in shape.lods:
            assert set(mesh.materials) <= allowed
