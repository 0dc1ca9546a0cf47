"""Flies many seeds of one scenario: the output of `skyloop run --seeds`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.table import Table

from skyloop.cli.console import next_folder, out, verdict
from skyloop.cli.exit_codes import FAILED
from skyloop.recording.run_folder import plain
from skyloop_client.errors import ScenarioError

if TYPE_CHECKING:
    from skyloop.recording.run_folder import Summary
    from skyloop.sim.scenario import Scenario


def run_many(scenario: Scenario, seeds: str, out_: Path | None, *, strict: bool, json_: bool) -> None:
    """Print a line for each seed as it ends, in JSON with --json. Otherwise a table of all follows."""
    from skyloop.campaigns.seeds import run_seeds, seeds_from, spread

    wanted = seeds_from(seeds)
    folder = out_ or next_folder(f"{scenario.name}-seeds")
    summaries = run_seeds(scenario, wanted, folder, _print_json if json_ else _print_line)
    ended = [summary for summary in summaries if "ended_by" in summary]
    succeeded = sum(summary["success"] for summary in summaries)
    if not json_:
        table = Table("vehicle", "figure", "mean", "sd", "least", "most", box=None)
        for name, figure, numbers in spread(summaries):
            table.add_row(name, figure, *(f"{number:.4g}" for number in numbers))
        out.print(table)
        problem = f", {len(ended)} ended with a problem" if ended else ""
        out.print(
            f"{succeeded} of {len(summaries)} succeeded{problem}: {folder} (seeds.csv, a run folder for each seed)",
            markup=False,
        )
    if ended:
        raise typer.Exit(1)
    if strict and succeeded < len(summaries):
        raise typer.Exit(FAILED)


def _print_json(summary: Summary) -> None:
    print(json.dumps(plain(summary)), flush=True)


def _print_line(summary: Summary) -> None:
    told = [verdict(summary)]
    for name, vehicle in summary["vehicles"].items():
        tracked, error = vehicle.get("tracking_error_rms_m"), vehicle.get("estimate_error_rms_m")
        off = "" if tracked is None else f", tracking error {tracked:.2f} m RMS"
        off += "" if error is None or tracked is not None else f", estimation error {error:.2f} m RMS"
        told.append(f"{name} flew {vehicle['flown_m']:.1f} m{off}")
    out.print(f"seed {summary['seed']}: {'; '.join(told)}", markup=False, highlight=False)


def check_alone(*others: object) -> None:
    """Options that belong to one flight do not go with many."""
    if any(other is not None for other in others):
        raise ScenarioError("--seeds flies many times: leave out --seed, --commands and all links")
