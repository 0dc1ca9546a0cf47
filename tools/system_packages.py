"""Installs the system packages that are missing, where this user may; elsewhere names them and the command.

`make setup` asks for those of flights, `make test` for those of the tests as well. The list, with what each package is
for, is skyloop/core/system_packages.py. Never fails: flights without cameras need none of them, and a test whose
package is missing is left out.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import cast

from skyloop.core.system_packages import SystemPackage, Wanted, install_command, missing_packages

UPDATE_TIMEOUT_S = 180
INSTALL_TIMEOUT_S = 900
FORBID = "SKYLOOP_NO_APT"


def apt_command() -> list[str] | None:
    """How this user may run apt-get without being asked anything, or None."""
    if os.environ.get(FORBID) == "1" or shutil.which("apt-get") is None:
        return None
    if os.geteuid() == 0:
        return ["apt-get"]
    if shutil.which("sudo") and subprocess.run(["sudo", "-n", "true"], capture_output=True).returncode == 0:
        return ["sudo", "-n", "apt-get"]
    return None


def install(apt_get: list[str], packages: list[SystemPackage]) -> None:
    """Try with the package lists as they are, then once more with fresh ones."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}

    def succeeds(timeout_s: float, *arguments: str) -> bool:
        command = [*apt_get, "-qq", "-o", "DPkg::Lock::Timeout=60", *arguments]
        try:
            done = subprocess.run(
                command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout_s
            )
        except (OSError, subprocess.TimeoutExpired):
            return False
        return done.returncode == 0

    names = [each.name for each in packages]
    wanted = ("install", "-y", "--no-install-recommends", *names)
    if not succeeds(INSTALL_TIMEOUT_S, *wanted) and succeeds(UPDATE_TIMEOUT_S, "update"):
        succeeds(INSTALL_TIMEOUT_S, *wanted)


def main(wanted_by: list[Wanted]) -> None:
    missing = missing_packages(*wanted_by)
    if not missing:
        return
    apt_get = apt_command()
    if apt_get is not None:
        for each in missing:
            print(f"system package {each.name}: installing, for {each.purpose} ({FORBID}=1 forbids it)", flush=True)
        install(apt_get, missing)
        missing = missing_packages(*wanted_by)
    for each in missing:
        print(f"system package {each.name}: missing, for {each.purpose}")
    if missing:
        print(f"all of them: {install_command(missing)}", flush=True)


if __name__ == "__main__":
    main([cast(Wanted, word) for word in sys.argv[1:]])
