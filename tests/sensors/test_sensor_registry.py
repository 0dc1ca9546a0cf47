from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from skyloop.core.keyed_random import KeyedRandom, stream_key
from skyloop.rendering.client import Renderer
from skyloop.sensors.faults import check_faults
from skyloop.sensors.registry import SENSORS, AnySensor
from skyloop.world.earth import Earth, EarthConfig
from skyloop.world.scene import WorldScene
from skyloop.world.weather import WeatherConfig, weather_at
from skyloop.world.world import WorldConfig, build_world
from skyloop_client.codec import RECORDS
from skyloop_client.streams import Rate

ANY = TypeAdapter(AnySensor)
T_NS = 30 * 10**9


@pytest.fixture(scope="module")
def scene() -> Iterator[WorldScene]:
    """The real one."""
    model = build_world(WorldConfig(name="blocks"), 1, None).model
    model.freeze()
    real = WorldScene(model, Earth(EarthConfig()), weather_at(WeatherConfig(), 47.0), Renderer)
    yield real.at(T_NS)
    real.close()


KINDS = [
    pytest.param(kind, marks=[pytest.mark.renders] if each.needs_views else [])
    for kind, each in SENSORS.loadable().items()
]


@pytest.mark.parametrize("kind", KINDS)
def test_every_preset_of_every_kind_measures_what_it_announces(kind: str, scene, at_rest) -> None:
    sensor_class = SENSORS[kind]
    config_class = sensor_class.Config
    for preset in config_class.model_fields["preset"].annotation.__args__:
        config = ANY.validate_python({"kind": kind, "preset": preset})
        assert type(config) is config_class
        sensor = sensor_class.from_config(config, Rate.from_hz(config.rate_hz).period_s, None)
        check_faults(config.faults, sensor, kind)
        rng = KeyedRandom(stream_key(1, kind), 0)
        kinematics = at_rest(t_ns=T_NS, position=[0.0, 0.0, 3.0])
        sample, _ = sensor.measure(kinematics, scene, sensor.initial_state(rng), rng)
        assert type(sample) is RECORDS[sensor_class.message]
        assert getattr(sample, "t_ns", None) == T_NS
        assert json.loads(json.dumps(sensor.details(), allow_nan=False))["preset"] == preset


def test_a_config_survives_being_written_and_read() -> None:
    config = ANY.validate_python(
        {
            "kind": "imu",
            "rate_hz": "1000/3",
            "gyro_bias_tau": float("inf"),
            "mount": {"position": [0.1, 0.0, -0.2]},
            "faults": [{"kind": "bias", "value": [1, 2, 3], "start": 4}],
        }
    )
    assert ANY.validate_json(ANY.dump_json(config)) == config
    assert ANY.validate_python(config.model_dump()) == config


@pytest.mark.parametrize(
    "given",
    [
        {"kind": "imo"},
        {"kind": "imu", "rate": 3},
        {"kind": "imu", "rate_hz": 0},
        {"kind": "imu", "rate_hz": "1/0"},
        {"kind": "imu", "rate_hz": "often"},
        {"kind": "imu", "gyro_noise_density": -1.0},
        {"kind": "imu", "gyro_noise_density": float("inf")},
        {"kind": "imu", "gyro_bias_tau": float("nan")},
        {"kind": "gnss", "preset": "m9n"},
        {"kind": "gnss", "outages": [{"start": 3.0, "end": 2.0}]},
        {"kind": "barometer", "latency": -0.1},
        {"kind": "magnetometer", "hard_iron": [1.0, 2.0]},
        {"kind": "camera", "preset": "d436-left"},
        {"kind": "camera", "quality": "ultra"},
        {"kind": "camera", "width": 0},
        {"kind": "depth_camera", "zero_share": 1.5},
        {"kind": "optical_flow", "size_px": 4},
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        ANY.validate_python(given)
