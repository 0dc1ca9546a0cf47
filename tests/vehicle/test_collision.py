"""Flying into walls, poles and round objects."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from collisions import NOSE, PROBE, THIN, changed, energy, points, solids_of, stored, wall, weightless
from flying import GRAVITY, IRIS, fly, hold_rotors, make_fleet, set_motion

from skyloop.core.frames import matrix_from_quat, quat_from_euler, quat_from_rotvec, rotate
from skyloop.sim.assembly import build
from skyloop.sim.scenario import make_scenario
from skyloop.vehicle.kernel_packing import Wrench
from skyloop.vehicle.kernel_records import PART_ROTOR
from skyloop.world.mesh import box, cylinder, ellipsoid, merged
from skyloop_client.messages import Arm, TakeOff, Velocity


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
    place = (event.contact.position).tolist()
    np.testing.assert_allclose(place, [-0.5 * THIN, 0.3, 0.1], atol=1e-4)
    assert (event.contact.normal).tolist() == [-1.0, 0.0, 0.0]
    assert event.contact.speed == event.contact.closing == pytest.approx(3.0)
    assert event.contact.instance == 2
    assert fleet.touches(0, count) == (1, [])


def test_a_thing_is_told_again_only_after_a_pause() -> None:
    """Between two walls 2 m apart, bouncing without loss: each meeting is told, though it is the same two objects."""
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
        contact = fleet.touches(0, 0)[1][0].contact
        assert contact is not None
        assert np.hypot(contact.position[0], contact.position[1] - y) < 0.01 + speed * 1e-3
        assert contact.normal[0] < -0.7
        assert fleet.states["motion"][0, 10:13][2] > 0.1


@pytest.mark.parametrize(
    "seed", [*range(6), *(pytest.param(seed, marks=pytest.mark.slow("more seeds")) for seed in range(6, 50))]
)
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


@pytest.mark.parametrize(("rate_hz", "lever"), [(200, 0.0), (1000, 0.0), (100, 0.2)])
def test_an_imu_feels_a_collision(rate_hz: int, lever: float) -> None:
    """Dead reckoning from its samples alone gives the velocity after bumps against a wall, wherever it is mounted."""
    imu = {"kind": "imu", "preset": "perfect", "rate_hz": rate_hz, "mount": {"position": [lever, 0.0, 0.0]}}
    vehicle = {"airframe": "iris", "position": [0.0, 0.0], "sensors": {"imu": imu}}
    with build(make_scenario({"truth_rate_hz": rate_hz, "vehicles": [vehicle]})) as simulation:
        simulation.fleet.attach(solids_of((wall(), (4.0, 0.0, 0.0))))
        truth, felt = simulation.subscribe("truth/drone"), simulation.subscribe("drone/imu")
        simulation.send(Arm(), TakeOff(2.0))
        simulation.run_until(4.0)
        for k in range(40):
            simulation.send(Velocity(np.array([2.0, 0.0, 0.0]), frame="world"))
            simulation.run_until(4.0 + 0.1 * (k + 1))
        states, samples = [[message.data for message in stream] for stream in (truth, felt)]
    arm, gained = np.array([lever, 0.0, 0.0]), np.zeros((len(samples), 3))
    for number, (state, sample) in enumerate(zip(states, samples, strict=True)):
        gained[number] = rotate(state.quat_wxyz, sample.specific_force) - [0.0, 0.0, GRAVITY]
    sensed = np.array([s.velocity_world + rotate(s.quat_wxyz, np.cross(s.angular_velocity_body, arm)) for s in states])
    reckoned = sensed[0] + np.cumsum(0.5 * (gained[1:] + gained[:-1]), axis=0) / rate_hz
    jumps = np.abs(np.diff(sensed[:, 0])).max()
    assert jumps > 0.5, "it bounced"
    assert np.abs(reckoned - sensed[1:])[-1].max() < 0.2 * jumps


def test_a_flight_against_a_wall_publishes_what_it_hit_and_no_sensor_changes_it() -> None:
    plain, events = flown_at_a_wall(50.0, {})
    busy, _ = flown_at_a_wall(333.0, {"imu": {"kind": "imu", "rate_hz": 417.0}})
    assert plain == busy
    touches = [event for event in events if event.kind == "contact" and event.contact.instance == 1]
    assert touches[0].text.startswith("rotor hits block 0 at")
    assert touches[0].contact.normal[0] == pytest.approx(-1.0)
    assert touches[0].contact.position[0] == pytest.approx(4.0 - 0.5 * THIN, abs=1e-3)
    assert touches[0].t_ns % 20_000_000 != 0


def test_caught_in_a_crown_it_stays_there_and_costs_little() -> None:
    """Each step of a jammed vehicle looked into 16 meetings: a recording took a second of processor time a frame."""
    chance = np.random.default_rng(1)
    leaves = []
    for quat in chance.normal(size=(400, 4)):
        turn = matrix_from_quat(quat / np.linalg.norm(quat))
        leaves.append(box((0.3, 0.3, 0.004)).moved(chance.uniform(-0.8, 0.8, 3), rotation=turn))
    fleet = make_fleet()
    fleet.attach(solids_of((merged(leaves), (0.0, 0.0, 0.0))))
    set_motion(fleet, position=(-0.3, 0.0, 0.3), velocity=(4.0, 0.0, -0.5), rates=(3.0, -2.0, 4.0))
    fly(fleet, 0.15)
    caught = fleet.states["motion"][0, :3].copy()
    collisions: Any = fleet._collisions
    search, searches = collisions._search, []

    def counted(*given: Any) -> Any:
        searches.append(1)
        return search(*given)

    collisions._search = counted
    fly(fleet, 0.2)
    assert np.linalg.norm(fleet.states["motion"][0, :3] - caught) < 0.01
    # 146 each before
    assert 50 < len(searches) < 50 * 30
