"""One of the tasks as a program: `python -m skyloop.tasks face-anchor --precision 0.05`; prints its result as JSON."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from typing import Any

from skyloop.client import connect
from skyloop.errors import SkyloopError
from skyloop.tasks.hil import TASKS, run_task

ERROR = {"relative-position": "angle", "face-anchor": "angle", "closed-path": "displacement"}
"""What of a result is the task's own measure of how wrong it went."""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m skyloop.tasks", description=__doc__)
    parser.add_argument("task", choices=sorted(TASKS))
    parser.add_argument("--connect", default="", metavar="HOST:PORT", help="default: SKYLOOP_ADDRESS")
    parser.add_argument("--vehicle", default="", help="which to fly, if there are several")
    parser.add_argument("--tree", action="store_true", help="print the whole tree of tasks instead of the result")
    known, rest = parser.parse_known_args(arguments)
    try:
        with connect(known.connect, vehicle=known.vehicle) as session:
            record = run_task(known.task, session, **_options(rest))
    except SkyloopError as error:
        print(f"{known.task}: {error}", file=sys.stderr)
        return 1
    if known.tree:
        print("\n".join(record.lines()))
        return 0
    measured = {"error": abs(record.result[ERROR[known.task]])} if known.task in ERROR else {}
    print(
        json.dumps({"task": known.task, "time_s": record.seconds, "loops": record.loops, **record.result, **measured})
    )
    return 0


def _options(words: Sequence[str]) -> dict[str, Any]:
    """--precision 0.05 as {"precision": 0.05}."""
    if len(words) % 2 or not all(word.startswith("--") for word in words[::2]):
        raise SkyloopError(f"options are pairs of --NAME VALUE, not {' '.join(words)}")
    return {name[2:].replace("-", "_"): _value(text) for name, text in zip(words[::2], words[1::2], strict=True)}


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


if __name__ == "__main__":
    sys.exit(main())
