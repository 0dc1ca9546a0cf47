"""docs/explanations/worlds.md and cameras.md: every name, number and default is true, and every block runs."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import get_args

import pytest
import yaml

import skyloop
from skyloop.sensors.camera import Truth
from skyloop.world.imported import Imported
from skyloop.world.materials import MATERIALS
from skyloop.world.semantics import CLASS_WORDS, CLASSES, MATERIAL_WORDS, meaning_of
from skyloop.world.weather import WeatherConfig
from skyloop.world.world import WORLDS, Randomised

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {name: (DOCS / "explanations" / name).read_text(encoding="utf-8") for name in ("worlds.md", "cameras.md")}
WORLDS_PAGE, CAMERAS_PAGE = PAGES.values()


def blocks(language: str) -> list[tuple[str, str]]:
    return [
        (name, block)
        for name, page in PAGES.items()
        for block in re.findall(rf"^```{language}\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)
    ]


def section(page: str, title: str) -> str:
    found = re.search(rf"^## {title}\n(.*?)(?=^## |\Z)", page, flags=re.MULTILINE | re.DOTALL)
    assert found is not None, title
    return found[1]


def rows(text: str) -> list[list[str]]:
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


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


def test_every_block_is_of_a_kind_that_is_run() -> None:
    for page in PAGES.values():
        assert set(re.findall(r"^```(\w+)$", page, flags=re.MULTILINE)) <= {"yaml", "python"}
    assert len(blocks("yaml")) == 6
    assert len(blocks("python")) == 2


def test_every_world_is_told_with_its_options_and_their_defaults() -> None:
    told = rows(section(WORLDS_PAGE, "The shipped worlds"))
    assert [row[0].strip("`") for row in told] == list(WORLDS)
    for name, _, options in told:
        signature = inspect.signature(WORLDS[name.strip("`")])
        stated = dict(re.findall(r"`(\w+)` \((\[[^]]*\]|[\d.]+|true|false|null)", options))
        true = {p.name: p.default for p in signature.parameters.values() if p.name not in ("seed", "randomise")}
        assert {key: yaml.safe_load(value) for key, value in stated.items()} == {
            key: list(value) if isinstance(value, tuple) else value for key, value in true.items()
        }


def test_the_options_of_a_file_are_told() -> None:
    told = {row[0].strip("`"): row[1] for row in rows(section(WORLDS_PAGE, "A world from a file"))}
    true = {p.name: p.default for p in inspect.signature(Imported).parameters.values() if p.name != "path"}
    assert set(told) == set(true)
    for name, default in true.items():
        meant = {"up": "y", "classes": {}, "materials": {}}.get(name, default)
        assert yaml.safe_load(told[name]) == meant


@pytest.mark.parametrize(
    ("name", "meaning"),
    [("Tree_03", "tree"), ("wall lamp", "lamp"), ("OldOaks.001", "tree"), ("Sidewalk", "pavement"), ("x", "object")],
)
def test_names_tell_classes_as_the_page_says(name: str, meaning: str) -> None:
    assert meaning_of((name,), {}, CLASS_WORDS, "object") == meaning
    assert name == "x" or f"`{name}`" in WORLDS_PAGE


@pytest.mark.parametrize(("name", "meaning"), [("RedBrick", "brick"), ("Tarmac", "asphalt"), ("steel", "metal")])
def test_names_tell_materials_as_the_page_says(name: str, meaning: str) -> None:
    assert meaning_of((name,), {}, MATERIAL_WORDS, "plain") == meaning
    assert f"`{name}`" in WORLDS_PAGE


def test_classes_and_materials_are_told_with_their_numbers() -> None:
    assert rows(section(WORLDS_PAGE, "Classes")) == [[str(n), name] for n, name in enumerate(CLASSES)]
    assert rows(section(WORLDS_PAGE, "Materials")) == [
        [str(n), m.name, f"{m.reflectance:.2f}", f"{m.depth_noise:.2f}"] for n, m in enumerate(MATERIALS)
    ]


def test_weather_topics_and_truths_are_told() -> None:
    weather = rows(section(WORLDS_PAGE, "Sun and weather"))
    assert set(re.findall(r"`(\w+)`", " ".join(row[0] for row in weather))) == set(WeatherConfig.model_fields)
    topics = rows(section(WORLDS_PAGE, "Randomised worlds, for training detectors"))
    assert [row[0].strip("`") for row in topics] == list(get_args(Randomised))
    truths = rows(section(CAMERAS_PAGE, "Camera"))
    assert [row[0].strip("`") for row in truths] == list(get_args(Truth))
