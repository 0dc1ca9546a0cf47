"""APE and RPE: against closed forms, and against evo as a program of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from skyloop.core.frames import quat_from_euler, quat_from_rotvec, quat_multiply, rotate
from skyloop_autonomy.evaluation.trajectory_error import (
    PoseTrajectory,
    absolute_errors,
    band,
    nees,
    relative_errors,
    state_errors,
    together,
)
from skyloop_client.errors import DatasetError

N = 240


def winding() -> PoseTrajectory:
    """A climbing and turning flight of some 20 m."""
    s = np.linspace(0.0, 12.0, N)
    position = np.stack([3.0 * np.sin(0.7 * s), 1.2 * s, 1.5 + 0.4 * np.sin(s)], axis=1)
    turn = quat_from_euler(0.2 * np.sin(s), 0.1 * np.cos(2.0 * s), 0.5 * s)
    return PoseTrajectory((1e9 * (5.0 + s)).astype(np.int64), position, turn)


def drifting(track: PoseTrajectory, seed: int = 3) -> PoseTrajectory:
    """A copy with errors that grow, in another frame."""
    chance = np.random.default_rng(seed)
    walk = np.cumsum(chance.normal(0.0, 0.01, (len(track), 3)), axis=0)
    turns = quat_from_rotvec(np.cumsum(chance.normal(0.0, 0.004, (len(track), 3)), axis=0))
    wrong = PoseTrajectory(track.t_ns, track.position + walk, quat_multiply(track.quat_wxyz, turns))
    return moved(wrong)


def moved(track: PoseTrajectory, scale: float = 1.0) -> PoseTrajectory:
    move = quat_from_euler(0.3, -0.8, 2.0)
    position = scale * rotate(move, track.position) + [4.0, -9.0, 2.0]
    return PoseTrajectory(track.t_ns, position, quat_multiply(move, track.quat_wxyz))


def write_tum(path: Path, track: PoseTrajectory) -> Path:
    w, x, y, z = track.quat_wxyz.T
    np.savetxt(path, np.column_stack([track.t_ns * 1e-9, track.position, x, y, z, w]), fmt="%.12f")
    return path


def evo(program: str, home: Path, *arguments: object) -> float:
    """The root mean square that evo prints."""
    command = [str(Path(sys.executable).with_name(program)), "tum", *map(str, arguments)]
    environment = {**os.environ, "HOME": str(home)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    values = {line.split()[0]: float(line.split()[1]) for line in done.stdout.splitlines() if "\t" in line}
    assert "rmse" in values, done.stdout + done.stderr
    return values["rmse"]


@pytest.mark.parametrize("how", ["se3", "sim3"])
def test_a_moved_copy_has_no_error(how: str) -> None:
    truth = winding()
    errors = absolute_errors(truth, moved(truth, 1.7 if how == "sim3" else 1.0), how)  # type: ignore[arg-type]
    assert errors.translation.max() < 1e-9
    assert errors.rotation.max() < 1e-7


def test_heading_and_start_alignment_leave_the_tilt() -> None:
    truth = winding()
    turn = quat_from_euler(0.0, 0.0, 1.1)
    there = np.array([1.0, 2.0, 3.0]) + rotate(turn, truth.position)
    level = PoseTrajectory(truth.t_ns, there, quat_multiply(turn, truth.quat_wxyz))
    for how in ("yaw", "start"):
        assert absolute_errors(truth, level, how).translation_rmse < 1e-9
        assert absolute_errors(truth, moved(truth), how).rotation_rmse > 0.1
    assert absolute_errors(truth, level, "none").translation_rmse > 1.0


def test_a_constant_turn_gives_its_angle_in_both_measures() -> None:
    truth = winding()
    turned = PoseTrajectory(
        truth.t_ns, truth.position, quat_multiply(truth.quat_wxyz, quat_from_rotvec([0.0, 0.02, 0.0]))
    )
    errors = absolute_errors(truth, turned)
    assert errors.rotation_rmse == pytest.approx(0.02, rel=1e-6)
    matrix = np.array([[np.cos(0.02), np.sin(0.02)], [-np.sin(0.02), np.cos(0.02)]]) - np.eye(2)
    assert errors.rotation_matrix_rmse == pytest.approx(np.linalg.norm(matrix), rel=1e-6)


@pytest.mark.processes
def test_evo_gives_the_same_absolute_errors(tmp_path: Path) -> None:
    truth, estimate = winding(), drifting(winding())
    files = write_tum(tmp_path / "truth.tum", truth), write_tum(tmp_path / "estimate.tum", estimate)
    errors = absolute_errors(truth, estimate)
    ours = errors.translation_rmse
    assert evo("evo_ape", tmp_path, *files, "--align", "-r", "trans_part") == pytest.approx(ours, abs=2e-6)


@pytest.mark.slow("seven starts of evo")
def test_evo_gives_the_same_errors_of_all_kinds(tmp_path: Path) -> None:
    truth, estimate = winding(), drifting(winding())
    files = write_tum(tmp_path / "truth.tum", truth), write_tum(tmp_path / "estimate.tum", estimate)
    absolute = absolute_errors(truth, estimate)
    for relation, ours in (
        ("angle_deg", np.degrees(absolute.rotation_rmse)),
        ("rot_part", absolute.rotation_matrix_rmse),
    ):
        assert evo("evo_ape", tmp_path, *files, "--align", "-r", relation) == pytest.approx(ours, abs=2e-6)
    for flags, delta, unit in (("-d 1 -u m --pairs_from_reference", 1.0, "m"), ("-d 7 -u f", 7, "poses")):
        errors = relative_errors(truth, estimate, delta, unit)  # type: ignore[arg-type]
        assert evo("evo_rpe", tmp_path, *files, *flags.split()) == pytest.approx(errors.translation_rmse, abs=2e-6)
        angle = evo("evo_rpe", tmp_path, *files, *flags.split(), "-r", "angle_deg")
        assert angle == pytest.approx(np.degrees(errors.rotation_rmse), abs=2e-6)
    scaled = absolute_errors(truth, estimate, "sim3").translation_rmse
    assert evo("evo_ape", tmp_path, *files, "--align", "-s") == pytest.approx(scaled, abs=2e-6)


def test_the_truth_is_read_between_its_stamps_and_not_across_a_gap() -> None:
    truth = winding()
    between = (truth.t_ns[:-1] + truth.t_ns[1:]) // 2
    wanted = np.concatenate([[truth.t_ns[0] - 10**9], between, truth.t_ns[-3:]])
    wanted.sort()
    holed = truth[np.r_[0:100, 130:N]]
    at, kept = holed.at(wanted)
    assert not kept[0]
    assert kept.sum() == len(wanted) - 1 - 31
    middle = 0.5 * (truth.position[40] + truth.position[41])
    np.testing.assert_allclose(at.position[at.t_ns == between[40]][0], middle, atol=1e-12)
    np.testing.assert_array_equal(at.position[-1], truth.position[-1])
    with pytest.raises(DatasetError, match="one clock"):
        together(truth, PoseTrajectory(truth.t_ns + 10**12, truth.position, truth.quat_wxyz))


def test_a_step_longer_than_the_way_is_refused() -> None:
    with pytest.raises(DatasetError, match="shorter"):
        relative_errors(winding(), winding(), 1e3)


def test_nees_is_as_large_as_its_states_when_the_covariance_is_right() -> None:
    chance = np.random.default_rng(5)
    mixed = 0.02 * chance.normal(size=(9, 9))
    covariance = mixed @ mixed.T
    errors = chance.multivariate_normal(np.zeros(9), covariance, 4000)
    truth = (
        chance.normal(size=(4000, 3)),
        chance.normal(size=(4000, 3)),
        winding().quat_wxyz[chance.integers(N, size=4000)],
    )
    seen = (
        truth[0] + errors[:, :3],
        truth[1] + errors[:, 3:6],
        quat_multiply(quat_from_rotvec(errors[:, 6:]), truth[2]),
    )
    found = state_errors(truth, seen)
    np.testing.assert_allclose(found, errors, atol=1e-9)
    values = nees(found, np.broadcast_to(covariance, (4000, 9, 9)))
    assert band(4000).holds(float(values.mean()))
    assert not band(4000).holds(float(nees(1.2 * found, np.broadcast_to(covariance, (4000, 9, 9))).mean()))
    assert band(10).low == pytest.approx(6.56, abs=0.01)
