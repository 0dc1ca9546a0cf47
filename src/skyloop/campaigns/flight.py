"""One flight of a campaign, in a process of its own: flown, measured, judged."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from skyloop.apps.run import run_scenario
from skyloop.campaigns.plan import scenario_of
from skyloop.campaigns.scores import measured
from skyloop.campaigns.verdict import Made, Row, hint, judged, one_run
from skyloop.recording.run_folder import plain
from skyloop_client.errors import Interrupted, RendererError, RunFolderError, SetupError, SkyloopError

NOT_THE_RUNS = (RunFolderError, RendererError, SetupError, Interrupted)
"""Errors of the machine, not of the flight: such a run has no verdict."""


class UnmeasuredError(Exception):
    """A metric cannot be measured. The flight is not to blame."""


def flight_run(spec: dict[str, Any], run: dict[str, Any], keep: bool = False) -> Made:
    """Metrics and verdict of a run, and its folder if it failed or if it is to be kept."""
    return one_run(lambda folder: _flown(spec, run, folder, keep), run, keep)


def _flown(spec: dict[str, Any], run: dict[str, Any], folder: Path, keep: bool) -> Row:
    plan_folder = Path(spec["folder"])
    rows: list[Row] = []

    def wanted(summary: dict[str, Any]) -> bool:
        """Judged before the plot is drawn, because the plot of a success is not kept."""
        try:
            metrics, absent = measured(spec["metrics"], plain(summary), folder, plan_folder)
        except SkyloopError as error:
            raise UnmeasuredError(str(error)) from error
        rows.append(judged(spec, metrics, summary) | hint(absent, summary))
        return keep or rows[-1]["outcome"] != "success"

    scenario = None
    try:
        scenario = scenario_of(spec, run["parameters"], run["seed"])
        run_scenario(scenario, folder, plot_wanted=wanted)
    except NOT_THE_RUNS:
        raise
    except SkyloopError as error:
        if not rows:
            # nothing was flown, so there is no folder either
            rows.append({"outcome": "failed", "cause": str(error), "metrics": {}})
            folder.mkdir(parents=True, exist_ok=True)
            if scenario is not None:
                resolved = yaml.safe_dump(scenario.model_dump(mode="json"), sort_keys=False)
                (folder / "scenario.yaml").write_text(resolved, encoding="utf-8")
    return rows[-1]
