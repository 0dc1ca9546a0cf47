"""`skyloop-client calibrate`: what it prints, what it compares, and `size --board` with a board's file."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from skyloop.campaigns.size import board_speed
from skyloop_client.__main__ import main
from skyloop_client.calibration import PROGRAM, WORK, compared, quickest, read_calibration
from skyloop_client.errors import LinkError

ROOT = Path(__file__).parents[2]


def written(path: Path, *, scale: float = 1.0, program: str = PROGRAM, **more: float) -> Path:
    rates = {"interpreter": 40.0 * scale, "arithmetic": 10.0 * scale, "memory": 5.0 * scale, **more}
    path.write_text(json.dumps({"program": program, "machine": "a board", "rates": rates}))
    return path


def test_the_ratio_of_two_computers_is_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    here, board = written(tmp_path / "here.json"), written(tmp_path / "board.json", scale=0.2, memory=4.0)
    assert main(["calibrate", "--board", str(board), "--here", str(here)]) == 0
    said = "a board has speed 0.317 (interpreter 0.2, arithmetic 0.2, memory 0.8; 1 is this machine)"
    assert capsys.readouterr().out.strip() == said
    assert main(["calibrate", "--board", str(board), "--here", str(here), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["by_work"]["memory"] == pytest.approx(0.8)


def test_a_computer_prints_what_another_can_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calibrate", "--json"]) == 0
    said = tmp_path / "board.json"
    said.write_text(capsys.readouterr().out)
    board = read_calibration(said)
    assert set(board.rates) == set(WORK) and all(rate > 0.0 for rate in board.rates.values())
    assert set(compared(board, board).by_work) == set(WORK)


def test_it_is_processor_time_that_counts_and_the_quickest_run() -> None:
    work = iter([100_000, 1000, 50_000])
    taken = quickest(lambda: sum(range(next(work))), repeats=3)
    assert taken < quickest(lambda: sum(range(50_000)), repeats=1)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{}", "is no calibration"), ("no", "is no calibration"), ("[1]", "is no calibration"),
        ('{"program": "python 1", "machine": "x", "rates": {"memory": 0}}', "is no calibration"),
        ('{"program": "python 1", "machine": "x", "rates": {"memory": 1}}', "cannot be compared"),
        ('{"program": "c++ 1", "machine": "x", "rates": {"memory": 1}}', "cannot be compared"),
    ],
)  # fmt: skip
def test_what_cannot_be_compared_is_one_line(
    text: str, why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad, here = tmp_path / "bad.json", written(tmp_path / "here.json")
    bad.write_text(text)
    assert main(["calibrate", "--board", str(bad), "--here", str(here)]) == 1
    assert why in capsys.readouterr().err
    with pytest.raises(LinkError, match="cannot read"):
        read_calibration(tmp_path / "none.json")


@pytest.mark.slow("compiles for an emulated board")
@pytest.mark.processes
@pytest.mark.needs("g++")
def test_a_board_that_ran_the_program_in_cpp(tmp_path: Path, build: Callable[..., Path]) -> None:
    """The same source is run here, now; on the very same computer the two are about alike."""
    said = subprocess.run([build("clients/cpp/calibrate.cpp", "-O2")], capture_output=True, check=True, text=True)
    board = tmp_path / "board.json"
    board.write_text(said.stdout)
    ratio = board_speed(board)
    assert set(ratio.by_work) == {"integers", "arithmetic", "memory"}
    plain = json.loads(said.stdout)
    plain["rates"] = {work: 0.001 * rate for work, rate in plain["rates"].items()}
    board.write_text(json.dumps(plain))
    assert board_speed(board).speed < 0.1 * ratio.speed
