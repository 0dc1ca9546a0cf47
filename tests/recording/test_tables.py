"""Every CSV file of every run folder opens with other people's readers, and has one width."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pandas
import polars
import pytest
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from page_runs import plot_nothing
from skyloop.run import run_scenario
from skyloop.sim.scenario import SCENARIOS, load_scenario
from skyloop_client.codec import RECORDS
from skyloop_client.schema import record_fields

SKYLOOP = Path(sys.executable).with_name("skyloop")
SIMULATED_S = 12.0
"""Odometry has begun by then, so that rows with and without a covariance are in one file."""


def read_all(folder: Path) -> set[str]:
    """The tables below a folder, after a look at each."""
    tables = sorted(folder.rglob("*.csv"))
    for path in tables:
        with path.open(newline="", encoding="utf-8") as file:
            widths = {len(row) for row in csv.reader(file)}
        assert len(widths) == 1, f"{path}: rows of {widths} cells"
        table, other = pandas.read_csv(path, low_memory=False), polars.read_csv(path)
        assert list(table.columns) == other.columns and len(table) == len(other)
        assert table.shape[1] == widths.pop()
    return {str(path.relative_to(folder)) for path in tables}


def numbers_are_numbers(folder: Path) -> None:
    """What a record says is a number is one for pandas and polars, in every row."""
    for stream, info in json.loads((folder / "streams.json").read_text()).items():
        path = folder / "streams" / f"{stream}.csv"
        if not path.exists():
            continue
        table, other = pandas.read_csv(path, low_memory=False), polars.read_csv(path)
        for name, field in record_fields(RECORDS[info["message"]]).items():
            of_it = [name] if field.type in (int, float, bool) else []
            if field.dtype == "<f8" and f"{name}_0" in table:
                of_it = [column for column in table if column.rpartition("_")[0] == name]
            for column in of_it:
                kind = is_bool_dtype if field.type is bool else is_numeric_dtype
                assert kind(table[column]), f"{path}: {column} is {table[column].dtype} for pandas"
                known = other[column].null_count() < len(other)
                numeric = other[column].dtype.is_numeric() or other[column].dtype == polars.Boolean
                assert numeric or not known, f"{path}: {column} is {other[column].dtype} for polars"


@pytest.mark.slow("twelve seconds of every shipped scenario")
@pytest.mark.renders
@pytest.mark.processes
@pytest.mark.parametrize("name", SCENARIOS)
def test_every_stream_of_every_scenario(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plot_nothing(monkeypatch)
    lasts = min(SIMULATED_S, load_scenario(name).duration)
    run_scenario(load_scenario(name, {"duration": lasts}), tmp_path / "run")
    found = read_all(tmp_path / "run")
    assert any(path.startswith("streams/truth/") for path in found)
    numbers_are_numbers(tmp_path / "run")


@pytest.mark.slow("a loop, a landing and two seeds")
@pytest.mark.renders
@pytest.mark.processes
@pytest.mark.parametrize(
    ("words", "table"),
    [
        ("loop move-forward --task move-forward --out run", "timeline.csv"),
        ("land --out run --set duration=20", "serial.csv"),
        ("run hover --seeds 1,2 --out run", "seeds.csv"),
    ],
)
def test_the_other_tables_of_run_folders(words: str, table: str, tmp_path: Path) -> None:
    done = subprocess.run([SKYLOOP, *words.split()], cwd=tmp_path, capture_output=True, text=True)
    assert any(path.endswith(table) for path in read_all(tmp_path)), done.stderr
