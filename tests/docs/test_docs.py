"""docs/reference/scenarios.md is what the code says, and docs/how-to/own-parts.md names every example."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest
import yaml

import skyloop

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "scenarios.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def tables() -> ModuleType:
    spec = importlib.util.spec_from_file_location("scenario_tables", ROOT / "tools" / "scenario_tables.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tables_are_those_of_the_code(tables: ModuleType) -> None:
    assert tables.written(PAGE) == PAGE, "run python tools/scenario_tables.py"


def test_every_default_is_what_a_scenario_gets(tables: ModuleType) -> None:
    """The page against the models, by another way than the one that wrote it."""
    tried = 0
    for name, model in tables.models().items():
        section = re.search(rf"^### [^\n]*\(`{name}`\)\n(.*?)(?=^##|\Z)", PAGE, flags=re.MULTILINE | re.DOTALL)
        assert section is not None, name
        for key, default in re.findall(r"^\| `(\w+)` \| .*? \| (.*?) \| .*? \| .+ \|$", section[1], flags=re.MULTILINE):
            field = model.model_fields[key]
            assert (default == "required") == field.is_required(), (name, key)
            true = None if field.is_required() else field.get_default(call_default_factory=True)
            if isinstance(true, int | float):
                assert yaml.safe_load(default) == pytest.approx(true, rel=1e-5), (name, key)
                tried += 1
    assert tried > 130


def test_a_key_without_words_would_be_found(tables: ModuleType) -> None:
    with pytest.raises(SystemExit, match="lacks a heading"):
        tables.written(PAGE.replace("(`PacingConfig`)", ""))
    with pytest.raises(SystemExit, match="gone"):
        tables.written(PAGE + "\n### Old (`Gone`)\n")


def test_the_page_example_is_a_scenario() -> None:
    example = re.search(r"^```yaml\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert example is not None
    scenario = skyloop.make_scenario(yaml.safe_load(example[1]))
    assert scenario.vehicles[0].state == "ekf"


def test_own_parts_page_names_every_example() -> None:
    page = (ROOT / "docs" / "how-to" / "own-parts.md").read_text(encoding="utf-8")
    for path in (ROOT / "examples").glob("own_*.yaml"):
        assert f"`{path.stem}`" in page
