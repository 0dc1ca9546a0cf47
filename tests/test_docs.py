"""docs/reference/scenarios.md against the models: every key, nothing else, and the true defaults."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import BaseModel

import skyloop
from skyloop.sim.scenario import Scenario

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "reference" / "scenarios.md").read_text(encoding="utf-8")


def models_under(model: type[BaseModel], found: dict[str, type[BaseModel]]) -> dict[str, type[BaseModel]]:
    """Every model a scenario file may hold, by name."""
    if model.__name__ not in found:
        found[model.__name__] = model
        for field in model.model_fields.values():
            _visit(field.annotation, found)
    return found


def _visit(annotation: Any, found: dict[str, type[BaseModel]]) -> None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        models_under(annotation, found)
    for part in getattr(annotation, "__args__", ()):
        _visit(part, found)


MODELS = models_under(Scenario, {})


def rows_of(model: str) -> dict[str, str]:
    """Key → default as the page states it."""
    match = re.search(rf"^### .*\(`{model}`\)$(.*?)(?=^##|\Z)", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert match is not None, f"docs/reference/scenarios.md has no section for {model}"
    rows = re.findall(r"^\| `(\w+)` \| .*? \| (.*?) \| (.+) \|$", match[1], flags=re.MULTILINE)
    assert all(meaning.strip() for _, _, meaning in rows)
    return {key: default for key, default, _ in rows}


@pytest.mark.parametrize("name", sorted(MODELS))
def test_keys_and_defaults(name: str) -> None:
    from skyloop.sensors.sensor import SensorConfig

    model = MODELS[name]
    rows = rows_of(name)
    # what every sensor has is told once, unless a sensor's default is its own
    shared = set(SensorConfig.model_fields) if issubclass(model, SensorConfig) else set()
    assert set(rows) | shared == set(model.model_fields)
    for key, stated in rows.items():
        field = model.model_fields[key]
        default = None if field.is_required() else field.get_default(call_default_factory=True)
        if field.is_required():
            assert stated == "required", key
        elif isinstance(default, BaseModel) or key == "vehicles":
            assert stated in ("its defaults", "one iris", getattr(default, "kind", "")), key
        elif default == "":
            assert stated == "empty", key
        else:
            assert yaml.safe_load(stated) == _plain(default), key


def _plain(value: Any) -> Any:
    return [_plain(part) for part in value] if isinstance(value, list | tuple) else value


def test_what_every_sensor_has_is_told() -> None:
    assert set(rows_of("SensorConfig")) == {"rate_hz", "mount", "latency", "faults"}


def test_no_section_is_about_something_gone() -> None:
    told = set(re.findall(r"^### .*\(`(\w+)`\)$", PAGE, flags=re.MULTILINE))
    assert told - {"SensorConfig"} == set(MODELS)


def test_the_page_example_is_a_scenario() -> None:
    example = re.search(r"^```yaml\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert example is not None
    scenario = skyloop.make_scenario(yaml.safe_load(example[1]))
    assert scenario.vehicles[0].state == "ekf"


def test_own_parts_page_names_every_example() -> None:
    page = (ROOT / "docs" / "how-to" / "own-parts.md").read_text(encoding="utf-8")
    for path in (ROOT / "examples").glob("own_*.yaml"):
        assert f"`{path.stem}`" in page
