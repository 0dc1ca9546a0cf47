"""Builds all distributions into dist/ and tries them in an empty environment; `make release` calls it.

The wheels are installed where there is nothing else: first the client alone, then the simulator beside it, then the
plugins as `skyloop[all]`. CONTRIBUTING.md says what comes before and after.
"""

from __future__ import annotations

import email
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLUGINS = {path.name.replace("-", "_"): path for path in sorted((ROOT / "plugins").iterdir())}
PROJECTS = {"skyloop": ROOT, "skyloop_client": ROOT / "clients" / "python", **PLUGINS}
MOST_BYTES = 2_000_000
"""Of the simulator's wheel."""


class ReleaseError(Exception):
    """What a release must not have."""


def main() -> int:
    dist = ROOT / "dist"
    try:
        print("release 1/5: building wheels and sdists")
        shutil.rmtree(dist, ignore_errors=True)
        wheels = build(dist)
        print("release 2/5: comparing what they hold")
        version = check_contents(wheels)
        check_changelog(version)
        with tempfile.TemporaryDirectory(prefix="skyloop release ") as folder:
            check_sdists(dist, Path(folder))
            print("release 3/5: the client alone in an empty environment")
            environment = Environment(Path(folder))
            check_client_alone(environment, wheels)
            print("release 4/5: the simulator beside it (downloads its dependencies, compiles its kernels)")
            check_simulator(environment, wheels)
            print("release 5/5: the plugins beside both (downloads several hundred MB)")
            check_plugins(environment, wheels)
    except ReleaseError as error:
        print(f"release: {error}", file=sys.stderr)
        return 1
    print(f"release: {version} is good; dist/ holds " + ", ".join(sorted(path.name for path in dist.iterdir())))
    return 0


def build(dist: Path) -> dict[str, Path]:
    """The wheel of each distribution; sdists beside them."""
    wheels = {}
    for name, project in PROJECTS.items():
        run([sys.executable, "-m", "hatchling", "build", "-d", str(dist)], cwd=project)
        (wheels[name],) = dist.glob(f"{name}-*.whl")
    return wheels


def check_contents(wheels: Mapping[str, Path]) -> str:
    """None writes over another's files, the simulator is small, and all are of one version; returns that."""
    files, versions = {}, {}
    for name, wheel in wheels.items():
        with zipfile.ZipFile(wheel) as archive:
            files[name] = set(archive.namelist())
            (metadata,) = (each for each in files[name] if each.endswith(".dist-info/METADATA"))
            versions[name] = str(email.message_from_bytes(archive.read(metadata))["Version"])
    for first, second in combinations(files, 2):
        if shared := files[first] & files[second]:
            raise ReleaseError(f"{first} and {second} both hold {sorted(shared)[0]} ({len(shared)} files)")
    size = wheels["skyloop"].stat().st_size
    if size > MOST_BYTES:
        raise ReleaseError(f"the simulator's wheel has {size / 1e6:.2f} MB; at most {MOST_BYTES / 1e6:g} are allowed")
    if len(set(versions.values())) != 1:
        raise ReleaseError(f"the wheels have different versions: {versions}; set them as version.py has it")
    return versions["skyloop"]


def check_changelog(version: str) -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    heading = re.search(r"^## (\S+)(.*)$", text, flags=re.MULTILINE)
    if heading is None or heading[1] != version:
        raise ReleaseError(f"the first version in CHANGELOG.md is not {version}; write down what changed")
    if not re.search(r"\d{4}-\d{2}-\d{2}", heading[2]):
        print(f"release: note: CHANGELOG.md gives no date for {version}; set it before publishing")


def check_sdists(dist: Path, folder: Path) -> None:
    """A wheel made from the sdist is the same wheel, byte for byte."""
    again = folder / "again"
    for sdist in dist.glob("*.tar.gz"):
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet", "--no-deps"]
        run([*pip, "--no-build-isolation", "--wheel-dir", str(again), str(sdist)])
    for wheel in dist.glob("*.whl"):
        if (again / wheel.name).read_bytes() != wheel.read_bytes():
            raise ReleaseError(f"{wheel.name} comes out different from its sdist; something is missing there")


class Environment:
    """A new environment and an empty home, away from this tree."""

    def __init__(self, folder: Path) -> None:
        self.bin = folder / "venv" / "bin"
        self._home = folder / "home"
        self._home.mkdir()
        venv.create(self.bin.parent, with_pip=True)

    def run(self, program: str, *words: str) -> str:
        kept = ("PATH", "LANG", "LD_LIBRARY_PATH", "TMPDIR")
        environment = {name: value for name, value in os.environ.items() if name in kept}
        return run([str(self.bin / program), *words], cwd=self._home, env={**environment, "HOME": str(self._home)})

    def install(self, *wheels: Path | str) -> None:
        """With the versions the tests run with; where to find them, pip's own settings say."""
        pip = [str(self.bin / "pip"), "--disable-pip-version-check", "install", "--quiet"]
        run([*pip, "--constraint", str(ROOT / "requirements.lock"), *map(str, wheels)], cwd=self._home)

    def packages(self) -> set[str]:
        listed = json.loads(self.run("pip", "--disable-pip-version-check", "list", "--format", "json"))
        return {str(package["name"]) for package in listed}


def check_client_alone(environment: Environment, wheels: Mapping[str, Path]) -> None:
    before = environment.packages()
    environment.install(wheels["skyloop_client"])
    brought = environment.packages() - before
    if brought != {"skyloop-client", "numpy", "msgpack"}:
        raise ReleaseError(f"skyloop-client brings {sorted(brought)}; it may need numpy and msgpack only")
    check_client(environment)


def check_client(environment: Environment) -> None:
    environment.run("pip", "check")
    if "agent" not in environment.run("skyloop-client", "--help"):
        raise ReleaseError("skyloop-client --help does not name its verbs")
    environment.run("python", "-c", "import skyloop_client.messages, skyloop_client.agent, skyloop_client.tasks")


def check_simulator(environment: Environment, wheels: Mapping[str, Path]) -> None:
    environment.install(wheels["skyloop"])
    check_client(environment)
    flown = json.loads(environment.run("skyloop", "run", "hover", "--json", "--out", "flown"))
    events = flown["vehicles"]["drone"]["events"]
    if not any("landed" in event for event in events):
        raise ReleaseError(f"`skyloop run hover` did not land: {events}")


def check_plugins(environment: Environment, wheels: Mapping[str, Path]) -> None:
    """`skyloop[all]` brings them, each can be loaded, and a scenario and a verb of theirs run."""
    environment.install(f"{wheels['skyloop']}[all]", *(wheels[name] for name in PLUGINS))
    check_client(environment)
    found = {each["name"]: each for each in json.loads(environment.run("skyloop", "doctor", "--json"))}
    for name in (f"plugin: {plugin.removeprefix('skyloop_')}" for plugin in PLUGINS):
        if name not in found or found[name]["state"] != "ok":
            raise ReleaseError(f"{name} does not load: {found.get(name)}")
    short = ("--set", "duration=1", "--json", "--out", "city")
    if not json.loads(environment.run("skyloop", "run", "unknown-city", *short))["messages"]["drone/slam"]:
        raise ReleaseError("the estimator of `skyloop run unknown-city` published nothing")
    environment.run("skyloop", "localise", "--help")
    environment.run("python", "-c", "from skyloop_detect.detector import load_detector; load_detector()")
    ours = [name.replace("_", "-") for name in wheels if name != "skyloop_client"]
    environment.run("pip", "uninstall", "--quiet", "--yes", *ours)
    check_client(environment)


def run(command: Sequence[str], **options: object) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)  # type: ignore[call-overload]
    if done.returncode:
        lines = (done.stderr + done.stdout).strip().splitlines() or ["no reason given"]
        raise ReleaseError(f"{' '.join(command)} failed: {lines[-1]}")
    return str(done.stdout)


if __name__ == "__main__":
    sys.exit(main())
