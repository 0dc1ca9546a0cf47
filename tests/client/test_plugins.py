from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from skyloop_client.errors import ScenarioError
from skyloop_client.user_code import is_plugin, load_chosen, load_plugin, without_code


def test_what_names_something_of_the_users() -> None:
    assert is_plugin("my.module:Thing")
    assert is_plugin("my.py:Thing")
    assert not is_plugin("hover")
    assert not is_plugin(None)
    assert not is_plugin(3)


def test_from_a_module_only_what_is_marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Or data: an airframe may be a dict. A subclass is marked with its class."""
    text = "from skyloop_client import part\n@part\nclass A: pass\nclass B(A): pass\nclass C: pass\nD = {'mass': 1}\n"
    (tmp_path / "parts_of_mine.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    assert load_plugin("parts_of_mine:B").__mro__[1] is load_plugin("parts_of_mine:A")
    assert load_plugin("parts_of_mine:D") == {"mass": 1}
    for source in ("parts_of_mine:C", "pathlib:Path", "os:system", "skyloop_client.user_code:load_chosen"):
        with pytest.raises(ScenarioError, match="not marked as a part"):
            load_plugin(source)
    assert load_chosen("pathlib:Path") is Path


@pytest.mark.processes
def test_code_can_be_refused_here_and_in_processes_started_meanwhile(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("open(__file__ + '.ran', 'w').close(); Thing = 1")
    child = [sys.executable, "-c", "from skyloop_client.user_code import load_plugin; load_plugin('mine.py:Thing')"]
    with without_code("a test says so"):
        with pytest.raises(ScenarioError, match=r"'mine.py:Thing' names code, .* a test says so"):
            load_plugin("mine.py:Thing", tmp_path)
        told = subprocess.run(child, cwd=tmp_path, capture_output=True, text=True)
        assert "a test says so" in told.stderr
    assert not (tmp_path / "mine.py.ran").exists()
    assert load_plugin("mine.py:Thing", tmp_path) == 1


def test_from_a_file_beside_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("class Thing:\n    pass\n")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "mine.py").write_text("class Thing:\n    colour = 'blue'\n")
    thing = load_plugin("mine.py:Thing", tmp_path)
    assert load_plugin("mine.py:Thing", tmp_path) is thing
    assert load_plugin(f"{tmp_path}/mine.py:Thing") is thing
    assert load_plugin("sub/mine.py:Thing", tmp_path).colour == "blue"


def test_a_file_may_be_mended_and_loaded_again(tmp_path: Path) -> None:
    file = tmp_path / "mended.py"
    file.write_text("raise ValueError('not yet')")
    with pytest.raises(ScenarioError, match="ValueError: not yet"):
        load_plugin("mended.py:Thing", tmp_path)
    file.write_text("Thing = 'ready now'")
    assert load_plugin("mended.py:Thing", tmp_path) == "ready now"


@pytest.mark.parametrize(
    ("source", "text"),
    [
        (":Thing", "names no object"),
        ("pathlib:", "names no object"),
        ("pathlib:Pth", "did you mean 'Path'"),
        ("a_module_nobody_has:Thing", "cannot import"),
        ("absent.py:Thing", "no file"),
        ("quits.py:Thing", "SystemExit"),
        ("garbled.py:Thing", "SyntaxError"),
    ],
)
def test_what_cannot_be_loaded_is_told(source: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "quits.py").write_text("import sys; sys.exit(0)")
    (tmp_path / "garbled.py").write_text("def (:")
    with pytest.raises(ScenarioError, match=text):
        load_plugin(source, tmp_path)


def test_a_module_that_fails_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "failing_module_of_mine.py").write_text("1 / 0")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ScenarioError, match="ZeroDivisionError"):
        load_plugin("failing_module_of_mine:Thing")


def folder_of(place: Path, colour: str) -> Path:
    """A plugin beside a module it imports, and a package that this one imports."""
    (place / "paints").mkdir(parents=True)
    (place / "paints" / "__init__.py").write_text("from paints.pots import POT\n")
    (place / "paints" / "pots.py").write_text(f"POT = {colour!r}\n")
    (place / "brush.py").write_text("import paints\nclass Brush:\n    colour = paints.POT\n")
    (place / "mine.py").write_text("from brush import Brush\nclass Thing(Brush):\n    pass\n")
    (place / "other.py").write_text("import brush\nTool = brush.Brush\n")
    return place


def test_a_file_may_import_those_beside_it(tmp_path: Path) -> None:
    path, modules = list(sys.path), set(sys.modules)
    red, blue = (folder_of(tmp_path / colour, colour) for colour in ("red", "blue"))
    thing = load_plugin("mine.py:Thing", red)
    assert thing.colour == "red"
    # another file there gets the same module, one in another folder its own
    assert load_plugin("other.py:Tool", red) is thing.__mro__[1]
    assert load_plugin("mine.py:Thing", blue).colour == "blue"
    assert sys.path == path
    assert {name for name in set(sys.modules) - modules if not name.startswith("skyloop_plugin_")} == set()
    with pytest.raises(ScenarioError, match="cannot import"):
        load_plugin("brush:Brush")


def test_a_file_beside_it_does_not_stand_in_for_a_library(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise RuntimeError('not the one')")
    (tmp_path / "mine.py").write_text("import json\nThing = json.dumps([1])\n")
    assert load_plugin("mine.py:Thing", tmp_path) == "[1]"


def test_trouble_in_a_file_beside_it_is_told(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("1 / 0")
    (tmp_path / "mine.py").write_text("import broken\n")
    with pytest.raises(ScenarioError, match=r"mine\.py' fails when loaded: ZeroDivisionError"):
        load_plugin("mine.py:Thing", tmp_path)
    (tmp_path / "broken.py").write_text("Thing = 3")
    (tmp_path / "mine.py").write_text("from broken import Thing\n")
    assert load_plugin("mine.py:Thing", tmp_path) == 3
