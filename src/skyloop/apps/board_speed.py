"""Speed of a board relative to this machine, from the output of `skyloop-client calibrate` or calibrate.cpp there."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from skyloop.links.loop.targets import compiled
from skyloop_client.calibration import Calibration, Ratio, calibrate, compared, read_calibration
from skyloop_client.errors import SetupError

SOURCE = Path(__file__).parents[3] / "clients" / "cpp" / "calibrate.cpp"


def board_speed(path: Path) -> Ratio:
    """Run the same program with the same work on this machine."""
    board = read_calibration(path)
    return compared(board, _cpp_here() if board.program.startswith("c++") else calibrate())


def _cpp_here() -> Calibration:
    if not SOURCE.is_file():
        raise SetupError("calibrate.cpp is only in a checkout of skyloop; use skyloop-client calibrate on both")
    said = subprocess.run([compiled(SOURCE)], capture_output=True, text=True, check=True).stdout
    plain = json.loads(said)
    return Calibration(plain["program"], plain["machine"], plain["rates"])
