"""Flying into walls, roofs, round things, moving things and each other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flying import GRAVITY, IRIS, ask, fly, hold_rotors, make_fleet, ns, set_motion

from skyloop.assembly import build
from skyloop.frames import matrix_from_quat, quat_from_euler, quat_from_rotvec, rotate
from skyloop.messages import Arm, Array, TakeOff, Velocity
from skyloop.scenario import make_scenario
from skyloop.vehicle.airframe import Airframe
from skyloop.vehicle.appearance import vehicle_shape
from skyloop.vehicle.fleet import Fleet
from skyloop.vehicle.layout import PART_ROTOR, SET_POSITION, SET_VELOCITY_WORLD
from skyloop.vehicle.packing import Wrench
from skyloop.world.ground import Ground
from skyloop.world.mesh import box, cylinder, ellipsoid, merged, mesh_of
from skyloop.world.model import Model, Shape
from skyloop.world.solids import Solids

THIN = 0.01


def changed(**contact: Any) -> Airframe:
    return IRIS.model_copy(update={"contact": IRIS.contact.model_copy(update=contact)})


TOUGH = changed(crash_speed=None)
NOSE = (0.6, 0.0, 0.0)
"""A point ahead of everything else and in line with the centre of mass: it bounces without turning."""
PROBE = changed(crash_speed=None, body=[NOSE])


def solids_of(*things: tuple[Any, Any]) -> Solids:
    """Of (mesh, position) that stand."""
    model = Model()
    for number, (mesh, position) in enumerate(things):
        model.place(Shape(f"shape {number}", (mesh,)), position, is_a="block", name=f"block {number}")
    model.freeze()
    return Solids(model)


def wall(thickness: float = THIN) -> Any:
    return box((thickness, 20.0, 20.0))


def weightless(solids: Solids, airframe: Airframe = TOUGH, **motion: Any) -> Fleet:
    fleet = make_fleet(airframe=airframe, gravity=0.0)
    fleet.attach(solids)
    set_motion(fleet, **motion)
    return fleet


def points(fleet: Fleet, i: int = 0) -> Array:
    """(n, 3) of the hull, world."""
    p, motion = fleet.params[i], fleet.states[i]["motion"]
    return np.asarray(motion[:3] + rotate(motion[6:10], p["point_position"][: p["n_points"]]))


def stored(fleet: Fleet) -> float:
    """J in the springs of the points that press on something."""
    state, total = fleet.states[0], 0.0
    for k in range(state["n_touches"]):
        place, normal = points(fleet)[state["touch_point"][k]], state["touch_normal"][k]
        away = place - state["touch_anchor"][k]
        along = away - (away @ normal) * normal
        depth = max(0.0, state["touch_level"][k] - normal @ place)
        total += 0.5 * fleet.params["contact_stiffness"][0] * (depth**2 + along @ along)
    return float(total)


def energy(fleet: Fleet, i: int = 0) -> float:
    """J, moving, turning and high up."""
    motion, p = fleet.states[i]["motion"], fleet.params[i]
    return float(
        0.5 * p["mass"] * motion[3:6] @ motion[3:6]
        + 0.5 * motion[10:13] @ (p["inertia"] * motion[10:13])
        + p["mass"] * p["gravity"] * motion[2]
    )


@pytest.mark.parametrize("thickness", [THIN, 1.0])
@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize("speed", [1.0, 3.0, 10.0, 20.0, 30.0])
def test_nothing_gets_through_a_wall(speed: float, side: float, thickness: float) -> None:
    """Tilted and turning, so that points, one after the other, meet it in quick succession."""
    solids = solids_of((wall(thickness), (0.0, 0.0, 0.0)))
    start = (side * (1.0 + 0.5 * thickness), 0.3, 0.2)
    fleet = weightless(
        solids,
        position=start,
        velocity=(-side * speed, 0.4, -0.2),
        rates=(2.0, -3.0, 4.0),
        quat=quat_from_euler(0.3, 0.2, 0.7),
    )
    for k in range(1, 150):
        fly(fleet, k * 0.5 / speed / 10.0)
        assert (side * points(fleet)[:, 0]).min() > 0.5 * thickness - 0.012
    assert fleet.states["n_hits"][0] >= 1
    assert side * fleet.states["motion"][0, 3] > 0.0


@pytest.mark.parametrize("restitution", [0.0, 0.3, 0.8])
def test_bounces_with_the_restitution(restitution: float) -> None:
    airframe = changed(crash_speed=None, body=[NOSE], restitution=restitution)
    fleet = weightless(
        solids_of((wall(), (0.0, 0.0, 0.0))), airframe, position=(-2.0, 0.0, 0.0), velocity=(5.0, 0.0, 0.0)
    )
    fly(fleet, 1.0)
    np.testing.assert_allclose(fleet.states["motion"][0, 3:6], [-5.0 * restitution, 0.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(fleet.states["motion"][0, 10:13], 0.0, atol=1e-9)


def test_the_event_tells_point_normal_speed_thing_and_time() -> None:
    fleet = weightless(solids_of((wall(), (9.0, 9.0, 9.0)), (wall(), (0.0, 0.0, 0.0))), PROBE)
    set_motion(fleet, position=(-2.0, 0.3, 0.1), velocity=(3.0, 0.0, 0.0))
    fly(fleet, 1.0)
    count, events = fleet.touches(0, 0)
    assert count == 1
    [event] = events
    assert event.kind == "contact"
    assert event.text == "body hits block 1 at 3.00 m/s"
    touched = (2.0 - 0.5 * THIN - NOSE[0]) / 3.0
    assert event.t_ns == pytest.approx(touched * 1e9, abs=1e5)
    place = [event.values[key] for key in ("x", "y", "z")]
    np.testing.assert_allclose(place, [-0.5 * THIN, 0.3, 0.1], atol=1e-4)
    assert [event.values[key] for key in ("nx", "ny", "nz")] == [-1.0, 0.0, 0.0]
    assert event.values["speed"] == event.values["closing"] == pytest.approx(3.0)
    assert event.values["instance"] == 2
    assert fleet.touches(0, count) == (1, [])


def test_a_thing_is_told_again_only_after_a_pause() -> None:
    """Between two walls 2 m apart, bouncing without loss: each meeting is told, though it is the same two things."""
    airframe = changed(crash_speed=None, body=[NOSE, (-NOSE[0], 0.0, 0.0)], restitution=1.0)
    solids = solids_of((wall(), (-1.0, 0.0, 0.0)), (wall(), (1.0, 0.0, 0.0)))
    free = 2.0 - THIN - 2.0 * NOSE[0]
    slow, fast = (weightless(solids, airframe, velocity=(v, 0.0, 0.0)) for v in (2.0, 10.0))
    fly(slow, 1.2)
    assert slow.states["n_hits"][0] == 1 + int((1.2 - 0.5 * free / 2.0) / (free / 2.0))
    fly(fast, 1.2)
    assert fast.states["n_hits"][0] == 2
    assert abs(fast.states["motion"][0, 3]) == pytest.approx(10.0)


def test_slides_along_a_wall_with_friction() -> None:
    """Pressed on by a steady push N it loses μN/m of its speed."""
    push = 6.0
    airframe = changed(
        crash_speed=None, legs=[(0.6, y, z) for y in (-0.3, 0.3) for z in (-0.3, 0.3)], body=[], friction=0.2
    )
    fleet = make_fleet(airframe=airframe, gravity=0.0, wrenches=[Wrench(start=0.0, end=9.0, force=(push, 0.0, 0.0))])
    fleet.attach(solids_of((wall(), (0.0, 0.0, 0.0))))
    set_motion(fleet, position=(-0.6 - 0.5 * THIN - 1e-3, 0.0, 0.0), velocity=(0.0, 3.0, 0.0))
    fleet.params["contact_stiffness"] = 3700.0
    early = fly(fleet, 0.5)
    late = fly(fleet, 1.0)
    lost = (early.velocity_world[1] - late.velocity_world[1]) / 0.5
    assert lost == pytest.approx(0.2 * push / IRIS.mass, rel=0.02)
    assert abs(late.velocity_world[0]) < 1e-3
    assert fleet.states["n_touches"][0] == 4
    assert fleet.states["n_hits"][0] == 1


def test_sticks_to_a_wall_when_friction_allows() -> None:
    fleet = weightless(solids_of((wall(), (0.0, 0.0, 0.0))), PROBE, position=(-2.0, 0.0, 0.0), velocity=(5.0, 1.0, 0.0))
    fly(fleet, 0.5)
    motion = fleet.states["motion"][0]
    spin = rotate(motion[6:10], motion[10:13])
    # the nose stays where it was, the rest turns about it: J ω = m (v_before - v) · nose
    assert motion[3] == pytest.approx(-1.5)
    assert spin[2] == pytest.approx(IRIS.mass * (1.0 - motion[4]) * NOSE[0] / -IRIS.inertia[2])
    inertia = IRIS.inertia[2] + IRIS.mass * NOSE[0] ** 2
    assert motion[4] == pytest.approx(1.0 - IRIS.inertia[2] / inertia, rel=1e-6)


ROOF = 3.0
HOUSE = (box((4.0, 4.0, ROOF)), (0.0, 0.0, 0.5 * ROOF))


def on_roof(height: float, **motion: Any) -> Fleet:
    fleet = make_fleet(airframe=TOUGH)
    fleet.attach(solids_of(HOUSE))
    set_motion(fleet, position=(0.3, -0.2, ROOF + 0.12 + height), **motion)
    return fleet


def test_dropped_on_a_roof_it_stands_still() -> None:
    fleet = on_roof(0.3)
    state = fly(fleet, 3.0)
    assert np.linalg.norm(state.velocity_world) < 1e-6
    assert state.position[2] == pytest.approx(ROOF + 0.12 - IRIS.contact.sink, abs=1e-5)
    np.testing.assert_allclose(state.acceleration_world, 0.0, atol=1e-5)
    assert fleet.states["legs_down"][0] == 4
    assert fleet.states["n_touches"][0] == 4
    assert fleet.states["hit_closing"][0, 0] == pytest.approx(np.sqrt(2 * GRAVITY * 0.3), rel=0.005)


def test_pushed_below_friction_it_does_not_creep_on_a_roof() -> None:
    fleet = on_roof(0.0)
    fly(fleet, 1.0)
    fleet.params["linear_drag"], fleet.params["has_frame_drag"], fleet.params["drag_model"] = 0.5, 1, 1
    fleet.inputs["wind_mean"] = (0.8 * IRIS.contact.friction * IRIS.mass * GRAVITY / 0.5, 0.0, 0.0)
    fly(fleet, 2.0)
    before = fleet.states["motion"][0, :3].copy()
    fly(fleet, 4.0)
    np.testing.assert_allclose(fleet.states["motion"][0, :3], before, atol=1e-6)


def test_lands_on_a_roof_and_takes_off_again() -> None:
    fleet = on_roof(0.5)
    ask(fleet, SET_VELOCITY_WORLD, velocity=(0.0, 0.0, -0.4))
    fly(fleet, 4.0)
    assert fleet.states["legs_down"][0] == 4
    assert fleet.states["n_hits"][0] == 1
    fleet.inputs["armed"] = 0
    assert np.linalg.norm(fly(fleet, 5.0).velocity_world) < 1e-6
    assert (fleet.states["rotor_speed"][0] < 1e-3).all()
    ask(fleet, SET_POSITION, position=(0.0, 0.0, ROOF + 1.5), velocity=0.0)
    state = fly(fleet, 9.0)
    np.testing.assert_allclose(state.position, [0.0, 0.0, ROOF + 1.5], atol=0.05)
    assert fleet.states["legs_down"][0] == fleet.states["n_touches"][0] == 0


def test_is_stood_upon_what_lies_on_the_ground() -> None:
    """A slab of 2 cm: legs on the ground would be in it."""
    fleet = make_fleet(airframe=TOUGH, ground=Ground.flat())
    fleet.attach(solids_of((box((3.0, 3.0, 0.02)), (0.0, 0.0, 0.01))))
    fleet.place(0, np.array([0.2, 0.1, 0.12]), 0.5)
    fleet.step_up(0)
    state = fly(fleet, 1.0)
    assert state.position[2] == pytest.approx(0.02 + 0.12 - IRIS.contact.sink, abs=1e-5)
    assert np.linalg.norm(state.velocity_world) < 1e-6
    assert fleet.states["n_touches"][0] == 4


def test_slid_over_the_edge_it_falls() -> None:
    fleet = on_roof(0.0, velocity=(5.5, 0.0, 0.0))
    fleet.params["friction"] = 0.05
    fly(fleet, 2.0)
    assert fleet.states["motion"][0, 2] < ROOF - 1.0
    assert fleet.states["n_touches"][0] == 0


@pytest.mark.parametrize("seed", range(6))
def test_a_ball_is_never_entered(seed: int) -> None:
    radius = 1.0
    rng = np.random.default_rng(seed)
    fleet = weightless(solids_of((ellipsoid(radius, rings=16, n=24), (0.0, 0.0, 0.0))))
    fleet.params["gravity"] = GRAVITY
    start = rng.normal(size=3) * (1.0, 1.0, 0.3) + (0.0, 0.0, 2.5)
    set_motion(fleet, position=start, velocity=-2.0 * start + rng.normal(size=3), rates=rng.normal(0.0, 3.0, 3))
    for k in range(1, 300):
        fly(fleet, 0.005 * k)
        # facets are up to 1 % flatter than the ball, springs give a little
        assert np.linalg.norm(points(fleet), axis=1).min() > 0.985 * radius - 0.02
    assert fleet.states["n_hits"][0] >= 1


def test_a_pole_between_the_points_is_met_by_an_edge() -> None:
    """Thinner than the gap between two points of a rotor's rim."""
    p = weightless(solids_of((wall(), (50.0, 0.0, 0.0)))).params[0]
    rim = p["point_position"][: p["n_points"]][p["point_part"][: p["n_points"]] == PART_ROTOR]
    ahead = rim[(rim[:, 0] > 0.2) & (rim[:, 1] > 0.0)]
    y = 0.5 * (np.sort(ahead[:, 1])[0] + np.sort(ahead[:, 1])[1])
    pole = solids_of((cylinder(0.01, 6.0, 8), (0.0, y, -3.0)))
    for speed in (1.0, 5.0, 15.0):
        fleet = weightless(pole, position=(-1.0, 0.0, 0.0), velocity=(speed, 0.0, 0.0))
        fly(fleet, 0.9 / speed)
        assert fleet.states["n_hits"][0] >= 1
        values = fleet.touches(0, 0)[1][0].values
        assert np.hypot(values["x"], values["y"] - y) < 0.01 + speed * 1e-3
        assert values["nx"] < -0.7
        assert fleet.states["motion"][0, 10:13][2] > 0.1


@pytest.mark.parametrize("seed", range(50))
def test_energy_never_grows(seed: int) -> None:
    """Into a corner of three walls, from anywhere, any way round, turning."""
    rng = np.random.default_rng(seed)
    solids = solids_of(
        (box((THIN, 8.0, 8.0)), (0.0, 0.0, 0.0)),
        (box((8.0, THIN, 8.0)), (0.0, 1.2, 0.0)),
        (box((8.0, 8.0, THIN)), (0.0, 0.0, -1.2)),
    )
    airframe = changed(crash_speed=None, restitution=float(rng.uniform(0, 1)), friction=float(rng.uniform(0, 1.5)))
    fleet = weightless(solids, airframe, position=(-1.2, 0.0, 0.0), velocity=rng.uniform((2, -4, -6), (10, 6, 4)))
    set_motion(fleet, quat=quat_from_rotvec(rng.uniform(-3, 3, 3)), rates=rng.uniform(-8, 8, 3))
    before = least = energy(fleet)
    for k in range(1, 160):
        fly(fleet, 0.005 * k)
        now = energy(fleet) + stored(fleet)
        assert now <= least + 1e-3 * before
        least = min(least, now)
    assert fleet.states["n_hits"][0] >= 1


class Sliding:
    """A wall that comes along x at a steady speed from x = -2 m."""

    n_rows = 1

    def __init__(self, speed: float) -> None:
        self.speed = speed

    def poses(self, t: float) -> Array:
        return np.array([[[1.0, 0, 0, -2.0 + self.speed * t], [0, 1.0, 0, 0], [0, 0, 1.0, 0]]])


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
    assert event.values["nx"] == pytest.approx(1.0)
    assert event.values["closing"] == pytest.approx(speed)
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
    set_motion(
        fleet,
        1,
        position=(1.0, *aside[1:]),
        velocity=(-3.0, 0.2, 0.1),
        quat=quat_from_euler(
            *aside,
        ),
    )
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


def test_crashed_its_rotors_stop_for_good() -> None:
    for limit, stopped in ((4.0, True), (6.0, False), (None, False)):
        airframe = changed(body=[NOSE], crash_speed=limit)
        fleet = weightless(solids_of((wall(), (0.0, 0.0, 0.0))), airframe, position=(-1.0, 0, 0), velocity=(5.0, 0, 0))
        hold_rotors(fleet, 300.0)
        fly(fleet, 0.6)
        assert bool(fleet.states["crashed"][0]) is stopped
        assert (fleet.states["rotor_speed"][0, :4] < 1.0).all() == stopped
        kinds = [event.kind for event in fleet.touches(0, 0)[1]]
        assert kinds == (["contact", "crash"] if stopped else ["contact"])


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


def flown_at_a_wall(truth_rate_hz: float, sensors: dict[str, Any]) -> tuple[Any, list[Any]]:
    """A whole scenario: up, against a wall 4 m ahead at walking speed, and on."""
    vehicle = {"airframe": "iris", "position": [0.0, 0.0], "state": "truth", "sensors": sensors}
    with build(make_scenario({"truth_rate_hz": truth_rate_hz, "vehicles": [vehicle]})) as simulation:
        simulation.fleet.attach(solids_of((wall(), (4.0, 0.0, 0.0))))
        told = simulation.subscribe("drone/events")
        simulation.send(Arm(), TakeOff(2.0))
        simulation.run_until(4.0)
        for k in range(40):
            simulation.send(Velocity(np.array([2.0, 0.0, 0.0]), frame="world"))
            simulation.run_until(4.0 + 0.1 * (k + 1))
        return simulation.fleet.states["motion"][0].tobytes(), [message.data for message in told]


def test_a_flight_against_a_wall_publishes_what_it_hit_and_no_sensor_changes_it() -> None:
    plain, events = flown_at_a_wall(50.0, {})
    busy, _ = flown_at_a_wall(333.0, {"imu": {"kind": "imu", "rate_hz": 417.0}})
    assert plain == busy
    touches = [event for event in events if event.kind == "contact" and event.values["instance"] == 1]
    assert touches[0].text.startswith("rotor hits block 0 at")
    assert touches[0].values["nx"] == pytest.approx(-1.0)
    assert touches[0].values["x"] == pytest.approx(4.0 - 0.5 * THIN, abs=1e-3)
    assert touches[0].t_ns % 20_000_000 != 0


def test_a_snapshot_taken_on_a_roof_flies_on_alike() -> None:
    fleet = on_roof(0.05, velocity=(0.3, 0.0, 0.0), rates=(0.5, 0.0, 0.0))
    fly(fleet, 0.2)
    saved = fleet.snapshot()
    first = fly(fleet, 0.6)
    fleet.restore(saved)
    second = fly(fleet, 0.6)
    assert first.position.tobytes() == second.position.tobytes()
    assert first.quat_wxyz.tobytes() == second.quat_wxyz.tobytes()


def test_open_edges_and_tilted_facets() -> None:
    """On a hip roof of two tilted triangles below the friction angle it stands, across the ridge too."""
    slope = 0.25
    roof = mesh_of(
        [(-3, -3, -3 * slope), (3, -3, -3 * slope), (3, 0, 0), (-3, 0, 0), (3, 3, -3 * slope), (-3, 3, -3 * slope)],
        [[0, 1, 2], [0, 2, 3], [3, 2, 4], [3, 4, 5]],
    )
    fleet = make_fleet(airframe=TOUGH)
    fleet.attach(solids_of((merged([roof]), (0.0, 0.0, 0.0))))
    set_motion(fleet, position=(0.0, 0.0, 0.2))
    state = fly(fleet, 3.0)
    assert np.linalg.norm(state.velocity_world) < 1e-5
    assert fleet.states["legs_down"][0] == 4
    assert matrix_from_quat(state.quat_wxyz)[2, 2] > 0.999
    assert state.position[2] == pytest.approx(0.12 - 0.16 * slope, abs=0.003)
