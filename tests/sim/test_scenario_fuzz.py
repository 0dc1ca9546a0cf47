"""Whatever the loader is given, it answers with a scenario or with one line."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from core_flights import NOISY_FLIGHT
from skyloop.core.validation import read_yaml
from skyloop.sim.scenario import Scenario, make_scenario
from skyloop_client.errors import ScenarioError, SkyloopError


def quick(examples: int) -> settings:
    """The same examples every time, however long the machine takes."""
    unimportant = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.data_too_large]
    return settings(
        max_examples=examples, deadline=None, derandomize=True, database=None, suppress_health_check=unimportant
    )


SEEING_FLIGHT = copy.deepcopy(NOISY_FLIGHT) | {
    # without options, which are the class's and of any type: a date comes back from JSON as text
    "world": {"name": "blocks", "randomise": ["sun", "textures"]},
    "weather": {"rain": 3.0, "time_of_day": 9.5},
    "observers": {"chase": {"vehicle": "drone", "back": 4.0}, "post": {"mode": "fixed", "look_at": [1, 2, 3]}},
}
SEEING_FLIGHT["vehicles"][0]["sensors"] |= {
    "camera": {"kind": "camera", "preset": "d435-left", "truth": ["depth", "labels"], "distortion": []},
    "depth": {"kind": "depth_camera", "sunlight": 0.5},
    "lidar": {"kind": "lidar", "vertical_fov_deg": [-30, 10], "slices": 4},
    "flow": {"kind": "optical_flow", "mount": {"rotation_deg": [0, 90, 0]}},
}
STEPS = ["vehicles", "drone", "0", "sensors", "imu", "wind", "mean", "1", "", "world"]
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["imu", "drone", "a:b", "x.py:Y", "truth", "1/0", "inf", "", "..", "hover", "dryden"])
    | st.dates()
    | st.binary(max_size=3)
)
KEYS = st.sampled_from([*NOISY_FLIGHT, *NOISY_FLIGHT["vehicles"][0], "kind", "preset", "rate_hz", "folder"]) | SCALARS
JUNK = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


def check(data: Any, overrides: dict[str, Any] | None = None) -> None:
    try:
        made = make_scenario(data, overrides)
    except ScenarioError as error:
        assert len(str(error).splitlines()) == 1, str(error)
        assert "pydantic" not in str(error)
    else:
        assert isinstance(made, Scenario)
        assert make_scenario(made.model_dump(mode="json")) == made


def places(data: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) in nested data."""
    found = []
    for key in list(data) if isinstance(data, dict) else range(len(data)):
        found.append((data, key))
        if isinstance(data[key], dict | list):
            found += places(data[key])
    return found


@quick(60)
@given(JUNK)
def test_random_data(data: Any) -> None:
    check(data)


@quick(120)
@given(st.data())
def test_random_damage_to_a_valid_scenario(draw: st.DataObject) -> None:
    scenario = copy.deepcopy(draw.draw(st.sampled_from([NOISY_FLIGHT, SEEING_FLIGHT])))
    for _ in range(draw.draw(st.integers(1, 2))):
        container, key = draw.draw(st.sampled_from(places(scenario)))
        damage = draw.draw(st.sampled_from(["delete", "replace", "insert"]))
        if damage == "replace":
            container[key] = draw.draw(JUNK)
        elif damage == "delete":
            del container[key]
        elif isinstance(container, dict):
            container[draw.draw(KEYS)] = draw.draw(JUNK)
        else:
            container.insert(key, draw.draw(JUNK))
        if not scenario:
            break
    check(scenario)


@quick(80)
@given(
    st.lists(
        st.sampled_from(["vehicles", "drone", "0", "sensors", "imu", "wind", "mean", "1", "", "world"]), max_size=5
    ),
    JUNK,
)
def test_random_settings(path: list[str], value: Any) -> None:
    check(NOISY_FLIGHT, {".".join(path): value})


@quick(100)
@given(st.binary(max_size=60) | st.text(alphabet="ab:-[]{}&*!|>'\"%@`#?,\n 01.\t", max_size=40).map(str.encode))
@example(b"[" * 1200)
@example(b"&a [*a]")
def test_random_bytes(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "fuzz.yaml"
    file.write_bytes(content)
    try:
        data = read_yaml(file)
    except SkyloopError as error:
        assert len(str(error).splitlines()) == 1, str(error)
        return
    check(data)
