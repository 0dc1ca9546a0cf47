"""Where the C++ SUT runs: natively on this machine, or on something slow."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from skyloop.links.loop.targets import (
    COMPILER,
    EMULATOR,
    EmulatedBoard,
    LocalProcess,
    Target,
    ThrottledProcess,
    runnable,
)
from skyloop_client.errors import SetupError

SLOWNESS = 0.005
"""Share of a core the board has: with it an image takes 0.6 s, as on the paper's target (Table II)."""


def source() -> str:
    """Of the C++ SUT: beside the package in a checkout."""
    path = Path(__file__).parents[3] / "examples" / "cpp-sut" / "sut.cpp"
    if not path.exists():
        raise SetupError("the C++ SUT (examples/cpp-sut) is only in a checkout of skyloop; reproduce sync-hil there")
    return str(path)


def host(arguments: Sequence[str]) -> Target:
    """On this machine; execution time is its own processor time, so that other work here does not count."""
    return LocalProcess([source(), *arguments], clock="cpu", name="host")


def target(arguments: Sequence[str], share: float = SLOWNESS) -> Target:
    """The board's own processor time, on a share of a core."""
    if board_is_here():
        return EmulatedBoard([source(), *arguments], clock="cpu", speed=share)
    return LocalProcess([source(), *arguments], clock="cpu", speed=share, name="slow process")


def free_target(arguments: Sequence[str], share: float = SLOWNESS) -> Target:
    """The same board, really slowed down, for when nobody keeps its time."""
    return ThrottledProcess(runnable([source(), *arguments], board=board_is_here()), share)


def board_is_here() -> bool:
    return shutil.which(EMULATOR) is not None and shutil.which(COMPILER) is not None


def told(name: str, share: float) -> str:
    """What the results say of where it ran."""
    if name == "host":
        return "this machine, on its processor time"
    machine = "an aarch64 board emulated by qemu" if board_is_here() else "a process of this machine"
    return f"{machine}, with {share:g} of a core"
