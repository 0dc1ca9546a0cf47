"""The derivatives of the measurements and of the IMU's integration, against differences; what a turn of all hides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from skyloop_autonomy.vio.imu_kernels import integrate
from skyloop_autonomy.vio.measurement_kernels import (
    LEFT_ONLY,
    STEREO,
    Rig,
    moved_anchor,
    split_rows,
    stack_rows,
    triangulate,
)

# the camera looks along the IMU's x; its x is the IMU's -y, its y the IMU's -z
OPTICAL = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
STEP = 1e-6


def rig(rng: np.random.Generator) -> Rig:
    """A pair that is neither level nor parallel."""
    turned = Rotation.from_rotvec(rng.normal(0.0, 0.02, 3)).as_matrix()
    along = np.array([-0.999, 0.045])
    return Rig(
        Rotation.from_rotvec(rng.normal(0.0, 0.05, 3)).as_matrix() @ OPTICAL, np.array([0.12, 0.03, -0.02]), turned,
        np.array([-0.05, 0.002, 0.001]), along / np.linalg.norm(along), np.array([2.0, 3.0, 5.0]),
    )  # fmt: skip


def poses(rng: np.random.Generator, n: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rotations = Rotation.from_rotvec(rng.normal(0.0, 0.2, (n, 3))).as_matrix()
    return np.ascontiguousarray(rotations), rng.normal([3.0, -2.0, 1.0], 0.4, (n, 3))


def moved(where: Any, slot: int, error: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """true = exp(ξ)·estimated, to first order in ξ."""
    rotations, positions = where[0].copy(), where[1].copy()
    turn = Rotation.from_rotvec(error[:3]).as_matrix()
    rotations[slot] = turn @ rotations[slot]
    positions[slot] = turn @ positions[slot] + error[3:]
    return rotations, positions


def rows_of(where: Any, point: np.ndarray, eyes: Rig, known: np.ndarray, anchor: int = 1) -> tuple[np.ndarray, ...]:
    n = len(known)
    out = np.zeros((3 * n, 6 * n)), np.zeros((3 * n, 3)), np.zeros(3 * n)
    count, good = stack_rows(where, anchor, (np.zeros((n, 3)), known), tuple(eyes), point, out)
    assert good
    return out[0][:count], out[1][:count], out[2][:count]


@pytest.mark.parametrize("depth", [1.0, 6.0, 200.0])
def test_the_derivatives_of_what_is_seen(depth: float) -> None:
    rng = np.random.default_rng(3)
    eyes, where, known = rig(rng), poses(rng), np.array([STEREO, STEREO, LEFT_ONLY], np.uint8)
    point = np.array([0.15, -0.2, 1.0 / depth])
    by_poses, by_point, seen = rows_of(where, point, eyes, known)
    assert len(seen) == 8 and np.abs(by_poses[:, :6]).max() > 0.1 / depth
    for column in range(18):
        slot, error = column // 6, STEP * np.eye(6)[column % 6]
        more, less = (rows_of(moved(where, slot, sign * error), point, eyes, known)[2] for sign in (1.0, -1.0))
        # residuals are minus the prediction
        assert -(more - less) / (2.0 * STEP) == pytest.approx(by_poses[:, column], abs=1e-5)
    for column in range(3):
        change = STEP * np.eye(3)[column]
        more, less = (rows_of(where, point + sign * change, eyes, known)[2] for sign in (1.0, -1.0))
        assert -(more - less) / (2.0 * STEP) == pytest.approx(by_point[:, column], abs=1e-5)


def test_moving_everything_alike_changes_nothing_that_is_seen() -> None:
    """Position and heading cannot be observed. The rows must not see them, at whatever estimates they are taken."""
    rng = np.random.default_rng(4)
    eyes, where, known = rig(rng), poses(rng), np.full(3, STEREO, np.uint8)
    by_poses, _, _ = rows_of(where, np.array([0.1, 0.1, 0.3]), eyes, known)
    all_alike = np.tile(np.eye(6), (3, 1))
    assert np.abs(by_poses @ all_alike).max() < 1e-12


def test_a_point_seen_from_another_anchor() -> None:
    rng = np.random.default_rng(5)
    eyes, where = rig(rng), poses(rng)
    point, jacobian, elsewhere = np.array([0.1, -0.15, 0.25]), np.empty((3, 15)), np.empty(3)
    assert moved_anchor(where, (0, 2), tuple(eyes), point, elsewhere, jacobian)
    assert world_of(where, 2, elsewhere, eyes) == pytest.approx(world_of(where, 0, point, eyes))

    def again(there: Any, what: np.ndarray) -> np.ndarray:
        out = np.empty(3)
        moved_anchor(there, (0, 2), tuple(eyes), what, out, np.empty((3, 15)))
        return out

    for column in range(15):
        if column < 12:
            slot, error = (0, 2)[column // 6], STEP * np.eye(6)[column % 6]
            pair = [again(moved(where, slot, sign * error), point) for sign in (1.0, -1.0)]
        else:
            pair = [again(where, point + sign * STEP * np.eye(3)[column - 12]) for sign in (1.0, -1.0)]
        assert (pair[0] - pair[1]) / (2.0 * STEP) == pytest.approx(jacobian[:, column], abs=1e-6)


def world_of(where: Any, anchor: int, point: np.ndarray, eyes: Rig) -> np.ndarray:
    camera = np.array([point[0], point[1], 1.0]) / point[2]
    return where[0][anchor] @ (eyes.imu_from_left @ camera + eyes.left_position) + where[1][anchor]


def test_triangulation_finds_the_point_and_splitting_leaves_rows_without_it() -> None:
    rng = np.random.default_rng(6)
    eyes, where, known = rig(rng), poses(rng, 5), np.full(5, STEREO, np.uint8)
    point = np.array([0.05, 0.1, 0.2])
    seen = -rows_of(where, point, eyes, known)[2].reshape(5, 3) / eyes.weights
    guess = np.array([seen[1, 0], seen[1, 1], 0.5])
    assert 0.0 <= triangulate(where, 1, (seen, known), tuple(eyes), guess) < 1e-8
    assert guess == pytest.approx(point, abs=1e-5)
    by_poses, by_point, residuals = (a.copy() for a in rows_of(where, point, eyes, known))
    before = by_poses.copy(), by_point.copy(), residuals.copy()
    split_rows(by_poses, by_point, residuals, len(residuals))
    assert np.abs(by_point[3:]).max() < 1e-12 and np.abs(np.tril(by_point[:3], -1)).max() < 1e-12
    # a rotation of the rows: lengths stay, and the rows below hold for every point
    assert np.linalg.norm(residuals) == pytest.approx(np.linalg.norm(before[2]))
    left = before[1].T @ before[0]
    assert by_point.T @ by_poses == pytest.approx(left, abs=1e-9)


def test_the_transition_of_the_imu_against_differences() -> None:
    rng = np.random.default_rng(7)
    samples = np.column_stack([np.arange(11) * 0.005, rng.normal(0.0, 0.3, (11, 3)), rng.normal(0.0, 1.0, (11, 3))])
    samples[:, 6] += 9.8
    start = Rotation.from_rotvec([0.1, -0.2, 0.7]).as_matrix(), np.array([[0.5, -1.0, 0.2], [2.0, 3.0, 1.0]])
    biases = np.array([[0.01, -0.02, 0.005], [0.1, 0.05, -0.1]])

    def run(error: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        turn = Rotation.from_rotvec(error[:3]).as_matrix()
        rotation, motion = turn @ start[0], start[1] @ turn.T + error[3:9].reshape(2, 3)
        transition = np.empty((15, 15))
        changed = biases + error[9:].reshape(2, 3)
        integrate((rotation, motion, changed), samples, 9.8, np.ones(4), (transition, np.empty((15, 15))))
        return rotation, motion, transition

    rotation, motion, transition = run(np.zeros(15))
    for column in range(15):
        more = run(STEP * np.eye(15)[column])
        turn = Rotation.from_matrix(more[0] @ rotation.T)
        change = np.concatenate([turn.as_rotvec(), (more[1] - motion @ turn.as_matrix().T).ravel(), np.zeros(6)])
        change[9:] = STEP * np.eye(15)[column][9:]
        assert change / STEP == pytest.approx(transition[:, column], abs=2e-4)
