"""Advances vehicles that something solid is near, in one compiled call until one of them meets it.

Step by step from Python, ten calls and copies a step took most of the time of a flight that touches something.
"""

# mypy: allow-untyped-defs

from numba import float64, int64, types

from skyloop.core.jit import LAST, kernel
from skyloop.vehicle.contact import settle_touches
from skyloop.vehicle.contact_search import (
    LABELS,
    POSES,
    finds_type,
    fleet_params_type,
    free_steps,
    model_parts_type,
    search,
    states_type,
)
from skyloop.vehicle.fleet_kernels import advance, inputs_type
from skyloop.world.ground import height_field_type

_FLEET = types.Tuple((states_type, inputs_type, fleet_params_type))
_GROUPS = types.UniTuple(LABELS, 2)
_STEPS = types.UniTuple(int64, 3)


@kernel(_STEPS(_FLEET, model_parts_type, _GROUPS, POSES, finds_type, _STEPS, height_field_type), turn=LAST)
def advance_among(fleet, objects, groups, poses, finds, steps, ground):
    """Advances from a step to another, one checked step at a time, while a contact is possible.

    steps: from, to, and steps per interval of the movers. It stops where nothing is near any more, and after a step on
    which something is met, before any of that is handled. Returns the step it has reached, the first vehicle whose
    motion has diverged or -1, and whether something is met.
    """
    states, inputs, params = fleet
    labels, near = groups
    step, until, per_interval = steps
    find, n = finds[0], states.shape[0]
    while step < until:
        if free_steps(states, params, objects, groups, find.dt, 1):
            return step, -1, 0
        lost = advance(states, inputs, params, find.dt, step + 1, ground)
        if lost >= 0:
            return step, lost, 0
        find.interval_start = float64(step % per_interval) / per_interval
        find.start, find.end = 0.0, 1.0
        for i in range(n):
            for k in range(3):
                poses[i, 0, k], poses[i, 1, k] = states[i].motion_before[k], states[i].motion[k]
            for k in range(4):
                poses[i, 0, 3 + k], poses[i, 1, 3 + k] = states[i].motion_before[6 + k], states[i].motion[6 + k]
        step += 1
        for group in range(n):
            if near[group] and search(states, params, objects, labels, poses, group, finds) <= 1.0:
                return step, -1, 1
        for i in range(n):
            if near[labels[i]] and states[i].n_touches:
                settle_touches(states, params, objects, finds, i)
    return step, -1, 0
