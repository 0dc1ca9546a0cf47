"""Every preset and every number of every sensor changes what it measures; those that look have their own files."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, get_args

import numpy as np
import pytest
from option_flights import DRONE, HERE, STEP, Flight, check_change, fields_of, fly

from skyloop.sensors.registry import SENSORS
from skyloop.sensors.sensor import MountConfig, SensorConfig
from skyloop_client.messages import Array

ELSEWHERE = " ".join(file.read_text(encoding="utf-8") for file in HERE.glob("test_*_options.py"))
KINDS = [kind for kind, each in SENSORS.loadable().items() if f"fields_of({each.Config.__name__}, " not in ELSEWHERE]
"""Those without a file of their own, which says that it has a case for each field."""
SENSOR = DRONE + "sensors."
SECONDS = 3.0
DOWN = {"rotation_deg": [0.0, 90.0, 0.0]}
COMMON = {"rate_hz", "mount", "latency", "faults", "kind", "preset"}


def sensor(kind: str, **options: Any) -> dict[str, Any]:
    down = {"mount": DOWN} if kind == "rangefinder" else {}
    return {SENSOR + "it": {"kind": kind, **down, **options}}


def samples(flight: Flight) -> Array:
    """(n, m) every number of every record, stamps left out."""
    return np.array([numbers(record) for record in flight.records("it")])


def numbers(record: Any) -> Array:
    values = [getattr(record, f.name) for f in dataclasses.fields(record) if f.name != "t_ns"]
    return np.concatenate([np.atleast_1d(np.asarray(value, dtype=np.float64)) for value in values])


def column(flight: Flight, name: str) -> Array:
    return np.array([getattr(record, name) for record in flight.records("it")])


# ---- presets

PRESETS = [
    (kind, preset) for kind in KINDS for preset in get_args(SENSORS[kind].Config.model_fields["preset"].annotation)
]


@pytest.mark.parametrize(("kind", "preset"), PRESETS)
def test_every_preset_measures_differently(kind: str, preset: str) -> None:
    """Its errors, taken against the perfect instrument on the same flight, are its own."""
    default = SENSORS[kind].Config.model_fields["preset"].default
    exact = samples(fly(STEP, sensor(kind, preset="perfect")))
    others = [p for k, p in PRESETS if k == kind and p != preset]
    error = np.nan_to_num(samples(fly(STEP, sensor(kind, preset=preset))) - exact).std(axis=0)
    for other in others if preset == default else [default]:
        theirs = np.nan_to_num(samples(fly(STEP, sensor(kind, preset=other))) - exact).std(axis=0)
        largest = np.maximum(error, theirs)
        assert (np.abs(error - theirs)[largest > 0] / largest[largest > 0]).max() > 0.1


# ---- numbers: (conditions, changed value, what must change, by how much)

Check = tuple[dict[str, Any], Any, Callable[[Flight], float], float]


def spread(name: str, axis: Any = ()) -> Callable[[Flight], float]:
    """Root mean square of the error of one column."""

    def error(flight: Flight) -> float:
        kind = flight.messages["drone/it"][0].data.__class__.__name__
        exact = fly(STEP, sensor(KIND_OF[kind], preset="perfect"))
        difference = column(flight, name) - column(exact, name)
        return float(np.sqrt(np.nanmean(difference[(slice(None), *np.atleast_1d(axis))] ** 2)))

    return error


KIND_OF = {sensor_class.message: kind for kind, sensor_class in SENSORS.items()}


def first_error(name: str) -> Callable[[Flight], float]:
    def error(flight: Flight) -> float:
        kind = flight.messages["drone/it"][0].data.__class__.__name__
        exact = fly(STEP, sensor(KIND_OF[kind], preset="perfect"))
        return float(np.abs(column(flight, name)[0] - column(exact, name)[0]).max())

    return error


def largest(name: str) -> Callable[[Flight], float]:
    return lambda flight: float(np.abs(column(flight, name)).max())


def values(name: str) -> Callable[[Flight], float]:
    """How many different readings there are."""
    return lambda flight: float(len(np.unique(column(flight, name).round(12))))


def last(name: str) -> Callable[[Flight], float]:
    return lambda flight: float(column(flight, name)[-1])


def time_of_fix(kind: int) -> Callable[[Flight], float]:
    def time(flight: Flight) -> float:
        return next((r.t_ns * 1e-9 for r in flight.records("it") if r.fix_type >= kind), 99.0)

    return time


def seen(flight: Flight) -> float:
    return float(np.isfinite(column(flight, "distance")).mean())


def imu_numbers(prefix: str, name: str, limit: float) -> dict[str, Check]:
    walk = {f"{prefix}_random_walk": 1.0}
    return {
        # white noise of density d at 200 Hz has an rms of d √200
        f"{prefix}_noise_density": ({}, 0.01, spread(name), 0.9 * 0.01 * np.sqrt(200)),
        f"{prefix}_random_walk": ({}, 0.1, spread(name), 0.03),
        f"{prefix}_bias_tau": (walk, 0.05, spread(name), -0.3),
        f"{prefix}_turn_on_sd": ({}, 0.1, first_error(name), 0.01),
        f"{prefix}_range": ({}, limit, largest(name), -0.2),
        f"{prefix}_lsb": ({}, 0.1, values(name), -100.0),
    }


WALK = {"random_walk": 1e-5}
ACQUIRING = {"acquisition_tau": 0.5}
NUMBERS: dict[str, dict[str, Check]] = {
    "imu": {**imu_numbers("gyro", "angular_velocity", 0.5), **imu_numbers("accel", "specific_force", 9.0)},
    "gnss": {
        "position_sd": ({}, (2.0, 4.0), spread("altitude"), 0.5),
        "position_white_sd": ({}, (2.0, 4.0), spread("altitude"), 2.0),
        "velocity_sd": ({}, (1.0, 2.0), spread("velocity_enu"), 0.3),
        "velocity_white_sd": ({}, (1.0, 2.0), spread("velocity_enu"), 0.7),
        "startup_delay": ({}, 1.5, time_of_fix(3), 1.5),
        "acquisition_tau": ({}, 0.3, time_of_fix(3), 0.9),
        "eph_3d": (ACQUIRING, 0.5, time_of_fix(3), 0.5),
        "eph_2d": (ACQUIRING, 50.0, time_of_fix(2), -0.8),
        "reported_position_sd": ({}, (0.9, 1.5), last("vertical_sd"), 1.4),
        "reported_speed_sd": ({}, 0.4, last("speed_sd"), 0.3),
        "hdop": ({}, 2.0, last("hdop"), 1.0),
        "vdop": ({}, 3.0, last("vdop"), 1.0),
        "satellites": ({}, 20, last("satellites"), 8.0),
        "outages": ({}, [{"start": 1.0}], last("horizontal_sd"), 90.0),
    },
    "barometer": {
        "noise_sd": ({}, 10.0, spread("pressure"), 8.0),
        "factor_sd": ({}, 0.01, spread("pressure"), 50.0),
        "drift_rate": ({}, -5.0, last("altitude"), 1.0),
    },
    "magnetometer": {
        "noise_sd": ({}, 1e-6, spread("field_tesla"), 0.9e-6),
        "noise_density": ({}, 1e-6, spread("field_tesla"), 0.9e-6 * np.sqrt(50)),
        "random_walk": ({}, 1e-5, spread("field_tesla"), 3e-6),
        "bias_tau": (WALK, 0.05, spread("field_tesla"), -3e-6),
        "turn_on_sd": ({}, 1e-5, first_error("field_tesla"), 1e-6),
        "hard_iron": ({}, (2e-5, 0.0, 0.0), spread("field_tesla", 0), 1.99e-5),
        "scale": ({}, (1.0, 1.0, 1.1), spread("field_tesla", 2), 3e-6),
    },
    "rangefinder": {
        "min_range": ({}, 6.0, seen, -0.1),
        "max_range": ({}, 6.0, seen, -0.3),
        "noise_sd": ({}, 0.3, spread("distance"), 0.25),
        "resolution": ({}, 0.5, values("distance"), -100.0),
    },
}
MEMORIES: dict[str, dict[str, tuple[dict[str, Any], str]]] = {
    "gnss": {
        "position_tau": ({"position_sd": (2.0, 4.0)}, "altitude"),
        "velocity_tau": ({"velocity_sd": (1.0, 2.0)}, "velocity_enu"),
    },
    "barometer": {"factor_tau": ({"factor_sd": 0.01}, "pressure")},
}
"""Correlation times, with the error they belong to."""


@pytest.mark.parametrize("kind", KINDS)
def test_every_number_has_a_case(kind: str) -> None:
    assert {*NUMBERS[kind], *MEMORIES.get(kind, ())} == fields_of(SENSORS[kind].Config, *COMMON)


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, cases in NUMBERS.items() for name in cases])
def test_number(kind: str, name: str) -> None:
    conditions, value, measure, least = NUMBERS[kind][name]
    before = measure(fly(STEP, sensor(kind, preset="perfect", **conditions)))
    after = measure(fly(STEP, sensor(kind, preset="perfect", **conditions, **{name: value})))
    check_change(f"{kind}.{name}", before, after, least)


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, cases in MEMORIES.items() for name in cases])
def test_correlation_time(kind: str, name: str) -> None:
    """With a shorter one, the error of one sample tells less of the next."""
    conditions, of = MEMORIES[kind][name]

    def roughness(tau: float) -> float:
        flight = fly(STEP, sensor(kind, preset="perfect", rate_hz=20, **conditions, **{name: tau}))
        exact = fly(STEP, sensor(kind, preset="perfect", rate_hz=20))
        return float(np.abs(np.diff(column(flight, of) - column(exact, of), axis=0)).mean())

    assert roughness(0.05) > 5.0 * roughness(1e4)


# ---- what all sensors have


def test_what_all_sensors_have_is_covered() -> None:
    assert set(SensorConfig.model_fields) == {"rate_hz", "mount", "latency", "faults"}
    assert set(MountConfig.model_fields) == {"position", "rotation_deg"}


@pytest.mark.parametrize("kind", KINDS)
def test_rate(kind: str) -> None:
    for rate in (20, 33, "30000/1001"):
        hertz = 30000 / 1001 if isinstance(rate, str) else rate
        flight = fly(STEP, sensor(kind, rate_hz=rate, latency=0.0))
        assert len(flight.records("it")) == int(np.ceil(SECONDS * hertz))


@pytest.mark.parametrize("kind", KINDS)
def test_latency(kind: str) -> None:
    flight = fly(STEP, sensor(kind, latency=0.25))
    assert {m.arrival_ns - m.t_ns for m in flight.messages["drone/it"]} == {250_000_000}


POSITION_IS_FELT = {"imu": 0.05, "gnss": 0.3, "barometer": 1.0, "rangefinder": 0.1}
"""By what; the magnetic field is the same everywhere on the vehicle."""
ROTATION_IS_FELT = {"imu": 3.0, "magnetometer": 1e-5, "rangefinder": 1.0}
"""A barometer has no axes, and an antenna is a point."""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("what", ["position", "rotation_deg"])
def test_mount(kind: str, what: str) -> None:
    felt = (POSITION_IS_FELT if what == "position" else ROTATION_IS_FELT).get(kind, 0.0)
    before = fly(STEP, sensor(kind, preset="perfect"))
    mount = dict(DOWN) if kind == "rangefinder" else {}
    turned = [20.0, 70.0, 0.0] if kind == "rangefinder" else [0.0, 40.0, 0.0]
    mount[what] = [0.3, 0.2, 0.5] if what == "position" else turned
    after = fly(STEP, sensor(kind, preset="perfect") | {SENSOR + "it.mount": mount})
    change = np.nanmax(np.abs(samples(after) - samples(before)))
    assert change > felt if felt else change == 0.0
