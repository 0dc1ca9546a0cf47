"""The radar bench measures what it says, at tiny sizes; how fast anything is, is not asserted."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from radar_reference import TABLE_2, reference_volts
from skyloop.sensors.radar.echoes import Echoes
from skyloop.world.semantics import CLASS_ID
from skyloop_papers.benchmarks import radar
from skyloop_papers.benchmarks.measurement import Measurement

pytestmark = pytest.mark.renders

PICTURE = radar.Picture(width=48, height=36, trees=4)
TINY = {"rounds": 1, "repeats": 1, "one_in": 64, "compared": 1}
GPU = {"gpu_frame_ms", "gpu_sum_ms"}


@pytest.fixture(scope="module")
def flight() -> Iterator[radar.Flight]:
    flight = radar.Flight(PICTURE)
    yield flight
    flight.close()


@pytest.fixture(scope="module")
def figures(flight: radar.Flight) -> dict[str, Measurement]:
    """With a CPU in the place of a GPU."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(radar, "gpu_radar", lambda picture: (radar.radar_of(picture, "cpu"), ""))
        patch.setattr(radar, "gpu_name", lambda: "Some Device 9000")
        return {figure.key: figure for figure in radar.measured_on(flight, **TINY)}


@pytest.mark.slow("runs the benchmark")
def test_every_figure_is_there_with_its_aim(figures: dict[str, Measurement]) -> None:
    figures = dict(figures)
    aims = {"frame_ms": 30.0, "vs_paper_method": 300.0, "error_vs_reference": 1e-3, "memory_mb": 300.0}
    aims |= {"gpu_frame_ms": 1.0, "gpu_echoes_error": 1e-5}
    assert {key: figure.aim for key, figure in figures.items() if figure.aim} == aims
    assert not figures["vs_paper_method"].lower_is_better and figures["error_vs_reference"].lower_is_better
    assert {"frame_cpu_ms", "echoes_ms", "sum_ms", "echoes", "every_pixel_ms"} <= set(figures)
    assert {"frame_with_rendering_ms", "paper_method_ms", "paper_method_whole_ms"} <= set(figures)
    # the stand-in for the GPU finds the very same echoes
    assert figures.pop("gpu_echoes_error").value == 0.0
    assert all(np.isfinite(figure.value) and figure.value > 0.0 for figure in figures.values())
    assert figures["error_vs_reference"].holds


def test_it_is_flown_at_3_metres_per_second_past_people_who_walk(flight: radar.Flight) -> None:
    positions = [scene.kinematics.position for scene in flight.scenes]
    times = [scene.kinematics.t_ns * 1e-9 for scene in flight.scenes]
    for a, b, s, t in zip(positions, positions[1:], times, times[1:], strict=False):
        assert (b - a) / (t - s) == pytest.approx(flight.scenes[0].kinematics.velocity_world)
    assert np.linalg.norm(flight.scenes[0].kinematics.velocity_world) == pytest.approx(3.0)
    view = flight.scenes[-1].view
    person = view.classes == CLASS_ID["person"]
    assert person.any() and np.linalg.norm(view.velocities[person], axis=1).max() > 0.5


def test_looking_down_every_pixel_echoes(flight: radar.Flight) -> None:
    assert (flight.steep.view.surface[..., 1] > 0).all()
    assert (flight.scenes[0].view.surface[..., 1] == 0).any()


def test_given_and_painted_pictures_make_the_same_scan(flight: radar.Flight) -> None:
    bench = radar.Bursts(radar.radar_of(PICTURE, "cpu"), flight.scenes)
    given, painted = bench.scan(flight.scenes[2]), bench.scan(flight.painted[2])
    assert np.abs(given.volts).max() > 0.0 and np.array_equal(given.volts, painted.volts)


def test_the_paper_s_method_is_eq_4() -> None:
    random = np.random.default_rng(3)
    away, speed = random.uniform(2.0, 20.0, 6), random.uniform(-3.0, 3.0, 6)
    strengths = (random.normal(size=(6, 2)) @ [1.0, 1j]).astype(np.complex64)
    # sender and receivers at one point, so that half a path is the distance
    echoes = Echoes(np.repeat(away[:, None], 3, 1), np.repeat(speed[:, None], 3, 1), strengths)
    ahead = np.array([1.0, 0.0, 0.0])
    exact = strengths.astype(complex)
    wanted = reference_volts(
        TABLE_2, np.zeros(3), np.zeros((3, 3)), away[:, None] * ahead, speed[:, None] * ahead,
        np.abs(exact), np.angle(exact),
    )  # fmt: skip
    assert radar.paper_burst(TABLE_2, echoes) == pytest.approx(wanted, abs=1e-8)


def test_the_error_is_that_of_the_fast_sum(flight: radar.Flight, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = radar.Bursts(radar.radar_of(PICTURE, "cpu"), flight.scenes[-1:])
    right = bench.summed
    monkeypatch.setattr(bench, "summed", lambda echoes: 1.01 * right(echoes))
    assert bench.compared(1)[0] == pytest.approx(0.01, abs=1e-3)


def test_memory_counts_the_echoes(figures: dict[str, Measurement]) -> None:
    # two float64 for each of three antennas and a complex64, of every pixel
    assert figures["memory_mb"].value > 48 * 36 * (2 * 3 * 8 + 8) / 1e6


def test_a_gpu_is_named(figures: dict[str, Measurement]) -> None:
    assert all("Some Device 9000" in figures[key].note for key in GPU)
    assert "GPU" not in figures["frame_ms"].note


@pytest.mark.slow("runs the benchmark")
def test_without_a_gpu_a_line_says_so(flight: radar.Flight, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skyloop.sensors.radar.radar._gpu", lambda: (None, "CuPy is not installed"))
    found, why = radar.gpu_radar(PICTURE)
    assert found is None and "CuPy is not installed" in why and "\n" not in why
    keys = {figure.key: figure for figure in radar.measured_on(flight, **TINY)}
    assert not GPU & set(keys) and "no GPU figures: radar backend 'gpu'" in keys["frame_ms"].note
