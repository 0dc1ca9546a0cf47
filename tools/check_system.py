"""Looks for the system libraries cameras need; names, or installs, the Debian packages that bring them.

Standard library only. Never fails the set-up: flights without cameras need none of them.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess

PACKAGES_OF = {
    "libEGL.so.1": ("libegl1", "libgl1-mesa-dri"),
    "libGL.so.1": ("libgl1",),
}
OPTIONAL_PACKAGE_OF = {"libOSMesa.so.8": "libosmesa6"}
BOARD_PACKAGE_OF = {"qemu-system-arm": "qemu-system-arm", "arm-none-eabi-gcc": "gcc-arm-none-eabi"}
"""What the emulated landing board needs. Named, and installed on a CI machine only: together they are about 600 MB."""
TEST_PACKAGE_OF = {
    "chromium": "chromium",
    "Xvfb": "xvfb",
    "g++": "g++",
    "aarch64-linux-gnu-g++": "g++-aarch64-linux-gnu",
    "qemu-aarch64": "qemu-user",
}
"""What some tests need: a browser for the cockpit, a screen for windows, a C++ compiler, an emulated ARM board for
programs of users. Named, and installed on a CI machine only: together they are about 600 MB."""
APT_TIMEOUT_S = 180
LARGE_TIMEOUT_S = 900


def loads(library: str) -> bool:
    """Whether the dynamic linker finds it; sees LD_LIBRARY_PATH and the linker's cache alike."""
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def apt_command() -> list[str] | None:
    """How this user may run apt-get without being asked anything, or None."""
    if os.environ.get("SKYLOOP_NO_APT") == "1" or shutil.which("apt-get") is None:
        return None
    if os.geteuid() == 0:
        return ["apt-get"]
    if shutil.which("sudo") and subprocess.run(["sudo", "-n", "true"], capture_output=True).returncode == 0:
        return ["sudo", "-n", "apt-get"]
    return None


def install(apt_get: list[str], packages: list[str], timeout_s: float = APT_TIMEOUT_S) -> bool:
    """Try with the package lists as they are, then once more with fresh ones."""
    quietly = [*apt_get, "-qq", "-o", "DPkg::Lock::Timeout=30"]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}

    def succeeds(*arguments: str) -> bool:
        try:
            done = subprocess.run(
                [*quietly, *arguments],
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=timeout_s,
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
        return done.returncode == 0

    wanted = ("install", "-y", "--no-install-recommends", *packages)
    return succeeds(*wanted) or (succeeds("update") and succeeds(*wanted))


def tell_of_board() -> None:
    """Names what `skyloop land --board qemu` and `make firmware` lack."""
    missing = [package for program, package in BOARD_PACKAGE_OF.items() if shutil.which(program) is None]
    if missing:
        print(f"emulated landing board: not here; for it, sudo apt-get install {' '.join(missing)}")


def tell_of_tests() -> None:
    """Names what would have tests skipped; flights need none of it."""
    missing = [package for program, package in TEST_PACKAGE_OF.items() if shutil.which(program) is None]
    if missing:
        print(f"for all of the tests, not for flights: sudo apt-get install {' '.join(missing)}")


def install_for_tests() -> None:
    """On a CI machine nothing is left out of the tests for want of a package."""
    needed = {**BOARD_PACKAGE_OF, **TEST_PACKAGE_OF}
    missing = [package for program, package in needed.items() if shutil.which(program) is None]
    apt_get = apt_command()
    if os.environ.get("CI") == "true" and missing and apt_get is not None:
        print(f"for the tests: installing {' '.join(missing)} (SKYLOOP_NO_APT=1 forbids it)", flush=True)
        install(apt_get, missing, LARGE_TIMEOUT_S)


def main() -> None:
    install_for_tests()
    tell_of_board()
    tell_of_tests()
    missing = [library for library in PACKAGES_OF if not loads(library)]
    if not missing:
        extra = [library for library in OPTIONAL_PACKAGE_OF if loads(library)]
        print("system libraries: " + ", ".join([*PACKAGES_OF, *extra]) + " found")
        return
    packages = " ".join(package for library in missing for package in PACKAGES_OF[library])
    names = ", ".join(missing)
    apt_get = apt_command()
    if apt_get is not None:
        print(f"system libraries: installing {packages} for {names} (SKYLOOP_NO_APT=1 forbids it)", flush=True)
        if install(apt_get, packages.split()) and all(loads(library) for library in missing):
            return
    advice = f"flights without cameras work, cameras need them: sudo apt-get install {packages}"
    print(f"system libraries: {names} not found; {advice}")


if __name__ == "__main__":
    main()
