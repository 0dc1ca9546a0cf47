"""Being hit by what moves, and by each other."""

from __future__ import annotations

import numpy as np
import pytest
from collisions import HOUSE, NOSE, ROOF, THIN, TOUGH, Sliding, changed, energy, points, wall, weightless
from flying import fly, make_fleet, ns, set_motion

from skyloop.core.frames import quat_from_euler, rotate
from skyloop.vehicle.airframe import Airframe
from skyloop.vehicle.appearance import vehicle_shape
from skyloop.vehicle.fleet import Fleet
from skyloop.world.model import Model, Shape
from skyloop.world.solids import Solids
from skyloop_client.messages import Array


def moving_wall(speed: float) -> Solids:
    model = Model()
    model.add_mover(Sliding(speed), [Shape("moving wall", (wall(),))], is_a="car", name="the wall")
    model.freeze()
    return Solids(model)


@pytest.mark.parametrize("speed", [1.0, 8.0, 25.0])
def test_a_moving_wall_throws_a_vehicle_at_rest(speed: float) -> None:
    airframe = changed(crash_speed=None, body=[(-NOSE[0], 0.0, 0.0)], restitution=0.3)
    fleet = weightless(moving_wall(speed), airframe)
    fly(fleet, 2.4 / speed)
    np.testing.assert_allclose(fleet.states["motion"][0, 3:6], [1.3 * speed, 0.0, 0.0], atol=1e-6 * speed)
    _, [event] = fleet.touches(0, 0)
    assert event.t_ns == pytest.approx((2.0 - NOSE[0] - 0.5 * THIN) / speed * 1e9, abs=2e5)
    assert event.contact.normal[0] == pytest.approx(1.0)
    assert event.contact.closing == pytest.approx(speed)
    assert "the wall" in event.text


def test_a_slow_wall_pushes_a_vehicle_along() -> None:
    fleet = weightless(moving_wall(0.4))
    fly(fleet, 8.0)
    assert fleet.states["motion"][0, 3] >= 0.35
    assert points(fleet)[:, 0].min() > -2.0 + 0.4 * 8.0 - 0.01


class Standing:
    """Stands in for a vehicle's mover, whose poses collisions take from the fleet."""

    n_rows = 1

    def poses(self, t: float) -> Array:
        raise AssertionError("poses of vehicles come from the fleet")


def two_vehicles(airframe: Airframe = TOUGH) -> Fleet:
    model = Model()
    shape = vehicle_shape(airframe)
    numbers = [model.add_mover(Standing(), [shape], is_a="vehicle", name=name) for name in ("one", "two")]
    model.freeze()
    fleet = make_fleet(airframe=airframe, count=2, gravity=0.0)
    fleet.attach(Solids(model, numbers))
    return fleet


def momentum(fleet: Fleet) -> tuple[Array, Array]:
    """Linear, and angular about the origin."""
    linear, angular = np.zeros(3), np.zeros(3)
    for motion, p in zip(fleet.states["motion"], fleet.params, strict=True):
        linear += p["mass"] * motion[3:6]
        angular += np.cross(motion[:3], p["mass"] * motion[3:6])
        angular += rotate(motion[6:10], p["inertia"] * motion[10:13])
    return linear, angular


@pytest.mark.parametrize("seed", range(8))
def test_two_vehicles_head_on_keep_momentum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    fleet = two_vehicles()
    aside = rng.uniform(-0.15, 0.15, 3) * (1.0, 1.0, 0.3)
    set_motion(fleet, 0, position=(-1.0, 0.0, 0.0), velocity=(4.0, 0.0, 0.0))
    set_motion(fleet, 1, position=(1.0, *aside[1:]), velocity=(-3.0, 0.2, 0.1), quat=quat_from_euler(*aside))
    linear, angular = momentum(fleet)
    before = energy(fleet, 0) + energy(fleet, 1)
    fly(fleet, 0.6)
    after_linear, after_angular = momentum(fleet)
    np.testing.assert_allclose(after_linear, linear, atol=1e-9)
    np.testing.assert_allclose(after_angular, angular, atol=0.01)
    assert energy(fleet, 0) + energy(fleet, 1) < before
    for i, other in enumerate(("two", "one")):
        event = fleet.touches(i, 0)[1][0]
        assert other in event.text
    assert fleet.touches(0, 0)[1][0].t_ns == fleet.touches(1, 0)[1][0].t_ns
    assert fleet.states["motion"][0, 0] < fleet.states["motion"][1, 0]


def test_vehicles_that_pass_fly_as_if_alone() -> None:
    alone, together = make_fleet(count=2, gravity=0.0), two_vehicles()
    for fleet in (alone, together):
        set_motion(fleet, 0, position=(-1.0, 0.0, 0.0), velocity=(4.0, 0.0, 0.0), rates=(0.1, 0.2, 0.3))
        set_motion(fleet, 1, position=(1.0, 0.85, 0.0), velocity=(-4.0, 0.0, 0.0))
        fly(fleet, 0.5)
    assert together.states["motion"].tobytes() == alone.states["motion"].tobytes()


def test_calls_do_not_change_the_flight() -> None:
    """However time is cut: a sensor may ask at any instant."""
    flown = []
    for steps in (1, 7, 400):
        model = Model()
        model.place(Shape("house", (HOUSE[0],)), HOUSE[1], is_a="building")
        model.add_mover(Sliding(1.5), [Shape("moving wall", (wall(),))], is_a="car")
        model.freeze()
        fleet = make_fleet(airframe=TOUGH)
        fleet.attach(Solids(model))
        set_motion(fleet, position=(-0.5, 0.0, ROOF + 0.6), velocity=(-1.0, 0.2, -1.0), rates=(3.0, 1.0, 0.0))
        for k in range(steps, 1201, steps):
            fleet.advance_to(ns(0.001 * k))
        fleet.advance_to(ns(1.2))
        flown.append(fleet.states.copy())
    for other in flown[1:]:
        for field in ("motion", "n_touches", "touch_level", "touch_anchor", "n_hits", "hit_ns", "rotor_speed"):
            assert other[field].tobytes() == flown[0][field].tobytes(), field
    assert flown[0]["n_hits"][0] >= 2
