"""Standing, landing and sliding on roofs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from collisions import HOUSE, ROOF, TOUGH, solids_of
from flying import GRAVITY, IRIS, ask, fly, make_fleet, read_airframe, set_motion

from skyloop.core.frames import matrix_from_quat
from skyloop.vehicle.fleet import Fleet
from skyloop.vehicle.kernel_records import SET_POSITION, SET_VELOCITY_WORLD
from skyloop.world.ground import Ground
from skyloop.world.mesh import box, merged, mesh_of


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


def test_a_level_landing_on_a_roof_does_not_turn_it() -> None:
    """At 0.7 m/s, the usual speed of an autopilot's landing."""
    quad = read_airframe("airsim-quad")
    fleet = make_fleet(airframe=quad)
    fleet.attach(solids_of(HOUSE))
    set_motion(fleet, position=(0.3, -0.2, ROOF + 0.7))
    ask(fleet, SET_VELOCITY_WORLD, velocity=(0.0, 0.0, -0.7))
    fly(fleet, 3.0)
    assert fleet.states["legs_down"][0] == 4
    assert fleet.states["hit_closing"][0, 0] > 0.6
    w, x, y, z = fleet.states["motion"][0, 6:10]
    assert abs(np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))) < 1e-3


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
