"""Environments with the clients of AirSim and of Cosys-AirSim, made once and kept in the user's cache.

Both bring a module `msgpackrpc`, so each needs an environment of its own; they are in nobody's dependencies.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

from left_out import leave_out
from made_once import made_once

STEPS = {
    # the sdist imports its dependencies while it is built; OpenCV, 200 MB, is only for a writer that nobody calls
    "airsim": [
        ["numpy", "msgpack-rpc-python", "setuptools", "wheel"],
        ["--no-build-isolation", "--no-deps", "airsim==1.8.1"],
    ],
    "cosysairsim": [["cosysairsim==3.5.0", "rpc-msgpack==0.6"]],
}
PATIENCE_S = 240.0


def client_python(name: str) -> Path:
    """The interpreter of an environment in which `import <name>` works; left out where it cannot be made."""
    return made_once(name, partial(_make, name)) / "bin" / "python"


def _make(name: str, folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    # our pip fills it and compiles nothing: a pip of its own, and sources that no test imports, took twice the rest
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True, timeout=PATIENCE_S)
    pip: list[Any] = [sys.executable, "-m", "pip", "--python", folder / "bin" / "python"]
    for packages in STEPS[name]:
        install = [*pip, "install", "--quiet", "--no-compile", *packages]
        try:
            done = subprocess.run(install, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        except subprocess.TimeoutExpired:
            leave_out("the package index")
        if done.returncode:
            print(done.stderr[-1000:])
            leave_out("the package index")


def run_client(name: str, script: Path, *arguments: str) -> str:
    """What a script of the real client prints; it must end well."""
    command: list[Any] = [client_python(name), "-W", "ignore", script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout
