"""Where the C++ SUT runs: natively on this machine, or on something slow."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path

from skyloop.errors import SetupError
from skyloop.links.targets import EmulatedBoard, LocalProcess, Target, ThrottledProcess, compiled

SHARE = 0.1
"""Of a core, for a target where no board can be emulated."""


@functools.cache
def source() -> Path:
    """Of the C++ SUT: beside the package in a checkout, inside it once installed."""
    package = Path(__file__).parent.parent
    for root in (package.parent.parent, package / "cpp"):
        if (root / "examples" / "cpp-sut" / "sut.cpp").exists():
            return root / "examples" / "cpp-sut" / "sut.cpp"
    raise SetupError("the C++ SUT is not here (examples/cpp-sut/sut.cpp); use a checkout of skyloop")


def includes() -> list[Path]:
    return [source().parent.parent.parent / "clients" / "cpp", source().parent]


def host(arguments: Sequence[str]) -> Target:
    """On this machine; execution time is its own processor time, so that other work here does not count."""
    return LocalProcess([str(compiled(source(), includes())), *arguments], clock="cpu", name="host")


def slow_target(arguments: Sequence[str]) -> Target:
    if board_is_here():
        return EmulatedBoard(source(), includes(), arguments, clock="cpu")
    return ThrottledProcess([str(compiled(source(), includes())), *arguments], SHARE)


@functools.cache
def board_is_here() -> bool:
    try:
        EmulatedBoard(source(), includes(), ())
    except SetupError:
        return False
    return True


def slow_target_name() -> str:
    return "aarch64 board emulated by qemu" if board_is_here() else f"{SHARE:g} of a core of this machine"
