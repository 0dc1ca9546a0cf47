"""Begins and judges episodes, with the same code for one vehicle and for thousands."""

# mypy: allow-untyped-defs

import numba
import numpy as np
from numba import boolean, float32, float64, int64, types, uint64, void

from skyloop.core.jit import inlined, kernel
from skyloop.core.keyed_random import philox
from skyloop.core.rotations import multiply, to_world
from skyloop.gym.tasks import EPISODE, GATE, HOVER, LANDING, MOST_GOAL, MOST_RATE, MOST_VELOCITY, WAYPOINT
from skyloop.vehicle.contact_search import fleet_params_type, states_type
from skyloop.vehicle.controller import measured_motion
from skyloop.vehicle.kernel_records import SCRATCH, input_type

WAYPOINTS = 4
"""Number of waypoints in an episode."""
CLOSE = 0.2
"""m from the hover point within which it counts as hovering there."""
REACH = 0.4
"""m from a waypoint within which it counts as reached."""
HEIGHT = 2.0
"""m above the world's origin, of the hover point and of the middle of the gate."""
OPENING, BAR = 0.8, 0.05
"""m: half the side of the gate's opening, and half the thickness of its bars. Its normal is the x axis."""
PAD = 0.5
"""m from the middle of the pad within which a landing counts."""
SOFT, UPRIGHT = 1.0, 0.94
"""A landing counts up to this speed in m/s at touch-down and this cosine of the tilt (20°)."""
FAR = (4.0, 15.0, 10.0, 8.0)
"""m from the goal beyond which an episode ends, by task."""
BONUS, REACHED, LOST = 10.0, 5.0, 10.0
"""Rewards for success and for a waypoint, and the penalty for a crash, a missed gate or leaving."""
TURNING = 0.01
"""Penalty per rad/s of body rate and step."""

_WORD = 1.0 / 4294967296.0
_START, _VELOCITY, _TILT, _RATES, _FIRST_WAYPOINT = 0, 1, 2, 3, 16
"""Blocks of random numbers within an episode."""
BLOCKS = (_START, _VELOCITY, _TILT, _RATES)
"""Those of the start, in this order."""

_EPISODES = types.Array(numba.from_dtype(EPISODE), 1, "C")
_INPUTS = types.Array(input_type, 1, "C")


@inlined
def _drawn(e, block):
    """Four numbers in (-1, 1)."""
    a, b, c, d = philox(uint64(e.key), uint64(e.episode), uint64(block))
    scale = 2.0 * _WORD
    half = 0.5
    return (
        (float(a) + half) * scale - 1.0,
        (float(b) + half) * scale - 1.0,
        (float(c) + half) * scale - 1.0,
        (float(d) + half) * scale - 1.0,
    )


@inlined
def _waypoint(e, number, out):
    """Within 4 m of the origin to each side, and 1 to 4 m high."""
    x, y, z, _ = _drawn(e, _FIRST_WAYPOINT + number)
    out[0], out[1], out[2] = 4.0 * x, 4.0 * y, 2.5 + 1.5 * z


@inlined
def _start(e, kind):
    """Returns position and yaw at the start, and sets the goal."""
    x, y, z, turn = _drawn(e, _START)
    e.goal[0], e.goal[1], e.goal[2] = 0.0, 0.0, HEIGHT
    if kind == WAYPOINT:
        _waypoint(e, 0, e.goal)
        _waypoint(e, 1, e.next_goal)
        return x, y, HEIGHT + 0.8 * z, np.pi * turn
    if kind == GATE:
        return -4.5 + 1.5 * x, 2.0 * y, HEIGHT + 0.8 * z, 0.5 * turn
    if kind == LANDING:
        e.goal[2] = 0.0
        return 2.0 * x, 2.0 * y, 3.0 + z, np.pi * turn
    return 1.5 * x, 1.5 * y, HEIGHT + 0.8 * z, np.pi * turn


@kernel(void(states_type, fleet_params_type, _EPISODES, boolean[::1], int64))
def begin(states, params, episodes, chosen, kind):
    """Put the chosen vehicles at the start of their episodes, with a small velocity, tilt and rotation."""
    for i in range(states.shape[0]):
        if not chosen[i]:
            continue
        s, p, e = states[i], params[i], episodes[i]
        x, y, z, yaw = _start(e, kind)
        roll, pitch, _, _ = _drawn(e, _TILT)
        vx, vy, vz, _ = _drawn(e, _VELOCITY)
        wx, wy, wz, _ = _drawn(e, _RATES)
        turned = (np.cos(0.5 * yaw), 0.0, 0.0, np.sin(0.5 * yaw))
        raised = multiply(turned, (np.cos(0.1 * pitch), 0.0, np.sin(0.1 * pitch), 0.0))
        qw, qx, qy, qz = multiply(raised, (np.cos(0.1 * roll), np.sin(0.1 * roll), 0.0, 0.0))
        cx, cy, cz = to_world(qw, qx, qy, qz, p.centre_of_mass[0], p.centre_of_mass[1], p.centre_of_mass[2])
        m = s.motion
        m[0], m[1], m[2] = x + cx, y + cy, z + cz
        m[3], m[4], m[5] = 0.5 * vx, 0.5 * vy, 0.5 * vz
        m[6], m[7], m[8], m[9] = qw, qx, qy, qz
        m[10], m[11], m[12] = 0.5 * wx, 0.5 * wy, 0.5 * wz
        for k in range(13):
            s.motion_before[k] = m[k]
        s.yaw_target = yaw
        e.fresh = 1
        e.steps = 0
        e.reached = 0


@inlined
def _clipped(value, most):
    return float32(min(max(value, -most), most))


@inlined
def _observe(e, m, kind, out):
    """Goal relative to the vehicle and velocity, world axes; world_from_body by rows; body rates; the next goal."""
    for k in range(3):
        out[k] = _clipped(e.goal[k] - m[k], MOST_GOAL)
        out[3 + k] = _clipped(m[3 + k], MOST_VELOCITY)
        out[15 + k] = _clipped(m[10 + k], MOST_RATE)
        axis_x, axis_y, axis_z = 1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0
        ax, ay, az = to_world(m[6], m[7], m[8], m[9], axis_x, axis_y, axis_z)
        out[6 + k] = _clipped(ax, 1.0)
        out[9 + k] = _clipped(ay, 1.0)
        out[12 + k] = _clipped(az, 1.0)
        if kind == WAYPOINT:
            out[18 + k] = _clipped(e.next_goal[k] - m[k], MOST_GOAL)


@inlined
def _distance(e, m):
    dx, dy, dz = e.goal[0] - m[0], e.goal[1] - m[1], e.goal[2] - m[2]
    return np.sqrt(dx * dx + dy * dy + dz * dz)


@inlined
def _strikes_gate(m, radius):
    """Whether a ball around the vehicle touches one of the four bars."""
    side = OPENING + BAR
    y, z = abs(m[1]), abs(m[2] - HEIGHT)
    if y <= side and z <= side:
        aside = side - max(y, z)
    else:
        over_y, over_z = max(y - side, 0.0), max(z - side, 0.0)
        aside = np.sqrt(over_y * over_y + over_z * over_z)
    return np.sqrt(m[0] * m[0] + aside * aside) < radius + BAR


@inlined
def _at_gate(e, m, radius):
    """Passed, and lost, by the point at which the straight line since the last observation crosses the gate's plane."""
    if _strikes_gate(m, radius):
        return False, True
    if not (e.position[0] < 0.0 and m[0] >= 0.0):
        return False, False
    share = e.position[0] / (e.position[0] - m[0])
    y = e.position[1] + share * (m[1] - e.position[1])
    z = e.position[2] + share * (m[2] - e.position[2]) - HEIGHT
    inside = max(abs(y), abs(z)) < OPENING - radius
    return inside, not inside


@inlined
def _landed(s, m):
    """Whether a touch of the ground now is a landing."""
    up = 1.0 - 2.0 * (m[7] * m[7] + m[8] * m[8])
    beside = np.sqrt(m[0] * m[0] + m[1] * m[1])
    return beside < PAD and s.impact_speed < SOFT and up > UPRIGHT and not s.body_down and not s.crashed


@inlined
def _judged(s, p, e, m, kind, distance):
    """Reward, whether the episode ends, and success: a good end, or a hover at the right place."""
    turning = TURNING * np.sqrt(m[10] * m[10] + m[11] * m[11] + m[12] * m[12])
    touches = s.impact_speed > 0.0 or s.legs_down > 0 or s.body_down > 0
    lost = touches or not distance < FAR[kind]
    won = False
    if kind == HOVER:
        reward = 1.0 / (1.0 + distance * distance)
    else:
        reward = e.distance - distance
    if kind == WAYPOINT and not lost and distance < REACH:
        reward += REACHED
        e.reached += 1
        won = e.reached == WAYPOINTS
        for k in range(3):
            e.goal[k] = e.next_goal[k]
        _waypoint(e, e.reached + 1, e.next_goal)
    elif kind == GATE and not lost:
        won, lost = _at_gate(e, m, p.bounding_radius)
    elif kind == LANDING and touches:
        won = _landed(s, m)
        lost = not won
    if won:
        reward += BONUS
    elif lost:
        reward -= LOST
    hovers = kind == HOVER and not lost and distance < CLOSE
    return reward - turning, won or lost, won or hovers


@kernel(
    void(
        states_type,
        _INPUTS,
        fleet_params_type,
        _EPISODES,
        int64,
        int64,
        types.Tuple((float32[:, ::1], float64[::1], boolean[::1], boolean[::1], boolean[::1])),
    )
)
def judge(states, inputs, params, episodes, kind, most_steps, verdict):
    """Judge every vehicle after a step, or after `begin`. `verdict` is in the form of `Verdict.arrays`."""
    observations, rewards, terminated, truncated, success = verdict
    scratch = np.zeros(1, SCRATCH)
    for i in range(states.shape[0]):
        # a record does not keep its array alive: taken before the loop, it would point to freed memory
        m = scratch[0].measured
        s, p, e = states[i], params[i], episodes[i]
        measured_motion(s, inputs[i], p, 0.0, m)
        distance = _distance(e, m)
        rewards[i] = 0.0
        terminated[i] = truncated[i] = success[i] = False
        if e.fresh:
            e.fresh = 0
        else:
            e.steps += 1
            rewards[i], terminated[i], success[i] = _judged(s, p, e, m, kind, distance)
            truncated[i] = e.steps >= most_steps
        e.distance = _distance(e, m)
        for k in range(3):
            e.position[k] = m[k]
        _observe(e, m, kind, observations[i])
