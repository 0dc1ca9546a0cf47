"""The one list of system packages: what each brings and what it is for.

Set-up (`tools/system_packages.py`), `skyloop doctor`, the page on installing and the tests read it. Standard library
only, because set-up reads it before anything else is known to work.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from skyloop_client.errors import SetupError

Wanted = Literal["flights", "tests", "slow tests"]
"""Who cannot do without it. `make setup` brings what flights want, `make test` and `make test-slow` the rest."""


@dataclass(frozen=True, slots=True)
class SystemPackage:
    name: str
    """Of the package in Debian and Ubuntu."""
    brings: str
    """A program on PATH, or a shared library (its name holds `.so`), by which one sees that it is installed."""
    purpose: str
    wanted_by: Wanted

    @property
    def is_installed(self) -> bool:
        if ".so" not in self.brings:
            return shutil.which(self.brings) is not None
        try:
            ctypes.CDLL(self.brings)
        except OSError:
            return False
        return True


SYSTEM_PACKAGES = (
    SystemPackage("libegl1", "libEGL.so.1", "cameras: OpenGL without a screen", "flights"),
    SystemPackage("libgl1", "libGL.so.1", "cameras: OpenGL itself", "flights"),
    SystemPackage("libgl1-mesa-dri", "libEGL.so.1", "cameras: Mesa's driver, which draws on the CPU", "flights"),
    SystemPackage("g++", "g++", "programs in C++ in the loop; simulating the landing detector's logic", "tests"),
    SystemPackage("make", "make", "`make firmware`: the landing board's firmware", "tests"),
    SystemPackage("g++-aarch64-linux-gnu", "aarch64-linux-gnu-g++", "`--target board`: C++ for an ARM board", "tests"),
    SystemPackage("qemu-user", "qemu-aarch64", "`--target board`: running it without the board", "tests"),
    SystemPackage("gcc-arm-none-eabi", "arm-none-eabi-gcc", "`make firmware`: the landing board's firmware", "tests"),
    SystemPackage("qemu-system-arm", "qemu-system-arm", "`skyloop land --board qemu`: the landing board", "tests"),
    SystemPackage("xvfb", "Xvfb", "windows where there is no screen", "tests"),
    SystemPackage("chromium", "chromium", "looking at the cockpit; `skyloop bench cockpit`", "tests"),
    SystemPackage("openssh-client", "ssh", "`--target ssh:HOST`: your software on another machine", "tests"),
    SystemPackage("npm", "npm", "building the cockpit's page from its sources", "slow tests"),
    SystemPackage("cyclonedds-tools", "idlc", "a ROS 2 middleware to talk to: Cyclone DDS", "slow tests"),
    SystemPackage("cyclonedds-dev", "libddsc.so", "a ROS 2 middleware to talk to: Cyclone DDS", "slow tests"),
    SystemPackage("libfastrtps-dev", "libfastrtps.so", "a ROS 2 middleware to talk to: Fast DDS", "slow tests"),
)
CAMERAS = tuple(each for each in SYSTEM_PACKAGES if each.wanted_by == "flights")


def missing_packages(*wanted_by: Wanted) -> list[SystemPackage]:
    return [each for each in SYSTEM_PACKAGES if each.wanted_by in wanted_by and not each.is_installed]


def package_of(brings: str) -> SystemPackage:
    """The package that brings a program or a library of the list."""
    found = [each for each in SYSTEM_PACKAGES if each.brings == brings]
    if not found:
        raise KeyError(f"no package in SYSTEM_PACKAGES brings '{brings}'; add it there")
    return found[0]


def install_command(packages: Iterable[SystemPackage]) -> str:
    return f"sudo apt-get install {' '.join(each.name for each in packages)}"


def find_program(name: str) -> str:
    """The path of a program from the list; where it is missing, the error names the package that brings it."""
    found = shutil.which(name)
    if found is None:
        package = package_of(name)
        raise SetupError(f"no {name} here ({package.purpose}); {install_command([package])}")
    return found


def has_screen() -> bool:
    return bool(os.environ.get("DISPLAY")) or shutil.which("Xvfb") is not None


@contextmanager
def screen() -> Iterator[str]:
    """Its name, as DISPLAY has it."""
    if there := os.environ.get("DISPLAY"):
        yield there
        return
    with virtual_screen() as made:
        yield made


@contextmanager
def virtual_screen(size: str = "1280x720x24") -> Iterator[str]:
    """One in memory. size: width, height and bits per pixel."""
    ready, tell = os.pipe()
    made = subprocess.Popen(
        [find_program("Xvfb"), "-displayfd", str(tell), "-screen", "0", size, "-nolisten", "tcp"],
        pass_fds=[tell], stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(tell)
    try:
        yield f":{os.read(ready, 20).decode().strip()}"
    finally:
        os.close(ready)
        made.kill()
        made.wait()
