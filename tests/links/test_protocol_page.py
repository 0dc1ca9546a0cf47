"""docs/reference/protocol.md: a client written from it flies, and the records it lists are as it says."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from link_rig import flying
from skyloop_client.codec import RECORDS

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "protocol.md").read_text(encoding="utf-8")
LISTED = {
    name: fields
    for names, fields in re.findall(r"^\| ((?:`[A-Z]\w+`(?:, )?)+) \| (.*) \|$", PAGE, flags=re.MULTILINE)
    for name in re.findall(r"`(\w+)`", names)
}
DEFAULT = re.compile(r"((?:`\w+`,? ?)+)(?:\([^)]*\) )?= (nil|\"\w*\"|[\d.]+)")


@pytest.mark.processes
def test_a_client_written_from_the_page_flies() -> None:
    sensors = {"imu": {"kind": "imu", "rate_hz": 100}}
    with flying({"vehicles": [{"name": "drone", "sensors": sensors}]}) as rig:
        done = subprocess.run(
            [sys.executable, str(Path(__file__).with_name("page_client.py"))],
            env={**os.environ, "SKYLOOP_ADDRESS": rig.address}, capture_output=True, text=True, timeout=60, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        (pilot,) = rig.link.summary()["pilots"]
        assert rig.link.timeline.violations == 0
    reported = json.loads(done.stdout)
    assert reported["knows"] == [], "it may use nothing of ours"
    assert (
        reported["moved"][0] > 0.3
        and abs(reported["moved"][1]) < 0.1
        and reported["height"] == pytest.approx(1.0, abs=0.2)
    )
    assert reported["force"] == pytest.approx(9.8, abs=1.5) and 0 <= reported["t_ns"] - reported["imu_ns"] < 100_000_000
    assert reported["charge"] < 1.0 and reported["energy"] > 0.0
    assert pilot["tasks"]["rise"]["missed"] == 1, "it takes more than the second that was declared"


def test_all_setpoints_and_requests_are_listed() -> None:
    commands = {name for name, kind in RECORDS.items() if kind.__module__.endswith(".commands")}
    assert commands <= set(LISTED)


@pytest.mark.parametrize("name", LISTED)
def test_the_records_of_the_page_have_these_fields(name: str) -> None:
    fields = {field.name: field for field in dataclasses.fields(RECORDS[name])}
    text = LISTED[name]
    named = [word for word in re.findall(r"`(\w+)`", text) if word not in ("yaw_rate",) or word in fields]
    assert list(dict.fromkeys(named)) == list(fields)
    reported = {}
    for words, value in DEFAULT.findall(text):
        for word in re.findall(r"`(\w+)`", words):
            reported[word] = None if value == "nil" else value.strip('"') if value.startswith('"') else float(value)
    for field in fields.values():
        optional = field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
        assert (field.name in reported) is optional, field.name
        if field.default is not dataclasses.MISSING:
            assert reported[field.name] == field.default
