"""The shipped airframes: their numbers against independent arithmetic, and each one flown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from flying import GRAVITY, IRIS, ask, ns, read_airframe, ring, stand
from pydantic import ValidationError

import skyloop.vehicle
from skyloop.vehicle.airframe import Airframe
from skyloop.vehicle.fleet import Fleet
from skyloop.vehicle.kernel_packing import Flying, pack
from skyloop.vehicle.kernel_records import SET_POSITION
from skyloop.world.earth import Earth, EarthConfig
from skyloop.world.ground import Ground
from skyloop_client.messages import Array
from skyloop_client.streams import Rate

FILES = sorted((Path(skyloop.vehicle.__file__).parent / "airframes").glob("*.yaml"))
NAMES = [path.stem for path in FILES]


def test_the_airframes_of_the_papers_and_peers_are_shipped() -> None:
    assert {"iris", "iris-d435", "x500", "f450", "airsim-quad", "crazyflie"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_airframe_is_complete_and_plausible(name: str) -> None:
    airframe = read_airframe(name)
    assert airframe.name == name
    assert any("estimated" in source for source in airframe.sources)
    hover_share = airframe.mass * GRAVITY / airframe.max_thrust
    assert 0.3 < hover_share < 0.75
    # any drag model can be chosen
    assert min(airframe.drag.linear) > 0 and min(airframe.drag.box) > 0 and airframe.drag.rotor > 0
    assert (airframe.battery is None) == (name == "airsim-quad")
    # it stands on its legs: they are the lowest points and span the centre of mass
    legs = np.array(airframe.contact.legs)
    points = np.vstack([legs, airframe.contact.body, [rotor.position for rotor in airframe.rotors]])
    assert len(airframe.contact.body) >= 4
    assert points[len(legs) :, 2].min() > legs[:, 2].max()
    assert (legs.min(axis=0)[:2] < airframe.centre_of_mass[:2]).all()
    assert (legs.max(axis=0)[:2] > airframe.centre_of_mass[:2]).all()


def _compose(parts: list[tuple[float, Any, Any]]) -> tuple[float, Array, Array]:
    """Mass, centre of mass and inertia about it: summed about the origin, then moved once."""
    mass = sum(m for m, _, _ in parts)
    centre = np.sum([m * np.array(at) for m, at, _ in parts], axis=0) / mass
    about_origin = np.zeros((3, 3))
    for m, at, own in parts:
        about_origin += np.diag(own) - m * _cross_matrix(at) @ _cross_matrix(at)
    return mass, centre, about_origin + mass * _cross_matrix(centre) @ _cross_matrix(centre)


def _cross_matrix(v: Any) -> Array:
    x, y, z = v
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]], float)


def _iris_parts() -> list[tuple[float, Any, Any]]:
    none = (0.0, 0.0, 0.0)
    rotors = [(0.005, rotor.position, none) for rotor in IRIS.rotors]
    return [(1.5, none, (0.029125, 0.029125, 0.055225)), (0.015, none, none), *rotors]


def test_iris_d435_is_the_sum_of_its_parts() -> None:
    wide, thin = 0.09**2 + 0.025**2, 2 * 0.025**2
    camera = (0.072, (0.12, 0.0, 0.0), 0.072 / 12 * np.array([wide, thin, wide]))
    (base, middle, spread), *rest = _iris_parts()
    # the battery is part of the base, and moved back until the camera is balanced
    battery, back = 0.42, -0.072 * 0.12 / 0.42
    frame = (base - battery, middle, spread)
    mass, centre, inertia = _compose([frame, (battery, (back, 0.0, 0.0), (0.0, 0.0, 0.0)), *rest, camera])
    airframe = read_airframe("iris-d435")
    assert airframe.mass == pytest.approx(mass, abs=1e-9)
    np.testing.assert_allclose(airframe.centre_of_mass, centre, atol=1e-6)
    np.testing.assert_allclose(airframe.inertia, np.diag(inertia), rtol=1e-4)
    assert abs(inertia - np.diag(np.diag(inertia))).max() < 1e-3 * min(airframe.inertia)


def test_an_airframe_that_hardly_hovers_is_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    for name in NAMES:
        read_airframe(name).check_lift("drone", Earth(EarthConfig()))
    assert not caplog.messages
    read_airframe("iris-d435").model_copy(update={"centre_of_mass": (0.032, 0.0, 0.0)}).check_lift(
        "drone", Earth(EarthConfig())
    )
    assert len(caplog.messages) == 1 and "the rotor at (0.13, -0.22)" in caplog.messages[0]


def test_iris_and_x500_include_their_rotors() -> None:
    mass, _, inertia = _compose(_iris_parts())
    assert IRIS.mass == pytest.approx(mass)
    np.testing.assert_allclose(IRIS.inertia, np.diag(inertia), rtol=1e-4)
    x500 = read_airframe("x500")
    base = (2.0, (0.0, 0.0, 0.0), (0.0216667, 0.0216667, 0.04))
    mass, centre, inertia = _compose([base, *[(0.0160769, rotor.position, (0.0, 0.0, 0.0)) for rotor in x500.rotors]])
    assert x500.mass == pytest.approx(mass, abs=1e-4)
    np.testing.assert_allclose(x500.centre_of_mass, centre, atol=1e-5)
    np.testing.assert_allclose(x500.inertia, np.diag(inertia), rtol=1e-4)


def test_airsim_quad_has_airsims_thrust_and_torque() -> None:
    airframe = read_airframe("airsim-quad")
    # the propeller's own formulas: T = C_T rho n^2 D^4, Q = C_P rho n^2 D^5 / (2 pi)
    turns, diameter = 6396.667 / 60, 0.2286
    thrust = 0.109919 * 1.225 * turns**2 * diameter**4
    torque = 0.040164 * 1.225 * turns**2 * diameter**5 / (2 * np.pi)
    assert thrust == pytest.approx(4.17945, rel=1e-4)
    assert torque == pytest.approx(0.055562, rel=1e-4)
    assert airframe.max_thrust / 4 == pytest.approx(4.17945, rel=1e-5)
    assert airframe.max_thrust / 4 * airframe.motor.torque_ratio == pytest.approx(0.055562, rel=1e-4)
    assert airframe.motor.max_speed == pytest.approx(2 * np.pi * turns, rel=1e-5)
    arms = np.linalg.norm([rotor.position[:2] for rotor in airframe.rotors], axis=1)
    np.testing.assert_allclose(arms, 0.2275, rtol=1e-5)
    assert airframe.controller == "simpleflight"


def _same_spin() -> list[dict[str, Any]]:
    return [{"position": rotor.position, "spin": "cw"} for rotor in IRIS.rotors]


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({"mass": -1.5}, "mass"),
        ({"mass": 3.0}, "cannot lift"),
        ({"rotors": _same_spin()}, "spins"),
        ({"inertia": (0.01, 0.01, 0.03)}, "no rigid body"),
        ({"motor": IRIS.motor.model_dump() | {"idle_speed": 1100.0}}, "idle_speed"),
        ({"motor": IRIS.motor.model_dump() | {"tau_up": 0.0}}, "tau_up"),
        ({"contact": {"legs": [(0.1, 0.1, -0.1)] * 30}}, "contact points"),
        ({"mas": 1.5}, "mas"),
    ],
)
def test_an_impossible_airframe_is_refused_by_its_cause(changes: dict[str, Any], cause: str) -> None:
    raw = yaml.safe_load(next(path for path in FILES if path.stem == "iris").read_text())
    with pytest.raises(ValidationError, match=cause):
        Airframe(**(raw | changes))


@pytest.mark.parametrize(
    "airframe", [IRIS, read_airframe("iris-d435"), *(ring(n, centre_of_mass=(0.02, -0.01, 0.005)) for n in (6, 8))]
)
def test_the_mixer_gives_the_wrench_it_is_asked_for(airframe: Airframe) -> None:
    wanted = np.array([14.0, 0.3, -0.2, 0.05])
    lift = airframe.mixer() @ wanted
    force, torque = np.zeros(3), np.zeros(3)
    for rotor, newtons in zip(airframe.rotors, lift, strict=True):
        push = np.array([0.0, 0.0, newtons])
        force += push
        torque += np.cross(np.subtract(rotor.position, airframe.centre_of_mass), push)
        # a propeller turning counter-clockwise twists the body clockwise
        torque[2] -= (1 if rotor.spin == "ccw" else -1) * airframe.motor.torque_ratio * newtons
    np.testing.assert_allclose([force[2], *torque], wanted, rtol=1e-9, atol=1e-12)


def _on_the_ground(airframe: Airframe, controller: str) -> Fleet:
    """As a scenario would fly it: its own drag and battery, 122 m above the sea, controller at 500 Hz."""
    flying = Flying(GRAVITY, 122.0, airframe.drag, controller, 2, 1, "drone")
    fleet = Fleet([pack(airframe, flying)], Rate(1000), Ground.flat())
    stand(fleet)
    return fleet


@pytest.mark.parametrize(
    ("name", "controller", "nearness"),
    [*[(name, "cascade", 0.002) for name in NAMES], ("airsim-quad", "simpleflight", 0.05)],
)
def test_it_stands_takes_off_and_hovers(name: str, controller: str, nearness: float) -> None:
    airframe = read_airframe(name)
    fleet = _on_the_ground(airframe, controller)
    fleet.advance_to(ns(1.0))
    settled = fleet.state(0, ns(1.0)).position
    fleet.advance_to(ns(2.0))
    stood = fleet.state(0, ns(2.0))
    np.testing.assert_allclose(stood.position, settled, atol=1e-9)
    assert abs(stood.velocity_world).max() < 1e-9
    lowest_leg = min(z for _, _, z in airframe.contact.legs)
    assert stood.position[2] == pytest.approx(-lowest_leg - airframe.contact.sink, abs=2e-4)

    ask(fleet, SET_POSITION, position=(0.0, 0.0, 3.0))
    for second in range(17, 23):
        fleet.advance_to(ns(second))
        hover = fleet.state(0, ns(second))
        assert np.linalg.norm(hover.position - [0.0, 0.0, 3.0]) < nearness
        assert abs(hover.angular_velocity_body).max() < 0.01


@pytest.mark.parametrize("name", NAMES)
def test_a_ten_metre_step_is_flown_calmly(name: str) -> None:
    fleet = _on_the_ground(read_airframe(name), "cascade")
    ask(fleet, SET_POSITION, position=(0.0, 0.0, 5.0))
    fleet.advance_to(ns(15.0))
    ask(fleet, SET_POSITION, position=(10.0, 0.0, 5.0))
    states = []
    for t in np.arange(15.0, 35.0, 0.02):
        fleet.advance_to(ns(t))
        states.append(fleet.state(0, ns(t)))
    places = np.array([state.position for state in states])
    rates = np.array([state.angular_velocity_body for state in states])
    assert places[:, 0].max() < 11.0
    assert abs(places[:, 2] - 5.0).max() < 0.3
    assert abs(places[500:] - [10.0, 0.0, 5.0]).max() < 0.02
    assert abs(rates[500:]).max() < 0.01
