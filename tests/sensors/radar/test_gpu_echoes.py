"""The GPU's source, compiled for the processor by a C++ compiler, against the processor's own: echoes and their sum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from processor_device import processor_as_device
from radar_scans import before, echoes_of, park_scene, radar, scanned
from radar_stages import BALL, FLYING, PERSON, PLATE, WALL, WINDOW, X
from test_synthesis import WAVEFORMS, direct

from skyloop.sensors.radar import radar as radar_sensor
from skyloop.sensors.radar.config import RadarConfig, pattern_table
from skyloop.sensors.radar.gpu_echoes import GpuEchoes
from skyloop.sensors.radar.gpu_source import PARTS, TILE, GpuSum
from skyloop.sensors.radar.radar import Paths, Radar
from skyloop_client.messages import Kinematics

pytestmark = [pytest.mark.renders, pytest.mark.needs("g++")]


@pytest.fixture(scope="module")
def device(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return processor_as_device(tmp_path_factory.mktemp("gpu"))


@pytest.fixture(scope="module")
def finder(device: Any) -> GpuEchoes:
    return GpuEchoes(device)


@pytest.fixture(scope="module")
def seen() -> Any:
    """A view of park from a vehicle that flies and looks down a little, and its scene."""
    with park_scene(2) as scene:
        nodding = np.array([0.994, 0.02, 0.1, 0.03])
        nodding /= np.linalg.norm(nodding)
        place, speed = np.array([-8.0, 3.0, 2.0]), np.array([3.0, 0.2, -0.1])
        kinematics = Kinematics(scene.t_ns, place, speed, nodding, *np.zeros((3, 3)))
        sensor = Radar(RadarConfig(width=160, height=120), 0.1)
        yield scene.views(sensor.requests(kinematics, ()))[0], kinematics, scene


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"ground_bounce": True, "specular": True},
        {"see_through": True},
        {"classes": ["person", "tree"]},
        {"targets": [{"position": [4.0, 3.0, 2.0], "size": 1.0}], "n_rx": 1},
        {"specular": False},
        {"ground_bounce": True, "see_through": True},
    ],
    ids=["plain", "bounces", "behind", "classes", "target", "matt", "bounces behind"],
)
def test_the_same_echoes(seen: Any, finder: GpuEchoes, options: dict[str, Any]) -> None:
    view, kinematics, scene = seen
    config = RadarConfig(width=160, height=120, **options)
    pattern = pattern_table(config.pattern, None)
    wanted, wanted_folded = Paths(config, pattern).echoes(view, kinematics, scene)
    got, folded = Paths(config, pattern, finder).echoes(view, kinematics, scene)
    moving = wanted.rates[:, 0] - wanted.rates[:, 0].mean()
    assert len(wanted.strengths) > 1000 and np.abs(moving).max() > 0.5
    # a place without an echo has no strength, nor have echoes where an antenna does not look
    there, real = got.strengths != 0.0, wanted.strengths != 0.0
    assert there.sum() == real.sum() > 1000
    np.testing.assert_allclose(got.half_paths[there], wanted.half_paths[real], rtol=1e-13)
    np.testing.assert_allclose(got.rates[there], wanted.rates[real], rtol=1e-11, atol=1e-12)
    # a phase that fell into another grain would be off by as much as the strength itself
    np.testing.assert_allclose(got.strengths[there], wanted.strengths[real], rtol=1e-5, atol=0.0)
    assert folded == pytest.approx(wanted_folded, rel=1e-9)


@pytest.mark.parametrize(
    ("setup", "distance"),
    [(WALL, 3.0), (BALL, 4.0), (PLATE, 10.5), (PERSON, 4.0), (WINDOW, 5.0), (FLYING, 5.0)],
    ids=["wall", "ball", "plate", "person", "window", "flying"],
)
def test_the_same_mirrors(
    stages: Any, device: Any, monkeypatch: pytest.MonkeyPatch, setup: float, distance: float
) -> None:
    """Flat, round, small, behind glass, and moving."""
    options: dict[str, Any] = {"see_through": True, "horizontal_fov_deg": 40.0}
    place = before(setup, distance, X, rotation_deg=(0.0, 1.0, 2.0), velocity=(0.5, 0.2, -0.1))
    wanted, _ = echoes_of(radar(**options), stages, place)
    matt, _ = echoes_of(radar(specular=False, **options), stages, place)
    monkeypatch.setattr(radar_sensor, "_gpu", lambda: (device, ""))
    got, _ = echoes_of(radar(backend="gpu", **options), stages, place)
    there, real = got.strengths != 0.0, wanted.strengths != 0.0
    assert real.sum() - (matt.strengths != 0.0).sum() > 0
    np.testing.assert_allclose(got.half_paths[there], wanted.half_paths[real], rtol=1e-12)
    np.testing.assert_allclose(got.rates[there], wanted.rates[real], rtol=1e-10, atol=1e-12)
    # Fresnel's integrals are interpolated
    np.testing.assert_allclose(got.strengths[there], wanted.strengths[real], rtol=1e-5, atol=0.0)


@pytest.mark.parametrize("name", WAVEFORMS)
def test_the_sum_is_exact(device: Any, name: str) -> None:
    w, random = WAVEFORMS[name], np.random.default_rng(0)
    paths = random.uniform(0.02, 80.0, (40, 1)) + random.uniform(-2.5e-3, 2.5e-3, (40, 3))
    rates = random.uniform(-25.0, 25.0, (40, 3))
    strengths = (random.normal(size=(40, 2)) @ [1.0, 1.0j] / paths[:, 0]).astype(np.complex64)
    strengths[::7] = 0.0
    wanted = direct(w, paths, rates, strengths)
    got = GpuSum(w, device).burst(paths, rates, strengths)
    assert got.shape == wanted.shape
    assert np.linalg.norm(got - wanted) < 3e-6 * np.linalg.norm(wanted)


def test_the_sum_of_more_echoes_than_all_parts_take_at_once(device: Any) -> None:
    w, random, n = WAVEFORMS["few"], np.random.default_rng(1), PARTS * TILE + 77
    paths, rates = random.uniform(1.0, 9.0, (n, 1)), random.uniform(-1.0, 1.0, (n, 1))
    strengths = random.normal(size=(n, 2)).astype(np.float32).view(np.complex64)[:, 0]
    wanted, summing = direct(w, paths, rates, strengths), GpuSum(w, device)
    got = summing.burst(paths, rates, strengths)
    assert np.linalg.norm(got - wanted) < 3e-6 * np.linalg.norm(wanted)
    assert np.array_equal(got, summing.burst(paths, rates, strengths))
    empty = np.empty((0, 1))
    assert not summing.burst(empty, empty, np.empty(0, np.complex64)).any()


@pytest.mark.slow("a whole radar frame on the code for GPUs")
@pytest.mark.parametrize("options", [{}, {"leakage": True, "phase_noise": True, "iq": True}], ids=["plain", "noisy"])
def test_the_same_scan(stages: Any, device: Any, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]) -> None:
    place = before(PERSON, 4.0, X, rotation_deg=(0.0, 5.0, 0.0), velocity=(0.5, 0.2, -0.1))
    small = {"width": 48, "height": 36, **options}
    wanted = scanned(radar(**small), stages, place)
    monkeypatch.setattr(radar_sensor, "_gpu", lambda: (device, ""))
    sensor = radar(backend="gpu", **small)
    got = scanned(sensor, stages, place)
    assert np.linalg.norm(got.volts - wanted.volts) < 3e-4 * np.linalg.norm(wanted.volts)
    assert got.folded_share == pytest.approx(wanted.folded_share, rel=1e-9)
    # another view in between leaves nothing behind
    scanned(sensor, stages, before(WALL, 3.0, X))
    assert np.array_equal(scanned(sensor, stages, place).volts, got.volts)
