"""Maps inside a simulation: what comes on their streams, on which pose, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from skyloop.sim.assembly import build
from skyloop.sim.scenario import make_scenario
from skyloop.sim.simulation import Simulation
from skyloop.world.world import WorldConfig, build_world
from skyloop_autonomy.evaluation.map_truth import true_voxels
from skyloop_autonomy.mapping import judge
from skyloop_autonomy.mapping.counting import FREE, OCCUPIED
from skyloop_autonomy.mapping.map_builder import RATES_HZ
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Arm, Estimate, Message, Position

BUILDER = "maps"
DEPTH = {
    "kind": "depth_camera",
    "preset": "d435",
    "width": 160,
    "height": 90,
    "rate_hz": 10,
    "quality": "low",
    "latency": 0.15,
}


EAST = np.array([0.4, 0.0, 0.0])


class Believer:
    """The truth 0.4 m to the east of where it is, lost for a while."""

    def __init__(self, setup: Any) -> None:
        pass

    def on_message(self, message: Message) -> Estimate | None:
        state, none = message.data, np.zeros(3)
        return Estimate(
            state.t_ns, state.position + EAST, state.velocity_world, state.quat_wxyz, none, none, none, none,
            valid=not 2e9 < state.t_ns < 3e9,
        )  # fmt: skip


def turning(estimators: dict[str, Any]) -> Simulation:
    """Turns on the spot in the room, flying on the truth."""
    vehicle = {
        "sensors": {"depth": DEPTH},
        "estimators": estimators,
        "position": [0.0, 0.0, 1.5],
        "pilot": {"kind": f"{__file__}:turn"},
    }
    return build(make_scenario({"world": "room", "duration": 4.0, "vehicles": [vehicle]}))


def turn(bundle: Any) -> Any:
    goal = Position(np.array([0.0, 0.0, 1.5]), yaw=0.6e-9 * bundle.t_ns)
    return goal if bundle.status is not None and bundle.status.armed else [Arm(), goal]


def mapped(name: str, inputs: list[str], **options: Any) -> dict[str, Any]:
    return {name: {"kind": BUILDER, "inputs": inputs, "options": options}}


class Mapped:
    """One flight with a map on the truth and one on an estimate that is wrong; its middle is flown twice."""

    def __init__(self) -> None:
        believer = {"kind": f"{__file__}:Believer", "inputs": ["truth/drone"]}
        # farther away, this small image has few pixels for a voxel
        near = {"settings": {"far": 4.0}}
        estimators = {
            **mapped("map", ["depth", "truth/drone"], **near),
            "wrong": believer,
            **mapped("moved", ["depth", "wrong"], **near),
        }
        self.got: dict[str, list[Message]] = {}
        with turning(estimators) as simulation:
            self.infos = simulation.bus.infos
            for name in (f"{name}/{stream}" for name in ("map", "moved") for stream in RATES_HZ):
                simulation.bus.on(f"drone/{name}", self.got.setdefault(name, []).append)
            simulation.run_until(1.5)
            saved = simulation.snapshot()
            before = self.counts()
            simulation.run_until(4.0)
            after = self.counts()
            simulation.restore(saved)
            simulation.run_until(3.3)
        self.again = {name: messages[after[name] :] for name, messages in self.got.items()}
        self.late = {name: messages[before[name] : after[name]] for name, messages in self.got.items()}
        self.got = {name: messages[: after[name]] for name, messages in self.got.items()}

    def counts(self) -> dict[str, int]:
        return {name: len(messages) for name, messages in self.got.items()}


@pytest.fixture(scope="module")
def flown() -> Mapped:
    return Mapped()


@pytest.mark.renders
def test_the_maps_are_streams_and_lie_where_the_world_is(flown: Mapped) -> None:
    got = {name: flown.got[f"map/{name}"] for name in RATES_HZ}
    kinds = {flown.infos[f"drone/map/{name}"].message for name in RATES_HZ}
    assert kinds == {"VoxelMap", "GridMap", "PointCloud", "Movers"}
    assert "drone/map" not in flown.infos
    counts = {name: len(messages) for name, messages in got.items()}
    assert 3 <= counts["voxels"] <= 5 and 15 <= counts["ground"] <= 20 and 15 <= counts["points"] <= 20
    voxels = got["voxels"][-1].data
    model = build_world(WorldConfig(name="room"), 1, None).model
    model.freeze()
    truth, unclear = true_voxels(model, None, voxels.origin, voxels.voxels.shape, voxels.resolution)
    found = judge(voxels.voxels == OCCUPIED, voxels.voxels == FREE, truth, voxels.resolution, unclear)
    assert found.seen > 2000 and found.iou > 0.8 and found.false_occupied < 15
    # every product is stamped with its image, and arrives with it
    assert all(message.t_ns <= message.arrival_ns - 150_000_000 for message in got["voxels"])
    assert got["points"][-1].data.frame == "depth" and len(got["points"][-1].data.points) > 50
    distance = got["ground_distance"][-1].data
    assert distance.values.min() > 0.0 and len(distance.values) == len(distance.points)


@pytest.mark.renders
def test_maps_are_built_on_the_stream_of_poses_that_is_named(flown: Mapped) -> None:
    """An estimate that is 0.4 m off moves the map by two voxels; while it is lost no image is entered."""
    early = [[m.data.voxels for m in flown.got[f"{name}/voxels"] if m.t_ns < 1.95e9][-1] for name in ("map", "moved")]
    assert (early[0] != -1).sum() > 500 and np.array_equal(early[0][:-2], early[1][2:])
    stamps = [message.t_ns for message in flown.got["moved/near"]]
    assert not any(2.05e9 < t_ns < 2.95e9 for t_ns in stamps) and max(stamps) > 3.2e9


@pytest.mark.renders
def test_a_snapshot_holds_the_maps(flown: Mapped) -> None:
    again = [message.data.voxels for message in flown.again["map/voxels"]]
    first = [message.data.voxels for message in flown.late["map/voxels"]][: len(again)]
    assert len(again) == 2 and all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))


@pytest.mark.parametrize(
    ("inputs", "options", "line"),
    [
        (["depth"], {}, "needs one stream of poses among its inputs, found none; give truth/drone"),
        (["truth/drone"], {}, "a map without a sensor"),
        (["depth", "truth/drone"], {"settings": {"cel": 0.1}}, "cel"),
        (["depth", "truth/drone"], {"rates_hz": {"voxel": 1.0}}, "did you mean 'voxels'"),
        (["depth", "truth/drone"], {"rates_hz": {"voxels": -1.0}}, "give 0 to 1000"),
    ],
)
def test_mistakes_are_one_line(inputs: list[str], options: dict[str, Any], line: str) -> None:
    with pytest.raises(ScenarioError, match=line) as caught:
        turning(mapped("map", inputs, **options))
    assert "\n" not in str(caught.value)
