"""One run of a task, in a process of its own. Loads nothing of the simulator: a task may need nothing of it."""

from __future__ import annotations

import inspect
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

from skyloop.campaigns.scores import Metrics, measured
from skyloop.campaigns.verdict import Made, Row, hint, judged, one_run
from skyloop.recording.run_folder import plain
from skyloop_client.plugins import call_user_code, load_plugin


def task_run(spec: dict[str, Any], run: dict[str, Any], keep: bool = False) -> Made:
    """Metrics and verdict of a run, and its folder if it failed or if it is to be kept."""
    return one_run(lambda folder: _called(spec, run, folder), run, keep)


def _called(spec: dict[str, Any], run: dict[str, Any], folder: Path) -> Row:
    """A task: a function of the user's, with the parameters by name."""
    task = spec["task"]
    function = pickle.loads(task) if isinstance(task, bytes) else load_plugin(task, Path(spec["folder"]))
    name = task if isinstance(task, str) else getattr(function, "__name__", "task")
    folder.mkdir()
    given = {**spec["settings"], **run["parameters"], **_offered(function, seed=run["seed"], folder=folder)}
    returned = call_user_code(f"task {name}", 0, lambda: function(**given))
    if not isinstance(returned, dict):
        returned = {"value": returned}
    values = plain(returned)
    metrics, absent = measured(spec["metrics"], values, folder, Path(spec["folder"]))
    told: Metrics = {key: value for key, value in values.items() if not isinstance(value, dict | list)}
    row = judged(spec, {**told, **metrics}, values) | hint(absent, values)
    (folder / "summary.json").write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")
    return row


def _offered(function: Callable[..., Any], **offered: Any) -> dict[str, Any]:
    """Those of the arguments that the function names."""
    try:
        names = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}
    return {name: value for name, value in offered.items() if name in names}
