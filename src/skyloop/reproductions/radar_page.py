"""The tables of results on the page on the radar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from skyloop.core.results import Result
from skyloop.reproductions.pages import Cells, paragraph, table
from skyloop.reproductions.radar import BEAM_DEG, GAIT_BURSTS, LEAKAGE_DB, PAPER, TABLE_3, TABLE_9
from skyloop.reproductions.radar_antennas import PLACES
from skyloop.reproductions.radar_noise import QUANTITIES, SNR_DB, TRIALS
from skyloop.reproductions.radar_walks import FRAME_TIMES, FRAMES_PER_SECOND, GAIT, WALKS
from skyloop.sensors.radar.config import Beam, RadarConfig

PICTURES = ("antennas.png", "range-doppler.png", "walks.png", "micro-doppler.png", "noise.png")
BEAMS = ("Gaussian beam", "ViRa's mask")
WAYS = ("away", "towards")


def protocol() -> dict[str, Any]:
    return {
        "walks": [asdict(walk) for walk in (*WALKS, GAIT)],
        "frames": len(FRAME_TIMES),
        "frames_per_second": FRAMES_PER_SECOND,
        "gait_bursts": GAIT_BURSTS,
        "leakage_db": LEAKAGE_DB,
        "beam_deg": BEAM_DEG,
        "snr_db": SNR_DB.tolist(),
        "trials": TRIALS,
        "beam": Beam().model_dump(mode="json"),
        "radar": RadarConfig(preset="bgt60tr13c-real").model_dump(mode="json"),
        "published": {"table-3": TABLE_3, "table-9": TABLE_9},
    }


def blocks(results: Sequence[Result]) -> dict[str, str]:
    cells = Cells(results)
    return {
        "outcome": _outcome(cells),
        "table-3": _table_3(cells),
        "antennas": _antennas(results),
        "walks": _walks(cells),
        "ncc": _ncc(cells),
        "beam": _beam(cells),
        "gait": _gait(cells),
        "noise": _noise(cells),
    }


def said(results: Sequence[Result]) -> list[str]:
    cells = Cells(results)
    track = "towards at 1 m/s, {}: RMS error of speed, track"
    apart = [
        1e3 * abs(cells.value(f"{walk.name}, ideal: {what}") - cells.value(f"{walk.name}, real: {what}"))
        for walk in WALKS
        for what in ("RMS error of range", "RMS error of speed")
    ]
    return [
        f"its RMS error of speed is {cells.value(track.format('ideal')):.2f} m/s"
        f" instead of {cells.value(track.format('real')):.2f}",
        f"the errors of the detections are the same within {max(1, round(max(apart)))} mm and",
    ]


def _errors(cells: Cells, what: str, walks: Sequence[str]) -> str:
    values = [cells.value(f"{walk}, real: RMS error of {what}") for walk in walks]
    return f"{min(values):.2f} to {max(values):.2f}"


def _outcome(cells: Cells) -> str:
    off = max(abs(cells.value(name) / published - 1.0) for name, (published, _) in TABLE_3.items())
    seen = min(cells.value(f"{walk}, real: frames with a detection") for walk in WAYS)
    return paragraph(
        f"**Outcome.** Table 3 follows from Table 2 within {off:.1%}. The antennas' phases point at the person.",
        f"In both walks the person is found in {seen:.0%} of the frames, with an RMS error of",
        f"{_errors(cells, 'range', WAYS)} m in range and {_errors(cells, 'speed', WAYS)} m/s in speed.",
        "NCC between our ideal and our disturbed radar says how strong a leakage and how wide a beam were put in;",
        "it is given as a curve.",
        "The paper's 0.39 and 0.42 are between a real sensor and its simulation: they are another comparison.",
    )


def _table_3(cells: Cells) -> str:
    rows = [
        [f"{name}, {unit}", f"{published:g}", f"{cells.value(name):.4g}"] for name, (published, unit) in TABLE_3.items()
    ]
    return table(["", "printed", "derived"], rows)


def _antennas(results: Sequence[Result]) -> str:
    """Measured and true values of both places, side by side."""
    labels = ("phase of RX1 over RX3, °", "phase of RX3 over RX2, °", "azimuth, °", "elevation, °")
    columns, head = [], [""]
    for figure in dict.fromkeys(place[0] for place in PLACES):
        rows = [
            result for result in results if result.table == figure and result.paper == PAPER and "person" in result.cell
        ]
        columns += [[f"{r.measured:.1f}" for r in rows], [f"{r.conditions['true']:.1f}" for r in rows]]
        head += [f"{figure}: measured", "torso"]
    return table(head, [[label, *(column[k] for column in columns)] for k, label in enumerate(labels)])


def _walks(cells: Cells) -> str:
    names = [walk.name for walk in WALKS]

    def row(label: str, what: str, shown: str) -> list[str]:
        return [label, *(format(cells.value(f"{name}, real: {what}"), shown) for name in names)]

    def largest(label: str, what: str) -> list[str]:
        return [label, *(f"{cells[f'{name}, real: {what}'].conditions['largest']:.2f}" for name in names)]

    counts = [cells[f"{name}, real: frames with a detection"] for name in names]
    rows = [
        ["frames with a detection", *(f"{round(c.measured * c.n)} of {c.n}" for c in counts)],
        row("range, m", "RMS error of range", ".3f"),
        row("speed, m/s", "RMS error of speed", ".3f"),
        row("range of the track, m", "RMS error of range, track", ".3f"),
        row("speed of the track, m/s", "RMS error of speed, track", ".3f"),
        largest("largest error of range, m", "RMS error of range"),
        largest("largest error of speed, m/s", "RMS error of speed"),
    ]
    return table(
        ["", *(f"{name}, 0.5 m/s" if " at " not in name else name.replace(" at", ",") for name in names)], rows
    )


def _ncc(cells: Cells) -> str:
    rows = []
    for level in LEAKAGE_DB:
        told = "no leakage" if level is None else f"leakage {level:g} dB"
        name = "{way}: NCC of ideal against disturbed model, {beam}, " + told
        rows.append([told, *(f"{cells.value(name.format(way=w, beam=b)):.2f}" for b in BEAMS for w in WAYS)])
    still = "{way}: NCC of ideal against disturbed model without what stands still"
    moving = " and ".join(f"{cells.value(still.format(way=way)):.2f}" for way in WAYS)
    paper = " and ".join(f"{TABLE_9[way][1]}" for way in WAYS)
    return (
        table(["NCC, ideal against disturbed model", *(f"{b}, {w}" for b in BEAMS for w in WAYS)], rows, right=1)
        + "\n"
        + paragraph(
            f"Every eighth frame of the walks. Without what stands still it is {moving} (away, towards), whatever the",
            f"leakage. Table 9 of the paper, a real sensor against AirLoop's simulation: {paper}.",
        )
    )


def _beam(cells: Cells) -> str:
    rows = []
    for beam in BEAMS:
        for way in ("to the side", "up"):
            values = (f"{cells.value(f'{beam}, {angle:g}° {way}: amplitude'):.2f}" for angle in BEAM_DEG)
            rows.append([f"{beam}, {way}", *values])
    name = "{way}: {what}"
    walked = []
    for label, what, shown in (
        ("NCC, ideal, beam against mask", "NCC of ideal model, Gaussian beam against ViRa's mask", ".2f"),
        ("with the mask: RMS error of range, m", "ViRa's mask, RMS error of range", ".3f"),
        ("with the mask: RMS error of speed, m/s", "ViRa's mask, RMS error of speed", ".3f"),
    ):  # fmt: skip
        walked.append([label, *(format(cells.value(name.format(way=way, what=what)), shown) for way in WAYS)])
    head = ["amplitude of an echo, there and back", *(f"{angle:g}°" for angle in BEAM_DEG)]
    return table(head, rows, right=1) + "\n" + table(["", *WAYS], walked, right=1)


def _gait(cells: Cells) -> str:
    name = "micro-Doppler, "
    limbs = next(cell for cell in cells if cell.startswith(name + "limbs within"))
    whole = cells.value(name + "fastest part of the body over torso speed, true, 95th percentile")
    return paragraph(
        "- The brightest line is the torso: median |error|",
        f"{cells.value(name + 'torso line: median |error| of speed'):.3f} m/s, median error",
        f"{cells.value(name + 'torso line: median error of speed'):.3f} m/s, where v_res is 0.099 m/s.",
    ) + paragraph(
        f"- Limbs within 30 dB of it reach {cells.value(limbs):.1f} times the torso's speed (95th percentile),",
        "which is the edge of what 3.15 m/s allows.",
        f"In truth the fastest part of a shoe reaches {whole:.1f} times, so it folds:",
        "the tips at the bottom of the picture.",
    )


def _noise(cells: Cells) -> str:
    rows = [
        [label, *(format(cells.value(f"noise, {quantity}: {cell}"), shown) for quantity in QUANTITIES)]
        for label, cell, shown in (
            ("RMSE over bound, where the target is always found", "RMSE over Cramér-Rao bound", ".2f"),
            ("slope, decades per 10 dB (bound -0.5)", "slope, decades per 10 dB (bound: -0.5)", ".3f"),
        )
    ]
    return table(["", *QUANTITIES], rows)
