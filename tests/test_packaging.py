from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import skyloop
import skyloop_client
from skyloop_client.version import __version__

ROOT = Path(__file__).parents[1]
LOCK = (ROOT / "requirements.lock").read_text()
TORCH_LOCK = (ROOT / "requirements-torch.lock").read_text()
"""What only training needs; `make test` installs it."""
PINS: dict[str, str] = {
    canonicalize_name(name): version
    for name, version in (line.split("==") for line in (LOCK + TORCH_LOCK).splitlines() if not line.startswith("#"))
}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PLUGINS = [
    {"project": {"optional-dependencies": {}, **tomllib.loads(path.read_text())["project"]}}
    for path in sorted(ROOT.glob("plugins/*/pyproject.toml"))
]


def wanted() -> list[str]:
    found = list(PROJECT["build-system"]["requires"])
    for project in (PROJECT, *PLUGINS):
        # PyTorch alone is larger than all the rest; tests of `sb3` make an environment of their own
        extras = [each for name, each in project["project"]["optional-dependencies"].items() if name != "sb3"]
        found += [*project["project"]["dependencies"], *(each for extra in extras for each in extra)]
    return found


def test_every_dependency_is_pinned_to_an_allowed_version() -> None:
    # these are of this tree: their versions must fit what the others ask for
    ours = ["skyloop", "skyloop-client", *(project["project"]["name"] for project in PLUGINS)]
    versions = {**PINS, **dict.fromkeys(ours, __version__)}
    for requirement in map(Requirement, wanted()):
        assert versions[canonicalize_name(requirement.name)] in requirement.specifier, requirement


def test_the_plugins_are_an_extra_and_have_the_version_of_the_simulator() -> None:
    assert sorted(PROJECT["project"]["optional-dependencies"]["all"]) == [each["project"]["name"] for each in PLUGINS]
    assert {each["project"]["version"] for each in PLUGINS} == {__version__}


def test_the_version_is_written_in_one_place() -> None:
    quoted = re.compile(rf"""["'v ]{re.escape(__version__)}(["'\s]|$)""", flags=re.MULTILINE)
    places = ("*.toml", "*.cff", "Makefile", "tools/*.*", "clients/*/*.*", "src/**/*.py", "clients/python/src/**/*.py")
    files = [path for place in places for path in ROOT.glob(place)]
    named = [path.relative_to(ROOT).as_posix() for path in files if path.is_file() and quoted.search(path.read_text())]
    assert named == ["clients/python/src/skyloop_client/version.py"]
    assert skyloop.__version__ == skyloop_client.__version__ == __version__


def test_lock_has_nothing_but_names_and_versions() -> None:
    locks = [[line for line in lock.splitlines() if not line.startswith("#")] for lock in (LOCK, TORCH_LOCK)]
    for lines in locks:
        assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+", line) for line in lines)
        assert lines == sorted(lines, key=str.upper)
    assert len(PINS) == sum(map(len, locks))
    assert not {"skyloop", "skyloop-client"} & set(PINS)


def test_no_addresses_and_no_machine_paths() -> None:
    places = (
        "*.toml",
        "*.lock",
        "*.cff",
        "Makefile",
        ".ci/run",
        "tools/*.*",
        ".github/**/*.md",
        "clients/python/*.toml",
    )
    addresses = ("http://", "https://", "file://", "index-url", "find-links", "trusted-host")
    forbidden = (*addresses, "/home/", "/root/", str(ROOT) + "/")
    for file in (path for place in places for path in ROOT.glob(place)):
        found = [each for each in forbidden if each in file.read_text()]
        assert not found, f"{file.name} contains {found}"


@pytest.mark.processes
def test_set_up_refuses_an_old_python_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/set_up.sh").write_text((ROOT / "tools/set_up.sh").read_text())
    old = tmp_path / "old python"
    old.write_text('#!/bin/sh\ncase "$2" in *print*) echo 3.9;; *) exit 1;; esac\n')
    old.chmod(0o755)
    refused = subprocess.run(["sh", "tools/set_up.sh", str(old)], cwd=tmp_path, capture_output=True, text=True)
    assert refused.returncode == 1
    assert len(refused.stderr.splitlines()) == 1
    assert "3.9" in refused.stderr
    assert "3.11 or newer" in refused.stderr
    assert not (tmp_path / ".venv").exists()
