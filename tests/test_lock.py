from __future__ import annotations

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
LOCK = (ROOT / "requirements.lock").read_text()
PINS = {
    canonicalize_name(name): version
    for name, version in (line.split("==") for line in LOCK.splitlines() if not line.startswith("#"))
}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def wanted() -> list[str]:
    extras = PROJECT["project"]["optional-dependencies"].values()
    return [
        *PROJECT["build-system"]["requires"],
        *PROJECT["project"]["dependencies"],
        *(each for extra in extras for each in extra),
    ]


@pytest.mark.parametrize("requirement", sorted(set(wanted())))
def test_every_dependency_is_pinned_to_an_allowed_version(requirement: str) -> None:
    parsed = Requirement(requirement)
    assert PINS[canonicalize_name(parsed.name)] in parsed.specifier


def test_lock_has_nothing_but_names_and_versions() -> None:
    lines = [line for line in LOCK.splitlines() if not line.startswith("#")]
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+", line) for line in lines)
    assert lines == sorted(lines, key=str.upper)
    assert len(PINS) == len(lines)
    assert "skyloop" not in PINS


@pytest.mark.parametrize("name", ["requirements.lock", "pyproject.toml", "Makefile", ".ci/run", "tools"])
def test_no_addresses_and_no_machine_paths(name: str) -> None:
    path = ROOT / name
    for file in [path] if path.is_file() else [each for each in path.iterdir() if each.is_file()]:
        text = file.read_text()
        for forbidden in (
            "://",
            "index-url",
            "find-links",
            "trusted-host",
            "/home/",
            "/root/",
            str(ROOT) + "/",
        ):
            assert forbidden not in text, f"{file.name} contains {forbidden}"


def commands_of(target: str) -> str:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    command = ["make", "--dry-run", "--no-print-directory", target]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout


def test_ci_runs_make_test_and_nothing_else() -> None:
    run = ROOT / ".ci/run"
    assert os.access(run, os.X_OK)
    lines = [line for line in run.read_text().splitlines() if line and not line.startswith(("#", "set ", "cd "))]
    assert lines == ["make test"]


def test_make_test_lints_types_and_tests() -> None:
    commands = commands_of("test")
    assert all(f"-m {each}" in commands for each in ("ruff check", "ruff format --check", "mypy", "pytest"))


def test_make_fly_runs_the_first_flight() -> None:
    assert ".venv/bin/skyloop record --world park --frames 100" in commands_of("fly")


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
