"""Plugins that cannot be loaded are reported in one line and break nothing else; see also docs/test_docs_plugin.py."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from acme import installed, python
from skyloop.core.plugins import Registry, load_object, plugins
from skyloop_client.errors import PluginError, UnknownNameError

pytestmark = pytest.mark.processes
FAULTS = {
    "broken": "raise RuntimeError('no GPU\\nhere')",
    "leaves": "raise SystemExit(3)",
    "odd": "PLUGIN = 'a text'",
    "second": "from skyloop.core.plugins import Plugin\nPLUGIN = Plugin(worlds={'flat': 'second:Flat'})",
    "mutable": "from skyloop.core.plugins import Plugin\nclass R: ...\nPLUGIN = Plugin(messages={'R': 'mutable:R'})",
}
SAID = {
    "broken": "RuntimeError: no GPU here",
    "leaves": "SystemExit: 3",
    "odd": "'odd:PLUGIN' is no skyloop.core.plugins.Plugin",
    "second": "'flat' under worlds is already brought by 'skyloop'",
    "mutable": "the record class R is no frozen dataclass",
}
HALF = """from skyloop.core.plugins import Plugin
names = ("sensors", "worlds", "controllers", "estimators", "pilots", "links", "formats", "verbs", "reports",
         "processors", "catalogues")
PLUGIN = Plugin(**{name: {"absent": "half_absent:Absent"} for name in names})
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five plugins that cannot be loaded, and one of whose objects none can be imported."""
    folder = tmp_path_factory.mktemp("site")
    for name, text in {**FAULTS, "half": HALF}.items():
        (folder / f"{name}.py").write_text(text)
        installed(folder, name, f"{name}:PLUGIN")
    return folder


def skyloop(site: Path, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return python((site,), "-m", "skyloop", *words, cwd=cwd)


def test_list_says_so_in_one_line_each_and_goes_on(site: Path, tmp_path: Path) -> None:
    done = skyloop(site, "list", cwd=tmp_path)
    assert done.returncode == 0
    assert "hover" in done.stdout and "corridor" in done.stdout
    lines = " ".join(done.stderr.split())
    for name, fault in SAID.items():
        assert f"skyloop: warning: plugin '{name}' is left out: {fault}" in lines
    assert "warning: plugin 'half', verb 'absent': cannot load 'half_absent:Absent'" in lines
    assert "Traceback" not in done.stderr


def test_doctor_says_so(site: Path, tmp_path: Path) -> None:
    done = skyloop(site, "doctor", "--json", cwd=tmp_path)
    assert done.returncode == 0
    found = {each["name"]: each for each in json.loads(done.stdout)}
    for name, fault in SAID.items():
        told = found[f"plugin: {name}"]
        assert (told["state"], told["found"]) == ("optional", f"cannot be loaded: {fault}")
    assert found["plugin: half"]["state"] == "ok"


@pytest.mark.flights
def test_flights_go_on_and_an_object_that_cannot_be_imported_is_one_line(site: Path, tmp_path: Path) -> None:
    flown = skyloop(site, "run", "hover", "--set", "duration=0.2", "--json", cwd=tmp_path)
    assert flown.returncode == 0 and json.loads(flown.stdout)["scenario"] == "hover"
    refused = skyloop(site, "run", "hover", "--set", "world=absent", cwd=tmp_path)
    assert refused.returncode == 1
    assert "plugin 'half', world 'absent': cannot load 'half_absent:Absent': ModuleNotFoundError" in " ".join(
        refused.stderr.split()
    )


def test_a_registry_tells_where_names_come_from() -> None:
    worlds: Registry[type] = Registry("worlds", "world")
    assert worlds.origin("flat") == "skyloop" == plugins()[0].name
    assert worlds["flat"].__name__ == "Flat" and "flat" in worlds and len(worlds) == len(list(worlds))
    with pytest.raises(UnknownNameError, match="no world named 'flatt'; did you mean 'flat'"):
        worlds.origin("flatt")
    with pytest.raises(KeyError):
        worlds["flatt"]
    with pytest.raises(ValueError, match="a Plugin has no 'word'"):
        Registry("word", "word")


def test_an_object_that_is_not_there_is_one_line() -> None:
    with pytest.raises(PluginError, match=r"^a world: cannot load 'skyloop\.errors:None': AttributeError: .*None'$"):
        load_object("skyloop.errors:None", "a world")
