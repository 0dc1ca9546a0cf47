"""Every kind of fault spoils every kind of sensor, while it lasts and no longer."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest
from option_flights import STEP, Flight, fields_of, fly
from test_sensor_options import KINDS, sensor

from skyloop.sensors.faults import Fault
from skyloop.sensors.gnss import Outage
from skyloop.sensors.registry import SENSORS
from skyloop_client.messages import Array

START, END = 1.0, 2.0
RATE = 50
SIZES = {"imu": 2.0, "gnss": 5.0, "barometer": 300.0, "magnetometer": 1e-4, "rangefinder": 3.0}
DETAILS: dict[str, Any] = {
    "off": {},
    "stuck": {},
    "bias": {"value": 1.0},
    "spike": {"value": 1.0, "probability": 0.3},
    "delay": {"delay": 0.1},
    "dropout": {"probability": 0.5},
}
CHANGED = {"gnss": "altitude"}
"""Where the default field of a fault shows."""


def with_fault(sensor_kind: str, **fault: Any) -> Flight:
    fault = {"start": START, "end": END, **fault}
    return fly(STEP, sensor(sensor_kind, preset="perfect", rate_hz=RATE, latency=0.0, faults=[fault]))


def fault_of(kind: str, name: str) -> dict[str, Any]:
    details = dict(DETAILS[name])
    if "value" in details:
        details["value"] = SIZES[kind]
    return {"kind": name, **details}


def reading(kind: str, flight: Flight, field: str = "") -> tuple[Array, Array]:
    """Stamps in s, and (n, m) what the fault disturbs."""
    name = field or CHANGED.get(kind) or next(iter(SENSORS[kind].fault_fields))
    records = flight.records("it")
    values = np.array([np.atleast_1d(getattr(record, name)) for record in records])
    return np.array([record.t_ns for record in records]) * 1e-9, values


def test_every_fault_has_a_case() -> None:
    assert set(DETAILS) == set(get_args(Fault.model_fields["kind"].annotation))
    assert set(SIZES) == set(KINDS)
    assert fields_of(Fault) == {"kind", "start", "end", "field", "value", "probability", "delay"}
    assert fields_of(Outage) == {"start", "end"}


@pytest.mark.parametrize("name", DETAILS)
@pytest.mark.parametrize("kind", KINDS)
def test_fault(kind: str, name: str) -> None:
    flight = with_fault(kind, **fault_of(kind, name))
    healthy = fly(STEP, sensor(kind, preset="perfect", rate_hz=RATE, latency=0.0))
    t, values = reading(kind, flight)
    t_healthy, exact = reading(kind, healthy)
    wounded = (t >= START) & (t < END)
    n = round((END - START) * RATE)
    if name == "off":
        assert not wounded.any()
    elif name == "dropout":
        assert 0.2 * n < wounded.sum() < 0.8 * n
    elif name == "delay":
        late = [m.arrival_ns - m.t_ns for m in flight.messages["drone/it"]]
        assert {x for x, w in zip(late, wounded, strict=False) if w} == {100_000_000}
    elif name == "stuck":
        assert not np.ptp(values[wounded], axis=0).any()
        assert np.ptp(exact[(t_healthy >= START) & (t_healthy < END)], axis=0).any()
    else:
        error = np.abs(values - exact).max(axis=1)[wounded]
        hit = error > 0.5 * SIZES[kind]
        assert hit.all() if name == "bias" else 0.1 * n < hit.sum() < 0.6 * n
    same = np.isin(t_healthy, t[~wounded])
    np.testing.assert_array_equal(values[~wounded], exact[same & ((t_healthy < START) | (t_healthy >= END))])


@pytest.mark.parametrize(("name", "value"), [("start", 1.5), ("end", 1.5), ("value", 4.0), ("field", "specific_force")])
def test_every_number_of_a_bias(name: str, value: Any) -> None:
    before, after = (with_fault("imu", **{"kind": "bias", "value": 2.0, **extra}) for extra in ({}, {name: value}))
    t, gyro = reading("imu", before)
    change = np.abs(reading("imu", after)[1] - gyro).max(axis=1)
    felt = t[change > 1.9]
    assert felt.min() == (1.5 if name == "end" else 1.0)
    assert felt.max() == pytest.approx(1.48 if name == "start" else 1.98)
    if name == "field":
        _, force = reading("imu", after, "specific_force")
        assert np.abs(force - reading("imu", before, "specific_force")[1]).max() == pytest.approx(2.0)


@pytest.mark.parametrize("end", [2.0, None])
def test_outage(end: float | None) -> None:
    outages = [{"start": 1.0, "end": end}]
    fixes = fly(STEP, sensor("gnss", preset="perfect", latency=0.0, outages=outages)).records("it")
    t = np.array([fix.t_ns for fix in fixes]) * 1e-9
    lost = np.array([fix.fix_type == 0 for fix in fixes])
    np.testing.assert_array_equal(lost, (t >= 1.0) & (t < (end or np.inf)))
    assert len({fix.altitude for fix in np.array(fixes)[lost]}) == 1
