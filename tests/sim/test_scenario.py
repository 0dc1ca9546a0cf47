from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from core_flights import NOISY_FLIGHT
from skyloop.core.validation import parse_yaml, read_yaml
from skyloop.sim.assembly import build, load_airframe
from skyloop.sim.scenario import AIRFRAMES, SCENARIOS, load_scenario, make_scenario
from skyloop_client.errors import ScenarioError, UnknownNameError

DRAWN = ("camera", "depth_camera", "radar")
IN_ANOTHER_WORLD = ("corridor-vio", "house-vio", "park-square", "park-vio", "warehouse-vio")
"""Their large worlds are built for other scenarios."""

SECONDS_TO_BUILD = ("warehouse-nav", "house-nav", "park-people")
LARGE = pytest.mark.slow("builds a large world, which others build too")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=LARGE) if name in SECONDS_TO_BUILD else name for name in SCENARIOS]
)
def test_every_shipped_scenario_loads_builds_and_resolves_to_itself(name: str, tmp_path: Path) -> None:
    scenario = load_scenario(name)
    assert scenario.name == name
    assert scenario.description
    resolved = scenario.model_dump(mode="json")
    file = tmp_path / "resolved.yaml"
    file.write_text(yaml.safe_dump(resolved, sort_keys=False))
    again = load_scenario(file)
    assert again == scenario
    assert again.model_dump(mode="json") == resolved
    # what draws pictures is only built; pictures are drawn below
    draws = any(sensor.kind in DRAWN for vehicle in scenario.vehicles for sensor in vehicle.sensors.values())
    changes = {"world": "blocks"} if name in IN_ANOTHER_WORLD else None
    with build(load_scenario(name, changes), renders=False) as simulation:
        assert list(simulation.autopilots) == [vehicle.name for vehicle in scenario.vehicles]
        if not draws and not scenario.observers:
            simulation.run_until(0.05)


@pytest.mark.renders
@pytest.mark.parametrize("name", ["room-nav", "radar-walk"])
def test_shipped_scenarios_draw_their_first_pictures(name: str) -> None:
    """Two that have all kinds of sensors that draw; their images are made small."""
    sensors = load_scenario(name).vehicles[0].sensors
    seeing = [stream for stream, sensor in sensors.items() if sensor.kind in DRAWN]
    small = {f"sensors.{stream}.{key}": n for stream in seeing for key, n in (("width", 96), ("height", 64))}
    with build(load_scenario(name, small)) as simulation:
        names = [
            name for name in simulation.bus.infos if name.split("/")[0] == "drone" and name.split("/")[1] in seeing
        ]
        inboxes = {name: simulation.subscribe(name) for name in names}
        simulation.run_until(0.06)
        assert len(inboxes) >= len(seeing)
        assert all(list(inbox) for inbox in inboxes.values())


@pytest.mark.parametrize("name", list(AIRFRAMES))
def test_every_shipped_airframe_loads_under_its_name(name: str) -> None:
    airframe = load_airframe(name)
    assert airframe.name == name
    assert airframe.sources


def test_an_empty_scenario_has_defaults_that_fly() -> None:
    scenario = make_scenario({})
    assert [vehicle.name for vehicle in scenario.vehicles] == ["drone"]
    build(scenario).run_until(0.1)


def made(**changes: Any) -> Any:
    return make_scenario(NOISY_FLIGHT, {path.replace("__", "."): value for path, value in changes.items()})


def test_values_are_set_by_vehicle_name_by_number_and_deep_inside() -> None:
    assert made(seed=9).seed == 9
    assert made(vehicles__drone__state="truth").vehicles[0].state == "truth"
    assert made(vehicles__0__yaw_deg=30).vehicles[0].yaw_deg == 30.0
    assert made(vehicles__drone__sensors__imu__rate_hz=100).vehicles[0].sensors["imu"].rate_hz == 100
    assert made(vehicles__drone__pilot__waypoints__1__2=9.0).vehicles[0].pilot.waypoints[1] == (0.0, 4.0, 9.0)
    assert made(wind__mean__0=7.0).wind.mean == (7.0, 1.0, 0.0)


def test_keys_of_the_only_vehicle_may_be_set_without_naming_it() -> None:
    assert made(pilot__waypoints__1__2=9.0).vehicles[0].pilot.waypoints[1] == (0.0, 4.0, 9.0)
    assert made(state="truth").vehicles[0].state == "truth"
    assert made(name="hall").name == "hall", "a key of the scenario stays one"
    goals = make_scenario({}, {"pilot": {"kind": "navigate"}, "pilot.goals": [[1, 2], [3, 4, 5]]})
    assert goals.vehicles[0].pilot.goals == ((1.0, 2.0), (3.0, 4.0, 5.0))
    two = {"vehicles": [{"name": "a"}, {"name": "b"}]}
    with pytest.raises(ScenarioError, match=r"--set pilot.kind: there are several vehicles; write vehicles.NAME.pilot"):
        make_scenario(two, {"pilot.kind": "hover"})


def test_what_is_not_there_yet_is_made() -> None:
    assert made(earth__latitude_deg=10).earth.latitude_deg == 10.0
    assert made(vehicles__drone__failsafes__battery_low=0.3).vehicles[0].failsafes.battery_low == 0.3
    sensors = made(vehicles__drone__sensors__second__kind="imu").vehicles[0].sensors
    assert set(sensors) == {"imu", "gnss", "barometer", "magnetometer", "second"}
    assert make_scenario({}, {"vehicles.drone.yaw_deg": 5}).vehicles[0].yaw_deg == 5.0


def test_short_forms_can_be_entered_too() -> None:
    data = {"world": "hills", "vehicles": [{"pilot": "hover"}]}
    changed = make_scenario(data, {"world.options": {"amplitude": 2.0}, "vehicles.0.pilot.altitude": 7})
    assert changed.world.name == "hills"
    assert changed.vehicles[0].pilot.altitude == 7.0


def test_seeing_parts_are_set_and_written_and_read_again() -> None:
    data = {"world": "park", "vehicles": [{"sensors": {"eye": {"kind": "camera", "preset": "d435-right"}}}]}
    changes = {
        "world.randomise": ["sun", "people"],
        "weather.rain": 4,
        "observers.chase.vehicle": "drone",
        "vehicles.drone.sensors.eye.truth": ["depth"],
    }
    scenario = make_scenario(data, changes)
    assert scenario.world.name == "park" and scenario.world.randomise == ("sun", "people")
    assert scenario.weather.rain == 4.0
    assert scenario.observers["chase"].vehicle == "drone"
    camera = scenario.vehicles[0].sensors["eye"]
    assert (camera.rate_hz, camera.mount.position, camera.truth) == (30.0, (0.12, -0.05, 0.0), ("depth",))
    assert make_scenario(scenario.model_dump(mode="json")) == scenario


def test_of_equal_items_the_numbered_one_is_set() -> None:
    data = {"vehicles": [{"pilot": {"kind": "waypoints", "waypoints": [[1, 1, 2], [1, 1, 2]]}}]}
    changed = make_scenario(data, {"vehicles.0.pilot.waypoints.1": [5, 5, 5]})
    assert changed.vehicles[0].pilot.waypoints == ((1.0, 1.0, 2.0), (5.0, 5.0, 5.0))


def test_the_data_given_is_left_alone() -> None:
    before = copy.deepcopy(NOISY_FLIGHT)
    made(vehicles__drone__sensors__imu__rate_hz=100, wind__mean__0=3.0)
    assert before == NOISY_FLIGHT


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("vehicles.drome.state", "did you mean 'drone'"),
        ("vehicles.7.state", "no item '7'"),
        ("seed.deeper", "'seed' is an integer and has no keys"),
        ("vehicles.drone.stat", "did you mean 'state'"),
        ("", "unknown key ''"),
    ],
)
def test_a_path_that_leads_nowhere_is_told(path: str, text: str) -> None:
    with pytest.raises(ScenarioError, match=text):
        make_scenario(NOISY_FLIGHT, {path: 3})


def test_files_are_found_beside_the_scenario_also_from_its_resolved_form(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    airframe = load_airframe("iris").model_dump(mode="json")
    (tmp_path / "mine" / "own.yaml").write_text(yaml.safe_dump({**airframe, "name": "own"}))
    scenario = tmp_path / "mine" / "scenario.yaml"
    scenario.write_text("vehicles: [{airframe: own.yaml}]")
    resolved = tmp_path / "resolved.yaml"
    resolved.write_text(yaml.safe_dump(load_scenario(scenario).model_dump(mode="json")))
    for file in (scenario, resolved):
        build(load_scenario(file))


def test_a_shipped_name_that_does_not_exist_suggests_another() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'first-flight'"):
        load_scenario("frist-flight")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: }\nc: 2\n", r"place:2:4: not YAML"),
        ("seed: 1\nwind: {kind: calm}\nseed: 2\n", r"place:3:1: not YAML: key 'seed' is written twice"),
        ("vehicles: [{name: a, name: b}]", "'name' is written twice"),
        ("when: 2026-13-45", "month"),
        ("!!python/object:os.system {}", "could not determine a constructor"),
        ("{[1, 2]: 3}", "unhashable"),
        ("\x00", "not YAML"),
    ],
)
def test_yaml_is_read_strictly(text: str, message: str) -> None:
    with pytest.raises(ScenarioError, match=message):
        parse_yaml(text, "place")


def test_anchors_and_merges_are_no_duplicates() -> None:
    text = "a: &a {x: 1, y: 2}\nb: {<<: *a, x: 3}\n"
    assert parse_yaml(text, "place")["b"] == {"x": 3, "y": 2}


def test_bytes_that_are_no_text_are_told(tmp_path: Path) -> None:
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x00\xd8")
    with pytest.raises(ScenarioError, match="cannot read"):
        read_yaml(tmp_path / "bytes.yaml")


REFUSED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "under the ground": ({"vehicles.0.position": [0, 0, -10]}, ["drone: position", "below the ground", "at least 0."]),
    "legs in the ground": ({"vehicles.0.position": [0, 0, 0.0]}, ["below the ground", "or [x, y]"]),
    "no gravity": ({"earth.gravity": 0}, ["earth.gravity", "greater than 0"]),
    "too heavy": ({"earth.gravity": 30}, ["drone", "'iris' cannot lift it", "earth.gravity"]),
    "thin air": ({"earth.altitude": 9000}, ["cannot lift it", "9000 m", "earth.altitude"]),
    "a push that ends first": ({"vehicles.0.wrenches": [{"start": 2, "end": 2}]}, ["wrenches.0", "start before"]),
    "a fault that ends first": (
        {"vehicles.0.rotor_faults": [{"rotor": 0, "kind": "lost", "start": 2, "end": 1}]},
        ["rotor_faults.0", "ends at 1.0 s", "2.0 s"],
    ),
    "charge of no battery": ({"vehicles.0": {"battery": False, "charge": 0.5}}, ["charge is 0.5", "battery: false"]),
    "charge of an airframe without": (
        {"vehicles.0": {"airframe": "airsim-quad", "charge": 0.5}},
        ["drone: charge 0.5", "'airsim-quad' has no battery"],
    ),
    "an uneven rate": ({"vehicles.0.controller_rate_hz": 300}, ["physics_rate_hz 1000", "give 333.333 or 250"]),
    "too fast a rate": ({"vehicles.0.controller_rate_hz": 2000}, ["physics_rate_hz 1000; give 1000"]),
    "a key of an own sensor": (
        {"vehicles.0.sensors.mine": {"kind": "my.py:Mine", "rate_hz": 10, "gain": 3}},
        ["unknown key 'gain'", "under options"],
    ),
    "a pilot by a bare name": ({"vehicles.0.pilot": "p_raise"}, ["no 'p_raise'", "module:Class", "known: "]),
    "the name of observers": ({"vehicles.0.name": "observer"}, ["vehicles.0.name", "another name"]),
    "an observer of nobody": ({"observers.eye": {"vehicle": "drome"}}, ["observers.eye", "did you mean 'drone'"]),
    "a rate of an observer": ({"observers.eye": {"mode": "fixed", "rate_hz": "1/0"}}, ["observers.eye.rate_hz"]),
    "two worlds": ({"world": {"name": "park", "file": "a.glb"}}, ["'park'", "'a.glb'", "keep one"]),
    "fog in the lens": ({"weather.visibility": 1.0}, ["weather.visibility", "5"]),
    "a sensor misspelt": ({"vehicles.0.sensors.imu": {"kind": "imv"}}, ["did you mean 'imu'? All:", "module:Class"]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_meant_is_refused_in_one_line(case: str) -> None:
    changes, fragments = REFUSED[case]
    with pytest.raises(ScenarioError) as raised:
        build(make_scenario({"vehicles": [{}]}, changes))
    line = str(raised.value)
    assert "\n" not in line
    for fragment in fragments:
        assert fragment in line
    assert line.count("waypoints") <= 1, "the list of what there is stands there once"


@pytest.mark.parametrize("rate", [1000, 500, 333.333, 62.5, 1])
def test_rates_that_divide_the_physics_are_kept(rate: float) -> None:
    simulation = build(make_scenario({"vehicles": [{"controller_rate_hz": rate}]}))
    assert 1000 / simulation.fleet.params["control_divider"][0] == pytest.approx(rate, rel=1e-5)


def test_the_height_of_a_standing_vehicle_may_be_given() -> None:
    for name in list(AIRFRAMES):
        standing = build(make_scenario({"vehicles": [{"airframe": name}]})).truth().position[2]
        placed = make_scenario({"vehicles": [{"airframe": name, "position": [0, 0, float(standing)]}]})
        assert build(placed).truth().position[2] == pytest.approx(standing, abs=1e-12)


def test_thin_air_and_weak_gravity_are_weighed_together() -> None:
    build(make_scenario({"earth": {"altitude": 9000, "gravity": 3.71}}))


def test_a_start_inside_a_thing_is_told(caplog: pytest.LogCaptureFixture) -> None:
    with build(make_scenario({"world": "blocks"})) as simulation:
        editor = simulation.editor
        block = next(number for number in editor.things().values() if editor.class_of(number) == "block")
        inside = [*editor.place_of(block)[0][:2].tolist(), float(editor.box_of(block)[:, 2].max()) - 0.5]
    for position, told in ((inside, 1), ([0.0, 0.0], 0)):
        caplog.clear()
        with build(make_scenario({"world": "blocks", "vehicles": [{"position": position}]})):
            pass
        lines = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
        assert len(lines) == told
        assert all("is in the way above the start of 'drone'; choose another position" in line for line in lines)
