"""One flight of a campaign, in a process of its own: flown, measured, judged."""

from __future__ import annotations

import inspect
import json
import pickle
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import yaml

from skyloop.campaigns.folder import Row, packed
from skyloop.campaigns.plan import CampaignRun, RunSpec
from skyloop.campaigns.scores import Metrics, measured, names_in
from skyloop.recording.run_folder import Summary, plain
from skyloop.recording.verdict import success_rule
from skyloop.run import run_scenario
from skyloop_client.errors import Interrupted, RendererError, RunFolderError, SetupError, SkyloopError
from skyloop_client.user_code import call_user_code, forget_plugins, load_plugin

RunResult = tuple[Row, bytes]


def one_run(spec: RunSpec, run: CampaignRun, keep: bool = False) -> RunResult:
    """Metrics and verdict of a run, and its folder if it failed or if it is to be kept."""
    # a user's modules are loaded again for each run, whatever this process has made before
    forget_plugins()
    scratch = Path(tempfile.mkdtemp(prefix="run-"))
    try:
        folder = scratch / "run"
        row = _called(spec, run, folder) if spec.scenario is None else _flown(spec, run, folder, keep)
        if row["outcome"] == "success" and not keep:
            return row, b""
        folder.mkdir(exist_ok=True)
        about = {"run": run.number, "seed": run.seed, "parameters": run.parameters, **row}
        (folder / "run.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
        return row, packed(folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def judged(spec: RunSpec, metrics: Metrics, summary: Summary) -> Row:
    """A flight that an error ended is a failure, whatever its metrics say."""
    if spec.success is None:
        broken = [str(summary.get("cause") or "success is false")] if summary.get("success") is False else []
    else:
        rules = [rule for rule in success_rule(spec.success, "success") if not rule.holds(metrics)]
        broken = [rule.failed(metrics.get(rule.metric)) for rule in rules]
    cause = "; ".join([str(summary["ended_by"])] if "ended_by" in summary else broken)
    return {"outcome": "failed" if cause else "success", "cause": cause, "metrics": metrics}


def hint(names: list[str], summary: dict[str, object]) -> Row:
    """Metrics that the summary does not have, for a hint if no run has them."""
    return {"absent": names, "known": names_in(summary)} if names else {}


NOT_THE_RUNS = (RunFolderError, RendererError, SetupError, Interrupted)
"""Errors of the machine, not of the flight: such a run has no verdict."""


class UnmeasuredError(Exception):
    """A metric cannot be measured. The flight is not to blame."""


def _flown(spec: RunSpec, run: CampaignRun, folder: Path, keep: bool) -> Row:
    rows: list[Row] = []

    def wanted(summary: dict[str, object]) -> bool:
        """Judged before the plot is drawn, because the plot of a success is not kept."""
        try:
            metrics, absent = measured(spec.metrics, plain(summary), folder, spec.folder)
        except SkyloopError as error:
            raise UnmeasuredError(str(error)) from error
        rows.append(judged(spec, metrics, summary) | hint(absent, summary))
        return keep or rows[-1]["outcome"] != "success"

    scenario = None
    try:
        scenario = spec.make_scenario(run.parameters, run.seed)
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


def _called(spec: RunSpec, run: CampaignRun, folder: Path) -> Row:
    """A task: a function of the user's, with the parameters by name."""
    task = spec.task
    assert task is not None
    function = pickle.loads(task) if isinstance(task, bytes) else load_plugin(task, spec.folder)
    name = task if isinstance(task, str) else getattr(function, "__name__", "task")
    folder.mkdir()
    given = {**spec.settings, **run.parameters, **_offered(function, seed=run.seed, folder=folder)}
    returned = call_user_code(f"task {name}", 0, lambda: function(**given))
    if not isinstance(returned, dict):
        returned = {"value": returned}
    values = plain(returned)
    metrics, absent = measured(spec.metrics, values, folder, spec.folder)
    flat: Metrics = {key: value for key, value in values.items() if not isinstance(value, dict | list)}
    row = judged(spec, {**flat, **metrics}, values) | hint(absent, values)
    (folder / "summary.json").write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")
    return row


def _offered(function: Callable[..., object], **offered: object) -> dict[str, object]:
    """Those of the arguments that the function names."""
    try:
        names = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}
    return {name: value for name, value in offered.items() if name in names}
