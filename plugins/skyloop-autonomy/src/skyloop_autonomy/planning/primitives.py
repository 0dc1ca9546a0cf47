"""Motions from a state of flight to rest at a point, of least acceleration, and the bounds of what they demand.

A motion is a polynomial of degree six per axis over s = t/T. Five of its coefficients and one more follow from
position, velocity and acceleration at both ends; the last one minimises the integral of the squared acceleration. All
motions end at rest, so that a vehicle with no newer plan comes to a stop where it was checked that it can.

The bounds hold over the whole motion, not only at samples: between two samples h apart, a function differs from the
chord by at most h²/8 times its second derivative, and the norm along a chord is largest at one of its ends.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numba import boolean, float64, int64, types, void

from skyloop.core.jit import WHEN_CALLED, kernel
from skyloop_client.messages import Array

MATRIX = types.float64[:, ::1]
VECTOR = types.float64[::1]
PIECES = 32
"""Chords into which a motion is cut for its bounds and for its distance to obstacles."""
_FACTORS = np.array([[float(math.perm(power, order)) for power in range(7)] for order in range(7)])
"""By order and power: what the derivatives of a power are multiplied by."""


@dataclass(frozen=True, slots=True, eq=False)
class Motion:
    """A motion with its duration; afterwards the vehicle stays at its end."""

    coefficients: Array
    """(7, 3) m, of the powers of t/T."""
    duration: float
    """s."""

    def at(self, t: float) -> Array:
        """(4, 3): position, velocity, acceleration and jerk, `t` seconds after the beginning."""
        out = np.zeros((4, 3))
        derivatives(self.coefficients, self.duration, float(t), out)
        return out

    def bounds(self) -> tuple[float, float, float]:
        """Upper bounds of speed, acceleration and jerk over the whole motion."""
        speed, acceleration, jerk = peaks(self.coefficients, self.duration)
        return float(speed), float(acceleration), float(jerk)


def at_rest(position: Array) -> Motion:
    coefficients = np.zeros((7, 3))
    coefficients[0] = position
    return Motion(coefficients, 1.0)


def motion_between(start: Array, end: Array, duration: float) -> Motion:
    """start: (3, 3) position, velocity and acceleration; end: (3,) m, where it comes to rest."""
    coefficients = np.zeros((7, 3))
    primitive(np.ascontiguousarray(start, float), np.ascontiguousarray(end, float), float(duration), coefficients)
    return Motion(coefficients, float(duration))


@kernel(void(MATRIX, VECTOR, float64, MATRIX), turn=WHEN_CALLED)
def primitive(start, end, duration, out):
    for axis in range(3):
        c0, c1, c2 = start[0, axis], start[1, axis] * duration, 0.5 * start[2, axis] * duration * duration
        position, velocity, acceleration = end[axis] - c0 - c1 - c2, -c1 - 2.0 * c2, -2.0 * c2
        c3 = 10.0 * position - 4.0 * velocity + 0.5 * acceleration
        c4 = -15.0 * position + 7.0 * velocity - acceleration
        c5 = 6.0 * position - 3.0 * velocity + 0.5 * acceleration
        # s³(1-s)³ changes nothing at the ends; this much of it makes the integral of acceleration² least
        free = -3.0 * c4 - 7.5 * c5
        out[0, axis], out[1, axis], out[2, axis] = c0, c1, c2
        out[3, axis], out[4, axis], out[5, axis], out[6, axis] = c3 + free, c4 - 3.0 * free, c5 + 3.0 * free, -free


# not inlined: the compiler would unroll its loops wherever it is called, and take minutes
@kernel(float64(MATRIX, int64, float64, float64, VECTOR), turn=WHEN_CALLED)
def _derivative(c, order, s, scale, out):
    """Of the polynomial at s, times `scale`, by Horner's rule; returns its norm."""
    x, y, z = 0.0, 0.0, 0.0
    for power in range(6, order - 1, -1):
        factor = _FACTORS[order, power]
        x = x * s + factor * c[power, 0]
        y = y * s + factor * c[power, 1]
        z = z * s + factor * c[power, 2]
    out[0], out[1], out[2] = x * scale, y * scale, z * scale
    return np.sqrt(x * x + y * y + z * z) * scale


@kernel(void(MATRIX, float64, float64, MATRIX), turn=WHEN_CALLED)
def derivatives(c, duration, t, out):
    s = min(max(t / duration, 0.0), 1.0)
    for order in range(4):
        _derivative(c, order, s, duration**-order, out[order])
    if t >= duration:
        out[1:] = 0.0


@kernel(types.UniTuple(float64, 3)(MATRIX, float64), turn=WHEN_CALLED)
def peaks(c, duration):
    """Upper bounds of speed, acceleration and jerk."""
    largest = np.zeros(7)
    value = np.empty(3)
    for order in range(6, 0, -1):
        # the two highest derivatives are a constant and a line
        pieces = PIECES if order < 5 else 1
        for piece in range(pieces + 1):
            norm = _derivative(c, order, piece / pieces, duration**-order, value)
            largest[order] = max(largest[order], norm)
        if order < 5:
            largest[order] += (duration / pieces) ** 2 / 8.0 * largest[order + 2]
    return largest[1], largest[2], largest[3]


@kernel(boolean(MATRIX, float64, types.UniTuple(float64, 3)), turn=WHEN_CALLED)
def keeps_within(c, duration, most):
    """Whether the bounds of `peaks` are at most these. It says no as soon as it knows."""
    value = np.empty(3)
    for quarter in range(5):
        for order in range(3, 0, -1):
            if _derivative(c, order, 0.25 * quarter, duration**-order, value) > most[order - 1]:
                return False
    largest = np.zeros(7)
    # the bound of an order needs the one two orders above it
    for order in (6, 5, 3, 4, 2, 1):
        pieces = PIECES if order < 5 else 1
        allowed = most[order - 1] if order < 4 else np.inf
        for piece in range(pieces + 1):
            norm = _derivative(c, order, piece / pieces, duration**-order, value)
            if norm > allowed:
                return False
            largest[order] = max(largest[order], norm)
        if order < 5:
            largest[order] += (duration / pieces) ** 2 / 8.0 * largest[order + 2]
        if largest[order] > allowed:
            return False
    return True


@kernel(void(MATRIX, MATRIX), turn=WHEN_CALLED)
def sample_positions(c, out):
    """(n, 3) m, evenly in time from the beginning to the end."""
    last = out.shape[0] - 1
    for piece in range(last + 1):
        _derivative(c, 0, piece / last, 1.0, out[piece])
