"""What pilots in the process publish: what is taken, what is refused and told, what snapshots and run folders hold."""

from __future__ import annotations

import copy
import csv
import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

import skyloop.run as running
from core_flights import Tape, resting
from published_things import TILTED, estimate, markers, records
from skyloop.core.bus import record_bytes
from skyloop.recording.journal import read_group
from skyloop.sim import user_streams
from skyloop.sim.assembly import build
from skyloop.sim.published_records import MOST_BYTES, PUBLISHED, specs_of, taken
from skyloop.sim.scenario import make_scenario
from skyloop_client import messages
from skyloop_client.errors import StreamError
from skyloop_client.messages import (
    Detections,
    GridMap,
    Image,
    ImuSample,
    Marker,
    Markers,
    Number,
    PointCloud,
)
from skyloop_client.messages import (
    Path as Way,
)

THINGS = str(Path(__file__).parents[1] / "published_things.py")
TELLER: dict[str, Any] = {
    "name": "teller",
    "duration": 1.0,
    "vehicles": [{"name": "drone", "pilot": {"kind": f"{THINGS}:Teller", "rate_hz": 20}}],
}


@pytest.mark.parametrize("name", records())
def test_every_kind_is_taken_as_it_is(name: str) -> None:
    record = records(5)[name]
    made = taken(record, 10)
    assert type(made) is type(record)
    assert record_bytes(made) == record_bytes(record)


def test_every_kind_has_a_sample_and_every_field_is_checked() -> None:
    assert {type(record) for record in records().values()} == set(PUBLISHED)
    for kind, spec in ((kind, specs_of(kind)) for kind in (*PUBLISHED, Marker)):
        assert {"t_ns", *spec} >= {field.name for field in fields(kind)}, kind
        assert getattr(messages, kind.__name__) is kind


def test_a_record_that_was_taken_cannot_be_changed_from_outside() -> None:
    cells = np.zeros((2, 2), np.int8)
    with resting() as flown:
        flown.port.user_streams.publish("drone", "map", GridMap(0, cells, 1.0, np.zeros(3)), 0, sender="me")
        cells[:] = 100
        assert not flown.latest("drone/map").cells.any()


def test_plain_lists_and_other_numbers_become_arrays() -> None:
    found = taken(Detections(0, [[1, 2, 3, 4]], ["car"], [1], [3]), 0)  # type: ignore[arg-type]
    assert (found.boxes_px.dtype, found.tracks.dtype, found.classes) == (np.float64, np.int64, ("car",))
    cloud = taken(PointCloud(0, np.ones((2, 3))), 0)  # type: ignore[arg-type]
    assert cloud.points.dtype == np.float32
    empty = taken(Detections(0, [], (), []), 0)  # type: ignore[arg-type]
    assert (empty.boxes_px.shape, empty.scores.shape) == ((0, 4), (0,))


GRID = records()["grid"]
FOUND = records()["detections"]
CLOUD = records()["cloud"]
WRONG: dict[str, tuple[Any, str]] = {
    "no record": (3.0, "3.0 cannot be published; give one of Estimate, Detections"),
    "a record that is the simulator's": (ImuSample(0, np.zeros(3), np.zeros(3)), "a ImuSample cannot be published"),
    "a marker alone": (Marker("a", "box"), "a Marker cannot be published"),
    "an unknown record": ({"@": "Odour", "t_ns": 0}, "a record 'Odour' cannot be published"),
    "NaN": (Number(0, float("nan")), "Number.value is nan; give a finite number"),
    "NaN in an array": (replace(CLOUD, points=np.full((4, 3), np.nan, np.float32)), "PointCloud.points holds NaN"),
    "no number": (Number(0, "seven"), "Number.value is 'seven'; give a number"),  # type: ignore[arg-type]
    "a stamp in the future": (Number(11, 1.0), "Number.t_ns is 11; give whole ns from 0 to the present instant"),
    "no stamp": (Number(0.5, 1.0), "Number.t_ns is 0.5"),  # type: ignore[arg-type]
    "a wrong shape": (replace(GRID, origin=np.zeros(2)), "GridMap.origin has the shape (2,); give (3,)"),
    "shapes that do not fit": (replace(FOUND, scores=np.ones(3)), "(3,); give (n,), where n is 2"),
    "floats for whole numbers": (replace(GRID, cells=np.zeros((2, 2))), "GridMap.cells is an array of float64"),
    "out of range": (replace(GRID, cells=np.full((2, 2), 101)), "GridMap.cells holds 101; give -1 to 100"),
    "cells of no size": (replace(GRID, resolution=0.0), "GridMap.resolution is 0"),
    "a score above one": (replace(FOUND, scores=np.array([2.0, 0.0])), "Detections.scores holds 2; give 0 to 1"),
    "a class for no box": (replace(FOUND, classes=("car",)), "Detections.classes has 1 names for 2 boxes"),
    "a box inside out": (replace(FOUND, boxes_px=np.full((2, 4), [9, 9, 1, 1])), "a right edge left of the left one"),
    "a ragged list": (replace(FOUND, boxes_px=[[1, 2], [3]]), "Detections.boxes_px is ragged"),
    "objects": (replace(FOUND, scores=np.array([None, {}])), "Detections.scores is an array of object"),
    "no unit quaternion": (replace(estimate(0), quat_wxyz=0.5 * TILTED), "Estimate.quat_wxyz is"),
    "a negative sigma": (replace(estimate(0), position_sd=np.array([1, -1, 1])), "Estimate.position_sd holds -1"),
    "a covariance of another size": (replace(estimate(0), covariance=np.eye(6)), "has the shape (6, 6)"),
    "a flag that is none": (replace(estimate(0), valid=1),  # type: ignore[arg-type]
        "Estimate.valid is 1; give True or False"),
    "a long text": (replace(estimate(0), reason="x" * 300), "Estimate.reason is 'xxx"),
    "a line break": (Number(0, 1.0, "m\ns"), "Number.unit holds a control character"),
    "an image of floats": (Image(0, np.zeros((4, 4))),  # type: ignore[arg-type]
        "Image.pixels is an array of float64 and shape (4, 4)"),
    "an unknown marker": (Markers(0, (Marker("a", "cone"),)), "Markers.markers[0].kind is 'cone'; give sphere, box"),
    "two markers of a name": (Markers(0, (Marker("a", "box"),) * 2), "two markers are named 'a'"),
    "no marker": (Markers(0, (3,)), "Markers.markers[0] is 3; give a Marker"),  # type: ignore[arg-type]
    "no frame": (replace(markers(), frame=""), "Markers.frame is ''"),
    "too large": (Image(0, np.zeros((2100, 2100), np.uint8)), f"more than the {MOST_BYTES} a record may have"),
    "far away": (Way(0, np.full((1, 3), 1e13)), "Path.positions holds 1e+13"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_record_is_one_clear_line(what: str) -> None:
    record, words = WRONG[what]
    with pytest.raises(StreamError) as caught:
        taken(record, 10)
    assert words in str(caught.value) and "\n" not in str(caught.value) and len(str(caught.value)) < 250


NAMES = {
    "imu": "'drone/imu' is the simulator's own stream of ImuSample",
    "drone/status": "'drone/status' is the simulator's own stream",
    "imu/raw": "'drone/imu/raw' would mix with the simulator's own 'drone/imu'",
    "radar": "'drone/radar' would mix with the simulator's own 'drone/radar/",
    "other/map": "'other/map' belongs to another vehicle",
    "truth/map": "streams under 'truth/' are the simulator's",
    "link/drone": "streams under 'link/' are the simulator's",
    "state": "'state' cannot name a stream",
    "../../etc": "cannot name a stream",
    "": "'' cannot name a stream",
    "x" * 65: "at most 64 characters",
}


def test_a_name_that_cannot_be_is_told() -> None:
    vehicles = [
        {"name": "drone", "sensors": {"imu": {"kind": "imu"}, "radar": {"kind": "radar", "rate_hz": 5}}},
        {"name": "other", "position": [5.0, 0.0]},
    ]
    with build(make_scenario({"vehicles": vehicles}), renders=False) as flown:
        for name, words in [*NAMES.items(), (7, "a stream's name is a text")]:
            with pytest.raises(StreamError) as caught:
                flown.port.user_streams.publish("drone", name, Number(0, 1.0), 0, sender="me")  # type: ignore[arg-type]
            assert words in str(caught.value), name


def test_a_stream_belongs_to_its_first_sender_and_to_one_kind() -> None:
    with resting() as flown:
        streams = flown.port.user_streams
        streams.publish("drone", "cost", Number(0, 1.0), 0, sender="the planner")
        with pytest.raises(StreamError, match="'drone/cost' is published by the planner already"):
            streams.publish("drone", "cost", Number(0, 1.0), 0, sender="the pilot")
        with pytest.raises(StreamError, match="'drone/cost' carries Number; publish a GridMap under another name"):
            streams.publish("drone", "cost", GRID, 0, sender="the planner")
        streams.release("the planner")
        streams.publish("drone", "drone/cost", Number(0, 2.0), 0, sender="the pilot")
        assert (flown.bus.counts["drone/cost"], flown.bus.newest("drone/cost").index) == (2, 1)


def test_too_often_too_much_and_too_many_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    second = 1_000_000_000
    with resting() as flown:
        publish = flown.port.user_streams.publish
        monkeypatch.setattr(user_streams, "MOST_PER_SECOND", 3)
        for t_ns in (0, 1, 2, second, second + 1):
            publish("drone", "cost", Number(t_ns, 1.0), t_ns, sender="me")
        publish("drone", "cost", Number(0, 1.0), second + 2, sender="me")
        with pytest.raises(StreamError, match="'drone/cost' comes more than 3 times in a simulated second"):
            publish("drone", "cost", Number(0, 1.0), second + 3, sender="me")
        publish("drone", "other_cost", Number(0, 1.0), second + 3, sender="me")
        picture = Image(0, np.zeros((1000, 1000, 3), np.uint8))
        for _ in range(22):
            monkeypatch.setattr(user_streams, "MOST_PER_SECOND", 100)
            publish("drone", "picture", picture, 3 * second, sender="me")
        with pytest.raises(
            StreamError, match="'drone/picture': the streams published under 'drone' have more than 64 MiB"
        ):
            publish("drone", "picture", picture, 3 * second, sender="me")
        publish("drone", "picture", picture, 4 * second, sender="me")
        monkeypatch.setattr(user_streams, "MOST_STREAMS", 4)
        publish("drone", "fourth", Number(0, 1.0), 4 * second, sender="me")
        with pytest.raises(StreamError, match="'drone' has 4 published streams already"):
            publish("drone", "fifth", Number(0, 1.0), 4 * second, sender="me")


# ---- a pilot in the process


class Careless:
    """Publishes what cannot be, over and over, and keeps what it is told."""

    def __init__(self) -> None:
        self.refused: list[tuple[str, ...]] = []

    def __call__(self, bundle: Any) -> None:
        self.refused.append(bundle.refused)
        bundle.publish("cost", Number(bundle.t_ns, float("nan")))
        bundle.publish("Cost", Number(bundle.t_ns, 1.0))
        bundle.publish("fine", Number(bundle.t_ns, 1.0))
        assert bundle.get("fine").t_ns == bundle.t_ns
        assert bundle.get("nothing", None) is None


def test_a_pilot_is_told_what_was_refused_and_flies_on(monkeypatch: pytest.MonkeyPatch) -> None:
    pilot = {"kind": f"{Path(__file__)}:Careless", "rate_hz": 20}
    with build(make_scenario({"vehicles": [{"name": "drone", "pilot": pilot}]})) as flown:
        events = flown.subscribe("drone/events")
        flown.run_until(2.5)
        told = [(message.data.kind, message.data.text) for message in events]
        careless = next(part.pilot for part in flown.parts if hasattr(part, "pilot"))
        assert careless.refused[0] == () and {len(lines) for lines in careless.refused[1:]} == {2}
        assert "Number.value is nan" in careless.refused[1][0] and "'Cost' cannot name" in careless.refused[1][1]
        # each once: a pilot that repeats itself must not flood the events
        assert sorted(kind for kind, _ in told) == ["refused", "refused"]
        assert flown.bus.counts["drone/fine"] == 50 and "drone/cost" not in flown.bus.infos


def test_streams_that_appear_in_flight_are_in_snapshots() -> None:
    with build(make_scenario(copy.deepcopy(TELLER))) as flown, build(make_scenario(copy.deepcopy(TELLER))) as other:
        start = flown.snapshot()
        tape = Tape(flown.bus)
        flown.run_until(0.6)
        whole = tape.cut()
        saved = flown.snapshot()
        flown.run_until(1.2)
        rest = tape.cut()
        assert {row[1] for row in rest if row[0] == "drone/grid"} == {3, 4}
        flown.restore(saved)
        flown.run_until(1.2)
        assert tape.cut() == rest
        # back to before there were any, and into a build that never had them
        flown.restore(start)
        flown.run_until(0.6)
        assert tape.cut() == whole
        other.restore(saved)
        elsewhere = Tape(other.bus)
        other.run_until(1.2)
        assert elsewhere.cut() == rest


# ---- run folders


def test_a_run_folder_holds_all_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "plot_flight", lambda *_: None)
    summary = running.run_scenario(make_scenario(copy.deepcopy(TELLER)), tmp_path / "run")
    expected = records()
    streams = json.loads((tmp_path / "run" / "streams.json").read_text())
    for name, record in expected.items():
        assert streams[f"drone/{name}"]["message"] == type(record).__name__
        assert summary["messages"][f"drone/{name}"] == 4
        with (tmp_path / "run" / "streams" / "drone" / f"{name}.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert [int(row["t_ns"]) for row in rows] == [0, 250_000_000, 500_000_000, 750_000_000]
        assert all(None not in row and None not in row.values() for row in rows)
        journal = tmp_path / "run" / "streams" / "drone" / f"{name}.journal"
        assert journal.exists() == (name in ("vio", "grid", "voxels", "cloud", "key_pose", "colour", "heat"))
        if journal.exists():
            read = list(read_group(journal))
            assert [message.index for message in read] == [0, 1, 2, 3]
            assert record_bytes(read[2].data) == record_bytes(records(500_000_000)[name])
    folder = tmp_path / "run" / "streams" / "drone"
    with (folder / "detections.csv").open(newline="") as file:
        row = next(csv.DictReader(file))
    assert (row["boxes_px"], json.loads(row["classes"])) == ("10.0 20.0 30.0 60.0 0.0 0.0 5.5 7.25", ["person", "car"])
    with (folder / "markers.csv").open(newline="") as file:
        row = next(csv.DictReader(file))
    assert [marker["kind"] for marker in json.loads(row["markers"])] == [
        "sphere",
        "box",
        "arrow",
        "line",
        "points",
        "text",
    ]
    with (folder / "key_pose.csv").open(newline="") as file:
        row = next(csv.DictReader(file))
    assert (row["position_2"], row["corners_px_shape"], row["source"]) == ("3.0", "3x2", "front")
    # numbers read by the simplest of readers
    vio = np.genfromtxt(folder / "vio.csv", delimiter=",", names=True)
    assert vio["gyro_bias_1"].tolist() == [2e-3] * 4
    assert yaml.safe_load((tmp_path / "run" / "scenario.yaml").read_text())["name"] == "teller"
    for name in ("grid", "voxels", "cloud", "colour", "heat"):
        assert list((tmp_path / "run" / "pictures" / "drone" / name).glob("*.png"))
