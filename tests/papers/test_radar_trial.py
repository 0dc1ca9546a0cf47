"""`skyloop reproduce radar`: a quick run, its records and pictures, and recordings of one's own, good and bad."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from skyloop.cli.verbs import execute
from skyloop_client.errors import ScenarioError
from skyloop_papers import pages
from skyloop_papers.experiment import Cell
from skyloop_papers.radar.antennas import phase_steps
from skyloop_papers.radar.experiment import EXPERIMENT, RadarRecording
from skyloop_papers.radar.noise import NoiseCurve
from skyloop_papers.radar.recording import compare_recording
from skyloop_papers.radar.setup import RadarSetup, Walk
from skyloop_papers.radar.walks import record
from skyloop_papers.runner import reproduce

PICTURES = ["antennas.png", "micro-doppler.png", "noise.png", "range-doppler.png", "walks.png"]
QUICK_FORM = pytest.mark.slow("renders a hundred radar bursts")


def _antennas_point_at_the_person(results: dict[str, Cell]) -> None:
    for name, sign in (("left, above", 1.0), ("right, below", -1.0)):
        rows = [result for cell, result in results.items() if name in cell]
        assert len(rows) == 4 and all(row.ours * sign > 0.0 for row in rows)
        # the echo's middle wanders over a body that is 20 degrees high
        assert abs(rows[2].conditions["error"]) < 4.0 and abs(rows[3].conditions["error"]) < 6.0


def _walkers_are_found_and_only_leakage_tells_the_presets_apart(results: dict[str, Cell]) -> None:
    """NCC is given as a curve over leakage, and no point of the curve stands for the sensor."""
    for walk in ("away", "towards"):
        for preset in ("ideal", "real"):
            start = f"{walk}, {preset}: "
            assert results[start + "frames with a detection"].ours == 1.0
            assert results[start + "RMS error of speed"].ours < 0.2
            assert max(results[f"{start}RMS error of range{more}"].ours for more in ("", ", track")) < 0.12
        for beam in ("Gaussian beam", "ViRa's mask"):
            cell = f"{walk}: NCC of ideal against disturbed model, {beam}, "
            assert results[cell + "no leakage"].ours > results[cell + "leakage -100 dB"].ours + 0.05
            assert results[cell + "no leakage"].published is None
        assert results[f"{walk}: NCC of ideal against disturbed model without what stands still"].ours > 0.95
        assert results[f"{walk}: ViRa's mask, frames with a detection"].ours == 1.0
        assert 0.3 < results[f"{walk}: NCC of ideal model, Gaussian beam against ViRa's mask"].ours < 1.0


def _beams_gait_and_noise(results: dict[str, Cell]) -> None:
    # half the power of one antenna at 30°: there and back half the amplitude
    assert results["Gaussian beam, 30° to the side: amplitude"].ours == pytest.approx(0.5, abs=0.01)
    assert results["Gaussian beam, 20° up: amplitude"].ours == pytest.approx(0.5, abs=0.01)
    assert results["ViRa's mask, 20° up: amplitude"].ours == pytest.approx(0.9, abs=0.01)
    assert results["ViRa's mask, 50° to the side: amplitude"].ours == pytest.approx(0.58, abs=0.02)
    assert results["micro-Doppler, torso line: median |error| of speed"].ours < 0.1
    assert next(result for cell, result in results.items() if "limbs within" in cell).ours >= 2.0
    for name in ("range", "speed", "azimuth", "elevation"):
        assert 0.8 < results[f"noise, {name}: RMSE over Cramér-Rao bound"].ours < 2.2
        assert results[f"noise, {name}: slope, decades per 10 dB (bound: -0.5)"].ours == pytest.approx(-0.5, abs=0.2)


@QUICK_FORM
@pytest.mark.renders
def test_the_quick_form(tmp_path: Path) -> None:
    results = {result.name: result for result in reproduce(EXPERIMENT, quick=True, folder=tmp_path)}
    assert pages.differing("radar", list(results.values())) == []
    _antennas_point_at_the_person(results)
    _walkers_are_found_and_only_leakage_tells_the_presets_apart(results)
    _beams_gait_and_noise(results)
    for name in PICTURES:
        with Image.open(tmp_path / name) as picture:
            assert np.asarray(picture.convert("L")).std() > 5.0


@pytest.fixture(scope="module")
def bursts() -> np.ndarray:
    """(n, 3, 64, 64) V of someone who walks away at 0.8 m/s, from the disturbed radar."""
    walk = Walk("away", 1.0, 7.0, 0.8)
    with RadarSetup([walk]) as setup:
        return np.stack([scan.volts for scan in record(setup, walk, np.arange(1.0, 5.0, 1.0)).scans["real"]])


@pytest.mark.renders
def test_the_person_is_where_the_walk_says() -> None:
    walks = [Walk("out", 2.0, 6.0, 1.0, 1.0), Walk("back", 6.0, 2.0, 1.0, 1.0)]
    with RadarSetup(walks) as setup:
        for walk, start, later in ((walks[0], 2.0, 4.0), (walks[1], 6.0, 4.0)):
            records = record(setup, walk, np.array([0.5, 3.0, 9.0]))
            # the chest's front or back, and its height against the radar's, account for the rest
            ground = np.sqrt(records.true_range**2 - 0.6**2)
            np.testing.assert_allclose(ground, [start, later, walk.end], atol=0.25)
            assert records.moving.tolist() == [False, True, False]
            np.testing.assert_allclose(records.true_speed[[0, 2]], 0.0, atol=1e-6)
            assert records.true_speed[1] == pytest.approx(1.0 if walk.name == "out" else -1.0, abs=0.15)


def test_phase_steps_of_a_plane_wave() -> None:
    spectrum = np.zeros((3, 5), np.complex128)
    spectrum[:, 1] = 0.1
    spectrum[:, 3] = np.exp(1j * np.array([1.3, 0.3, 0.8]))
    assert list(phase_steps(spectrum)) == pytest.approx([0.5, 0.5])


def test_slopes_and_excess_leave_out_what_was_not_always_found() -> None:
    snr = np.array([-20.0, 0.0, 10.0, 20.0])
    bound = np.tile(10.0 ** (-snr / 20.0), (4, 1)).T
    rmse = 1.5 * bound
    rmse[0] = 99.0
    curve = NoiseCurve(snr, rmse, bound, np.array([0.5, 1.0, 1.0, 1.0]), 10)
    np.testing.assert_allclose(curve.excess(), 1.5)
    np.testing.assert_allclose(curve.slopes(), -0.5)


@QUICK_FORM
@pytest.mark.renders
def test_a_recording_is_paired_by_distance(bursts: np.ndarray, tmp_path: Path) -> None:
    file, folder = tmp_path / "mine.npy", tmp_path / "out"
    folder.mkdir()
    np.save(file, bursts)
    by_cell = {result.name: result for result in reproduce(RadarRecording(file), quick=True, folder=folder)}
    # the recording is of the same disturbed radar: leakage and all are alike
    alike = by_cell["away: NCC of the recording against preset real"]
    assert (alike.n, alike.published) == (len(bursts), None)
    assert alike.ours > 0.9
    assert alike.conditions["simulated_speed"] == pytest.approx(0.8, abs=0.15)
    np.testing.assert_allclose(alike.conditions["partner_distance"], alike.conditions["distance"], atol=0.35)
    ideal = by_cell["away: NCC of the recording against preset ideal"]
    assert ideal.published == 0.39
    assert ideal.ours < 0.5
    assert by_cell["away: NCC of the recording against preset ideal, moving only"].ours > 0.3
    assert {path.name for path in folder.iterdir()} == {"recording.png", "results.csv", "results.json", "results.md"}


def test_a_recording_without_a_walker(tmp_path: Path) -> None:
    file = tmp_path / "empty.npy"
    np.save(file, np.zeros((3, 3, 64, 64), np.float32))
    with pytest.raises(ScenarioError, match="in none of its 3 bursts does anyone walk"):
        compare_recording(file, quick=True)


@pytest.mark.parametrize(
    ("name", "data", "fragment"),
    [
        ("none.npy", None, "cannot read radar recording"),
        ("flat.npy", np.zeros((5, 64, 64), np.float32), "has shape (5, 64, 64)"),
        ("whole.npy", np.zeros((2, 3, 64, 64), np.int32), "holds int32"),
        ("nan.npy", np.full((2, 3, 64, 64), np.nan, np.float32), "holds NaN"),
        ("text.npy", "radar", "cannot read radar recording"),
    ],
)
def test_bad_recordings_are_one_line_and_leave_nothing(
    name: str, data: Any, fragment: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    if isinstance(data, str):
        Path(name).write_text(data)
    elif data is not None:
        np.save(name, data)
    before = sorted(tmp_path.rglob("*"))
    assert execute(["reproduce", "radar", "--recording", name]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert name in line and fragment in line
    assert sorted(tmp_path.rglob("*")) == before
    assert execute(["reproduce", "drag", "--recording", name]) == 1
    assert "--recording works with 'radar' only" in capsys.readouterr().err
