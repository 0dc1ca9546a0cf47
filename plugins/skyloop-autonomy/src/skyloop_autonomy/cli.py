"""The verb for localisation on a dataset."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from skyloop.cli.console import Json, next_folder, out
from skyloop.cli.logs import Verbs
from skyloop_client.errors import DatasetError, nearest_name

app = Verbs()

ALIGNMENTS = ("se3", "sim3", "yaw", "start", "none")
Dataset = Annotated[
    Path, typer.Argument(metavar="DATASET", help="A folder that `skyloop record` made, or one with mav0/ as of EuRoC.")
]
Stream = Annotated[str | None, typer.Option(metavar="STREAM", help="Its stream, if not the usual one.")]


@app.command()
def localise(
    dataset: Dataset,
    *,
    out_: Annotated[
        Path | None, typer.Option("--out", help="The folder; it must be new or empty. Default: runs/localise-<n>.")
    ] = None,
    align: Annotated[
        str, typer.Option(help="How the estimate is aligned to the truth: se3, sim3, yaw, start or none.")
    ] = "se3",
    step: Annotated[float, typer.Option(help="The distance over which relative errors are computed, m.")] = 1.0,
    left: Stream = None,
    right: Stream = None,
    depth: Stream = None,
    imu: Stream = None,
    vehicle: Annotated[str | None, typer.Option(help="The vehicle, in a dataset with several.")] = None,
    json_: Json = False,
) -> None:
    """Estimate the trajectory of a vehicle from its stereo camera and IMU, and print the error.

    Writes estimate.tum and truth.tum for other tools, summary.json and pictures.

    Examples: `skyloop localise datasets/room` · `skyloop localise MH_01_easy --align yaw --json`
    """
    from skyloop.datasets.any_dataset import one_seed
    from skyloop_autonomy.evaluation.localisation_report import LocaliseOptions, localise_folder

    if align not in ALIGNMENTS:
        raise DatasetError(f"--align {align}: {nearest_name(align, ALIGNMENTS)}")
    names = {"left": left, "right": right, "depth": depth, "imu": imu, "vehicle": vehicle}
    options = LocaliseOptions(align=align, step=step, **names)  # type: ignore[arg-type]
    folder = out_ or next_folder("localise")
    summary = localise_folder(one_seed(dataset), folder, options)
    if json_:
        print(json.dumps(summary, indent=2))
    else:
        out.print("\n".join(summary_lines(summary)), highlight=False, markup=False)


def summary_lines(summary: dict[str, Any]) -> list[str]:
    """A summary in a few lines."""
    lines = [f"{summary['pairs']} pairs, {summary['imu_samples']} IMU samples, valid {summary['valid_share']:.1%}"]
    if "ape_m" in summary:
        lines.append(
            f"  APE {summary['ape_m']:.3f} m, {summary['ape_deg']:.2f} deg (largest {summary['ape_max_m']:.3f} m) "
            f"over {summary['way_m']:.1f} m, aligned: {summary['alignment']}"
        )
    if "rpe_m" in summary:
        lines.append(
            f"  RPE {summary['rpe_m']:.4f} m, {summary['rpe_deg']:.3f} deg per {summary['rpe_step_m']:g} m; "
            f"at the end {summary['end_error_m']:.3f} m off from the start on"
        )
    if "closed_ape_m" in summary:
        lines.append(f"  with loops closed: APE {summary['closed_ape_m']:.3f} m, {summary['closed_ape_deg']:.2f} deg")
    if "nees" in summary:
        lines.append(f"  NEES {summary['nees']:.1f} (9 would be right)")
    if "never_valid" in summary:
        lines.append(f"  the estimate was never valid: {summary['never_valid']}")
    stages = ", ".join(f"{name} {ms:.1f}" for name, ms in summary["stages_ms"].items())
    lines.append(
        f"  {summary['pair_ms']:.1f} ms of processor time per pair, 95 % within {summary['pair_p95_ms']:.1f} ms"
        + (f": {stages}" if stages else "")
    )
    return [*lines, f"files: {summary['folder']}"]
