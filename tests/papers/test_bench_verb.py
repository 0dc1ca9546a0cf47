"""The verb `bench`: its names come from the functions, its JSON has the keys that programs read."""

from __future__ import annotations

import json

import pytest

from skyloop.cli.verbs import execute
from skyloop_papers.benchmarks import verb
from skyloop_papers.benchmarks.measurement import Measurement, Measurements, lower


def made_up() -> Measurements:
    """A speed and a wait."""
    yield Measurement("speed", 5.0, "1/s", 4.0, "at least")
    yield lower("wait_s", 3.0, "s", 2.0, "at most")


def test_every_bench_has_its_line_and_is_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    lines = verb.listed()
    assert len(lines) == 20 and all(text.endswith(".") for text in lines.values())
    assert execute(["bench", "--help"]) == 0
    # names may be broken over lines
    said = "".join(capsys.readouterr().out.split())
    assert f"Benches:{','.join(lines)}" in said


def test_json_has_these_keys(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(verb, "benches", lambda: {"made-up": made_up})
    assert execute(["bench", "made-up", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert list(report) == ["name", "machine", "figures"] and report["name"] == "made-up"
    assert report["figures"] == [
        {
            "key": "speed", "value": 5.0, "unit": "1/s", "aim": 4.0, "note": "at least", "lower_is_better": False,
            "holds": True,
        },
        {
            "key": "wait_s", "value": 3.0, "unit": "s", "aim": 2.0, "note": "at most", "lower_is_better": True,
            "holds": False,
        },
    ]  # fmt: skip


def test_text_says_what_holds(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(verb, "benches", lambda: {"made-up": made_up})
    assert execute(["bench", "made-up"]) == 0
    first, _, second, _ = capsys.readouterr().out.splitlines()
    assert first == "speed 5 1/s, aim ≥ 4: holds" and second == "wait_s 3 s, aim ≤ 2: missed"
