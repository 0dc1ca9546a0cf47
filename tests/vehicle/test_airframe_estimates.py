"""Numbers that an airframe file leaves out, and what is computed from those it gives, against flights."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest
import yaml
from flying import GRAVITY, ask, ns, read_airframe, stand
from pydantic import ValidationError

from skyloop.core.frames import rotate
from skyloop.sim.assembly import build
from skyloop.sim.scenario import AIRFRAMES, make_scenario
from skyloop.vehicle.airframe import LEFT_OUT, Airframe, Limits
from skyloop.vehicle.airframe_figures import figures_of
from skyloop.vehicle.fleet import Fleet
from skyloop.vehicle.kernel_packing import Flying, pack
from skyloop.vehicle.kernel_records import SET_POSITION, SET_VELOCITY_WORLD
from skyloop.world.ground import Ground
from skyloop_client.streams import Rate

LINEAR = {"model": "linear", "linear": [0.0073, 0.0073, 0.005]}


def numbers(name: str) -> dict[str, Any]:
    return dict(yaml.safe_load(AIRFRAMES[name].read_text()))


def bare(name: str, **changes: Any) -> Airframe:
    """A shipped airframe whose file leaves out all that may be left out."""
    data = numbers(name)
    for key in ("inertia", "drag"):
        del data[key]
    for key in ("tau_up", "tau_down"):
        del data["motor"][key]
    data["contact"].pop("body")
    return Airframe(**(data | changes))


@pytest.mark.parametrize("name", ["x500", "f450", "crazyflie"])
def test_estimates_are_near_what_files_give(name: str) -> None:
    given, found = read_airframe(name), bare(name)
    np.testing.assert_allclose(np.log(np.divide(found.inertia, given.inertia)), 0.0, atol=np.log(1.5))
    assert found.drag.rotor == pytest.approx(given.drag.rotor, rel=0.6)
    np.testing.assert_allclose(np.log(np.divide(found.drag.linear, given.drag.linear)), 0.0, atol=np.log(2.0))
    np.testing.assert_allclose(np.log(np.divide(found.drag.parasitic, given.drag.box)), 0.0, atol=np.log(2.5))
    if name == "f450":
        assert found.motor.tau_up == pytest.approx(given.motor.tau_up, rel=0.5)
        assert found.motor.tau_down == pytest.approx(given.motor.tau_down, rel=0.5)
    assert set(found.left_out) == {"inertia", "drag", "motor.tau_up", "motor.tau_down", "contact.body"}
    assert given.left_out == []
    # what was estimated is still told of a copy, as a campaign makes one for each worker
    assert Airframe.model_validate_json(found.model_dump_json()) == found


@pytest.mark.parametrize(
    ("origins", "cause"),
    [
        ({"motor.tau": "measured"}, "motor.tau"), ({"mass.kg": "measured"}, "mass.kg"),
        ({"mass": "guessed"}, "provenance.mass"), ({"mass": "measured:"}, "provenance.mass"),
    ],
)  # fmt: skip
def test_an_origin_belongs_to_a_key_and_is_one_of_three_words(origins: dict[str, str], cause: str) -> None:
    with pytest.raises(ValidationError, match=cause):
        Airframe(**numbers("iris"), provenance=origins)
    told = {"mass": "measured: kitchen scales", "motor.thrust_coefficient": "data sheet", "drag": "estimated"}
    assert Airframe(**numbers("iris"), provenance=told).provenance == told


def hover_in_wind(airframe: Airframe, speed: float, caplog: pytest.LogCaptureFixture) -> tuple[float, list[str]]:
    """The tilt in degrees, and what was said."""
    data = {
        "wind": {"kind": "constant", "velocity": [speed, 0.0, 0.0]},
        "vehicles": [{"airframe": airframe.model_dump(mode="json"), "pilot": {"kind": "hover", "altitude": 2.0}}],
    }
    caplog.clear()
    with caplog.at_level(logging.INFO), build(make_scenario(data)) as simulation:
        simulation.run_until(12.0)
        up = rotate(simulation.fleet.state(0, simulation.clock.now_ns).quat_wxyz, np.array([0.0, 0.0, 1.0]))
    said = [record.getMessage() for record in caplog.records if record.name.endswith("airframe")]
    return float(np.degrees(np.arccos(up[2]))), said


@pytest.mark.flights
def test_an_airframe_without_drag_leans_into_the_wind_and_says_that_it_guesses(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tilt, said = hover_in_wind(bare("x500"), 10.0, caplog)
    known, nothing = hover_in_wind(read_airframe("x500"), 10.0, caplog)
    assert 6.0 < known < 8.0 and known < tilt < 18.0 and not nothing
    assert len(said) == 1 and "leaves out inertia, motor.tau_up, motor.tau_down, drag, contact.body" in said[0]
    # one that says so itself
    tilt, said = hover_in_wind(bare("x500", drag={"model": "rotor"}), 10.0, caplog)
    assert tilt < 0.1 and "feels no wind" in said[-1] and "drag" not in said[0]
    assert len(hover_in_wind(bare("x500", drag={"model": "none"}), 10.0, caplog)[1]) == 1
    assert LEFT_OUT.startswith("estimated")


@pytest.mark.parametrize("name", ["x500", "airsim-quad", "crazyflie"])
def test_figures_are_what_a_flight_shows(name: str) -> None:
    airframe = read_airframe(name)
    found = figures_of(airframe)
    flying = Flying(GRAVITY, 0.0, airframe.drag, "cascade", 2, 1, "drone", has_battery=airframe.battery is not None)
    fleet = Fleet([pack(airframe, flying)], Rate(1000), Ground.flat())
    stand(fleet)
    ask(fleet, SET_POSITION, position=(0.0, 0.0, 5.0))
    fleet.advance_to(ns(20.0))
    speeds = fleet.state(0, ns(20.0)).rotor_speeds
    share = float(np.mean(speeds)) / airframe.motor.max_speed
    assert found.hover_throttle == pytest.approx(share**2 if airframe.motor.throttle == "thrust" else share, rel=0.02)
    headroom = 1.0 - (speeds / airframe.motor.max_speed) ** 2
    np.testing.assert_allclose(found.headroom, headroom, atol=0.02)
    assert (found.endurance_s is None) == (airframe.battery is None)
    if airframe.battery is not None:
        state = fleet.states[0]
        assert found.hover_power_w == pytest.approx(float(state["current"] * state["voltage"]), rel=0.03)


@pytest.mark.parametrize("airframe", [bare("x500"), read_airframe("airsim-quad"), bare("crazyflie", drag=LINEAR)])
def test_the_top_speed_is_reached_in_level_flight(airframe: Airframe) -> None:
    limits = Limits(speed=200.0, acceleration=40.0, tilt_deg=15.0)
    able = airframe.model_copy(update={"limits": limits})
    found = figures_of(able)
    flying = Flying(GRAVITY, 0.0, able.drag, "cascade", 2, 1, "drone", has_battery=False)
    fleet = Fleet([pack(able, flying)], Rate(1000), Ground.flat(-1000.0))
    ask(fleet, SET_VELOCITY_WORLD, velocity=(150.0, 0.0, 0.0))
    fleet.advance_to(ns(60.0))
    state = fleet.state(0, ns(60.0))
    assert abs(state.velocity_world[2]) < 0.5
    assert state.velocity_world[0] == pytest.approx(found.top_speed_m_s, rel=0.03)
