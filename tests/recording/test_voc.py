from __future__ import annotations

import shutil
from pathlib import Path
from xml.etree import ElementTree

import globox
import numpy as np
import pytest
from label_recording import (
    CAR,
    EDGE,
    GRASS,
    HEIGHT,
    HIDDEN,
    LIGHT,
    PERSON,
    SPECK,
    START_NS,
    STEP_NS,
    WIDTH,
    box_of,
    files_of,
    painted_classes_and_things,
    painted_colour,
    painted_recording,
    write_format,
)
from PIL import Image, JpegImagePlugin

from skyloop.core.frames import matrix_from_quat
from skyloop.datasets.recording_run import plan_recording
from skyloop.datasets.rig import RecordOptions, rig_scenario
from skyloop.datasets.worker import record_alone
from skyloop.recording.formats.label_images import split
from skyloop.recording.journal import GroupWriter
from skyloop.recording.recording import open_recording
from skyloop.sim.scenario import make_scenario
from skyloop_client.errors import DatasetError, SkyloopError

CAMERA_FROM_BODY = np.array([[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]])
"""Of a camera that looks ahead: right, down, forward from forward, left, up."""


@pytest.fixture(scope="module")
def flown(recording, tmp_path_factory):
    """The session's recording, and what the writer made of it."""
    folder = tmp_path_factory.mktemp("voc") / "dataset"
    shutil.copytree(recording.folder, folder)
    return open_recording(folder), write_format(open_recording(folder), "voc")


@pytest.fixture(scope="module")
def painted(tmp_path_factory) -> Path:
    return write_format(painted_recording(tmp_path_factory.mktemp("voc"), 10), "voc")


def name_of(k: int) -> str:
    return f"{START_NS + k * STEP_NS:019d}"


def pixel_of(point: np.ndarray, lens) -> tuple[float, float]:
    """Column and row of a point in camera axes."""
    x, y, z = point
    return lens["fx"] * x / z + lens["cx"], lens["fy"] * y / z + lens["cy"]


def entries(path: Path) -> np.ndarray:
    with Image.open(path) as picture:
        assert picture.mode == "P"
        return np.array(picture)


def objects_of(voc: Path, name: str) -> list[dict[str, str]]:
    root = ElementTree.parse(voc / "Annotations" / f"{name}.xml").getroot()
    return [{part.tag: part.text or "" for part in thing} for thing in root.iter("object")]


def lines_of(path: Path) -> list[list[str]]:
    return [line.split() for line in path.read_text().splitlines()]


@pytest.mark.renders
def test_boxes_of_a_flight_are_those_of_its_masks(flown):
    recording, voc = flown
    boxes = {a.image_id: a for a in globox.AnnotationSet.from_pascal_voc(voc / "Annotations")}
    truths = [message.data for message in recording.messages(["truth/drone/rgb0"])]
    assert len(truths) == 14
    assert sorted(boxes) == [f"{truth.t_ns:019d}.jpg" for truth in truths]
    for truth in truths:
        name = f"{truth.t_ns:019d}"
        read = boxes[f"{name}.jpg"]
        assert read.image_size == (320, 240)
        classes = entries(voc / "SegmentationClass" / f"{name}.png")
        things = entries(voc / "SegmentationObject" / f"{name}.png")
        assert np.array_equal(classes, truth.classes)
        assert [box.label for box in read.boxes] == ["person"]
        person = truth.instances == truth.labels[0].instance
        assert np.array_equal(things == 1, person)
        (box,) = read.boxes
        assert (box.xmin, box.ymin, box.xmax, box.ymax) == tuple(n + 1 for n in box_of(person))


@pytest.mark.renders
def test_a_known_point_is_at_its_pixel_of_its_class_at_its_time(flown):
    """The person's middle, through the vehicle's pose at the stamp that the file's name tells."""
    recording, voc = flown
    name = (voc / "ImageSets" / "Main" / "train.txt").read_text().split()[0]
    state = next(m.data for m in recording.messages(["truth/drone"]) if m.t_ns == int(name))
    truth = next(m.data for m in recording.messages(["truth/drone/rgb0"]) if m.t_ns == int(name))
    info = recording.infos["drone/rgb0"]
    attitude = matrix_from_quat(state.quat_wxyz)
    eye = state.position + attitude @ info.mount.position
    lens = info.details
    column, row = pixel_of(CAMERA_FROM_BODY @ attitude.T @ (truth.labels[0].centre - eye), lens)
    classes = entries(voc / "SegmentationClass" / f"{name}.png")
    assert recording.classes[classes[round(row), round(column)]] == "person"
    box = next(iter(ElementTree.parse(voc / "Annotations" / f"{name}.xml").iter("bndbox")))
    left, top, right, bottom = (int(part.text or "") - 1 for part in box)
    # the nearer half of a body looks larger, and its limbs stretch the box to one side: a fraction of its size
    assert column == pytest.approx((left + right) / 2, abs=0.15 * (right - left))
    assert row == pytest.approx((top + bottom) / 2, abs=0.05 * (bottom - top))
    # a point of the surface, from the truth's depth and pose, is seen at its pixel from the vehicle's pose
    i, j = round(row), round(column)
    depth = truth.depth[i, j]
    ray = np.array([(j - lens["cx"]) / lens["fx"], (i - lens["cy"]) / lens["fy"], 1.0])
    point = truth.position + matrix_from_quat(truth.quat_wxyz) @ (ray * depth)
    assert np.linalg.norm(point - truth.labels[0].centre) < np.linalg.norm(truth.labels[0].size) / 2
    assert pixel_of(CAMERA_FROM_BODY @ attitude.T @ (point - eye), lens) == pytest.approx((j, i), abs=1e-3)


@pytest.fixture(scope="module")
def met(tmp_path_factory):
    """A drone hangs between the camera and the person, then the camera passes it."""
    folder = tmp_path_factory.mktemp("voc") / "dataset"
    options = RecordOptions(world="radar-lab", frames=10, rate_hz=5.0, speed=1.0, sensors=("rgb",))
    data = rig_scenario(options).model_dump(mode="json")
    way = {"kind": "waypoints", "waypoints": [[0.0, -1.0, 1.75], [0.0, 1.0, 1.75]], "speed": 0.8}
    pilot = {"kind": "trajectory", "takeoff_altitude": 1.75, "trajectory": way}
    data["vehicles"].append({"name": "other", "position": [1.5, -1.5], "state": "truth", "pilot": pilot})
    plan_recording(make_scenario(data), folder, frames=options.frames, rate_hz=options.rate_hz, formats=())
    record_alone(folder)
    return open_recording(folder), write_format(open_recording(folder), "voc")


def upright_rectangle(truth, label, lens) -> np.ndarray:
    """Pixels between the top and the bottom of a person's box in space, as wide as a body."""
    to_camera = matrix_from_quat(truth.quat_wxyz).T
    half_height = np.array([0.0, 0.0, label.size[2] / 2])
    left, top = pixel_of(to_camera @ (label.centre + half_height - truth.position), lens)
    right, bottom = pixel_of(to_camera @ (label.centre - half_height - truth.position), lens)
    half = 0.1 * (bottom - top)
    rows, columns = np.mgrid[: lens["height"], : lens["width"]]
    inside = (rows >= top) & (rows <= bottom)
    return inside & (columns >= min(left, right) - half) & (columns <= max(left, right) + half)


@pytest.mark.renders
def test_a_person_behind_something_is_occluded_and_who_left_has_no_box(met):
    recording, voc = met
    covered, free, gone, cut = 0, 0, 0, 0
    for message in recording.messages(["truth/drone/rgb0"]):
        truth, name = message.data, f"{message.t_ns:019d}"
        things = {thing["name"]: (k, thing) for k, thing in enumerate(objects_of(voc, name), 1)}
        masks = entries(voc / "SegmentationObject" / f"{name}.png")
        assert set(np.unique(masks)) - {0, 255} == {k for k, _ in things.values()}
        _, person = things["person"]
        vehicle, flags = things.get("vehicle", (None, None))
        gone += vehicle is None
        if flags and flags["truncated"] == "1":
            cut += 1
            assert (masks == vehicle)[:, 0].any()
        (label,) = (label for label in truth.labels if label.class_name == "person")
        rectangle = upright_rectangle(truth, label, recording.infos["drone/rgb0"].details)
        share = ((masks == vehicle) & rectangle).sum() / rectangle.sum() if vehicle else 0.0
        if share > 0.1:
            covered += 1
            assert person["occluded"] == "1"
        elif share == 0.0:
            free += 1
            assert person["occluded"] == "0"
    assert covered >= 3
    assert free >= 2
    assert gone >= 1
    assert cut >= 1
    lists = [voc / "ImageSets" / "Main" / f"vehicle_{part}.txt" for part in ("train", "val", "test")]
    seen = [line[1] for path in lists for line in lines_of(path)]
    assert seen.count("-1") == gone


def test_flags(painted):
    assert [path.stem for path in sorted((painted / "Annotations").iterdir())] == [name_of(k) for k in range(10)]
    hidden, edge, car, light = objects_of(painted, name_of(0))
    for thing, name, flags in (
        (hidden, "person", ("0", "1", "0")),
        (edge, "person", ("1", "0", "0")),
        (car, "car", ("0", "0", "0")),
        (light, "traffic_light", ("0", "1", "1")),
    ):
        assert thing["name"] == name
        assert thing["pose"] == "Unspecified"
        assert (thing["truncated"], thing["occluded"], thing["difficult"]) == flags
    assert objects_of(painted, name_of(1))[0]["difficult"] == "1"  # 42 pixels, not 54
    assert objects_of(painted, name_of(2)) == []
    root = ElementTree.parse(painted / "Annotations" / f"{name_of(0)}.xml").getroot()
    assert root.findtext("segmented") == "1"
    assert root.findtext("size/depth") == "3"


def test_boxes_count_from_one_and_touch_the_edges(painted):
    read = {a.image_id: a.boxes for a in globox.AnnotationSet.from_pascal_voc(painted / "Annotations")}
    boxes = [(b.xmin, b.ymin, b.xmax, b.ymax) for b in read[f"{name_of(0)}.jpg"]]
    assert boxes == [(15, 9, 20, 20), (1, 1, 5, 11), (18, 15, WIDTH, HEIGHT), (31, 3, 34, 5)]


def test_masks(painted):
    classes, things = painted_classes_and_things(1)
    read = entries(painted / "SegmentationClass" / f"{name_of(1)}.png")
    objects = entries(painted / "SegmentationObject" / f"{name_of(1)}.png")
    speck = things == SPECK
    assert (read[speck] == 255).all() and (objects[speck] == 255).all()
    assert speck.sum() == 3 and (read == 255).sum() == 3
    assert np.array_equal(read[~speck], classes[~speck])
    assert set(np.unique(read)) == {0, GRASS, PERSON, CAR, LIGHT, 255}
    assert np.array_equal(objects == 1, things == HIDDEN)
    assert np.array_equal(objects == 2, things == EDGE)
    assert (objects[np.isin(classes, (0, GRASS))] == 0).all()


def test_palette_is_that_of_voc(painted):
    with Image.open(painted / "SegmentationClass" / f"{name_of(0)}.png") as picture:
        palette = np.array(picture.getpalette()).reshape(-1, 3)
    for entry, colour in {
        0: (0, 0, 0), 1: (128, 0, 0), 2: (0, 128, 0), 7: (128, 128, 128), 8: (64, 0, 0), 15: (192, 128, 128),
        20: (0, 64, 128), 255: (224, 224, 192),
    }.items():  # fmt: skip
        assert tuple(palette[entry]) == colour
    lines = (painted / "labelmap.txt").read_text().splitlines()
    assert lines[1:] == [
        "sky:0,0,0::", "grass:128,0,0::", "person:0,128,0::", "car:128,128,0::", "traffic_light:0,0,128::",
    ]  # fmt: skip


def test_lists_of_images(painted):
    sets = painted / "ImageSets"
    names = [name_of(k) for k in range(10)]
    splits = split(10)
    for name, parts in {"train": ["train"], "val": ["val"], "test": ["test"], "trainval": ["train", "val"]}.items():
        mine = [image for image, part in zip(names, splits, strict=True) if part in parts]
        assert mine
        assert [line[0] for line in lines_of(sets / "Main" / f"{name}.txt")] == mine
        assert [line[0] for line in lines_of(sets / "Segmentation" / f"{name}.txt")] == mine
        for kind, here in (("person", "1"), ("car", "1"), ("traffic_light", "0")):
            wanted = [[image, "-1" if names.index(image) % 3 == 2 else here] for image in mine]
            assert lines_of(sets / "Main" / f"{kind}_{name}.txt") == wanted


def test_random_split_on_request(tmp_path):
    voc = write_format(painted_recording(tmp_path, 10, split="random"), "voc")
    train = [line[0] for line in lines_of(voc / "ImageSets" / "Main" / "train.txt")]
    assert train == [name_of(k) for k, part in enumerate(split(10, "random")) if part == "train"]
    assert train != [name_of(k) for k in range(6)]


def test_jpeg(painted):
    with Image.open(painted / "JPEGImages" / f"{name_of(3)}.jpg") as picture:
        assert JpegImagePlugin.get_sampling(picture) == 0
        shown = np.array(picture)
    assert abs(shown.astype(int) - painted_colour(3)).max() <= 6


def test_same_bytes_and_nothing_stale(tmp_path):
    recording = painted_recording(tmp_path / "one", 7)
    before = files_of(write_format(recording, "voc"))
    (recording.folder / "voc" / "JPEGImages" / "stale.jpg").write_bytes(b"")
    assert files_of(write_format(recording, "voc")) == before
    assert files_of(write_format(painted_recording(tmp_path / "two", 7, group=2), "voc")) == before


def test_an_image_lost_on_its_way_has_no_files(tmp_path):
    recording = painted_recording(tmp_path, 6)
    messages = recording.group(0)
    recording.group_path(0).unlink()
    writer = GroupWriter(recording.group_path(0))
    for message in messages:
        if (message.stream, message.index) != ("uav/eye", 1):
            writer.append(message)
    writer.finish()
    voc = write_format(recording, "voc")
    kept = [name_of(k) for k in (0, 2, 3, 4, 5)]
    for folder in ("JPEGImages", "Annotations", "SegmentationClass", "SegmentationObject"):
        assert sorted(path.stem for path in (voc / folder).iterdir()) == kept


def test_a_recording_without_labels_is_refused(tmp_path):
    eye = {"truth": ["depth"], "label_classes": ["person"]}
    recording = painted_recording(tmp_path, 1, scenario={"vehicles": [{"name": "uav", "sensors": {"eye": eye}}]})
    with pytest.raises(DatasetError, match=r"no camera of .* has labels; record one with truth"):
        write_format(recording, "voc")


def test_an_unknown_split_is_refused_before_anything_is_written(tmp_path):
    recording = painted_recording(tmp_path, 1, split="randon")
    with pytest.raises(SkyloopError, match="no split named 'randon'"):
        write_format(recording, "voc")
    assert not (tmp_path / "voc").exists()
