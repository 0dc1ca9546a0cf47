from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from skyloop.core.keyed_random import KeyedRandom, stream_key
from skyloop.sensors.barometer import Barometer, BarometerConfig
from skyloop.sensors.faults import Fault, apply_faults, check_faults
from skyloop.sensors.gnss import Gnss, GnssConfig
from skyloop.sensors.imu import Imu, ImuConfig
from skyloop.sensors.rangefinder import Rangefinder, RangefinderConfig
from skyloop.sensors.sensor import CompletedSensor
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import ImuSample, RangeSample

KEY = stream_key(5, "drone/imu")
IMU = Imu(ImuConfig(), 0.1)


def sample_at(k: int) -> ImuSample:
    return ImuSample(k * 100_000_000, np.array([k, 2.0 * k, 3.0 * k]), np.array([0.0, 0.0, 10.0 + k]))


def run(*faults: Fault, count: int = 10) -> list[tuple[ImuSample | None, float]]:
    """Samples every 0.1 s through the faults, as the simulation sends them."""
    held, published = None, []
    for k in range(count):
        sample, latency, held = apply_faults(faults, IMU, sample_at(k), held, KeyedRandom(KEY, k))
        published.append((sample, latency))
    return published


def test_off_publishes_nothing_while_it_lasts() -> None:
    silent = [sample is None for sample, _ in run(Fault(kind="off", start=0.3, end=0.6))]
    assert silent == [False] * 3 + [True] * 3 + [False] * 4


def test_stuck_repeats_the_last_good_sample_with_new_stamps() -> None:
    published = [sample for sample, _ in run(Fault(kind="stuck", start=0.3, end=0.6))]
    assert [s.angular_velocity[0] for s in published] == [0, 1, 2, 2, 2, 2, 6, 7, 8, 9]
    assert [s.t_ns for s in published] == [k * 100_000_000 for k in range(10)]


def test_stuck_from_the_start_repeats_the_first_sample() -> None:
    assert [s.angular_velocity[1] for s, _ in run(Fault(kind="stuck"), count=3)] == [0, 0, 0]


def test_bias_goes_to_the_main_field_or_the_named_one() -> None:
    published = run(
        Fault(kind="bias", start=0.5, value=(0.1, -0.2, 0.3)),
        Fault(kind="bias", start=0.5, field="specific_force", value=2.0),
    )
    before, after = published[4][0], published[5][0]
    assert before.angular_velocity == pytest.approx([4.0, 8.0, 12.0])
    assert after.angular_velocity == pytest.approx([5.1, 9.8, 15.3])
    assert after.specific_force == pytest.approx([2.0, 2.0, 17.0])


def test_spikes_come_at_their_probability_and_size() -> None:
    fault = Fault(kind="spike", value=(50.0, 60.0, 70.0), probability=0.2)
    errors = np.array(
        [s.angular_velocity - sample_at(k).angular_velocity for k, (s, _) in enumerate(run(fault, count=2000))]
    )
    hit = errors[:, 0] != 0.0
    assert np.mean(hit) == pytest.approx(0.2, abs=0.03)
    assert np.abs(errors[hit]) == pytest.approx(np.tile([50.0, 60.0, 70.0], (hit.sum(), 1)))
    assert np.mean(errors[hit] > 0.0, axis=0) == pytest.approx([0.5] * 3, abs=0.1)


def test_delays_add_up() -> None:
    published = run(Fault(kind="delay", delay=0.2, start=0.2), Fault(kind="delay", delay=0.05, end=0.4))
    assert [latency for _, latency in published] == pytest.approx([0.05] * 2 + [0.25] * 2 + [0.2] * 6)


def test_dropout_loses_samples_at_its_probability_and_repeatably() -> None:
    fault = Fault(kind="dropout", probability=0.3)
    lost = [sample is None for sample, _ in run(fault, count=2000)]
    assert np.mean(lost) == pytest.approx(0.3, abs=0.03)
    assert lost == [sample is None for sample, _ in run(fault, count=2000)]
    both = run(fault, Fault(kind="spike", value=1.0, probability=0.3), count=2000)
    assert lost == [sample is None for sample, _ in both]


def test_without_faults_nothing_changes() -> None:
    sample = sample_at(3)
    assert apply_faults((), IMU, sample, None, KeyedRandom(KEY, 3)) == (sample, 0.0, sample)


def test_a_gnss_bias_is_in_metres(scene, at_rest) -> None:
    sensor = Gnss(GnssConfig(preset="perfect"), 0.1)
    fix, _ = sensor.measure(at_rest(), scene, sensor.initial_state(KeyedRandom(KEY, 0)), KeyedRandom(KEY, 0))
    spoofed, _, _ = apply_faults(
        (Fault(kind="bias", value=(30.0, -40.0, 5.0)), Fault(kind="bias", field="velocity_enu", value=1.0)),
        sensor,
        fix,
        None,
        KeyedRandom(KEY, 0),
    )
    moved = scene.local_frame.enu_from_geodetic_array([spoofed.latitude_deg, spoofed.longitude_deg, spoofed.altitude])
    assert moved == pytest.approx([30.0, -40.0, 5.0], abs=1e-4)
    assert spoofed.velocity_enu == pytest.approx([1.0, 1.0, 1.0])


def test_a_barometer_bias_moves_its_altitude_too(scene, at_rest) -> None:
    sensor = Barometer(BarometerConfig(preset="perfect"), 0.02)
    sample, _ = sensor.measure(at_rest(), scene, 0.0, KeyedRandom(KEY, 0))
    biased, _, _ = apply_faults((Fault(kind="bias", value=-1187.0),), sensor, sample, None, KeyedRandom(KEY, 0))
    assert biased.pressure == pytest.approx(sample.pressure - 1187.0)
    assert biased.altitude == pytest.approx(222.0, abs=1.0)


def test_a_single_number_is_biased_too() -> None:
    sensor, sample = Rangefinder(RangefinderConfig(), 0.02), RangeSample(0, 3.0, 0.1, 40.0)
    biased, _, _ = apply_faults((Fault(kind="bias", value=0.5),), sensor, sample, None, KeyedRandom(KEY, 0))
    assert biased.distance == 3.5
    assert isinstance(biased.distance, float)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"kind": "bias"}, "needs value"),
        ({"kind": "spike", "value": 1.0}, "needs probability"),
        ({"kind": "off", "value": 1.0}, "does not use value"),
        ({"kind": "dropout", "probability": 0.1, "field": "x"}, "does not use field"),
        ({"kind": "off", "start": 3.0, "end": 2.0}, "before it starts"),
        ({"kind": "dropout", "probability": 1.5}, "less than or equal to 1"),
        ({"kind": "bias", "value": float("nan")}, "finite number"),
    ],
)
def test_a_fault_that_makes_no_sense_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Fault(**given)


def test_a_fault_the_sensor_cannot_have_is_refused_before_the_flight() -> None:
    check_faults([Fault(kind="bias", value=(1.0, 2.0, 3.0)), Fault(kind="off")], IMU, "drone/imu")
    with pytest.raises(ScenarioError, match="did you mean 'specific_force'"):
        check_faults([Fault(kind="bias", field="specific_forse", value=1.0)], IMU, "drone/imu")
    with pytest.raises(ScenarioError, match="2 values for the 3 of angular_velocity"):
        check_faults([Fault(kind="bias", value=(1.0, 2.0))], IMU, "drone/imu")
    with pytest.raises(ScenarioError, match="names its fault_fields"):
        check_faults([Fault(kind="bias", value=1.0)], CompletedSensor(object()), "drone/own")
