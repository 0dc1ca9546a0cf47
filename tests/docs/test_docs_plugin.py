"""docs/how-to/plugin.md: the plugin on it is installed, and every kind of part that it brings is used."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from acme import BLOCK, PAGE, ROOT, install_acme, python
from skyloop.core.plugins import KINDS, Plugin

pytestmark = pytest.mark.processes


class Place:
    """A folder with both plugins and with what was flown."""

    def __init__(self, folder: Path) -> None:
        self.site, self.here = folder / "site", folder / "here"
        self.here.mkdir()
        install_acme(self.site)

    def python(self, *words: str) -> str:
        done = python((self.site,), *words, cwd=self.here)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def skyloop(self, *words: str) -> str:
        return self.python("-m", "skyloop", *words)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("plugin"))


@pytest.fixture(scope="module")
def flown(place: Place) -> dict[str, Any]:
    """The summary of the scenario that a plugin brings."""
    words = ("run", "acme-hop", "--link", "lines:events.txt", "--out", "flown", "--json")
    summary: dict[str, Any] = json.loads(place.skyloop(*words))
    return summary


def test_the_page_has_each_kind() -> None:
    """The example has those that are not in the page's own plugin."""
    page = PAGE.read_text(encoding="utf-8") + (ROOT / "examples/plugin/src/skyloop_beacon/plugin.py").read_text()
    assert {kind for kind in KINDS if f"    {kind}=" in page} == {field.name for field in fields(Plugin)}
    brought = set(re.findall(r'"acme\.(\w+):', page))
    assert {Path(name).stem for name, _ in BLOCK.findall(page) if name.endswith(".py")} == {*brought, "plugin"}


@pytest.mark.flights
def test_its_airframe_controller_and_pilot_fly_in_its_scenario_and_world(place: Place, flown: dict[str, Any]) -> None:
    drone = flown["vehicles"]["drone"]
    assert any("landed" in event for event in drone["events"])
    with (place.here / "flown/streams/truth/drone.csv").open() as file:
        assert 1.3 < max(float(row["position_2"]) for row in csv.DictReader(file)) < 1.7


@pytest.mark.flights
def test_its_sensor_estimator_and_processor_publish_its_messages(place: Place, flown: dict[str, Any]) -> None:
    code = """
from pathlib import Path
from skyloop.recording.run_reader import read_run
found = read_run(Path("flown")).streams
for name in ("drone/beacon", "drone/beacon/rate", "drone/beacon_mean"):
    stream = found[name]
    print(name, type(stream.at(5).data).__name__, len(stream.arrivals))
print(found["drone/beacon"].at(0).data.distance)
"""
    *streams, first = place.python("-c", code).splitlines()
    counts = {line.split()[0]: int(line.split()[2]) for line in streams}
    assert [line.split()[1] for line in streams] == ["BeaconSample", "BeaconRate", "Number"]
    assert len(set(counts.values())) == 1
    assert float(first) == pytest.approx(3.0, abs=0.01)


@pytest.mark.flights
def test_its_messages_become_topics_of_ros_2(place: Place) -> None:
    words = ("record", "--scenario", "acme-hop", "--frames", "4", "--formats", "mcap", "--workers", "1", "--out", "bag")
    place.skyloop(*words)
    code = """
from rosbags.highlevel import AnyReader
from pathlib import Path
with AnyReader([Path("bag/ros2")]) as bag:
    print({c.topic: c.msgtype for c in bag.connections}["/drone/beacon/rate"], bag.message_count > 4)
"""
    assert place.python("-c", code).split() == ["std_msgs/msg/Float64", "True"]


@pytest.mark.flights
def test_its_link_report_and_verb_tell_of_the_flight(place: Place, flown: dict[str, Any]) -> None:
    assert "landed" in (place.here / "events.txt").read_text()
    assert flown["nearest_beacon_m"] == pytest.approx(3.0, abs=0.01)
    assert place.skyloop("nearest", "flown") == "drone/beacon: 3.00 m\n"


@pytest.mark.flights
def test_its_format_is_written(place: Place) -> None:
    place.skyloop(
        "record", "--world", "flat", "--frames", "4", "--sensors", "imu", "--formats", "heights", "--workers", "1",
        "--out", "recorded",
    )  # fmt: skip
    (written,) = (place.here / "recorded").rglob("heights.txt")
    lines = [line.split() for line in written.read_text().splitlines()]
    assert len(lines) >= 4 and all(int(t_ns) >= 0 and float(height) > 0.0 for t_ns, height in lines)


def test_its_names_are_listed_with_where_they_come_from(place: Place) -> None:
    said = place.skyloop("list")
    for name, plugin in (("acme-hop", "acme"), ("feather", "acme"), ("hop", "acme"), ("lines", "acme"),
                         ("harbour", ""), ("beacon", "beacon"), ("valley", "beacon"), ("lift", "acme"),
                         ("smooth", "acme"), ("heights", "acme"), ("nearest", "beacon")):  # fmt: skip
        (line,) = [line for line in said.splitlines() if line.split()[:1] == [name]]
        assert not plugin or line.rstrip().endswith(f"from {plugin}"), line
    found = {each["name"]: each for each in json.loads(place.skyloop("doctor", "--json"))}
    assert (found["plugin: acme"]["state"], found["plugin: acme"]["found"]) == ("ok", "1.0")
    assert found["plugin: beacon"]["state"] == "ok"


def test_its_program_for_the_board_is_found(place: Place) -> None:
    code = "from skyloop.cli.loop_programs import BOARD_PROGRAMS as b; print(b['smooth'](None, 'drone', 'mean'))"
    assert place.python("-c", code).split()[0] == "['smooth.cpp',"
