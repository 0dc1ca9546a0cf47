"""Tests that cannot run on this machine: left out and counted in the last line, failures where CI=true.

`@pytest.mark.needs("chromium")` names a program or a library of skyloop/core/system_packages.py; `@pytest.mark.renders`
needs OpenGL. What no package brings is left out by `leave_out("network namespaces")`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, NoReturn

import pytest

from skyloop.core.system_packages import SYSTEM_PACKAGES, install_command, package_of

PREFIX = "left out for want of "
ON_CI = os.environ.get("CI") == "true"


def leave_out(*wants: str) -> NoReturn:
    pytest.skip(PREFIX + ", ".join(wants))


@cache
def _is_installed(brings: str) -> bool:
    return package_of(brings).is_installed


def pytest_runtest_setup(item: pytest.Item) -> None:
    needed = [name for mark in item.iter_markers("needs") for name in mark.args]
    if item.get_closest_marker("renders"):
        needed.append("libEGL.so.1")
    missing = [package_of(name).name for name in dict.fromkeys(needed) if not _is_installed(name)]
    if missing:
        leave_out(*missing)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    outcome: Any = yield
    report = outcome.get_result()
    if report.skipped and ON_CI:
        report.outcome, report.longrepr = "failed", f"{report.longrepr[2]}; with CI=true nothing is left out"


def last_line(reasons: Iterable[str]) -> str:
    """How many tests were left out, for want of what, and what to do."""
    wants = [re.sub(f"^(Skipped: )?({PREFIX})?", "", reason).split(", ") for reason in reasons]
    if not wants:
        return ""
    named = dict.fromkeys(want for one in wants for want in one)
    packages = [each for each in SYSTEM_PACKAGES if each.name in named]
    how = f"; to run them: {install_command(packages)}" if packages else ""
    return f"{len(wants)} tests were left out for want of {', '.join(named)}{how}"


def pytest_unconfigure(config: pytest.Config) -> None:
    """After pytest's own last line."""
    reporter: Any = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None and not hasattr(config, "workerinput"):
        line = last_line(report.longrepr[2] for report in reporter.stats.get("skipped", ()))
        if line:
            print(line)
