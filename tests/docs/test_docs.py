"""docs/reference/scenarios.md is what the code says."""

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


def test_the_page_example_is_a_scenario() -> None:
    example = re.search(r"^```yaml\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert example is not None
    scenario = skyloop.make_scenario(yaml.safe_load(example[1]))
    assert scenario.vehicles[0].state == "ekf"
