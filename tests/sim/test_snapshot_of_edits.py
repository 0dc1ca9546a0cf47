"""What links change in a running world is in snapshots: restored, also elsewhere, it goes on with the same bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from skyloop.core.bus import Fingerprint
from skyloop.sim.assembly import build
from skyloop.sim.scenario import make_scenario
from skyloop.sim.simulation import Simulation
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Arm, Goal, TakeOff

SCENARIO: dict[str, Any] = {
    "world": {"name": "blocks"},
    "vehicles": [{
        "name": "drone", "position": [0.0, 0.0],
        "sensors": {
            "front": {"kind": "camera", "rate_hz": 2, "width": 32, "height": 24},
            "ahead": {"kind": "rangefinder", "rate_hz": 20, "max_range": 100.0},
        },
    }],
}  # fmt: skip
pytestmark = pytest.mark.renders
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])
EAST, NORTH = np.eye(3)[:2]


def made() -> Simulation:
    return build(make_scenario(SCENARIO))


def in_the_air(simulation: Simulation) -> None:
    simulation.port.vehicle().send(Arm(), TakeOff(2.0), by="test")
    simulation.run_for(2.0)


def a_block(simulation: Simulation) -> int:
    editor = simulation.editor
    return next(number for number in editor.things().values() if editor.class_of(number) == "block")


def ahead(simulation: Simulation) -> np.ndarray[Any, Any]:
    """3 m before the vehicle, which faces east."""
    return np.asarray(simulation.truth().position + 3.0 * EAST)


def change_limits(simulation: Simulation) -> None:
    simulation.port.vehicle().set_limits(cruise_speed=0.7, tilt_deg=12.0)


def change_failsafes(simulation: Simulation) -> None:
    simulation.port.vehicle().set_failsafes(descent_speed=0.3)
    simulation.port.vehicle().release("test", hover=0.5)


def change_weather(simulation: Simulation) -> None:
    simulation.editor.set_weather(rain=30.0)


def change_wind(simulation: Simulation) -> None:
    simulation.editor.set_wind(np.array([4.0, 0.0, 0.0]))


def push(simulation: Simulation) -> None:
    simulation.editor.push(0, np.array([0.0, 3.0, 0.0]))


def move_a_thing(simulation: Simulation) -> None:
    simulation.editor.put_thing(a_block(simulation), ahead(simulation), UPRIGHT)


def add_a_thing(simulation: Simulation) -> None:
    simulation.editor.add_thing("mine", "Cube", ahead(simulation), UPRIGHT, np.ones(3))


def add_move_and_remove(simulation: Simulation) -> None:
    editor = simulation.editor
    first = editor.add_thing("first", "Cube", ahead(simulation), UPRIGHT, np.ones(3))
    editor.put_thing(first, ahead(simulation) + EAST, None)
    editor.add_thing("second", "Sphere", ahead(simulation) + NORTH, UPRIGHT, np.ones(3))
    editor.remove_thing(first)
    editor.remove_thing(a_block(simulation))


CHANGES = [
    change_limits, change_failsafes, change_weather, change_wind, push, move_a_thing, add_a_thing, add_move_and_remove,
]  # fmt: skip


def fly_on(simulation: Simulation) -> dict[str, str]:
    prints = Fingerprint(simulation.bus)
    if simulation.port.vehicle().commander:
        simulation.port.vehicle().send(Goal(np.array([6.0, 1.0, 2.0])), by="test")
    simulation.run_for(1.2)
    return prints.hexdigests()


class Flown:
    """A simulation in the air, a snapshot of it there, and what it publishes if nobody changes anything."""

    def __init__(self) -> None:
        self.simulation = made()
        in_the_air(self.simulation)
        self.before = self.simulation.snapshot()
        self.unchanged = fly_on(self.simulation)


@pytest.fixture(scope="module")
def flown() -> Iterator[Flown]:
    one = Flown()
    with one.simulation:
        yield one


@pytest.fixture(scope="module")
def other() -> Iterator[Simulation]:
    """Another simulation of the scenario, which only gets snapshots."""
    with made() as simulation:
        yield simulation


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_changed_then_restored_goes_on_with_the_same_bytes(
    change: Callable[[Simulation], None], flown: Flown, other: Simulation
) -> None:
    simulation = flown.simulation
    simulation.restore(flown.before)
    change(simulation)
    after = simulation.snapshot()
    first = fly_on(simulation)
    assert first != flown.unchanged, "the change has no effect on any stream"

    simulation.restore(flown.before)
    assert fly_on(simulation) == flown.unchanged

    simulation.restore(after)
    assert fly_on(simulation) == first

    other.restore(after)
    assert fly_on(other) == first


def test_no_snapshot_fits_across_a_vehicle_that_joined(flown: Flown) -> None:
    """The last test of this file: who has joined stays."""
    flown.simulation.editor.join("second", "drone", np.array([5.0, 5.0, 0.3]), UPRIGHT)
    with pytest.raises(ScenarioError, match="joined"):
        flown.simulation.restore(flown.before)
