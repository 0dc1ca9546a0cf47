"""What `skyloop record` flies without a scenario: people, height, and where the cameras look."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from skyloop.datasets.export import check_formats
from skyloop.datasets.rig import PEOPLED, RecordOptions, rig_scenario, to_train_on
from skyloop_client.errors import DatasetError, UnknownNameError


def test_the_park_is_flown_so_that_one_can_train_on_it() -> None:
    options = RecordOptions("park", size=(640, 480), **to_train_on("park"))
    scenario = rig_scenario(options)
    drone = scenario.vehicles[0]
    assert scenario.world.options == {"people": 40}
    assert drone.pilot.takeoff_altitude == 4.0
    looking: dict[str, Any] = {name: sensor for name, sensor in drone.sensors.items() if hasattr(sensor, "width")}
    assert looking.keys() >= {"rgb0", "cam0", "cam1", "depth0"}
    for sensor in (*looking.values(), drone.sensors["radar0"]):
        assert tuple(sensor.mount.rotation_deg) == (0.0, 15.0, 0.0)
    # one picture serves all of them: colour and depth have the same pixels
    assert {(sensor.width, sensor.height) for sensor in looking.values()} == {(640, 480)}


def test_what_is_given_stays() -> None:
    assert to_train_on("park", people=7, altitude=2.5, look_deg=0.0) == {
        "side": 26.0, "altitude": 2.5, "look_deg": 0.0, "people": 7,
    }  # fmt: skip
    assert to_train_on("forest", people=None, altitude=None) == {}


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"world": "forest", "people": 3}, "'forest' has no people; give one of park, urban, warehouse"),
        ({"altitude": 0.0}, "--altitude 0: give 0.5 to 500 m"),
        ({"look_deg": 91.0}, "--look 91: give -90"),
        ({"size": (8, 480)}, "--size 8x480: give 16 to 4096 pixels"),
        ({"people": -1}, "^--people -1: give 0 to 60 in 'park'$"),
        ({"frames": 0}, "^--frames 0: give 1 to 1000000$"),
        ({"rate_hz": 0.0}, "^--rate 0: give 0.01 to 1000 frames per simulated second$"),
        ({"speed": float("nan")}, "^--speed nan: give 0.1 to 30 m/s$"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(DatasetError, match=told):
        RecordOptions(**wrong)


def test_the_limits_of_people_are_those_of_the_worlds() -> None:
    for name, most in PEOPLED.items():
        assert most == importlib.import_module(f"skyloop.world.worlds.{name}").MOST_PEOPLE


def test_an_unknown_format_lists_all_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="named 'foo'; known: ") as refused:
        check_formats(("asl", "foo"))
    known = str(refused.value).partition("known: ")[2]
    assert set(known.split(", ")) == {"asl", "voc", "coco", "yolo", "mcap", "tum", "kitti", "csv"}
