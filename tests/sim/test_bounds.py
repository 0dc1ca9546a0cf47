"""Every number of a scenario has bounds, and what is beyond them is told in one line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from skyloop.sim.scenario import Scenario, make_scenario
from skyloop_client.errors import ScenarioError

OWN_BOUNDS = {
    "seed",  # any whole number is one
    "rate_hz",  # may be a fraction, written as text: sensors and pilots check it
    "position",  # of a vehicle, in two forms
    "gyro_bias_tau", "gyro_range", "accel_bias_tau", "accel_range", "bias_tau",  # may be infinite
    "median_of",  # one of four
}  # fmt: skip


def unbounded(schema: dict[str, Any]) -> bool:
    if schema.get("type") in ("number", "integer"):
        low = {"minimum", "exclusiveMinimum"} & set(schema)
        return not (low and {"maximum", "exclusiveMaximum"} & set(schema))
    inner = [each for key in ("anyOf", "oneOf", "prefixItems") for each in schema.get(key, ())]
    inner += [schema[key] for key in ("items", "additionalProperties") if isinstance(schema.get(key), dict)]
    return any(unbounded(each) for each in inner)


def options() -> Iterator[tuple[str, str, dict[str, Any]]]:
    schema = Scenario.model_json_schema()
    for name, model in [("Scenario", schema), *schema["$defs"].items()]:
        for key, option in model.get("properties", {}).items():
            yield name, key, option


def test_every_number_has_bounds() -> None:
    left = {f"{model}.{key}" for model, key, option in options() if key not in OWN_BOUNDS and unbounded(option)}
    assert not left


@pytest.mark.parametrize(
    ("path", "value", "told"),
    [
        ("vehicles.0.position", [0, 0, 1_000_000], "at most 10 km high"),
        ("vehicles.0.position", [2e5, 0], "within 100 km"),
        ("vehicles.0.yaw_deg", 1e6, "3600"),
        ("wind", {"kind": "constant", "velocity": [0, 900, 0]}, "150"),
        ("vehicles.0.pilot", {"kind": "hover", "altitude": 40_000}, "10000"),
        ("vehicles.0.pilot", {"kind": "hover", "rate_hz": 1e9}, "100000"),
        ("vehicles.0.sensors", {"imu": {"kind": "imu", "latency": 1e9}}, "60"),
        ("vehicles.0.sensors", {"imu": {"kind": "imu", "mount": {"position": [0, 0, 1e4]}}}, "100"),
        ("vehicles.0.failsafes.home_altitude", float("nan"), "finite"),
        ("duration", 1e12, "1000000000"),
    ],
)
def test_what_is_out_of_bounds_is_one_line(path: str, value: object, told: str) -> None:
    with pytest.raises(ScenarioError) as raised:
        make_scenario({"vehicles": [{}]}, {path: value})
    text = str(raised.value)
    assert told in text and "\n" not in text
