"""The dataset of people: its plan, two small places, and what their labels say."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from skyloop.cli.verbs import execute
from skyloop.world.generation import generator
from skyloop.world.weather import weather_at
from skyloop_client.errors import DatasetError
from skyloop_client.messages import Label
from skyloop_detect.dataset_reader import read_samples
from skyloop_detect.training_data.people_places import SURROUNDINGS, make_place
from skyloop_detect.training_data.people_set import NEW_WORLDS, PLAN, WORLDS, make_people, places_of, plan_people
from skyloop_detect.training_data.people_views import BAD, draw_shots, draw_weather
from skyloop_detect.training_data.people_worker import LEAST_PX, contrast, make_one

PLACES = [
    {
        "part": "",
        "world": "corridor",
        "seed": 3,
        "images": 1,
        "split": "train",
        "bad_weather": False,
        "folder": "seed-3",
    },
    {"part": "", "world": "blocks", "seed": 13, "images": 1, "split": "val", "bad_weather": True, "folder": "seed-13"},
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("people") / "set"
    folder.mkdir()
    (folder / PLAN).write_text(json.dumps({"images": 2, "places": PLACES}), encoding="utf-8")
    reports: list[int] = []
    summary = make_people(folder, 1, lambda done, rate: reports.append(done))
    assert summary["images"] == summary["images_made_now"] == reports[-1] == 2
    return folder


def _digest(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_no_place_is_in_two_parts() -> None:
    places = [entry for part in ("", "new-world", "bad-weather") for entry in places_of(part, 12_000)]
    seeds = [entry["seed"] for entry in places]
    assert len(seeds) == len(set(seeds))
    main = [entry for entry in places if not entry["part"]]
    images = Counter[str]()
    for entry in main:
        images[entry["split"]] += entry["images"]
    assert sum(images.values()) == 12_000
    assert images["train"] == 7200 and images["val"] == images["test"] == 2400
    assert {(entry["world"], entry["split"]) for entry in main} == {
        (world, split) for world in WORLDS for split in ("train", "val", "test")
    }
    assert not set(NEW_WORLDS) & {entry["world"] for entry in main}
    assert all(entry["split"] == "test" for entry in places if entry["part"])


def test_a_plan_is_kept_and_another_is_refused(tmp_path: Path) -> None:
    plan = plan_people(tmp_path / "a", 100)
    assert plan_people(tmp_path / "a", 100) == plan
    with pytest.raises(DatasetError, match="holds another people dataset"):
        plan_people(tmp_path / "a", 200)
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "mine.txt").touch()
    with pytest.raises(DatasetError, match="is not empty"):
        plan_people(tmp_path / "b", 100)
    with pytest.raises(DatasetError, match="give 15 to"):
        plan_people(tmp_path / "c", 1)


@pytest.mark.renders
def test_both_formats_hold_the_same_and_splits_follow_seeds(made: Path) -> None:
    for split, seed in (("train", 3), ("val", 13)):
        coco, voc = read_samples(made / "coco", split), read_samples(made / "voc", split)
        assert [sample.path.stem for sample in coco] == [sample.path.stem for sample in voc]
        assert all(sample.path.name.startswith(f"seed-{seed}-") for sample in coco) and len(coco) == 1
        for one, other in zip(coco, voc, strict=True):
            assert one.boxes.tolist() == other.boxes.tolist() and one.names == other.names
    data = json.loads((made / "coco" / "annotations" / "instances_val.json").read_text(encoding="utf-8"))
    assert {(image["world"], image["air"], image["light"]) for image in data["images"]} <= {
        ("blocks", *each) for each in BAD
    }
    assert all(entry["area"] >= LEAST_PX for entry in data["annotations"])


@pytest.mark.renders
def test_the_same_place_has_the_same_bytes_and_nothing_is_made_twice(made: Path, tmp_path: Path) -> None:
    make_one(tmp_path / "seed-3", PLACES[0])
    assert _digest(tmp_path / "seed-3") == _digest(made / "seed-3")
    assert make_people(made, 1)["images_made_now"] == 0


@pytest.mark.parametrize("world", ["corridor"])
def test_cameras_are_free_and_look_at_people(world: str) -> None:
    place = make_place(world, 7)
    shots = draw_shots(place, 12, generator(7, "people/views"))
    around = SURROUNDINGS[world]
    assert len({shot.t_ns for shot in shots}) == 12
    for shot in shots:
        above = shot.position[2] - place.ground.at(*shot.position[:2])[0]
        assert 0.5 < above < around.top + 2.0
    apart = [np.linalg.norm(a.position - b.position) for a in shots for b in shots if a is not b]
    assert min(apart) > 0.05


@pytest.mark.parametrize(("air", "light"), [("fog", "dusk"), ("rain", "night"), ("snow", "day")])
def test_air_and_light_are_as_asked_for(air: str, light: str) -> None:
    weather = draw_weather(air, light, generator(1, "test"))
    sun = np.degrees(np.arcsin(weather_at(weather, 48.0).sun_direction[2]))
    low, high = {"day": (8, 90), "dusk": (-3, 5), "night": (-9, -3)}[light]
    assert low <= sun <= high
    assert {"fog": weather.visibility < 200.0, "rain": weather.rain > 2.0, "snow": weather.snow > 0.2}[air]


def test_what_fog_hides_gets_no_label() -> None:
    instances = np.zeros((40, 40), np.int32)
    instances[10:30, 10:20] = 5
    colour = np.full((40, 40, 3), 128, np.uint8)
    zero = np.zeros(3)
    label = Label(5, "person 5", "person", (10, 10, 19, 29), 200, 0.0, 0.0, zero, zero, 0.0, 1.0)
    assert contrast(colour, instances, label) == 0.0
    colour[instances == 5] = 134
    assert contrast(colour, instances, label) == pytest.approx(6.0)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["train", "dogs"], "no training named 'dogs'"),
        (["train", "people", "--make-data", "--images", "3"], "--images 3"),
        (["train", "people", "--make-data", "--workers", "-1"], "--workers -1"),
        (["train", "people", "--data", "nowhere"], "'nowhere' is no folder"),
        (["train", "people", "--device", "tpu"], "--device tpu"),
        (["train", "people", "--epochs", "0"], "--epochs 0"),
        (["train", "people", "--resume"], "--resume needs --out"),
        (["detect", "nothing.png"], "'nothing.png' does not exist"),
        (["detect", ".", "--runtime", "tpu"], "no runtime named 'tpu'"),
        (["detect", ".", "--model", "cats"], "no model named 'cats'"),
        (["detect", ".", "--model", "cats.onnx"], "'cats.onnx' does not exist"),
        (["detect", ".", "--score", "2"], "least score 2"),
    ],
)
def test_bad_words_are_one_line(
    words: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert execute(words) == 1
    lines = capfd.readouterr().err.strip().splitlines()
    assert len(lines) == 1 and said in lines[0]
    assert not list(tmp_path.iterdir())
