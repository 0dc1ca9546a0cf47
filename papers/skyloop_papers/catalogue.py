"""The experiments of `skyloop reproduce`: every folder beside this file that has an `experiment.py`.

A folder's name is the experiment's, and the docstring of its `__init__.py` is its line in `skyloop list`."""

from __future__ import annotations

import ast
import importlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skyloop_client.errors import unknown_name

if TYPE_CHECKING:
    from skyloop_papers.experiment import Experiment


@cache
def listed() -> dict[str, str]:
    """Names with one line each. Nothing is imported."""
    found = {}
    for path in sorted(Path(__file__).parent.glob("*/experiment.py")):
        text = (path.parent / "__init__.py").read_text(encoding="utf-8")
        found[path.parent.name.replace("_", "-")] = " ".join((ast.get_docstring(ast.parse(text)) or "").split())
    return found


@cache
def load(name: str) -> Experiment[Any, Any]:
    if name not in listed():
        raise unknown_name("reproduction", name, [*listed(), "all"])
    module = importlib.import_module(f"skyloop_papers.{name.replace('-', '_')}.experiment")
    experiment: Experiment[Any, Any] = module.EXPERIMENT
    return experiment
