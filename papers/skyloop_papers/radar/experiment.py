"""`skyloop reproduce radar`: sections IV-D and V-D of papers/airloop."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from skyloop.sensors.radar.config import Beam, RadarConfig, Vira, pattern_table
from skyloop_client.messages import Array
from skyloop_papers.experiment import Cell, Experiment, ExperimentPlan, Rule
from skyloop_papers.radar.antennas import PLACES, AntennaCheck, check_antennas
from skyloop_papers.radar.noise import QUANTITIES, QUICK_SNR_DB, QUICK_TRIALS, SNR_DB, TRIALS, NoiseCurve, measure_noise
from skyloop_papers.radar.page import (
    BEAM_DEG,
    GAIT_BURSTS,
    LEAKAGE_DB,
    QUICK_GAIT_BURSTS,
    QUICK_LEAKAGE_DB,
    TABLE_3,
    TABLE_9,
    TABLE_9_NOTE,
    blocks,
    leak_of,
    sentences,
)
from skyloop_papers.radar.plots import plot_antennas, plot_gait, plot_noise, plot_pairs, plot_strips, plot_truth
from skyloop_papers.radar.recording import Pairs, compare_recording
from skyloop_papers.radar.setup import RadarSetup
from skyloop_papers.radar.walks import (
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
from skyloop_papers.runs import Progress, RunWorkers


@dataclass(frozen=True, slots=True)
class RadarPlan(ExperimentPlan):
    quick: bool = False
    """Fewer frames, levels and trials."""

    def plain(self) -> dict[str, Any]:
        return {
            **({"quick": True} if self.quick else {}),
            "walks": [asdict(walk) for walk in (*WALKS, GAIT)], "frames": len(FRAME_TIMES),
            "frames_per_second": FRAMES_PER_SECOND, "gait_bursts": GAIT_BURSTS, "leakage_db": LEAKAGE_DB,
            "beam_deg": BEAM_DEG, "snr_db": SNR_DB.tolist(), "trials": TRIALS,
            "beam": Beam().model_dump(mode="json"),
            "radar": RadarConfig(preset="bgt60tr13c-real").model_dump(mode="json"),
            "published": {"table-3": TABLE_3, "table-9": TABLE_9},
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Records:
    antennas: list[AntennaCheck]
    walks: list[WalkRecord]
    masked: list[WalkRecord]
    """The first two walks again, with ViRa's antenna mask."""
    leakages: list[tuple[WalkRecord, dict[float | None, Array]]]
    gait: GaitRecord
    noise: NoiseCurve


class RadarExperiment(Experiment[RadarPlan, Records]):
    paper = "airloop"
    plans = RadarPlan(), RadarPlan(quick=True)
    rules = (Rule("input", "computed from the paper's Table 2", table="Table 3"),)
    pictures = ("antennas.png", "range-doppler.png", "walks.png", "micro-doppler.png", "noise.png")
    resumes = False
    not_run_by_run = "it keeps no single runs"

    def fly(self, plan: RadarPlan, folder: Path, progress: Progress, workers: RunWorkers) -> Records:
        quick = plan.quick
        with RadarSetup([*WALKS, GAIT, *(walk for _, walk, _, _ in PLACES)]) as setup:
            antennas = [check_antennas(setup, *where) for where in PLACES]
            times = QUICK_FRAME_TIMES if quick else FRAME_TIMES
            walks = [record(setup, walk, times[times < walk.ends + 1.3]) for walk in (WALKS[:2] if quick else WALKS)]
            masked = [record(setup, walk, times[times < walk.ends + 1.3], Vira()) for walk in WALKS[:2]]
            levels = QUICK_LEAKAGE_DB if quick else LEAKAGE_DB
            leakages = [(walk, leakage_ncc(setup, walk, levels)) for walk in (*walks[:2], *masked)]
            gait = record_gait(setup, GAIT, QUICK_GAIT_BURSTS if quick else GAIT_BURSTS)
            noise = measure_noise(setup, QUICK_SNR_DB if quick else SNR_DB, QUICK_TRIALS if quick else TRIALS)
        return Records(antennas, walks, masked, leakages, gait, noise)

    def judge(self, plan: RadarPlan, runs: Records) -> list[Cell]:
        cells = table_3()
        cells += [cell for check in runs.antennas for cell in _antenna_cells(check)]
        cells += [cell for walk in runs.walks for cell in _walk_cells(walk)]
        cells += [cell for walk, by_level in runs.leakages for cell in _leakage_cells(walk, by_level)]
        cells += [cell for pair in zip(runs.walks[:2], runs.masked, strict=True) for cell in _mask_cells(*pair)]
        return cells + _beam_cells() + _gait_cells(runs.gait) + _noise_cells(runs.noise)

    def write(self, folder: Path, plan: RadarPlan, runs: Records, cells: Sequence[Cell]) -> None:
        plot_antennas(runs.antennas, folder / "antennas.png")
        plot_strips(runs.walks[:2], folder / "range-doppler.png")
        plot_truth(runs.walks, folder / "walks.png")
        plot_gait(runs.gait, folder / "micro-doppler.png")
        plot_noise(runs.noise, folder / "noise.png")

    def page(self, cells: Sequence[Cell]) -> dict[str, str]:
        return blocks(cells)

    def sentences(self, cells: Sequence[Cell]) -> list[str]:
        return sentences(cells)


EXPERIMENT = RadarExperiment()


@dataclass(frozen=True, slots=True)
class RadarRecordingPlan(ExperimentPlan):
    recording: str
    quick: bool = False


class RadarRecording(Experiment[RadarRecordingPlan, list[Pairs]]):
    """`--recording`: bursts of a real sensor beside ours, in place of the whole experiment."""

    paper = "airloop"
    resumes = False
    not_run_by_run = "it keeps no single runs"

    def __init__(self, recording: Path) -> None:
        self.plans = RadarRecordingPlan(str(recording)), RadarRecordingPlan(str(recording), quick=True)

    def fly(self, plan: RadarRecordingPlan, folder: Path, progress: Progress, workers: RunWorkers) -> list[Pairs]:
        return compare_recording(Path(plan.recording), quick=plan.quick)

    def judge(self, plan: RadarRecordingPlan, runs: list[Pairs]) -> list[Cell]:
        return [cell for pairs in runs for cell in _pair_cells(pairs)]

    def write(self, folder: Path, plan: RadarRecordingPlan, runs: list[Pairs], cells: Sequence[Cell]) -> None:
        plot_pairs(runs, folder / "recording.png")

    def page(self, cells: Sequence[Cell]) -> dict[str, str]:
        return {}


# ---- cells


def table_3() -> list[Cell]:
    details = RadarConfig().waveform().details()
    conditions = {"from": "Table 2, chirps back to back", "printed": "rounded"}
    return [
        Cell("Table 3", name, "", published, details[name], unit, 1, None, conditions)
        for name, (published, unit) in TABLE_3.items()
    ]


def _antenna_cells(check: AntennaCheck) -> list[Cell]:
    rows = (
        ("phase of RX1 over RX3", check.phase_across, check.true_phase_across),
        ("phase of RX3 over RX2", check.phase_up, check.true_phase_up),
        ("azimuth from it", check.azimuth, check.true_azimuth),
        ("elevation from it", check.elevation, check.true_elevation),
    )
    cells = []
    for what, measured, true in rows:
        conditions = {"true": math.degrees(true), "error": math.degrees(measured - true), "truth": "torso's middle"}
        row, column = f"person {check.name}", f"{what} (true {math.degrees(true):.1f})"
        cells.append(Cell(check.figure, row, column, None, math.degrees(measured), "deg", 1, None, conditions))
    return cells


def _rms(errors: Array) -> float:
    return float(np.sqrt(np.nanmean(errors**2)))


def _walk_cells(walk: WalkRecord) -> list[Cell]:
    moving, w = walk.moving, walk.walk
    figure = "Fig. 16" if w.end > w.start else "Fig. 15"
    conditions = {
        "speed": w.speed, "from": w.start, "to": w.end, "frames_recorded": len(walk.times),
        "frames_per_second": FRAMES_PER_SECOND, "judged": "frames in which the person walks",
        "truth": "surface of chest and pelvis",
    }  # fmt: skip
    cells, count = [], int(moving.sum())
    for name, found in walk.found.items():
        seen = np.isfinite(found.range[moving])
        errors = {
            "RMS error of range": ("m", found.range - walk.true_range),
            "RMS error of speed": ("m/s", found.speed - walk.true_speed),
            "RMS error of range, track": ("m", found.track_range - walk.true_range),
            "RMS error of speed, track": ("m/s", found.track_speed - walk.true_speed),
        }
        row = f"{w.name}, {name}"
        share = float(np.mean(seen))
        cells.append(Cell(figure, row, "frames with a detection", None, share, "1", count, None, conditions))
        for column, (unit, values) in errors.items():
            error = values[moving]
            extra = {**conditions, "mean_error": float(np.nanmean(error)), "largest": float(np.nanmax(np.abs(error)))}
            cells.append(Cell(figure, row, column, None, _rms(error), unit, count, None, extra))
    ncc, column = walk.ncc_mti[moving], "NCC of ideal against disturbed model without what stands still"
    cells.append(Cell.mean("Table 9", w.name, column, None, ncc, "1", conditions))
    return cells


def _leakage_cells(walk: WalkRecord, by_level: dict[float | None, Array]) -> list[Cell]:
    """A curve over all levels, without a preferred point."""
    beam = "ViRa's mask" if isinstance(walk.pattern, Vira) else "Gaussian beam"
    extra = {"preset": "bgt60tr13c-real but for leakage_db", "frames": "every eighth", "beam": beam}
    cells = []
    for level, ncc in by_level.items():
        row, column = walk.walk.name, f"NCC of ideal against disturbed model, {beam}, {leak_of(level)}"
        cells.append(Cell.mean("Table 9", row, column, None, ncc, "1", extra))
    return cells


def _mask_cells(beam: WalkRecord, mask: WalkRecord) -> list[Cell]:
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
    return [Cell("Fig. 9", name, column, None, value, unit, count) for column, value, unit in rows]


def _beam_cells() -> list[Cell]:
    """Two-way amplitude of an echo by its direction."""
    cells = []
    for name, pattern in (("Gaussian beam", Beam()), ("ViRa's mask", Vira())):
        both = pattern_table(pattern).astype(np.float64) ** 2
        axis = np.linspace(-1.0, 1.0, len(both))
        for way, row in (("to the side", both[:, len(both) // 2]), ("up", both[len(both) // 2])):
            for angle in BEAM_DEG:
                value = float(np.interp(math.sin(math.radians(angle)), axis, row))
                cells.append(Cell("Fig. 9", f"{name}, {angle:g}° {way}", "amplitude", None, value, "1"))
    return cells


def _gait_cells(gait: GaitRecord) -> list[Cell]:
    n, conditions = len(gait.times), {"speed": GAIT.speed, "seconds": float(np.ptp(gait.times)), "preset": "ideal"}
    error = gait.line - gait.true_speed
    ratio = gait.fastest / gait.true_speed
    true_ratio = gait.true_fastest / gait.true_speed
    fastest = "fastest part of the body over torso speed, true, 95th percentile"
    limb = f"limbs within {-LIMB_DB:g} dB of the line, over torso speed, 95th percentile"
    rows = (
        ("torso line", "median |error| of speed", float(np.median(np.abs(error))), "m/s", None),
        ("torso line", "median error of speed", float(np.median(error)), "m/s", None),
        ("torso", "true speed, mean", float(np.mean(gait.true_speed)), "m/s", float(np.std(gait.true_speed))),
        (limb, "", float(np.percentile(ratio, 95)), "1", None),
        (fastest, "", float(np.percentile(true_ratio, 95)), "1", None),
    )  # fmt: skip
    return [
        Cell("text", f"micro-Doppler, {row}", column, None, value, unit, n, sd, conditions)
        for row, column, value, unit, sd in rows
    ]


def _noise_cells(noise: NoiseCurve) -> list[Cell]:
    working = noise.snr_db[noise.working]
    conditions = {
        "snr_db": noise.snr_db.tolist(),
        "found": noise.found.tolist(),
        "window": "hann",
        "bound": "Cramér-Rao, on the axis",
        **{f"rmse_{name}": noise.rmse[:, k].tolist() for k, name in enumerate(QUANTITIES)},
    }
    n = len(working) * noise.trials
    cells = []
    for k, name in enumerate(QUANTITIES):
        rows = (
            ("RMSE over Cramér-Rao bound", noise.excess()[k]),
            ("slope, decades per 10 dB (bound: -0.5)", noise.slopes()[k]),
        )
        for column, value in rows:
            cells.append(Cell("text", f"noise, {name}", column, None, float(value), "1", n, None, conditions))
    return cells


def _pair_cells(pairs: Pairs) -> list[Cell]:
    conditions: dict[str, Any] = {
        "simulated_speed": pairs.speed,
        "distance": pairs.range.tolist(),
        "partner_distance": pairs.simulated.found["real"].range[pairs.partner].tolist(),
        "note": TABLE_9_NOTE,
    }
    cells = []
    for name, values in pairs.ncc.items():
        column, published = f"NCC of the recording against preset {name}", TABLE_9[pairs.name][1]
        known = published if name == "ideal" else None
        cells.append(Cell.mean("Table 9", pairs.name, column, known, values, "1", conditions))
    return cells
