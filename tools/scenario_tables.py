"""Writes the tables of docs/reference/scenarios.md from the models, between its headings and sentences; just run it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel

from skyloop.cli.reference.fields import Option, model_options, models_in
from skyloop.cli.reference.printing import default_words
from skyloop.sensors.sensor import SensorConfig
from skyloop.sim.scenario import Scenario

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "scenarios.md"
_SECTION = re.compile(r"(?P<head>^### [^\n]*\(`(?P<model>\w+)`\)\n.*?)(?=^##|\Z)", flags=re.MULTILINE | re.DOTALL)
_TABLE = re.compile(r"^\|.*\n", flags=re.MULTILINE)


def models() -> dict[str, type[BaseModel]]:
    """Every model a scenario file may hold, by name, and what all sensors have."""
    found: dict[str, type[BaseModel]] = {}

    def visit(model: type[BaseModel]) -> None:
        if model.__name__ not in found:
            found[model.__name__] = model
            for field in model.model_fields.values():
                for part in models_in(field.annotation):
                    visit(part)

    visit(Scenario)
    return {**found, "SensorConfig": SensorConfig}


def rows_of(model: type[BaseModel]) -> Iterator[Option]:
    """What is told of a model: what every sensor has is told once, unless a sensor's own default differs."""
    shared = model_options(SensorConfig) if issubclass(model, SensorConfig) and model is not SensorConfig else ()
    return (each for each in model_options(model) if each not in shared)


def table(model: type[BaseModel]) -> str:
    lines = ["| key | type | default | unit | meaning |", "|---|---|---|---|---|"]
    for each in rows_of(model):
        cells = (f"`{each.name}`", each.type, default_words(each), each.unit, each.meaning)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def written(page: str) -> str:
    """The page with its tables as they must be."""
    known = models()
    told = {found["model"] for found in _SECTION.finditer(page)}
    if missing := set(known) - told:
        raise SystemExit(f"{PAGE.name} lacks a heading such as '### Title (`{min(missing)}`)'; missing: {missing}")
    if gone := told - set(known):
        raise SystemExit(f"{PAGE.name} has headings of models that are gone: {gone}")

    def filled(found: re.Match[str]) -> str:
        words = _TABLE.sub("", found["head"]).rstrip("\n")
        return f"{words}\n\n{table(known[found['model']])}\n"

    return _SECTION.sub(filled, page).rstrip("\n") + "\n"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
