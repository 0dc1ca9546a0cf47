"""The memory of the flight kernels: one record per vehicle for its parameters, its state and its inputs.

The array of records is the batch axis: one vehicle and ten thousand run through the same code. A snapshot of the
simulation is a copy of these arrays. Positions inside the kernels are those of the centre of mass; `fleet.py` converts
them to the body origin, which the rest of skyloop uses.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

Records = NDArray[np.void]
"""Of PARAMS, STATE, INPUT, or another record below."""

MAX_ROTORS = 16
MAX_CONTACTS = 24
MAX_SCHEDULED = 16
MAX_POINTS = 64
"""Points of the hull, including all contact points."""
MAX_EDGES = 64
MAX_TOUCHES = 16
"""Points of the hull that can press on solid objects at the same time."""
MAX_HITS = 8
"""The number of latest touches that are kept for events."""

# drag models
DRAG_NONE, DRAG_LINEAR, DRAG_BOX, DRAG_ROTOR, DRAG_ROTOR_LINEAR, DRAG_ROTOR_LUMPED = range(6)
"""`drag_model` of PARAMS: how drag is computed."""

# controllers
CONTROL_EXTERNAL, CONTROL_CASCADE, CONTROL_SIMPLEFLIGHT = range(3)
"""`control` of PARAMS: which controller the kernel runs."""

# setpoint kinds, as the kernels see them
(SET_IDLE, SET_POSITION, SET_VELOCITY_WORLD, SET_VELOCITY_BODY, SET_ATTITUDE, SET_RATES, SET_MOTORS, SET_DESCEND) = (
    range(8)
)
"""Kinds of setpoints, as the kernels see them."""

# the part of a vehicle that touches
PART_LEG, PART_BODY, PART_ROTOR = range(3)

# rotor faults
FAULT_LOST, FAULT_STUCK, FAULT_SLOW = range(3)

_f8, _i8 = np.float64, np.int64


def _vec(name: str, *shape: int) -> tuple[str, type, tuple[int, ...]]:
    return (name, _f8, shape)


PARAMS = np.dtype(
    [
        # rigid body
        ("mass", _f8),
        _vec("inertia", 3),
        _vec("centre_of_mass", 3),  # from the body origin, body axes
        ("gravity", _f8),
        ("home_altitude", _f8),
        ("bounding_radius", _f8),
        # rotors; positions from the centre of mass; spin +1 is counter-clockwise seen from above
        ("n_rotors", _i8),
        _vec("rotor_position", MAX_ROTORS, 3),
        _vec("rotor_spin", MAX_ROTORS),
        ("rotor_radius", _f8),
        ("thrust_coefficient", _f8),  # N/(rad/s)² at 1.225 kg/m³
        ("torque_ratio", _f8),  # m: torque = ratio * thrust
        ("rotor_inertia", _f8),
        ("max_speed", _f8),
        ("idle_speed", _f8),
        ("tau_up", _f8),
        ("tau_down", _f8),
        ("lag_on_thrust", _i8),
        ("throttle_is_thrust", _i8),
        # air
        ("drag_model", _i8),
        _vec("linear_drag", 3),
        _vec("box_drag", 3),
        ("rotor_drag", _f8),  # c_d1, √N/(m/s)
        ("sqrt_slope", _f8),  # k of eq. (7)
        ("sqrt_offset", _f8),  # b of eq. (7)
        _vec("parasitic", 3),
        ("ground_effect", _f8),
        ("translational_lift", _f8),
        ("axial_inflow", _f8),
        # wind
        ("gusts", _i8),
        ("w20", _f8),
        ("airspeed_floor", _f8),
        ("wind_key", np.uint64),
        # contact; positions from the centre of mass
        ("n_contacts", _i8),
        _vec("contact_position", MAX_CONTACTS, 3),
        _vec("contact_is_leg", MAX_CONTACTS),
        ("contact_stiffness", _f8),
        ("contact_damping", _f8),
        ("friction", _f8),
        ("crash_speed", _f8),
        # battery
        ("has_battery", _i8),
        ("capacity", _f8),  # C
        ("voltage_full", _f8),
        ("voltage_empty", _f8),
        ("resistance", _f8),
        ("power_efficiency", _f8),
        ("hotel_power", _f8),
        # schedules, simulated seconds
        ("n_wrenches", _i8),
        _vec("wrench_start", MAX_SCHEDULED),
        _vec("wrench_end", MAX_SCHEDULED),
        _vec("wrench_force", MAX_SCHEDULED, 3),
        _vec("wrench_torque", MAX_SCHEDULED, 3),
        _vec("wrench_in_body", MAX_SCHEDULED),
        ("n_rotor_faults", _i8),
        _vec("fault_start", MAX_SCHEDULED),
        _vec("fault_end", MAX_SCHEDULED),
        _vec("fault_value", MAX_SCHEDULED),
        ("fault_rotor", _i8, (MAX_SCHEDULED,)),
        ("fault_kind", _i8, (MAX_SCHEDULED,)),
        # controller
        ("control", _i8),
        ("control_divider", _i8),  # physics steps per controller step
        ("thrust_per_speed_squared", _f8),  # the value the controller assumes, for the air at home
        _vec("mixer", MAX_ROTORS, 4),  # rotor thrust from (collective, roll, pitch, yaw torque)
        _vec("position_p", 3),
        _vec("velocity_p", 3),
        _vec("velocity_i", 3),
        _vec("attitude_p", 3),
        _vec("rate_p", 3),
        _vec("rate_i", 3),
        _vec("rate_d", 3),
        _vec("drag_feedforward", 3),  # 1/s, horizontal and vertical drag per mass and speed
        ("max_speed_horizontal", _f8),
        ("max_speed_up", _f8),
        ("max_speed_down", _f8),
        ("max_acceleration", _f8),
        ("max_tilt", _f8),
        _vec("max_rate", 3),
        ("max_rotor_thrust", _f8),
        # derived from the above by the fleet, to save the kernels divisions and exponentials
        ("inverse_mass", _f8),
        _vec("inverse_inertia", 3),
        ("half_step_decay_up", _f8),  # exp(-dt / 2 tau)
        ("half_step_decay_down", _f8),
        ("has_frame_drag", _i8),
        # the hull for collisions with solid objects: the contact points first, then rotors; from the centre of mass
        ("n_points", _i8),
        _vec("point_position", MAX_POINTS, 3),
        ("point_part", _i8, (MAX_POINTS,)),
        ("n_edges", _i8),
        ("edge", _i8, (MAX_EDGES, 2)),  # pairs of points, for objects that are too thin for points to meet
        ("hull_radius", _f8),
        ("restitution", _f8),
    ],
    align=True,
)
"""The parameters of a vehicle, which are fixed during a flight."""

STATE = np.dtype(
    [
        ("step", _i8),  # physics steps taken
        _vec("motion", 13),  # position 0:3, velocity 3:6, quaternion 6:10, body rates 10:13; centre of mass
        _vec("rotor_speed", MAX_ROTORS),
        _vec("acceleration", 3),
        _vec("angular_acceleration", 3),
        # the state one step ago, for the dense output between the two
        _vec("motion_before", 13),
        _vec("rotor_speed_before", MAX_ROTORS),
        _vec("acceleration_before", 3),
        _vec("angular_acceleration_before", 3),
        # air
        _vec("gust", 5),
        _vec("wind", 3),
        _vec("thrust", MAX_ROTORS),
        # contact
        _vec("anchor", MAX_CONTACTS, 2),
        ("anchored", _i8, (MAX_CONTACTS,)),
        ("legs_down", _i8),
        ("body_down", _i8),
        ("impact_speed", _f8),  # the fastest touch of the ground so far
        # what a collision's impulse would be if it acted over a while, until this step
        _vec("impact_acceleration", 3),
        _vec("impact_angular_acceleration", 3),
        ("impact_end", _i8),
        ("n_touches", _i8),  # touches of solid objects, see below
        ("crashed", _i8),  # its rotors are stopped for good
        # battery
        ("charge_used", _f8),
        ("energy_used", _f8),
        ("voltage", _f8),
        ("current", _f8),
        # controller
        _vec("command", MAX_ROTORS),  # rad/s
        _vec("velocity_integral", 3),
        _vec("rate_integral", 3),
        _vec("rate_before", 3),
        _vec("rate_derivative", 3),
        ("yaw_target", _f8),
        ("saturated", _i8),
        ("yaw_saturated", _i8),
        ("thrust_wanted", _f8),
        ("controller_ran", _i8),
        # last, because rarely read: planes that points of the hull press on, their velocity, the anchor of friction
        ("touch_point", _i8, (MAX_TOUCHES,)),
        ("touch_row", _i8, (MAX_TOUCHES,)),
        _vec("touch_normal", MAX_TOUCHES, 3),
        _vec("touch_level", MAX_TOUCHES),  # m, normal · x of the plane
        _vec("touch_velocity", MAX_TOUCHES, 3),
        _vec("touch_anchor", MAX_TOUCHES, 3),
        # the latest distinct touches, a ring: touch k is at k % MAX_HITS
        ("n_hits", _i8),
        ("hit_ns", _i8, (MAX_HITS,)),
        ("hit_last_ns", _i8, (MAX_HITS,)),  # when that touch was last felt
        ("hit_row", _i8, (MAX_HITS,)),  # row of the model; -1 is the ground
        ("hit_part", _i8, (MAX_HITS,)),
        ("hit_crash", _i8, (MAX_HITS,)),
        _vec("hit_place", MAX_HITS, 3),
        _vec("hit_normal", MAX_HITS, 3),
        _vec("hit_speed", MAX_HITS),
        _vec("hit_closing", MAX_HITS),
    ],
    align=True,
)
"""The state of a vehicle, which changes during a flight."""

INPUT = np.dtype(
    [
        ("armed", _i8),
        ("kind", _i8),
        ("t", _f8),  # s, when the setpoint was given; derivatives extrapolate from there
        _vec("position", 3),
        _vec("velocity", 3),
        _vec("acceleration", 3),
        _vec("jerk", 3),
        _vec("snap", 3),
        ("absolute_yaw", _i8),
        ("yaw", _f8),
        ("yaw_rate", _f8),
        _vec("quat", 4),
        _vec("rates", 3),
        ("thrust", _f8),
        _vec("throttle", MAX_ROTORS),
        ("speed_limit", _f8),
        # the state that the controller uses: truth, or an estimate that is held and extrapolated
        ("on_estimate", _i8),
        ("estimate_t", _f8),
        _vec("estimate", 13),  # as motion, but of the body origin
        _vec("wind_mean", 3),
    ],
    align=True,
)
"""The inputs of a vehicle: its setpoint, its estimate and the mean wind."""

SCRATCH = np.dtype(
    [
        # the ground under all vehicles
        ("origin_x", _f8),
        ("origin_y", _f8),
        ("cell", _f8),
        # physics
        _vec("speed", 3, MAX_ROTORS),  # rotor speeds at the start, middle and end of a step
        _vec("spin_up", 3, MAX_ROTORS),
        _vec("target", MAX_ROTORS),
        _vec("slowness", MAX_ROTORS),
        _vec("efficiency", MAX_ROTORS),
        _vec("trial", 13),
        _vec("slope", 4, 13),  # of the Runge-Kutta stages
        _vec("push", 6),  # force and torque of the touches, body axes
        # controller
        _vec("measured", 13),
        _vec("goal", 9),  # velocity, acceleration and jerk
        _vec("rates", 3),
        _vec("turn", 3),
        _vec("torque", 3),
        _vec("lift", MAX_ROTORS),
    ],
    align=True,
)
"""Scratch memory. It is a record, because its arrays cost no reference counting, unlike slices of ordinary arrays."""

FINDING = np.dtype(
    [
        # the searched path: shares of the step, and the step's position in the movers' interval
        ("start", _f8),
        ("end", _f8),
        ("interval_start", _f8),
        ("interval_per_step", _f8),
        ("dt", _f8),
        ("interval", _f8),  # s
        # the first contact on the path
        ("fraction", _f8),  # share of the path; 2 when there is none
        ("along", _f8),  # share along the point's path or along the edge
        ("vehicle", _i8),
        ("feeler", _i8),  # index of the point, or of the edge plus the number of points
        ("candidate", _i8),  # -1 standing objects, then parts of movers, then vehicles
        ("triangle", _i8),
        _vec("ends", 2, 3),  # of the point's path or of the edge, world
        _vec("local", 2, 3),  # the same in the candidate's axes
        # scratch
        _vec("points", 2, MAX_POINTS, 3),  # at both ends of the path
        _vec("inverse", 2, 3, 4),  # part_from_world at both ends of the path
    ],
    align=True,
)
"""The search for the first contact of a hull with something solid."""

params_type = numba.from_dtype(PARAMS)
state_type = numba.from_dtype(STATE)
input_type = numba.from_dtype(INPUT)
scratch_type = numba.from_dtype(SCRATCH)
finding_type = numba.from_dtype(FINDING)
