"""The last line of the tests counts what was left out, and a second sitting does not repeat what passed."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import continued
from left_out import PREFIX, last_line


def test_the_last_line_counts_what_was_left_out_and_says_what_to_do() -> None:
    said = last_line([f"Skipped: {PREFIX}chromium", f"Skipped: {PREFIX}chromium, xvfb"])
    assert said == ("2 tests were left out for want of chromium, xvfb; to run them: sudo apt-get install xvfb chromium")


def test_what_no_package_brings_has_no_command() -> None:
    assert last_line([f"{PREFIX}network namespaces"]) == "1 tests were left out for want of network namespaces"
    assert last_line([]) == ""


def report(nodeid: str, when: str, passed: bool = True) -> Any:
    return SimpleNamespace(nodeid=nodeid, when=when, passed=passed, duration=0.5)


def collected(notes: continued.Notes, *names: str) -> list[str]:
    items: list[Any] = [SimpleNamespace(nodeid=name) for name in names]
    config: Any = SimpleNamespace(hook=SimpleNamespace(pytest_deselected=lambda items: None))
    notes.pytest_collection_modifyitems(config, items)
    return [item.nodeid for item in items]


def test_a_second_sitting_runs_what_has_not_passed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(continued, "state_of_sources", lambda: "as it was")
    first = continued.Writer(tmp_path / "sittings")
    assert collected(first, "a", "b", "c") == ["a", "b", "c"]
    for name, passed in (("a", True), ("b", False)):
        for when in ("setup", "call", "teardown"):
            first.pytest_runtest_logreport(report(name, when, passed or when != "call"))
    first.pytest_runtest_logreport(report("c", "setup"))  # stopped here
    second = continued.Writer(tmp_path / "sittings")
    assert second.seconds == {"a": 1.5}
    assert collected(second, "a", "b", "c") == ["b", "c"]
    lines: list[str] = []
    second.pytest_terminal_summary(SimpleNamespace(write_line=lines.append))
    assert lines[-1] == "1 tests have passed with these sources, in all sittings"
    monkeypatch.setattr(continued, "state_of_sources", lambda: "edited")
    assert collected(continued.Notes(tmp_path / "sittings"), "a", "b", "c") == ["a", "b", "c"]
