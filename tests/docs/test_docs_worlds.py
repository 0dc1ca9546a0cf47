"""docs/explanations/worlds.md and cameras.md: every block runs."""

from __future__ import annotations

import inspect
import re
import shlex
from pathlib import Path

import numpy as np
import pytest
import yaml
from PIL import Image
from typer.testing import CliRunner

import skyloop
from skyloop.cli.verbs import app
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


@pytest.mark.renders
def test_the_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").symlink_to(DOCS.parent / "examples")
    monkeypatch.chdir(tmp_path)
    (block,) = (block for page, block in blocks("bash") if page == "worlds.md")
    words = [*shlex.split(block)[1:], "--quality", "low", "--size", "96x60"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    with Image.open(tmp_path / "room.png") as picture:
        assert picture.size == (96, 60) and len(np.unique(np.asarray(picture).reshape(-1, 3), axis=0)) > 300
