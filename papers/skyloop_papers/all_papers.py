"""`skyloop reproduce all`: every experiment of the five papers, one after the other, and one report of all of them.

An experiment's folder is named after the state of the code that flew it, so that what is flown by other code is never
mixed with it or taken for it. What is finished is not flown again; what was stopped goes on, or begins anew where it
cannot."""

from __future__ import annotations

import importlib
import json
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skyloop.core.machine_info import machine_description
from skyloop.core.results import Result
from skyloop_client.errors import Interrupted, RunFolderError, SkyloopError
from skyloop_papers.code_state import code_state, state_name
from skyloop_papers.registry import REPRODUCTIONS, RESUMES
from skyloop_papers.result_files import keep

MEASURED = "measured.json"
"""In an experiment's folder, once it is finished."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One experiment of the report."""

    name: str
    folder: Path
    results: list[Result]
    machine: dict[str, Any]
    seconds: float
    failed: str = ""
    """Why there are no results."""


def reproduce_all(
    out: Path,
    names: Sequence[str] = (),
    *,
    quick: bool = False,
    told: Callable[[str], None] = lambda line: None,
) -> list[Measured]:
    """Those named, or all. An experiment that fails is told in the report, and the others are flown all the same."""
    names = names or tuple(REPRODUCTIONS)
    if out.exists() and (not out.is_dir() or (any(out.iterdir()) and not (out / "runs").is_dir())):
        raise RunFolderError(f"'{out}' is no report; choose another --out")
    made = []
    for number, name in enumerate(names, 1):
        place = out / "runs" / f"{name}-{state_name(REPRODUCTIONS[name][0])}{'-quick' if quick else ''}"
        known = finished(name, place)
        told(f"{number} of {len(names)}, {name}: {'already there' if known else REPRODUCTIONS[name][1]}")
        made.append(known or _flown(name, place, quick=quick, told=told))
    return made


def finished(name: str, place: Path) -> Measured | None:
    """What an earlier call left, if it is whole."""
    try:
        plain = json.loads((place / MEASURED).read_text(encoding="utf-8"))
        results = [Result(**result) for result in plain["results"]]
        return Measured(name, place, results, plain["machine"], plain["seconds"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _flown(name: str, place: Path, *, quick: bool, told: Callable[[str], None]) -> Measured:
    if name not in RESUMES and place.exists():
        shutil.rmtree(place)  # of a call that was stopped
    place.mkdir(parents=True, exist_ok=True)
    machine, began = machine_description(), time.perf_counter()
    options: dict[str, Any] = {"told": told} if name in RESUMES else {}
    try:
        results = importlib.import_module(REPRODUCTIONS[name][0]).reproduce(quick=quick, folder=place, **options)
    except Interrupted:
        raise
    except SkyloopError as error:
        told(f"{name} failed: {error}")
        return Measured(name, place, [], machine, time.perf_counter() - began, str(error))
    seconds = time.perf_counter() - began
    state = code_state(REPRODUCTIONS[name][0])
    plain = [result.plain() for result in results]
    keep(place / MEASURED, {"machine": machine, "seconds": seconds, "code": state, "results": plain})
    return Measured(name, place, results, machine, seconds)
