"""`skyloop show` and the reference behind it: every option has words, and what they say is what the code does."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import yaml
from pydantic import ValidationError

import skyloop
from skyloop.cli import main
from skyloop.cli.reference.entries import FILE, OWN, SECTIONS, TOPICS, Entry, find, section
from skyloop.cli.reference.fields import REQUIRED, option
from skyloop.sensors.registry import SENSORS
from skyloop.sensors.sensor import numbers_of
from skyloop_client import messages


def said(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, *words: str) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["skyloop", "show", *words])
    with pytest.raises(SystemExit) as stop:
        main()
    told = capsys.readouterr()
    return int(stop.value.code or 0), told.out, told.err


def entries() -> Iterator[Entry]:
    for topic, what in TOPICS.items():
        yield from (find(topic, name) for name in what.names())
        if what.keys is not None:
            yield section(what.keys, topic)
    yield from (find(name) for name in SECTIONS)


def with_parts(entry: Entry) -> Iterator[Entry]:
    yield entry
    for part in entry.parts:
        yield from with_parts(part)


EVERYTHING = [part for entry in entries() for part in with_parts(entry)]


def test_every_entry_and_option_has_words() -> None:
    assert len(EVERYTHING) > 120
    for entry in EVERYTHING:
        assert entry.summary, entry.name
        for each in entry.options:
            assert each.type and each.meaning.endswith((".", ")")), f"{entry.topic} {entry.name}.{each.name}"


def test_numbers_that_are_quantities_have_units() -> None:
    units = {(entry.name, each.name): each.unit for entry in EVERYTHING for each in entry.options}
    assert units["imu", "gyro_noise_density"] == "(rad/s)/√Hz"
    assert units["imu", "rate_hz"] == "Hz"
    assert units["mount", "rotation_deg"] == "deg"
    assert units["BatteryState", "current"] == "A"
    assert units["vehicle", "airframe"] == ""  # "A name of ..." is no ampere


@pytest.mark.parametrize(
    ("note", "shape", "unit", "meaning"),
    [
        ("(3,) m/s², sensor axes; +g along up at rest.", "(3,)", "m/s²", "Sensor axes; +g along up at rest."),
        ("rad/s about world up.", "", "rad/s", "About world up."),
        ("A factor on the light.", "", "", "A factor on the light."),
        ("s, the time.", "", "s", "The time."),
        ("summer and winter.", "", "", "Summer and winter."),
        ("true: it flies.", "", "", "true: it flies."),
    ],
)
def test_a_docstring_has_shape_unit_and_meaning(note: str, shape: str, unit: str, meaning: str) -> None:
    made = option("anything", "number", 0, note)
    assert (made.shape, made.unit, made.meaning) == (shape, unit, meaning)


@pytest.mark.parametrize("name", SENSORS)
def test_defaults_of_a_sensor_are_those_it_is_made_with(name: str) -> None:
    sensor = SENSORS[name]
    config = sensor.Config
    presets = sys.modules[config.__module__].PRESETS
    numbers = numbers_of(config(), presets)  # type: ignore[call-arg]
    entry = find("sensor", name)
    assert list(entry.presets) == list(presets)
    for each in entry.options:
        if each.from_preset:
            assert float_like(each.default) == float_like(getattr(numbers, each.name)), each.name
        assert each.default != REQUIRED
    assert any(sensor.message in note for note in entry.notes) and hasattr(messages, sensor.message)


def float_like(value: Any) -> Any:
    return np.asarray(value, dtype=float).tolist() if not isinstance(value, str) or value == "inf" else value


def test_limits_told_are_those_enforced() -> None:
    """Of every number with bounds, one beyond them is refused by the model."""
    tried = 0
    for name, sensor in SENSORS.items():
        config = sensor.Config
        for each in find("sensor", name).options:
            bound = re.fullmatch(r"(?:number|integer) (≥|>) ([\d.]+)", each.type)
            if bound:
                with pytest.raises(ValidationError):
                    config.model_validate({each.name: float(bound[2]) - 1})
                tried += 1
    assert tried > 30


@pytest.mark.parametrize("topic", ["sensor", "airframe", "world", "pilot", "trajectory", "wind"])
def test_every_example_is_taken_by_a_scenario(topic: str) -> None:
    for name in TOPICS[topic].names():
        example = find(topic, name).example
        if name in (OWN, FILE, "field"):
            assert "file.py:" in example or "my.glb" in example
            continue
        data = yaml.safe_load(example)
        if topic == "trajectory":
            data = {"pilot": {"kind": "trajectory", **data}}
        skyloop.make_scenario(data if topic in ("world", "wind") else {"vehicles": [data]})


def test_options_of_a_sensor_are_printed(capsys: Any, monkeypatch: Any) -> None:
    code, out, _ = said(capsys, monkeypatch, "sensor", "imu")
    assert code == 0
    row, _ = (line for line in out.splitlines() if line.startswith("gyro_noise_density"))
    assert re.match(r"gyro_noise_density +number ≥ 0 +8.72665e-05 \* +\(rad/s\)/√Hz +The white noise density", row)
    assert "It publishes `ImuSample`" in out and re.search(r"^preset +mpu6000 +e2es +adis16448 +perfect", out, re.M)


def test_options_as_json(capsys: Any, monkeypatch: Any) -> None:
    told = json.loads(said(capsys, monkeypatch, "sensor", "gnss", "--json")[1])
    by_name = {each["name"]: each for each in told["options"]}
    assert by_name["position_tau"] | {"meaning": ""} == {
        "name": "position_tau", "type": "number > 0", "required": False, "default": 120.0, "from_preset": True,
        "unit": "s", "shape": "", "meaning": "",
    }  # fmt: skip
    assert told["parts"][0]["options"][0]["required"] is True
    assert set(json.loads(said(capsys, monkeypatch, "--json")[1])) == set(TOPICS)
    assert json.loads(said(capsys, monkeypatch, "hover", "--json")[1])["name"] == "hover"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["airframe", "iris"], "1.535"),
        (["world", "forest"], "The number of trees per hectare"),
        (["world", "file"], "one unit of the file"),
        (["pilot", "waypoints"], "acceptance_radius"),
        (["message", "LidarScan"], "offsets_ns"),
        (["message", "StreamInfo"], "latency_ns"),
        (["message", "Bundle"], "computer_energy"),
        (["vehicle"], "controller_rate_hz"),
        (["ekf"], "recovery_after"),
        (["scenario"], "physics_rate_hz"),
        (["sensor"], "depth_camera"),
        ([], "rotor_fault"),
        (["scenario", "hover"], "physics_rate_hz: 1000.0"),
    ],
)
def test_what_can_be_shown(words: list[str], expected: str, capsys: Any, monkeypatch: Any) -> None:
    code, out, _ = said(capsys, monkeypatch, *words)
    assert code == 0 and expected in out


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["sensr", "imu"], "no topic named 'sensr'; did you mean 'sensor'?"),
        (["sensor", "imv"], "no sensor named 'imv'; did you mean 'imu'?"),
        (["message", "ImuSampel"], "no message named 'ImuSampel'; did you mean 'ImuSample'?"),
        (["imu"], "no scenario named 'imu'; there is a sensor: skyloop show sensor imu"),
        (["hovr"], "no scenario named 'hovr'; did you mean 'hover'?"),
        (["weather", "rain"], "'weather' takes no name, so not 'rain'; write skyloop show weather"),
        (["sensor", "imu", "--seed", "3"], "--set and --seed are for scenarios"),
    ],
)
def test_a_wrong_name_is_one_line(words: list[str], line: str, capsys: Any, monkeypatch: Any) -> None:
    code, out, err = said(capsys, monkeypatch, *words)
    assert code == 1 and not out and line in " ".join(err.split())
