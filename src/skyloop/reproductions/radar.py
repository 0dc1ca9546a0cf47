"""`skyloop reproduce radar`: sections IV-D and V-D of papers/airloop."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from skyloop.core.results import Result
from skyloop.reproductions.radar_antennas import PLACES, AntennaCheck, check_antennas
from skyloop.reproductions.radar_noise import (
    QUANTITIES,
    QUICK_SNR_DB,
    QUICK_TRIALS,
    SNR_DB,
    TRIALS,
    NoiseCurve,
    measure_noise,
)
from skyloop.reproductions.radar_recording import Pairs, compare_recording
from skyloop.reproductions.radar_setup import RadarSetup
from skyloop.reproductions.radar_walks import (
    FRAME_TIMES,
    FRAMES_PER_SECOND,
    GAIT,
    LIMB_DB,
    QUICK_FRAME_TIMES,
    WALKS,
    GaitRecord,
    WalkRecord,
    leakage_ncc,
    mask_ncc,
    record,
    record_gait,
)
from skyloop.sensors.radar.config import Beam, RadarConfig, Vira, pattern_table
from skyloop_client.messages import Array

PAPER = "airloop"
TABLE_3 = {"v_max": (3.15, "m/s"), "v_res": (0.1, "m/s"), "d_res": (0.38, "m"), "d_max": (12.0, "m")}
TABLE_9 = {"away": (1, 0.39), "towards": (2, 0.42)}
"""Scenario and NCC. The list of scenarios begins with "away"; the text about Figs 15 and 16 uses the opposite order."""
TABLE_9_NOTE = "published: a real BGT60TR13C against AirLoop's simulation"
LEAKAGE_DB: tuple[float | None, ...] = (-60.0, -70.0, -80.0, -90.0, -100.0, -110.0, None)
QUICK_LEAKAGE_DB: tuple[float | None, ...] = (-100.0, None)
"""From a poor board's leakage to an invisible one, and none. No value is documented. The preset has -90 dB."""
BEAM_DEG = (0.0, 10.0, 20.0, 30.0, 40.0, 50.0)
"""Angles from straight ahead at which the two patterns are compared."""
GAIT_BURSTS, QUICK_GAIT_BURSTS = 200, 40


def reproduce(*, quick: bool, folder: Path | None, recording: Path | None = None) -> list[Result]:
    """All parts, or with a recording only its comparison. With a folder, also write tables and pictures there."""
    if recording is not None:
        return _recorded(recording, quick, folder)
    with RadarSetup([*WALKS, GAIT, *(walk for _, walk, _, _ in PLACES)]) as setup:
        antennas = [check_antennas(setup, *place) for place in PLACES]
        times = QUICK_FRAME_TIMES if quick else FRAME_TIMES
        walks = [record(setup, walk, times[times < walk.ends + 1.3]) for walk in (WALKS[:2] if quick else WALKS)]
        masked = [record(setup, walk, times[times < walk.ends + 1.3], Vira()) for walk in WALKS[:2]]
        levels = QUICK_LEAKAGE_DB if quick else LEAKAGE_DB
        leakages = [(walk, leakage_ncc(setup, walk, levels)) for walk in (*walks[:2], *masked)]
        gait = record_gait(setup, GAIT, QUICK_GAIT_BURSTS if quick else GAIT_BURSTS)
        noise = measure_noise(setup, QUICK_SNR_DB if quick else SNR_DB, QUICK_TRIALS if quick else TRIALS)
    results = table_3()
    results += [result for check in antennas for result in _antenna_results(check)]
    results += [result for walk in walks for result in _walk_results(walk)]
    results += [result for walk, by_level in leakages for result in _leakage_results(walk, by_level)]
    results += [result for pair in zip(walks[:2], masked, strict=True) for result in _mask_results(*pair)]
    results += _beam_results()
    results += _gait_results(gait)
    results += _noise_results(noise)
    if folder is not None:
        from skyloop.reproductions.radar_report import write_report

        write_report(folder, antennas, walks, gait, noise, results)
    return results


def table_3() -> list[Result]:
    details = RadarConfig().waveform().details()
    conditions = {"from": "Table 2, chirps back to back", "printed": "rounded"}
    return [
        Result(PAPER, "Table 3", name, published, details[name], unit, 1, None, conditions)
        for name, (published, unit) in TABLE_3.items()
    ]


def _antenna_results(check: AntennaCheck) -> list[Result]:
    rows = (
        ("phase of RX1 over RX3", check.phase_across, check.true_phase_across),
        ("phase of RX3 over RX2", check.phase_up, check.true_phase_up),
        ("azimuth from it", check.azimuth, check.true_azimuth),
        ("elevation from it", check.elevation, check.true_elevation),
    )
    results = []
    for cell, measured, true in rows:
        conditions = {"true": math.degrees(true), "error": math.degrees(measured - true), "truth": "torso's middle"}
        name = f"person {check.name}: {cell} (true {math.degrees(true):.1f})"
        results.append(Result(PAPER, check.figure, name, None, math.degrees(measured), "deg", 1, None, conditions))
    return results


def _rms(errors: Array) -> float:
    return float(np.sqrt(np.nanmean(errors**2)))


def _walk_results(walk: WalkRecord) -> list[Result]:
    moving, w = walk.moving, walk.walk
    figure = "Fig. 16" if w.end > w.start else "Fig. 15"
    conditions = {
        "speed": w.speed,
        "from": w.start,
        "to": w.end,
        "frames_recorded": len(walk.times),
        "frames_per_second": FRAMES_PER_SECOND,
        "judged": "frames in which the person walks",
        "truth": "surface of chest and pelvis",
    }
    results, count = [], int(moving.sum())
    for name, found in walk.found.items():
        seen = np.isfinite(found.range[moving])
        errors = {
            "RMS error of range": ("m", found.range - walk.true_range),
            "RMS error of speed": ("m/s", found.speed - walk.true_speed),
            "RMS error of range, track": ("m", found.track_range - walk.true_range),
            "RMS error of speed, track": ("m/s", found.track_speed - walk.true_speed),
        }
        start = f"{w.name}, {name}: "
        share = float(np.mean(seen))
        results.append(
            Result(PAPER, figure, start + "frames with a detection", None, share, "1", count, None, conditions)
        )
        for cell, (unit, values) in errors.items():
            error = values[moving]
            extra = {**conditions, "mean_error": float(np.nanmean(error)), "largest": float(np.nanmax(np.abs(error)))}
            results.append(Result(PAPER, figure, start + cell, None, _rms(error), unit, count, None, extra))
    ncc, cell = walk.ncc_mti[moving], f"{w.name}: NCC of ideal against disturbed model without what stands still"
    results.append(Result(PAPER, "Table 9", cell, None, float(ncc.mean()), "1", count, float(ncc.std()), conditions))
    return results


def _leakage_results(walk: WalkRecord, by_level: dict[float | None, Array]) -> list[Result]:
    """A curve over all levels, without a preferred point."""
    beam = "ViRa's mask" if isinstance(walk.pattern, Vira) else "Gaussian beam"
    extra = {"preset": "bgt60tr13c-real but for leakage_db", "frames": "every eighth", "beam": beam}
    results = []
    for level, ncc in by_level.items():
        told = "no leakage" if level is None else f"leakage {level:g} dB"
        cell = f"{walk.walk.name}: NCC of ideal against disturbed model, {beam}, {told}"
        results.append(Result(PAPER, "Table 9", cell, None, float(ncc.mean()), "1", len(ncc), float(ncc.std()), extra))
    return results


def _mask_results(beam: WalkRecord, mask: WalkRecord) -> list[Result]:
    """The difference between ViRa's antenna mask and a Gaussian beam."""
    moving, name = mask.moving, mask.walk.name
    ncc = mask_ncc(beam, mask)[moving]
    count = int(moving.sum())
    found = mask.found["real"]
    rows = (
        ("NCC of ideal model, Gaussian beam against ViRa's mask", float(ncc.mean()), "1"),
        ("ViRa's mask, frames with a detection", float(np.mean(np.isfinite(found.range[moving]))), "1"),
        ("ViRa's mask, RMS error of range", _rms((found.range - mask.true_range)[moving]), "m"),
        ("ViRa's mask, RMS error of speed", _rms((found.speed - mask.true_speed)[moving]), "m/s"),
    )
    return [Result(PAPER, "Fig. 9", f"{name}: {cell}", None, value, unit, count) for cell, value, unit in rows]


def _beam_results() -> list[Result]:
    """Two-way amplitude of an echo by its direction."""
    results = []
    for name, pattern in (("Gaussian beam", Beam()), ("ViRa's mask", Vira())):
        both = pattern_table(pattern).astype(np.float64) ** 2
        axis = np.linspace(-1.0, 1.0, len(both))
        for way, row in (("to the side", both[:, len(both) // 2]), ("up", both[len(both) // 2])):
            for angle in BEAM_DEG:
                value = float(np.interp(math.sin(math.radians(angle)), axis, row))
                results.append(Result(PAPER, "Fig. 9", f"{name}, {angle:g}° {way}: amplitude", None, value, "1"))
    return results


def _gait_results(gait: GaitRecord) -> list[Result]:
    n, conditions = len(gait.times), {"speed": GAIT.speed, "seconds": float(np.ptp(gait.times)), "preset": "ideal"}
    error = gait.line - gait.true_speed
    ratio = gait.fastest / gait.true_speed
    true_ratio = gait.true_fastest / gait.true_speed
    limb = f"limbs within {-LIMB_DB:g} dB of the line, over torso speed, 95th percentile"
    rows = (
        ("torso line: median |error| of speed", float(np.median(np.abs(error))), "m/s", None),
        ("torso line: median error of speed", float(np.median(error)), "m/s", None),
        ("torso: true speed, mean", float(np.mean(gait.true_speed)), "m/s", float(np.std(gait.true_speed))),
        (limb, float(np.percentile(ratio, 95)), "1", None),
        ("fastest part of the body over torso speed, true, 95th percentile", float(np.percentile(true_ratio, 95)), "1",
         None),
    )  # fmt: skip
    return [
        Result(PAPER, "text", "micro-Doppler, " + cell, None, value, unit, n, sd, conditions)
        for cell, value, unit, sd in rows
    ]


def _noise_results(noise: NoiseCurve) -> list[Result]:
    working = noise.snr_db[noise.working]
    conditions = {
        "snr_db": noise.snr_db.tolist(),
        "found": noise.found.tolist(),
        "window": "hann",
        "bound": "Cramér-Rao, on the axis",
        **{f"rmse_{name}": noise.rmse[:, k].tolist() for k, name in enumerate(QUANTITIES)},
    }
    n = len(working) * noise.trials
    results = []
    for k, name in enumerate(QUANTITIES):
        rows = (
            ("RMSE over Cramér-Rao bound", noise.excess()[k]),
            ("slope, decades per 10 dB (bound: -0.5)", noise.slopes()[k]),
        )
        for cell, value in rows:
            results.append(
                Result(PAPER, "text", f"noise, {name}: {cell}", None, float(value), "1", n, None, conditions)
            )
    return results


def _recorded(recording: Path, quick: bool, folder: Path | None) -> list[Result]:
    pairs = compare_recording(recording, quick=quick)
    results = [result for pair in pairs for result in _pair_results(pair)]
    if folder is not None:
        from skyloop.reproductions.radar_report import write_comparison

        write_comparison(folder, pairs, results)
    return results


def _pair_results(pairs: Pairs) -> list[Result]:
    conditions = {
        "simulated_speed": pairs.speed,
        "distance": pairs.range.tolist(),
        "partner_distance": pairs.simulated.found["real"].range[pairs.partner].tolist(),
        "note": TABLE_9_NOTE,
    }
    published = TABLE_9[pairs.name][1]
    return [
        Result(PAPER, "Table 9", f"{pairs.name}: NCC of the recording against preset {name}",
               published if name == "ideal" else None, float(values.mean()), "1", len(values), float(values.std()),
               conditions)
        for name, values in pairs.ncc.items()
    ]  # fmt: skip
