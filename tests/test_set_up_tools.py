"""tools/check_system.py: what it installs, names and leaves alone, with an apt-get that only takes notes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CHECK = Path(__file__).parents[1] / "tools" / "check_system.py"
LARGE = ("qemu-system-arm", "gcc-arm-none-eabi", "chromium", "xvfb", "g++-aarch64-linux-gnu", "qemu-user")


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A PATH of its own with an apt-get that writes down what it is asked for."""
    folder = tmp_path / "bin"
    folder.mkdir()
    apt = folder / "apt-get"
    apt.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/asked\n')
    apt.chmod(0o755)
    (folder / "id").symlink_to("/usr/bin/id")
    return folder


def asked(programs: Path, **environment: str) -> tuple[str, str]:
    """What apt-get was asked for, and what was printed."""
    done = subprocess.run(
        [sys.executable, str(CHECK)],
        env={"PATH": str(programs), **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    notes = programs.parent / "asked"
    return notes.read_text() if notes.exists() else "", done.stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may install packages without being asked")
def test_a_ci_machine_gets_what_the_tests_need(programs: Path) -> None:
    wanted, said = asked(programs, CI="true")
    assert all(package in wanted and package in said for package in LARGE)


def test_others_are_told_and_nothing_large_is_installed(programs: Path) -> None:
    for environment in ({}, {"CI": "true", "SKYLOOP_NO_APT": "1"}):
        wanted, said = asked(programs, **environment)
        assert not any(package in wanted for package in LARGE)
        assert all(package in said for package in LARGE)
