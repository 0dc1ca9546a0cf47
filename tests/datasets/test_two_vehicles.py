"""Two vehicles that see each other: what every format says of both, checked, repaired, killed and resumed."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml
from numpy.typing import NDArray
from pycocotools.coco import COCO
from rosbags.highlevel import AnyReader
from test_recording_run import assert_same, killed_in_writes

from in_process import record_here
from skyloop.core.frames import matrix_from_quat
from skyloop.datasets.check_noise import NoiseCheck
from skyloop.datasets.checking import check, repair
from skyloop.datasets.export import export
from skyloop.datasets.recording_run import check_rates, plan_recording
from skyloop.datasets.viewing import view
from skyloop.recording.formats.registry import FORMATS
from skyloop.recording.recording import open_recording
from skyloop.recording.replay import open_replay
from skyloop.recording.ros2.views import check_topics
from skyloop.sim.scenario import Scenario, make_scenario
from skyloop_client.errors import DatasetError
from skyloop_client.streams import Rate, StreamInfo

pytestmark = pytest.mark.renders

FRAMES = 12
NAMES = ("lead", "wing-2")
SEEN = ["classes", "instances", "labels"]
WRITTEN = tuple(name for name in FORMATS if name != "csv")
"""Tables of radar points and people have nothing to tell of these two."""


def flying(name: str, east: float, yaw: float, camera: dict[str, Any], sensors: dict[str, Any]) -> dict[str, Any]:
    """A vehicle on a small circle around (east, 0, 2)."""
    circle = {"kind": "circle", "centre": [east, 0, 2], "radius": 0.4, "speed": 0.5, "laps": 9, "yaw": yaw}
    lidar = {"kind": "lidar", "rate_hz": 10, "channels": 4, "points_per_second": 3600}
    rgb = {"kind": "camera", "rate_hz": 10, "truth": SEEN, "label_min_px": 5, **camera}
    return {
        "name": name, "airframe": "iris", "position": [east, 0], "yaw_deg": np.degrees(yaw),
        "sensors": {"rgb0": rgb, "lidar0": lidar, **sensors},
        "pilot": {"kind": "trajectory", "takeoff_altitude": 2, "trajectory": circle},
    }  # fmt: skip


def scenario() -> Scenario:
    ahead = {"width": 96, "height": 72, "mount": {"position": [0.3, 0, 0]}}
    tilted = {"width": 80, "height": 64, "mount": {"position": [0.3, 0, 0.02], "rotation_deg": [0, 5, 3]}}
    imu = {"kind": "imu", "rate_hz": 100, "mount": {"position": [0.02, 0.01, 0]}}
    grey = {"kind": "camera", "rate_hz": 10, "width": 64, "height": 48}
    lead = flying("lead", 0.0, 0.0, ahead, {"imu0": {"kind": "imu", "rate_hz": 200}})
    wing = flying("wing-2", 2.5, 3.1, tilted, {"imu0": imu, "cam0": grey})
    chase = {"vehicle": "lead", "rate_hz": 5, "width": 32, "height": 24}
    data = {"name": "pair", "world": {"name": "flat"}, "seed": 3, "vehicles": [lead, wing]}
    return make_scenario({**data, "observers": {"chase": chase}})


def planned(folder: Path) -> Path:
    plan_recording(scenario(), folder, frames=FRAMES, rate_hz=10.0, formats=WRITTEN)
    return folder


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = planned(tmp_path_factory.mktemp("pair") / "dataset")
    record_here(folder)
    return folder


@pytest.fixture
def copy(pair: Path, tmp_path: Path) -> Path:
    shutil.copytree(pair, tmp_path / "dataset")
    return tmp_path / "dataset"


def poses(tum: Path) -> dict[int, NDArray[np.float64]]:
    """world_from_camera by stamp in ns."""
    out = {}
    for line in (tum / "groundtruth.txt").read_text().splitlines():
        if not line.startswith("#"):
            stamp, *text = line.split()
            numbers = np.array(text, float)
            pose = np.eye(4)
            pose[:3, :3], pose[:3, 3] = matrix_from_quat(np.roll(numbers[3:], 1)), numbers[:3]
            out[int(stamp.replace(".", ""))] = pose
    return out


def places(mav: Path) -> dict[int, NDArray[np.float64]]:
    rows = [line.split(",") for line in (mav / "state_groundtruth_estimate0/data.csv").read_text().splitlines()[1:]]
    return {int(row[0]): np.array(row[1:4], float) for row in rows}


def test_nothing_is_wrong_and_nothing_is_missing(pair: Path) -> None:
    assert check(pair) == []
    folders = {path.name for path in pair.iterdir() if path.is_dir()}
    both = {"mav0", "mav1", *(f"{name}{k}" for name in ("voc", "coco", "yolo", "kitti", "tum") for k in ("", "1"))}
    assert folders == {"journal", "ros2", *both}
    assert {"rgb0", "cam0", "imu0", "lidar0", "instance0"} <= {path.name for path in (pair / "mav1").iterdir()}
    assert "wing-2" in (pair / "mav1" / "body.yaml").read_text()
    counts = [len((pair / mav / "imu0/data.csv").read_text().splitlines()) - 1 for mav in ("mav0", "mav1")]
    assert counts == [20 * FRAMES, 10 * FRAMES]
    assert set(open_replay(pair / "mav1").infos) == {
        "drone/cam0", "drone/imu0", "drone/rgb0", "truth/drone", "truth/drone/imu0",
    }  # fmt: skip


@pytest.mark.parametrize("number", [0, 1])
def test_each_sees_the_other_where_the_others_truth_has_it(pair: Path, number: int) -> None:
    """Box, class and depth of its own formats against its own camera's pose and the other's place."""
    end = "1" if number else ""
    cameras, others = poses(pair / f"tum{end}"), places(pair / f"mav{1 - number}")
    lens = yaml.safe_load((pair / f"mav{number}/rgb0/sensor.yaml").read_text())
    fx, fy, cx, cy = lens["intrinsics"]
    compared = 0
    for part in ("train", "val", "test"):
        coco = COCO(pair / f"coco{end}/annotations/instances_{part}.json")
        for image in coco.imgs.values():
            assert [image["width"], image["height"]] == lens["resolution"]
            t_ns = image["t_ns"]
            x, y, z, _ = np.linalg.inv(cameras[t_ns]) @ [*others[t_ns], 1.0]
            pixel = np.array([fx * x / z + cx + 0.5, fy * y / z + cy + 0.5])
            (found,) = coco.loadAnns(coco.getAnnIds(image["id"]))
            assert coco.cats[found["category_id"]]["name"] == "vehicle"
            corner, size = np.array(found["bbox"][:2]), np.array(found["bbox"][2:])
            assert (corner - 2.0 <= pixel).all() and (pixel <= corner + size + 2.0).all()
            (thing,) = ElementTree.parse(pair / f"voc{end}/Annotations/{t_ns:019d}.xml").iter("object")
            low = [float(thing.findtext(f"bndbox/{edge}", "")) - 1.0 for edge in ("xmin", "ymin")]
            assert low == corner.tolist()
            (line,) = (pair / f"yolo{end}/labels/{part}/{t_ns:019d}.txt").read_text().splitlines()
            centre = np.array(line.split()[1:3], float) * lens["resolution"]
            assert np.allclose(centre, corner + 0.5 * size, atol=1e-4)
            times = (pair / f"kitti{end}/times.txt").read_text().split()
            frame = [int(time.replace(".", "")) for time in times].index(t_ns)
            (kitti,) = (pair / f"kitti{end}/label_2/{frame:06d}.txt").read_text().splitlines()
            right, _, ahead = (float(cell) for cell in kitti.split()[11:14])
            assert np.allclose([right, ahead], [x, z], atol=0.1)
            compared += 1
    assert compared == FRAMES


def test_the_bag_keeps_them_apart(pair: Path) -> None:
    """By rosbags: every sensor has its own frame on its own vehicle, and the chain of frames ends where TUM says."""
    fixed: dict[str, tuple[str, NDArray[np.float64]]] = {}
    bodies: dict[tuple[str, int], NDArray[np.float64]] = {}
    frames: dict[str, set[str]] = {}
    with AnyReader([pair / "ros2"]) as bag:
        for connection, stamp, raw in bag.messages():
            message: Any = bag.deserialize(raw, connection.msgtype)
            if connection.topic in ("/tf", "/tf_static"):
                for each in message.transforms:
                    q, p = each.transform.rotation, each.transform.translation
                    pose = np.eye(4)
                    pose[:3, :3], pose[:3, 3] = matrix_from_quat(np.array([q.w, q.x, q.y, q.z])), [p.x, p.y, p.z]
                    if connection.topic == "/tf":
                        bodies[each.child_frame_id, stamp] = pose
                    else:
                        assert each.child_frame_id not in fixed
                        fixed[each.child_frame_id] = each.header.frame_id, pose
            elif hasattr(message, "header"):
                frames.setdefault(connection.topic, set()).add(message.header.frame_id)
    assert not [topic for topic in frames if "chase" in topic]
    assert frames["/wing_2/rgb0/image_raw"] == {"wing-2/rgb0_optical"}
    assert frames["/wing_2/imu0"] == {"wing-2/imu0"} and frames["/lead/imu0"] == {"lead/imu0"}
    assert frames["/wing_2/lidar0/points"] == {"wing-2/lidar0"}
    assert set(fixed) == {
        f"{name}/{sensor}"
        for name in NAMES
        for sensor in (
            *("odom", "rgb0", "rgb0_optical", "lidar0", "imu0"),
            *(("cam0", "cam0_optical") if name != "lead" else ()),
        )
    }
    for name, tum in zip(NAMES, ("tum", "tum1"), strict=True):
        eye, (mount, on_body) = fixed[f"{name}/rgb0_optical"], fixed[f"{name}/rgb0"]
        assert (eye[0], mount) == (f"{name}/rgb0", f"{name}/base_link")
        same = [(bodies[mount, t_ns] @ on_body @ eye[1], pose) for t_ns, pose in poses(pair / tum).items()]
        assert len(same) > FRAMES
        assert all(np.allclose(one, other, atol=1e-9) for one, other in same)


@pytest.mark.parametrize("listed", [True, False])
def test_what_is_wrong_with_the_second_is_told_and_put_right(pair: Path, copy: Path, listed: bool) -> None:
    if listed:
        next((copy / "mav1/rgb0/data").iterdir()).unlink()
        lines = (copy / "mav1/imu0/data.csv").read_text().splitlines(keepends=True)
        (copy / "mav1/imu0/data.csv").write_text("".join([*lines[:7], *lines[8:]]))
        (copy / "voc1/labelmap.txt").write_text("else")
        wrong = {"mav1/rgb0/data.csv", "mav1/imu0/data.csv", "voc1/labelmap.txt"}
    else:
        shutil.rmtree(copy / "mav1")
        (copy / "manifest.json").unlink()
        wrong = {"mav1"}
    assert wrong <= {finding.where for finding in check(copy) if finding.severity == "error"}
    repair(copy)
    assert check(copy) == []
    assert_same(pair, copy)


@pytest.mark.slow("records twice with two vehicles")
def test_killed_then_resumed(pair: Path, tmp_path: Path) -> None:
    folder = planned(tmp_path / "dataset")
    killed_in_writes(folder, 400)
    assert not (folder / "mav1").exists()
    assert 0 < record_here(folder)["frames_flown_now"] <= FRAMES
    assert_same(pair, folder)


def without_labels(folder: Path, *numbers: int) -> None:
    facts = json.loads((folder / "recording.json").read_text())
    for number in numbers:
        facts["scenario"]["vehicles"][number]["sensors"]["rgb0"]["truth"] = []
    (folder / "recording.json").write_text(json.dumps(facts))


def test_who_has_nothing_for_a_format_is_left_out(copy: Path) -> None:
    without_labels(copy, 0)
    written = export(copy, ("voc",))
    assert written["voc"][1] == [copy / "voc1"] and not (copy / "voc").exists()
    assert [finding for finding in check(copy) if finding.where.startswith("voc")] == []
    without_labels(copy, 1)
    with pytest.raises(DatasetError, match="has labels; record one with"):
        export(copy, ("voc",))


def test_samples_are_measured_against_their_own_vehicle(pair: Path) -> None:
    recording = open_recording(pair)
    noise = NoiseCheck(recording)
    for message in recording.messages():
        noise.add(message)
    rows = {(row.stream, row.quantity): row for row in noise.rows()}
    assert {stream for stream, _ in rows} == {"lead/imu0", "wing-2/imu0"}
    assert all(row.holds for row in rows.values())


def test_the_viewer_has_both_and_the_observer(pair: Path, tmp_path: Path) -> None:
    from rerun import chunk

    view(pair, tmp_path / "pair.rrd")
    rows: Counter[str] = Counter()
    for each in chunk.RrdReader(tmp_path / "pair.rrd").stream().to_chunks():
        rows[each.entity_path] += 0 if each.is_static else each.num_rows
    assert rows["/plots/lead/imu0/specific_force"] == 20 * FRAMES
    assert rows["/plots/wing-2/imu0/specific_force"] == 10 * FRAMES
    assert rows["/world/wing-2/rgb0/image"] == FRAMES
    assert rows["/observers/chase/image"] == FRAMES // 2


def test_frames_may_be_those_of_the_second_vehicles_camera() -> None:
    changed = scenario().model_dump(mode="json")
    changed["vehicles"][0]["sensors"] = {}
    check_rates(make_scenario(changed), 10.0)
    with pytest.raises(DatasetError, match=r"rate of 7 Hz \(wing-2/rgb0 10 Hz"):
        check_rates(make_scenario(changed), 7.0)


def test_streams_that_would_share_a_topic_are_refused(tmp_path: Path) -> None:
    infos = {name: StreamInfo(name, "ImuSample", Rate(10), name.split("/")[0]) for name in ("a-b/imu0", "a_b/imu0")}
    with pytest.raises(DatasetError, match=r"'a-b/imu0' and 'a_b/imu0' would be one topic of ROS, /a_b/imu0"):
        check_topics(infos)
