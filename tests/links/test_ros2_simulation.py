"""simulation_interfaces from outside: features, pausing, stepping, entities, worlds, and the action of steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from ros2_rig import Flown, Node, flown, ns, wxyz, xyz

pytestmark = pytest.mark.processes

SI = "simulation_interfaces/srv"
UNSUPPORTED, OK, NOT_FOUND, INCORRECT_STATE, FAILED = range(5)
STOPPED, PLAYING, PAUSED, QUITTING = range(4)


@pytest.fixture(scope="module")
def it(node: Node) -> Iterator[Flown]:
    vehicle = {"name": "drone", "position": [1.0, -2.0], "yaw_deg": 70.0}
    with flown([vehicle], world="blocks") as it:
        node.read("/clock", "rosgraph_msgs/msg/Clock")
        it.wanted("/clock")
        yield it


def call(it: Flown, node: Node, name: str, values: Any = None) -> Any:
    service = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)[1:]
    return it.call(node, f"/{service}", f"{SI}/{name}", values)


def code(answer: Any) -> int:
    return int(answer["result"]["result"])


def test_features_are_told_and_the_rest_is_refused(it: Flown, node: Node) -> None:
    features = call(it, node, "GetSimulatorFeatures")["features"]["features"]
    assert {0, 1, 10, 11, 24, 25, 26, 31, 32, 33, 45} <= set(features)
    assert not {2, 3, 4, 7, 13, 21, 40, 43} & set(features)
    assert code(call(it, node, "LoadWorld", {"world_resource": {"uri": "park"}})) == UNSUPPORTED
    assert code(call(it, node, "ResetSimulation", {"scope": 1})) == UNSUPPORTED


def test_pausing_and_stepping_hold(it: Flown, node: Node) -> None:
    """One step is one of the physics, a millisecond."""
    assert call(it, node, "GetSimulationState")["state"]["state"] == PLAYING
    assert code(call(it, node, "StepSimulation", {"steps": 5})) == INCORRECT_STATE
    assert code(call(it, node, "SetSimulationState", {"state": {"state": PAUSED}})) == OK
    assert code(call(it, node, "SetSimulationState", {"state": {"state": PAUSED}})) == 101
    assert call(it, node, "GetSimulationState")["state"]["state"] == PAUSED
    assert it.link.blocks_time(it.simulation.port.next_ns)
    before = it.simulation.clock.now_ns
    assert code(call(it, node, "StepSimulation", {"steps": 37})) == OK
    assert it.simulation.clock.now_ns == before + 37_000_000
    assert it.link.blocks_time(it.simulation.port.next_ns)
    assert code(call(it, node, "StepSimulation", {"steps": 0})) == FAILED
    assert ns(node.take("/clock")[-1]["clock"]) == before + 37_000_000


def test_steps_as_an_action(it: Flown, node: Node) -> None:
    action, goal = "simulation_interfaces/action/SimulateSteps", {"uuid": list(range(16))}
    node.read("/simulate_steps/_action/feedback", f"{action}_FeedbackMessage", "reliable")
    it.serve_until(lambda: it.link.control.action._feedback.is_wanted)
    before = it.simulation.clock.now_ns
    sent = it.call(
        node, "/simulate_steps/_action/send_goal", f"{action}_SendGoal", {"goal_id": goal, "goal": {"steps": 4}}
    )
    assert sent["accepted"]
    done = it.call(node, "/simulate_steps/_action/get_result", f"{action}_GetResult", {"goal_id": goal})
    assert done["status"] == 4 and done["result"]["result"]["result"] == OK
    assert it.simulation.clock.now_ns == before + 4_000_000
    reported = [one["feedback"] for one in node.take("/simulate_steps/_action/feedback", 4)]
    assert [(one["completed_steps"], one["remaining_steps"]) for one in reported] == [(1, 3), (2, 2), (3, 1), (4, 0)]
    cancelled = it.call(node, "/simulate_steps/_action/cancel_goal", "action_msgs/srv/CancelGoal")
    assert cancelled["return_code"] == 1


def test_entities_are_found(it: Flown, node: Node) -> None:
    everything = call(it, node, "GetEntities")["entities"]
    assert "drone" in everything and len(everything) > 5
    assert call(it, node, "GetEntities", {"filters": {"filter": "^dro"}})["entities"] == ["drone"]
    robots = call(it, node, "GetEntities", {"filters": {"categories": [{"category": 1}]}})
    assert robots["entities"] == ["drone"]
    near = {"type": 3, "points": [{"x": 1.0, "y": -2.0, "z": 0.1}, {"x": 0.5}]}
    assert "drone" in call(it, node, "GetEntities", {"filters": {"bounds": near}})["entities"]
    far = {"type": 3, "points": [{"x": 1.0, "y": -2.0, "z": 500.0}, {"x": 0.5}]}
    assert call(it, node, "GetEntities", {"filters": {"bounds": far}})["entities"] == []
    assert code(call(it, node, "GetEntities", {"filters": {"filter": "("}})) == FAILED
    assert code(call(it, node, "GetEntities", {"filters": {"filter": "(a+)+$"}})) == FAILED
    assert code(call(it, node, "GetEntities", {"filters": {"tags": {"tags": ["red"]}}})) == UNSUPPORTED


def test_states_of_vehicles(it: Flown, node: Node) -> None:
    """Velocities of an entity are in world axes, both of them."""
    turn = {"w": np.cos(0.6), "x": 0.0, "y": 0.0, "z": np.sin(0.6)}
    state = {
        "pose": {"position": {"x": 3.0, "y": -4.0, "z": 5.0}, "orientation": turn},
        "twist": {"linear": {"x": 1.0, "y": 2.0, "z": -0.5}, "angular": {"x": 0.3, "y": 0.1, "z": 0.2}},
    }
    asked = {"entity": "drone", "state": state, "set_pose": True, "set_twist": True}
    assert code(call(it, node, "SetEntityState", asked)) == OK
    truth = it.simulation.truth()
    assert truth.position == pytest.approx([3.0, -4.0, 5.0]) and truth.velocity_world == pytest.approx([1.0, 2.0, -0.5])
    got = call(it, node, "GetEntityState", {"entity": "drone"})["state"]
    assert xyz(got["pose"]["position"]) == pytest.approx([3.0, -4.0, 5.0])
    assert wxyz(got["pose"]["orientation"]) == pytest.approx([turn["w"], 0.0, 0.0, turn["z"]])
    assert xyz(got["twist"]["linear"]) == pytest.approx([1.0, 2.0, -0.5])
    assert xyz(got["twist"]["angular"]) == pytest.approx([0.3, 0.1, 0.2])
    assert code(call(it, node, "GetEntityState", {"entity": "nobody"})) == NOT_FOUND
    broken = {**asked, "state": {"pose": {"position": {"x": 1.0}, "orientation": {"w": 5.0}}}}
    assert code(call(it, node, "SetEntityState", broken)) == 101


def test_things_come_and_go(it: Flown, node: Node) -> None:
    shape = it.simulation.editor.shapes()[0]
    pose = {"header": {}, "pose": {"position": {"x": 7.0, "y": 8.0, "z": 1.5}, "orientation": {"w": 1.0}}}
    asked = {"name": "crate", "entity_resource": {"uri": shape}, "initial_pose": pose}
    built = call(it, node, "SpawnEntity", asked)
    assert code(built) == OK and built["entity_name"] == "crate"
    place = call(it, node, "GetEntityState", {"entity": "crate"})["state"]["pose"]["position"]
    assert xyz(place) == pytest.approx([7.0, 8.0, 1.5])
    assert code(call(it, node, "SpawnEntity", asked)) == 101
    assert call(it, node, "SpawnEntity", {**asked, "allow_renaming": True})["entity_name"] == "crate_1"
    assert code(call(it, node, "SpawnEntity", {**asked, "name": "a b"})) == 102
    assert code(call(it, node, "SpawnEntity", {**asked, "name": "x", "entity_resource": {"uri": "ufo"}})) == 103
    assert code(call(it, node, "SpawnEntity", {**asked, "name": "x", "entity_resource": {}})) == 104
    assert code(call(it, node, "DeleteEntity", {"entity": "crate"})) == OK
    assert code(call(it, node, "DeleteEntity", {"entity": "crate"})) == NOT_FOUND
    assert code(call(it, node, "DeleteEntity", {"entity": "drone"})) == FAILED
    assert code(call(it, node, "ResetSimulation", {"scope": 6})) == OK
    assert "crate_1" not in call(it, node, "GetEntities")["entities"]
    assert it.simulation.truth().position[:2] == pytest.approx([1.0, -2.0], abs=1e-6)


def test_what_entities_are(it: Flown, node: Node) -> None:
    robot = call(it, node, "GetEntityInfo", {"entity": "drone"})
    assert code(robot) == OK and robot["info"]["category"]["category"] == 1
    assert code(call(it, node, "GetEntityInfo", {"entity": "nobody"})) == NOT_FOUND
    assert code(call(it, node, "SetEntityInfo", {"entity": "drone"})) == UNSUPPORTED
    # its box about its own place: the two corners of a box, the upper one first
    bounds = call(it, node, "GetEntityBounds", {"entity": "drone"})
    upper, lower = (xyz(point) for point in bounds["bounds"]["points"])
    assert code(bounds) == OK and bounds["bounds"]["type"] == 1 and (upper > lower).all()
    corners = it.simulation.editor.box_of(it.simulation.editor.things()["drone"])
    assert upper - lower == pytest.approx(np.ptp(corners, axis=0))
    assert code(call(it, node, "GetEntityBounds", {"entity": "nobody"})) == NOT_FOUND


def test_several_things_at_once(it: Flown, node: Node) -> None:
    shapes = [one["entity_resource"]["uri"] for one in call(it, node, "GetSpawnables")["spawnables"]]
    assert shapes == sorted(set(it.simulation.editor.shapes()))
    pose = {"pose": {"position": {"x": 3.0, "y": 9.0, "z": 2.5}, "orientation": {"w": 1.0}}}
    asked = [
        {"name": "one", "entity_resource": {"uri": shapes[0]}, "initial_pose": pose},
        {"name": "two", "entity_resource": {"uri": "ufo"}},
        {"name": "one", "entity_resource": {"uri": shapes[-1]}, "allow_renaming": True},
    ]
    built = call(it, node, "SpawnEntities", {"spawn_requests": asked})
    assert code(built) == 150
    assert [(code(one), one["entity_name"]) for one in built["results"]] == [(OK, "one"), (103, ""), (OK, "one_1")]
    place = call(it, node, "GetEntityState", {"entity": "one"})["state"]["pose"]["position"]
    assert xyz(place) == pytest.approx([3.0, 9.0, 2.5])
    assert code(call(it, node, "SpawnEntities", {"spawn_requests": asked[1:2]})) == 150
    assert code(call(it, node, "SpawnEntities")) == OK
    assert code(call(it, node, "ResetSimulation", {"scope": 4})) == OK
    assert "one" not in call(it, node, "GetEntities")["entities"]


def test_worlds(it: Flown, node: Node) -> None:
    assert call(it, node, "GetCurrentWorld")["world"]["name"] == "blocks"
    worlds = call(it, node, "GetAvailableWorlds")["worlds"]
    assert [(one["name"], one["description"]) for one in worlds] == [("blocks", "boxes"), ("park", "trees")]
    assert code(call(it, node, "GetAvailableWorlds", {"filter": {"tags": ["indoor"]}})) == UNSUPPORTED
    for name in ("UnloadWorld", "GetNamedPoses", "GetNamedPoseBounds"):
        assert code(call(it, node, name)) == UNSUPPORTED


def test_states(it: Flown, node: Node) -> None:
    answer = call(it, node, "GetEntitiesStates", {"filters": {"filter": "^drone$"}})
    assert answer["entities"] == ["drone"] and len(answer["states"]) == 1
    assert code(call(it, node, "SetSimulationState", {"state": {"state": 7}})) == 103
    assert code(call(it, node, "SetSimulationState", {"state": {"state": STOPPED}})) == OK
    assert call(it, node, "GetSimulationState")["state"]["state"] == STOPPED
    assert code(call(it, node, "SetSimulationState", {"state": {"state": PLAYING}})) == OK
    assert not it.link.blocks_time(it.simulation.port.next_ns)
    assert code(call(it, node, "SetSimulationState", {"state": {"state": QUITTING}})) == OK
    assert it.link.over
