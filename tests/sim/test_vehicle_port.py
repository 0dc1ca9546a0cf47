"""The handle for whoever flies from outside: state, limits, who commands, and what happens when nobody does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from skyloop.sim.assembly import build
from skyloop.sim.scenario import make_scenario
from skyloop.sim.simulation import Simulation
from skyloop_client.errors import SetpointError, UnknownNameError
from skyloop_client.messages import Arm, Estimate, Event, EventKind, Goal, Hover, TakeOff, Velocity

FAR = np.array([60.0, 0.0, 5.0])
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])


def flying(**vehicle: Any) -> Simulation:
    simulation = build(make_scenario({"vehicles": [{"name": "drone", **vehicle}]}))
    simulation.port.vehicle().send(Arm(), TakeOff(3.0), by="test")
    simulation.run_for(4.0)
    return simulation


@pytest.fixture
def hovering() -> Iterator[Simulation]:
    with flying() as simulation:
        yield simulation


def test_it_tells_what_the_vehicle_is_and_does(hovering: Simulation) -> None:
    port = hovering.port.vehicle("drone")
    assert port.geometry.n_rotors == 4 and port.geometry.rotor_positions.shape == (4, 3)
    assert port.thrust_wanted == pytest.approx(port.geometry.mass * port.geometry.gravity, rel=0.02)
    assert port.geometry.hover_throttle == pytest.approx(port.thrust_wanted / port.geometry.max_thrust, rel=0.02)
    assert port.status.mode == "hover" and port.is_flying and port.knows_where
    assert port.truth.position[2] == pytest.approx(3.0, abs=0.3)
    assert port.battery.energy_used > 0.0 and port.actuators.speeds.shape == (4,)
    np.testing.assert_array_equal(port.home[:2], [0.0, 0.0])  # type: ignore[index]


def test_on_an_estimate_it_knows_where_it_is_only_while_that_is_fresh() -> None:
    sensors = {kind: {"kind": kind} for kind in ("imu", "gnss", "barometer", "magnetometer")}
    with build(make_scenario({"vehicles": [{"name": "drone", "state": "ekf", "sensors": sensors}]})) as simulation:
        port = simulation.port.vehicle()
        assert port.flies_on_estimate and not port.knows_where
        simulation.run_for(6.0)
        assert isinstance(port.belief, Estimate) and port.knows_where


def test_a_vehicle_that_does_not_exist(hovering: Simulation) -> None:
    with pytest.raises(UnknownNameError, match="drone"):
        hovering.port.vehicle("dron")


def test_whoever_was_obeyed_last_commands(hovering: Simulation) -> None:
    port = hovering.port.vehicle()
    assert port.commander == "test"
    port.send(Goal(FAR), by="airsim")
    assert port.commander == "airsim"
    port.claim("mavlink")
    assert port.commander == "mavlink"
    with pytest.raises(SetpointError):
        port.send(Velocity(np.full(3, np.nan)), by="airsim")
    assert port.commander == "mavlink"


def test_nobody_without_a_name_commands(hovering: Simulation) -> None:
    with pytest.raises(SetpointError, match="needs a name"):
        hovering.port.vehicle().claim("")


def test_release_hovers_then_lands(hovering: Simulation) -> None:
    port = hovering.port.vehicle()
    seen: list[Event] = []
    port.on_event(seen.append)
    port.send(Goal(FAR), by="test")
    hovering.run_for(1.0)
    assert port.release("test", hover=5.0)
    hovering.run_for(4.9)
    assert port.status.mode == "hover" and port.commander == ""
    assert float(np.linalg.norm(port.truth.velocity_world)) < 0.2
    hovering.run_for(12.0)
    assert not port.status.armed and port.status.landed
    told = [event.kind for event in seen if event.kind is not EventKind.CONTACT]
    assert told == [EventKind.RELEASED, EventKind.RELEASED, EventKind.LANDED, EventKind.DISARMED]


def test_release_may_send_it_home(hovering: Simulation) -> None:
    port = hovering.port.vehicle()
    port.send(Goal(np.array([8.0, 0.0, 3.0])), by="test")
    hovering.run_for(6.0)
    port.release("test", hover=1.0, then="home")
    hovering.run_for(15.0)
    assert port.status.landed and np.linalg.norm(port.truth.position[:2]) < 0.5


def test_a_new_commander_ends_a_release(hovering: Simulation) -> None:
    port = hovering.port.vehicle()
    port.release("test", hover=1.0)
    port.claim("another")
    hovering.run_for(3.0)
    assert port.status.mode == "hover"


def test_only_the_commander_releases(hovering: Simulation) -> None:
    port = hovering.port.vehicle()
    port.send(Hover(), by="mavlink")
    assert not port.release("airsim", hover=0.1)
    hovering.run_for(2.0)
    assert port.status.mode == "hover" and port.commander == "mavlink"


def test_a_release_is_in_snapshots(hovering: Simulation) -> None:
    port = hovering.port.vehicle()
    port.release("test", hover=1.0)
    saved = hovering.snapshot()
    hovering.run_for(12.0)
    assert port.status.landed
    hovering.restore(saved)
    assert port.is_flying
    hovering.run_for(12.0)
    assert port.status.landed


def test_limits_bind_the_controller_at_once(hovering: Simulation) -> None:
    port = hovering.port.vehicle()
    port.set_limits(cruise_speed=1.0, climb=0.5)
    port.send(Goal(FAR), by="test")
    hovering.run_for(4.0)
    assert float(np.linalg.norm(port.truth.velocity_world)) == pytest.approx(1.0, abs=0.2)
    with pytest.raises(ValueError, match="speed"):
        port.set_limits(speed=-1.0)
    assert port.limits.speed > 0.0


def test_failsafes_can_be_changed(hovering: Simulation) -> None:
    port = hovering.port.vehicle()
    port.set_failsafes(setpoint_timeout=0.1, setpoint_land_after=0.2)
    port.send(Velocity(np.array([1.0, 0.0, 0.0])), by="test")
    hovering.run_for(1.0)
    assert port.status.mode == "land" and port.status.failsafe == "setpoint lost"


def test_a_crash_into_something_says_into_what(hovering: Simulation) -> None:
    port = hovering.port.vehicle()
    crashes: list[Event] = []
    port.on_event(lambda event: crashes.append(event) if event.kind is EventKind.CRASH else None)
    wall = hovering.editor.add_thing("wall", "Cube", np.array([20.0, 0.0, 5.0]), UPRIGHT, np.array([1.0, 20.0, 20.0]))
    port.set_limits(cruise_speed=8.0)
    port.send(Goal(FAR), by="test")
    hovering.run_for(6.0)
    assert [event.contact.instance for event in crashes if event.contact] == [wall]
    assert crashes[0].contact is not None and crashes[0].contact.name == "wall"
    assert crashes[0].contact.closing > 4.0 and not port.status.armed


def test_a_vehicle_upside_down_has_crashed_too(hovering: Simulation) -> None:
    """Noticed by the autopilot, not by the flight kernel: nothing was hit hard."""
    port = hovering.port.vehicle()
    crashes: list[Event] = []
    port.on_event(lambda event: crashes.append(event) if event.kind is EventKind.CRASH else None)
    lying = np.array([0.0, 1.0, 0.0, 0.0])
    hovering.editor.put(port.index, np.array([0.0, 0.0, 0.3]), lying)
    hovering.run_for(2.0)
    assert [crash.text for crash in crashes] == ["lies upside down, motors off"]
    assert not port.status.armed


def test_link_events_are_a_stream(hovering: Simulation) -> None:
    port = hovering.port.vehicle()
    port.tell(EventKind.CONNECTED, "somebody")
    port.tell(EventKind.LEFT, "somebody")
    assert hovering.latest("link/drone").kind is EventKind.LEFT
    assert hovering.bus.counts["link/drone"] == 2
