"""The machine and the software a figure, a run or a recording was made with."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from skyloop_client.version import __version__

PROBE_TIMEOUT_S = 20.0


def machine_description() -> dict[str, Any]:
    """The machine a figure was measured on."""
    return {
        "cpu": cpu_model(),
        "cores": usable_cores(),
        "memory_gib": memory_gib(),
        "python": platform.python_version(),
        "numpy": package_version("numpy"),
        "numba": package_version("numba"),
        "os": os_name(),
        "gpu": gpu_name(),
    }


def versions() -> dict[str, str | None]:
    """What a run folder or a recording says about the software that made it."""
    return {
        "skyloop": __version__,
        "python": platform.python_version(),
        "numpy": package_version("numpy"),
        "numba": package_version("numba"),
        "machine": platform.machine(),
    }


def cpu_model(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    try:
        lines = cpuinfo.read_text().splitlines()
    except OSError:
        lines = []
    for line in lines:
        key, _, value = line.partition(":")
        if key.strip() in ("model name", "Model") and value.strip():
            return value.strip()
    return platform.processor() or platform.machine() or "unknown"


def usable_cores() -> int:
    """Cores this process may run on, which taskset and containers can make fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def memory_gib() -> float:
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1)


def gpu_name() -> str | None:
    """Name, memory and driver of each NVIDIA GPU, or None."""
    if shutil.which("nvidia-smi") is None:
        return None
    query = ["nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"]
    answer = output_of(query)
    return "; ".join(answer.splitlines()) if answer else None


def os_name() -> str:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return platform.platform()


def package_version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def output_of(command: list[str]) -> str | None:
    """What a command prints, or None when it fails, hangs or does not exist."""
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PROBE_TIMEOUT_S
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
