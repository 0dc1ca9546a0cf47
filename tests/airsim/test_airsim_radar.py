"""AirLoop's radar through AirSim's door: its Tables 2 and 3 come out, and two FFTs of its volts find a person."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from airsim_bench import Bench
from airsim_rpc import xyz

from skyloop.links.airsim.settings import read_settings
from skyloop_client.errors import ScenarioError

pytestmark = pytest.mark.renders

SENSORS = {
    "Radar": {"SensorType": 12, "X": 0.1, "Z": -1.2},
    "Narrow": {
        "SensorType": 12, "X": 0.1, "Z": -1.2, "HorizontalFOV": 20, "Width": 80, "Height": 60, "Classes": ["tree"],
        "UpdateFrequency": 2,
    },
    "Fine": {
        "SensorType": 12, "UpdateFrequency": 3, "Width": 40, "Height": 30, "NumberOfChirps": 4, "NumberOfSamples": 128,
        "NumberOfReceivers": 1, "Bandwidth": 2e9, "LowerFrequency": 60e9, "ChirpDuration": 2e-4, "GenerateNoise": True,
    },
}  # fmt: skip
SETTINGS: dict[str, Any] = {
    "DefaultSensors": {"imu": {"SensorType": 2, "Enabled": False}},
    "Vehicles": {"Drone1": {"VehicleType": "SimpleFlight", "Yaw": 90, "Sensors": SENSORS}},
}


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    built = Bench(SETTINGS, world="radar-lab")
    built.sim.run_for(1.0)
    yield built
    built.close()


def volts(data: dict[str, Any]) -> Any:
    return np.reshape(data["volts"].values, (data["n_rx"], data["n_chirps"], data["n_samples"]))


def test_airloops_parameters_give_its_table_3(bench: Bench) -> None:
    data = bench("getRadarData", "Radar", "Drone1")
    assert volts(data).shape == (3, 64, 64)
    assert (data["lower_frequency"], data["bandwidth"], data["chirp_duration"]) == (60.8e9, 0.4e9, 390.975e-6)
    assert data["d_max"] == pytest.approx(12.0, abs=0.02) and data["v_max"] == pytest.approx(3.15, abs=0.01)
    assert xyz(data["pose"]["position"]) == pytest.approx([0.1, 0.0, -1.2])
    assert bench("getRadarData")["time_stamp"] == data["time_stamp"], "the first radar of the first vehicle"


def test_its_volts_show_where_the_person_is(bench: Bench) -> None:
    """Range and speed by two FFTs, as AirLoop's second script has them."""
    data = bench("getRadarData", "Radar")
    cube = volts(data) * np.hanning(64)
    # what stands still is the same in every chirp
    moving = (cube - cube.mean(axis=1, keepdims=True)) * np.hanning(64)[:, None]
    power = (np.abs(np.fft.fftshift(np.fft.fft2(moving), axes=1)[:, :, :32]) ** 2).sum(axis=0)
    speed, distance = np.unravel_index(int(power.argmax()), power.shape)
    person = next(name for name in bench("simListSceneObjects") if name.startswith("person"))
    place = xyz(bench("simGetObjectPose", person)["position"])
    away = float(np.hypot(place[0], place[1] - 0.1))
    assert distance * data["d_max"] / 32 == pytest.approx(away, abs=0.8)
    assert 0.2 < abs(speed - 32) * data["v_max"] / 32 < 2.0
    points = np.reshape(data["point_cloud"].values, (-1, 3))
    walking = points[np.abs(data["speeds"].values) > 0.2]
    assert len(points) == len(data["speeds"].values) == len(data["snr_db"].values) > 0
    assert np.median(walking[:, 0]) == pytest.approx(away, abs=0.6), "forward, right, down of the sensor"


def test_every_key_of_a_radar_has_an_effect(bench: Bench) -> None:
    plain, masked, fine = (bench("getRadarData", name) for name in ("Radar", "Narrow", "Fine"))
    assert np.abs(volts(masked)).max() == 0.0 < np.abs(volts(plain)).max(), "there is no tree in the laboratory"
    assert volts(fine).shape == (1, 4, 128)
    assert (fine["lower_frequency"], fine["bandwidth"], fine["chirp_duration"]) == (60e9, 2e9, 2e-4)
    assert fine["chirp_repetition"] == 2e-4 and fine["d_max"] == pytest.approx(4.8, abs=0.01)
    infos = bench.sim.bus.infos
    assert infos["Drone1/fine/raw"].rate.hz == pytest.approx(3.0) and infos[
        "Drone1/radar/raw"
    ].rate.hz == pytest.approx(7.0)
    assert infos["Drone1/fine/raw"].details["thermal_noise"] and not infos["Drone1/radar/raw"].details["thermal_noise"]
    width = {name: 2.0 * infos[f"Drone1/{name}/raw"].details["cx"] + 1.0 for name in ("radar", "narrow", "fine")}
    assert width == {"radar": 320.0, "narrow": 80.0, "fine": 40.0}
    assert infos["Drone1/narrow/raw"].details["fx"] == pytest.approx(40.0 / np.tan(np.radians(10.0)))


def test_wrong_names_and_types_are_told(bench: Bench) -> None:
    number = bench.start("getRadarData", "Rader", "Drone1")
    assert "did you mean 'Radar'" in bench.client.answers[number][0]
    number = bench.start("simLoadLevel", "flat")
    assert bench.client.answers[number][0] == "simLoadLevel: this run keeps its world; `skyloop serve` changes it"
    with pytest.raises(ScenarioError, match=r"SensorType is 9; give 1 to 6, 8 or 12"):
        read_settings('{"Vehicles": {"D": {"Sensors": {"r": {"SensorType": 9}}}}}')
    read = read_settings('{"Vehicles": {"D": {"Sensors": {"r": {"SensorType": 12, "Chirps": 3}}}}}')
    assert "did you mean" in read.warnings[0] and "NumberOfChirps" in read.warnings[0]
