"""tools/system_packages.py: what it installs, names and leaves alone, with an apt-get that only takes notes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from skyloop.core.system_packages import SYSTEM_PACKAGES, install_command

pytestmark = pytest.mark.processes
TOOL = Path(__file__).parents[1] / "tools" / "system_packages.py"
ABSENT = [each for each in SYSTEM_PACKAGES if each.wanted_by == "tests" and ".so" not in each.brings]
"""With a PATH of its own, no program is installed."""


class Desk:
    def __init__(self, folder: Path) -> None:
        self.programs, self._notes = folder / "bin", folder / "asked"
        self.programs.mkdir()
        self.write("apt-get", 'echo "$@" >> "$NOTES"')

    def write(self, name: str, script: str) -> None:
        program = self.programs / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)

    def ask(self, *wanted_by: str, user: int = 0, **environment: str) -> tuple[list[str], list[str]]:
        """What apt-get was asked for, and what was printed, as root or as somebody else."""
        as_user = f"import os, runpy, sys; os.geteuid = lambda: {user}; sys.argv = sys.argv[1:]\n"
        command = [sys.executable, "-c", as_user + "runpy.run_path(sys.argv[0], run_name='__main__')", str(TOOL)]
        settings = {"PATH": str(self.programs), "NOTES": str(self._notes), **environment}
        done = subprocess.run([*command, *wanted_by], env=settings, capture_output=True, text=True, check=True)
        assert done.stderr == ""
        asked = self._notes.read_text().splitlines() if self._notes.exists() else []
        return asked, done.stdout.splitlines()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    folder = tmp_path / "ein Tisch für Übungen"
    folder.mkdir()
    return Desk(folder)


def test_root_installs_what_is_missing_and_says_so(desk: Desk) -> None:
    asked, said = desk.ask("tests")
    names = [each.name for each in ABSENT]
    assert asked[0].split("--no-install-recommends ")[1].split() == names
    installing, missing = said[: len(names)], said[len(names) : -1]
    assert all(f"{name}: installing, for " in line for name, line in zip(names, installing, strict=True))
    # apt-get did nothing here
    assert all(f"{name}: missing, for " in line for name, line in zip(names, missing, strict=True))
    assert said[-1] == f"all of them: {install_command(ABSENT)}"


def test_others_install_by_sudo_if_it_does_not_ask(desk: Desk) -> None:
    desk.write("sudo", '[ "$1" = -n ] && shift && exec "$@"')
    desk.write("true", "")
    asked, said = desk.ask("tests", user=1000)
    assert asked and "installing" in said[0]


@pytest.mark.parametrize("forbidden", [False, True], ids=["sudo asks for a password", "SKYLOOP_NO_APT=1"])
def test_who_may_not_install_is_told_the_one_command(desk: Desk, forbidden: bool) -> None:
    desk.write("sudo", "exit 1")
    user, environment = (0, {"SKYLOOP_NO_APT": "1"}) if forbidden else (1000, {})
    asked, said = desk.ask("tests", user=user, **environment)
    assert asked == []
    assert [line.split(": missing, for ")[0] for line in said[:-1]] == [
        f"system package {each.name}" for each in ABSENT
    ]
    assert said[-1] == f"all of them: {install_command(ABSENT)}"


def test_nothing_is_said_where_nothing_is_missing(desk: Desk) -> None:
    for each in ABSENT:
        desk.write(each.brings, "")
    assert desk.ask("tests") == ([], [])


def test_flights_want_no_programs(desk: Desk) -> None:
    """Their packages are libraries, which PATH does not hide."""
    _, said = desk.ask("flights", SKYLOOP_NO_APT="1")
    assert not any(each.name in line.split() for each in ABSENT for line in said)
