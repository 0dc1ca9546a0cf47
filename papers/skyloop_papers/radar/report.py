"""The output of `skyloop reproduce radar --out`: results as CSV, JSON and Markdown, and pictures."""

from __future__ import annotations

from pathlib import Path

from skyloop.core.results import Result
from skyloop_papers.radar.antennas import AntennaCheck
from skyloop_papers.radar.noise import NoiseCurve
from skyloop_papers.radar.plots import plot_antennas, plot_gait, plot_noise, plot_pairs, plot_strips, plot_truth
from skyloop_papers.radar.recording import Pairs
from skyloop_papers.radar.walks import GaitRecord, WalkRecord
from skyloop_papers.result_files import write_results


def write_report(
    folder: Path,
    antennas: list[AntennaCheck],
    walks: list[WalkRecord],
    gait: GaitRecord,
    noise: NoiseCurve,
    results: list[Result],
) -> None:
    _write_tables(folder, "# Radar: tables and figures of airloop", results)
    plot_antennas(antennas, folder / "antennas.png")
    plot_strips(walks[:2], folder / "range-doppler.png")
    plot_truth(walks, folder / "walks.png")
    plot_gait(gait, folder / "micro-doppler.png")
    plot_noise(noise, folder / "noise.png")


def write_comparison(folder: Path, pairs: list[Pairs], results: list[Result]) -> None:
    _write_tables(folder, "# Radar: a recording against the simulation", results)
    plot_pairs(pairs, folder / "recording.png")


def _write_tables(folder: Path, title: str, results: list[Result]) -> None:
    write_results(folder, results)
    lines = [title, "", "| table | cell | published | measured | unit |", "|---|---|---|---|---|"]
    for r in results:
        published = "" if r.published is None else f"{r.published:g}"
        lines.append(f"| {r.table} | {r.cell} | {published} | {r.measured:.4g} | {r.unit} |")
    (folder / "results.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
