"""Checks what this machine has, what it lacks, and how to get it."""

from __future__ import annotations

import json
import os
import platform
import sys
import tempfile
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

from packaging.requirements import Requirement

from skyloop.core.machine_info import cpu_model, gpu_name, memory_gib, os_name, output_of, package_version, usable_cores
from skyloop.core.plugins import plugins
from skyloop.core.system_packages import install_command, missing_packages

ENOUGH_MEMORY_GIB = 2.0

WHAT_FOR = {
    "all": "for the plugins: odometry, maps, planners, landing, detection of people, JAX",
    "bench": "for `skyloop bench`",
    "campaign": "for `skyloop campaign`",
    "cockpit": "for `skyloop cockpit` and --cockpit",
    "dev": "for changing skyloop and running its tests",
    "docs": "for `make docs`",
    "foxglove": "for --foxglove",
    "gym": "for skyloop.gym",
    "mavlink": "for `skyloop mavlink`, PX4 and serial lines",
    "report": "for `skyloop reproduce all`",
    "ros2": "for --ros2",
    "sb3": "for skyloop.gym.sb3, which trains with Stable-Baselines3",
    "view": "for `skyloop view`",
}
"""By extra."""

State = Literal["ok", "missing", "optional"]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The result of one check. `state` is "missing" only for things that skyloop needs."""

    name: str
    state: State
    found: str
    advice: str = ""
    """Empty, or what to do."""


def examine() -> list[Diagnosis]:
    """Everything that is useful before a first flight or for a bug report."""
    return [
        Diagnosis("python", "ok", f"{platform.python_version()} on {os_name()}"),
        Diagnosis("cpu", "ok", cpu_model()),
        Diagnosis("cores", "ok", str(usable_cores())),
        _memory(),
        *(_package(name) for name in ("numpy", "numba", "scipy")),
        _kernel_cache(),
        _opengl(),
        _gpu(),
        *_system_packages(),
        *_extras(),
        *_plugins(),
    ]


# ---- the machine


def _memory() -> Diagnosis:
    gib = memory_gib()
    if gib < ENOUGH_MEMORY_GIB:
        advice = f"compiling the kernels needs about {ENOUGH_MEMORY_GIB:g} GiB; close other programs or add swap"
        return Diagnosis("memory", "optional", f"{gib} GiB", advice)
    return Diagnosis("memory", "ok", f"{gib} GiB")


def _gpu() -> Diagnosis:
    name = gpu_name()
    if name is None:
        return Diagnosis("gpu", "optional", "no NVIDIA GPU found", "none is needed")
    return Diagnosis("gpu", "ok", name)


# ---- packages and kernels


def _package(name: str) -> Diagnosis:
    version = package_version(name)
    if version is None:
        return Diagnosis(name, "missing", "not installed", "run `make setup`")
    return Diagnosis(name, "ok", version)


def _extras(distribution: str = "skyloop") -> list[Diagnosis]:
    """One finding for each extra of a distribution, from the metadata of this installation. Nothing is imported."""
    try:
        about = metadata.metadata(distribution)
    except metadata.PackageNotFoundError:
        folder = Path(__file__).parents[1]
        found = f"unknown: {distribution} runs from {folder} and is not installed"
        return [Diagnosis("extras", "optional", found, "run `make setup` there")]
    requirements = [Requirement(line) for line in about.get_all("Requires-Dist") or ()]
    return [_extra(distribution, name, requirements) for name in sorted(about.get_all("Provides-Extra") or ())]


def _extra(distribution: str, name: str, requirements: list[Requirement]) -> Diagnosis:
    def belongs(requirement: Requirement) -> bool:
        marker = requirement.marker
        return marker is not None and marker.evaluate({"extra": name}) and not marker.evaluate({"extra": ""})

    shown = f"extra: {name}" if distribution == "skyloop" else f"extra: {distribution}[{name}]"
    versions = {each.name: package_version(each.name) for each in requirements if belongs(each)}
    absent = [package for package, version in versions.items() if version is None]
    if absent:
        what_for = WHAT_FOR.get(name, "optional") if distribution == "skyloop" else "optional"
        advice = f"{what_for}: pip install '{distribution}[{name}]'"
        return Diagnosis(shown, "optional", f"not installed: {', '.join(absent)}", advice)
    listed = [f"{package} {version}" for package, version in versions.items()]
    return Diagnosis(shown, "ok", ", ".join(listed) if len(listed) < 5 else f"all {len(listed)} packages")


def _plugins() -> list[Diagnosis]:
    """One finding for each plugin that is installed beside skyloop, and for each of its extras."""
    found = []
    for each in plugins()[1:]:
        if each.plugin is None:
            fault = f"cannot be loaded: {each.fault}"
            found.append(Diagnosis(f"plugin: {each.name}", "optional", fault, "update or uninstall it"))
        else:
            found += [Diagnosis(f"plugin: {each.name}", "ok", each.version), *_extras(each.distribution)]
    return found


def _system_packages() -> list[Diagnosis]:
    """One finding for each that is missing, or one for all. OpenGL is tried for real, not looked for."""
    missing = missing_packages("tests", "slow tests")
    if not missing:
        return [Diagnosis("system packages", "ok", "all that flights and tests use are installed")]
    return [
        Diagnosis(f"system: {each.name}", "optional", "not installed", f"for {each.purpose}: {install_command([each])}")
        for each in missing
    ]


def _kernel_cache() -> Diagnosis:
    if package_version("numba") is None:
        return Diagnosis("kernel cache", "missing", "numba is not installed", "run `make setup`")
    from skyloop.core.jit import kernel_cache_folder, kernels_in_cache

    folder = kernel_cache_folder()
    if not _writable(folder):
        advice = "kernels are compiled at every start; set XDG_CACHE_HOME to a folder you may write"
        return Diagnosis("kernel cache", "missing", f"{folder} cannot be written", advice)
    count = kernels_in_cache()
    if count == 0:
        advice = "the first run compiles them, once, in 10-20 s"
        return Diagnosis("kernel cache", "optional", f"no kernels compiled yet in {folder}", advice)
    return Diagnosis("kernel cache", "ok", f"{count} kernels compiled in {folder}")


def _writable(folder: Path) -> bool:
    """Tested with a real file, because permission bits are not enough on read-only or full disks."""
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    try:
        with tempfile.TemporaryFile(dir=existing):
            return True
    except OSError:
        return False


# ---- OpenGL


def _opengl() -> Diagnosis:
    """Tested in another process, because a broken driver may hang or crash."""
    from skyloop.rendering.client import HOW_TO_INSTALL
    from skyloop.rendering.egl_devices import HOW_TO_USE_A_GPU, VARIABLE

    answer = output_of([sys.executable, "-c", "from skyloop.rendering.process import probe; probe()"])
    try:
        answered = json.loads(answer.splitlines()[-1]) if answer else None
        why = answered["error"] if isinstance(answered, dict) else "no OpenGL 4.3 without a screen"
        renderer, version = answered if isinstance(answered, list) else (None, None)
    except (ValueError, KeyError):
        renderer, why = None, "no OpenGL 4.3 without a screen"
    if renderer is None:
        advice = "" if HOW_TO_USE_A_GPU in why else HOW_TO_INSTALL
        return Diagnosis("OpenGL", "missing", f"cameras do not work: {why}", advice)
    is_cpu = any(name in renderer for name in ("llvmpipe", "softpipe", "SWR"))
    found = f"{renderer}, OpenGL {version}: the {'CPU' if is_cpu else 'GPU'} renders"
    gpu = gpu_name() if is_cpu and os.environ.get(VARIABLE, "auto") == "auto" else None
    if gpu is not None:
        return Diagnosis("OpenGL", "optional", f"{found}, although there is {gpu}", HOW_TO_USE_A_GPU)
    return Diagnosis("OpenGL", "ok", found)
