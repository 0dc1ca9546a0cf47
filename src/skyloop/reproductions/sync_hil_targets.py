"""Runs the C++ SUT on this machine, behind the target's agent, at the assumed speed of the board."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from skyloop.links.loop.coordinator import TABLE_I as REAL_DELAYS
from skyloop.links.loop.loop_link import LoopConfig
from skyloop.links.loop.targets import LocalProcess, PowerModel
from skyloop.reproductions.sync_hil_protocol import DELAYED, FREE, HOST, SLOW_SIMULATOR, Table
from skyloop_client.errors import SetupError

HANG_S = 600.0
"""Wall s of silence from a computing SUT. A slow board on a busy machine may need long."""


POWER = PowerModel(0.0, 0.0)
"""The board does not draw from the vehicle's battery, as in the flights for the tables."""


def source() -> str:
    """Source of the C++ SUT, beside the package in a checkout."""
    path = Path(__file__).parents[3] / "examples" / "cpp-sut" / "sut.cpp"
    if not path.exists():
        raise SetupError("the C++ SUT (examples/cpp-sut) is only in a checkout of skyloop; reproduce sync-hil there")
    return str(path)


def computer(arguments: Sequence[str], speed: float) -> LocalProcess:
    """The agent counts the processor time of the SUT, including decoding and encoding."""
    return LocalProcess([source(), *arguments], clock="cpu", speed=speed, freeze=True, name=f"board of speed {speed:g}")


def options_for(table: Table, setup: str, pace: float | None = None) -> LoopConfig:
    """The time mode. In Table I samples are acquired as they come, in real time."""
    delays = REAL_DELAYS if table.delays or setup == DELAYED else {}
    if table.name == "Table I" and setup != DELAYED:
        return LoopConfig(mode="none", pace=1.0, hang_s=HANG_S, power=POWER)
    if setup == FREE:
        return LoopConfig(mode="none", pace=pace or SLOW_SIMULATOR, hang_s=HANG_S, power=POWER)
    return LoopConfig(delays=delays, pace=pace, hang_s=HANG_S, power=POWER)


def speed_for(setup: str, board: float) -> float:
    return 1.0 if setup in (HOST, DELAYED) else board


def told(setup: str, board: float) -> str:
    """The description of the target in the results."""
    if setup in (HOST, DELAYED):
        return "this machine, on the program's processor time"
    return f"a computer of {board:g} of this machine's speed"
