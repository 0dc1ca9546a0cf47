"""The two drag models of the paper's section 3: least-squares identification and prediction errors, with its figures.

Everything is in body axes, where an accelerometer measures: a = R f + g, so |Δa| = |Δf| for specific force f."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numba import float64, void

from skyloop.core.frames import rotate_inverse
from skyloop.core.jit import kernel
from skyloop.core.rotations import to_body
from skyloop_client.messages import Array
from skyloop_papers.drag.flights import DragFlight, Record, Truth


@kernel(void(float64[::1], float64[:, ::1], float64[:, ::1], float64, float64, float64[:, ::1]))
def lumped_rotor_drag(thrust, quat_wxyz, velocity_world, slope, offset, force_body):  # type: ignore[no-untyped-def]
    """force = -(slope T + offset) Π v, row by row. slope is k c_d1; offset is b c_d1 of all rotors together."""
    for i in range(thrust.shape[0]):
        q = quat_wxyz[i]
        v = velocity_world[i]
        vx, vy, _ = to_body(q[0], q[1], q[2], q[3], v[0], v[1], v[2])
        c = slope * thrust[i] + offset
        force_body[i, 0] = -c * vx
        force_body[i, 1] = -c * vy
        force_body[i, 2] = 0.0


@dataclass(frozen=True, slots=True)
class LinearDrag:
    """Eq. (5) in body axes: F = -D v with D diagonal."""

    d: tuple[float, float, float]
    """N/(m/s) along x, y, z."""

    def force_body(self, record: Record) -> Array:
        return -np.array(self.d) * rotate_inverse(record.quat_wxyz, record.velocity_world)


@dataclass(frozen=True, slots=True)
class RotorDrag:
    """Eq. (13): F = -(alpha T + beta) Π v with T the thrust of all rotors."""

    alpha: float
    """k c_d1, 1/(m/s)."""
    beta: float
    """b c_d1 of all rotors together, N/(m/s)."""

    def force_body(self, record: Record) -> Array:
        force = np.empty_like(record.velocity_world)
        lumped_rotor_drag(record.thrust, record.quat_wxyz, record.velocity_world, self.alpha, self.beta, force)
        return force


def identify(record: Record, specific_force: Array) -> tuple[LinearDrag, RotorDrag]:
    """Both models from one flight. `specific_force` (n, 3) is the measurement of that flight."""
    force = record.mass * specific_force - record.thrust_body
    velocity = rotate_inverse(record.quat_wxyz, record.velocity_world)
    d = -np.sum(force * velocity, axis=0) / np.sum(velocity**2, axis=0)
    in_plane = -velocity[:, :2]
    columns = np.column_stack([(record.thrust[:, None] * in_plane).ravel(), in_plane.ravel()])
    alpha, beta = np.linalg.lstsq(columns, force[:, :2].ravel(), rcond=None)[0]
    return LinearDrag((float(d[0]), float(d[1]), float(d[2]))), RotorDrag(float(alpha), float(beta))


def axis_errors(model: LinearDrag | RotorDrag, record: Record, specific_force: Array) -> Array:
    """(3,) m/s², root mean square error of the predicted acceleration along each body axis."""
    predicted = (record.thrust_body + model.force_body(record)) / record.mass
    errors: Array = np.sqrt(np.mean((specific_force - predicted) ** 2, axis=0))
    return errors


def time_evaluation(model: RotorDrag, *, rows: int, calls: int, repeats: int = 20) -> Array:
    """(repeats,) µs of an evaluation of eq. (13): of `rows` samples at once, `calls` times in a row from Python."""
    thrust = np.linspace(10.0, 20.0, rows)
    quat = np.tile([0.8, 0.0, 0.6, 0.0], (rows, 1))
    velocity = np.linspace([1.0, 2.0, 3.0], [9.0, 8.0, 7.0], rows)
    force = np.empty((rows, 3))
    taken = []
    for _ in range(repeats + 1):
        began = time.perf_counter()
        for _ in range(calls):
            lumped_rotor_drag(thrust, quat, velocity, model.alpha, model.beta, force)
        taken.append((time.perf_counter() - began) / (rows * calls) * 1e6)
    # the first call warms the caches
    return np.array(taken[1:])


Models = dict[str, dict[str, LinearDrag | RotorDrag]]
"""By kind of measurement and name."""
PUBLISHED_RMSE = {(5.0, "linear"): 0.57, (5.0, "rotor"): 0.64, (10.0, "linear"): 1.48, (10.0, "rotor"): 0.98}
"""Table 2, m/s²."""
PUBLISHED_RATIO_AT_26 = 7.3
PUBLISHED_MEAN_RATIO = 4.58


@dataclass(frozen=True, slots=True)
class Score:
    """The errors on one flight in one truth."""

    flight: DragFlight
    samples: int
    mean_speed: float
    largest_tilt_deg: float
    errors: dict[str, dict[str, Array]]
    """(3,) m/s² along the body axes, by kind of measurement and model."""

    def rmse(self, force: str, model: str) -> float:
        """√mean|Δa|², m/s²: eq. (14) to (16) with gravity, sign, mean and root corrected."""
        return float(np.linalg.norm(self.errors[force][model]))

    def ratio(self, force: str) -> float:
        return self.rmse(force, "linear") / self.rmse(force, "rotor")


@dataclass(frozen=True, slots=True)
class TruthTrial:
    """All flights in one truth, and the models identified there."""

    truth: Truth
    models: Models
    scores: tuple[Score, ...]

    def of(self, table: str) -> list[Score]:
        return [score for score in self.scores if score.flight.table == table]

    def mean_ratio(self, force: str) -> float:
        return float(np.mean([score.ratio(force) for score in self.of("Fig. 16")]))
