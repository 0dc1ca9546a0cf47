"""`python -m skyloop_client.tasks NAME [OPTION=VALUE ...]`: a task as software under test, over a link.

Connects to SKYLOOP_ADDRESS. Its last line is its result as JSON: task, success, time_s (of ET), loops, and what the
task found.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from skyloop_client.errors import SkyloopError
from skyloop_client.session import connect
from skyloop_client.tasks.anchor import opencv
from skyloop_client.tasks.sync_hil import TASKS, run_task

ERROR = {"relative-position": "angle", "face-anchor": "angle", "closed-path": "displacement"}
"""The entry of a result that is the task's own error measure."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m skyloop_client.tasks", description=__doc__)
    parser.add_argument("task", metavar="NAME", help=", ".join(TASKS))
    parser.add_argument("options", nargs="*", metavar="OPTION=VALUE", help="fields of the task, such as precision=0.02")
    parser.add_argument("--connect", default="", metavar="HOST:PORT", help="default: SKYLOOP_ADDRESS")
    parser.add_argument("--vehicle", default="", help="which to fly, if there are several")
    parser.add_argument("--record", type=Path, metavar="FILE.json", help="write the whole tree of tasks there")
    chosen = parser.parse_args(arguments)
    report: dict[str, object] = {"task": chosen.task, "success": False}
    try:
        options = dict(option_from(text) for text in chosen.options)
        # loading a library must not be timed
        opencv()
        with connect(chosen.connect, vehicle=chosen.vehicle) as session:
            record = run_task(chosen.task, session, **options)
        if chosen.record is not None:
            chosen.record.write_text(record.json(), encoding="utf-8")
        print("\n".join(record.lines(1)))
        report.update(success=True, time_s=record.seconds, loops=record.loops, **record.result)
        if chosen.task in ERROR:
            report["error"] = abs(record.result[ERROR[chosen.task]])
    except SkyloopError as error:
        report["trouble"] = str(error)
        print(f"skyloop_client.tasks: {error}", file=sys.stderr)
    print(json.dumps(report), flush=True)
    return 0 if report["success"] else 1


def option_from(text: str) -> tuple[str, Any]:
    """ "precision=0.02": the value as JSON, or as text."""
    name, _, value = text.partition("=")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


if __name__ == "__main__":
    sys.exit(main())
