"""`skyloop reproduce drag`: identification finds what was put in, and the cells are complete."""

from pathlib import Path

import numpy as np
import pytest

from skyloop.sim.assembly import load_airframe
from skyloop_papers import pages
from skyloop_papers.drag.experiment import EXPERIMENT, FORCES, DragPlan
from skyloop_papers.drag.flights import (
    AIRFRAME,
    CALIBRATION,
    CONTROL,
    QUICK_FLIGHTS,
    TRUTHS,
    Record,
    Truth,
    back_and_forth,
    record_flight,
)
from skyloop_papers.drag.legs import fly_legs
from skyloop_papers.drag.models import LinearDrag, RotorDrag, axis_errors, identify
from skyloop_papers.drag.thrust_stand import measure_thrust
from skyloop_papers.experiment import Cell
from skyloop_papers.runner import reproduce

Run = tuple[Path, list[Cell], tuple[Truth, ...]]


def _measured(results: list[Cell], cell: str) -> float:
    return next(result.ours for result in results if result.name == cell)


def test_identification_and_error_against_forces_written_by_hand() -> None:
    rng = np.random.default_rng(3)
    n, mass = 500, 1.8
    quat = np.tile([1.0, 0.0, 0.0, 0.0], (n, 1))
    velocity = rng.normal(size=(n, 3)) * 5.0
    thrust = rng.uniform(10.0, 25.0, n)
    rotor = -(0.02 * thrust + 0.3)[:, None] * velocity * [1.0, 1.0, 0.0]
    linear = -velocity * [0.5, 0.4, 0.2]
    up = np.outer(thrust, [0.0, 0.0, 1.0])
    for force, index, model in (
        (linear, 0, LinearDrag((0.5, 0.4, 0.2))),
        (rotor, 1, RotorDrag(0.02, 0.3)),
    ):
        felt = (up + force) / mass
        record = Record(mass, thrust, quat, velocity, felt, felt)
        found = identify(record, felt)[index]
        np.testing.assert_allclose(found.force_body(record), force, atol=1e-9)
        assert np.linalg.norm(axis_errors(model, record, felt)) < 1e-12
        shifted = felt + np.array([0.3, 0.0, 0.4])
        np.testing.assert_allclose(axis_errors(model, record, shifted), [0.3, 0.0, 0.4], atol=1e-12)


def test_flown_linear_truth_gives_its_matrix_back() -> None:
    record = record_flight({"model": "linear", "linear": [0.55, 0.45, 0.3]}, CALIBRATION)
    linear, _ = identify(record, record.true_specific_force)
    np.testing.assert_allclose(linear.d, [0.55, 0.45, 0.3], rtol=1e-6)
    assert np.linalg.norm(axis_errors(linear, record, record.true_specific_force)) < 1e-6
    # with the accelerometer's noise still within a percent
    np.testing.assert_allclose(identify(record, record.imu_specific_force)[0].d, [0.55, 0.45, 0.3], rtol=0.01)


@pytest.mark.slow("flights of an experiment")
def test_flown_lumped_rotor_truth_gives_its_parameters_back() -> None:
    drag = {"model": "rotor-lumped", "rotor": 0.065, "sqrt_slope": 0.25, "sqrt_offset": 1.1}
    record = record_flight(drag, CALIBRATION)
    _, rotor = identify(record, record.true_specific_force)
    assert rotor.alpha == pytest.approx(0.065 * 0.25, rel=1e-6)
    assert rotor.beta == pytest.approx(4 * 0.065 * 1.1, rel=1e-6)
    assert np.linalg.norm(axis_errors(rotor, record, record.true_specific_force)) < 1e-6


def _frame_drag_along_the_rotor_axis_turns_the_ranking_at_high_speed(run: Run) -> None:
    _, results, truths = run
    for truth in truths:
        assert _measured(results, f"{truth.key}: circle 26 m/s, eq. 5 / eq. 13, truth") < 1.0
    rotor = next(r for r in results if r.name == "A: circle 26 m/s, eq. 13, truth")
    x, y, z = rotor.conditions["rmse_along_body_axes"]
    assert z > 1.5 * np.hypot(x, y)


def _flights_were_flown_as_asked(run: Run) -> None:
    fast = [r for r in run[1] if "circle 26 m/s, eq. 13, truth" in r.name and "/" not in r.name.split(",")[1]]
    assert len(fast) == len(run[2])
    for result in fast:
        assert result.conditions["mean_speed"] == pytest.approx(26.0, abs=0.1)
        assert result.conditions["largest_tilt_deg"] < 50.0


def _every_truth_flight_model_and_measurement_has_a_record(run: Run) -> None:
    _, results, truths = run
    cells = [result.name for result in results]
    assert len(set(cells)) == len(cells)
    for truth in truths:
        for flight in QUICK_FLIGHTS:
            for what in ("eq. 5", "eq. 13", "eq. 5 / eq. 13"):
                for force in FORCES.values():
                    assert f"{truth.key}: {flight.label}, {what}, {force}" in cells
        ratios = [
            _measured(results, f"{truth.key}: {flight.label}, eq. 5 / eq. 13, truth")
            for flight in QUICK_FLIGHTS
            if flight.table == "Fig. 16"
        ]
        assert _measured(results, f"{truth.key}: mean of eq. 5 / eq. 13, truth") == pytest.approx(np.mean(ratios))
    assert all(np.isfinite(result.ours) and result.ours > 0 for result in results)
    published = {result.name: result.published for result in results}
    assert published["A: 80 m legs 10 m/s, eq. 5, MPU6000"] == 1.48
    assert published["A: circle 26 m/s, eq. 5 / eq. 13, truth"] == 7.3
    assert [r.published for r in results if r.unit == "µs"] == [4.36, 4.36]


ALL_TRUTHS = pytest.param(TRUTHS, marks=pytest.mark.slow("flies with all truths"))


@pytest.mark.slow("the experiment in its quick form")
@pytest.mark.parametrize("truths", [TRUTHS[:2], ALL_TRUTHS], ids=len)
def test_the_quick_form(truths: tuple[Truth, ...], tmp_path: Path) -> None:
    """One flight campaign for all that is to be said of it: it is too dear to be flown by two workers."""
    run = tmp_path, reproduce(EXPERIMENT, plan=DragPlan(truths, QUICK_FLIGHTS), folder=tmp_path), truths
    assert pages.differing("drag", run[1]) == []
    _frame_drag_along_the_rotor_axis_turns_the_ranking_at_high_speed(run)
    _flights_were_flown_as_asked(run)
    _every_truth_flight_model_and_measurement_has_a_record(run)
    for picture in EXPERIMENT.pictures:
        assert (tmp_path / picture).read_bytes().startswith(b"\x89PNG")


@pytest.mark.slow("four minutes on a thrust stand")
def test_a_rotor_on_the_stand_follows_the_square_of_the_throttle_up_to_the_battery_s_limit() -> None:
    stand = measure_thrust()
    airframe = load_airframe(AIRFRAME)
    throttle = (stand.pwm - 1000.0) / 1000.0
    full = airframe.motor.thrust_coefficient * airframe.motor.max_speed**2 * 1000.0 / 9.80665
    free = throttle < 0.85
    np.testing.assert_allclose(stand.grams[free], np.outer(throttle[free] ** 2 * full, np.ones(5)), atol=0.51)
    limited = stand.grams[throttle > 0.9]
    # 14.8 of 16.8 V, and a little less under load
    assert np.all((limited > 0.72 * full) & (limited < (14.8 / 16.8) ** 2 * full))


@pytest.mark.slow("three flights")
def test_the_legs_show_what_table_2_is_about() -> None:
    (leg,) = fly_legs(CONTROL, (back_and_forth(10.0, legs=1),))
    assert leg.way[:, 0].max() == pytest.approx(80.0, abs=1.0) and np.abs(leg.way[:, 1]).max() < 0.1
    # the air is the rotor model itself, so only the IMU's noise is left of its error
    assert leg.rmse["rotor"] < 0.05
    error = leg.calculated["rotor"] - leg.measured
    assert float(np.sqrt((error**2).sum(axis=1).mean())) == pytest.approx(leg.rmse["rotor"], rel=1e-6)
    assert leg.measured[:, 0].max() == pytest.approx(3.0, abs=0.3)
