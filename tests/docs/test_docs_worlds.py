"""docs/explanations/worlds.md and cameras.md: every block runs."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest
import yaml

import skyloop
from skyloop.world.imported import Imported
from skyloop.world.world import WORLDS

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {name: (DOCS / "explanations" / name).read_text(encoding="utf-8") for name in ("worlds.md", "cameras.md")}


def blocks(language: str) -> list[tuple[str, str]]:
    return [
        (name, block)
        for name, page in PAGES.items()
        for block in re.findall(rf"^```{language}\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)
    ]


@pytest.mark.parametrize(("page", "block"), blocks("yaml"))
def test_every_scenario_is_one(page: str, block: str) -> None:
    scenario = skyloop.make_scenario(yaml.safe_load(block))
    for name in scenario.world.options:
        known = Imported if scenario.world.file else WORLDS[scenario.world.name]
        assert name in inspect.signature(known).parameters


@pytest.mark.renders
@pytest.mark.parametrize(("page", "block"), blocks("python"))
def test_every_snippet_runs(page: str, block: str, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    exec(block, names)
    printed = capsys.readouterr().out
    if page == "worlds.md":
        assert printed.startswith("(100, 100, 12) 0.")
    else:
        point = names["point"]
        assert point[2] == pytest.approx(0.0, abs=1e-3), "on the ground"  # type: ignore[index]
        assert "shows [" in printed
