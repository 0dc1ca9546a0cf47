"""One run, whatever is run: its row, and its folder if it failed."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from skyloop.campaigns.parcels import packed
from skyloop.campaigns.scores import Metrics, names_in, success_rule
from skyloop_client.plugins import forget_plugins

Made = tuple[dict[str, Any], bytes]
Row = dict[str, Any]


def one_run(make: Callable[[Path], Row], run: dict[str, Any], keep: bool) -> Made:
    """What `make` tells of the run that it makes in a folder; and the folder if it failed or is to be kept."""
    # a user's modules begin anew with each run, whatever this process has made before
    forget_plugins()
    place = Path(tempfile.mkdtemp(prefix="run-"))
    try:
        row = make(place / "run")
        if row["outcome"] == "success" and not keep:
            return row, b""
        (place / "run").mkdir(exist_ok=True)
        (place / "run" / "run.json").write_text(json.dumps({**run, **row}, indent=1) + "\n", encoding="utf-8")
        return row, packed(place / "run")
    finally:
        shutil.rmtree(place, ignore_errors=True)


def judged(spec: dict[str, Any], metrics: Metrics, summary: dict[str, Any]) -> dict[str, Any]:
    """A flight that an error ended is a failure, whatever its metrics say."""
    if spec["success"] is None:
        broken = [f"{name} crashed" for name, one in summary.get("vehicles", {}).items() if one["crashed"]]
        broken += ["success is false"] if summary.get("success") is False else []
    else:
        rules = [rule for rule in success_rule(spec["success"], "success") if not rule.holds(metrics)]
        broken = [f"{rule.metric} is {_shown(metrics.get(rule.metric))}" for rule in rules]
    cause = "; ".join([str(summary["ended_by"])] if "ended_by" in summary else broken)
    return {"outcome": "failed" if cause else "success", "cause": cause, "metrics": metrics}


def _shown(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def hint(names: list[str], summary: dict[str, Any]) -> dict[str, Any]:
    """Metrics that the summary does not have, for a hint if no run has them."""
    return {"absent": names, "known": names_in(summary)} if names else {}
