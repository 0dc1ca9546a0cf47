"""The small distribution for targets: built, installed, and flown with where there is nothing but numpy and msgpack."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

import skyloop
from skyloop.apps.loop import LoopOptions, run_loop
from skyloop.links.loop.targets import LocalProcess
from skyloop.sim.scenario import load_scenario

ROOT = Path(__file__).parents[2]

BOOT = "import sys; sys.path[:0] = {folders!r}; from skyloop_client.__main__ import main; sys.exit(main(sys.argv[1:]))"

PILOT = """
import importlib, json, pkgutil, sys
from pathlib import Path
import skyloop
from skyloop_client.messages import Arm, TakeOff

class Pilot:
    done = False
    asked = 0

    def __call__(self, bundle):
        self.asked += 1
        if self.asked == 1:
            return [Arm(), TakeOff(1.0)]
        self.done = bundle.t_ns > 500_000_000
        if self.done:
            for module in pkgutil.walk_packages(skyloop.__path__, "skyloop."):
                try:
                    importlib.import_module(module.name)
                except ImportError as error:
                    if error.name != "cv2":
                        raise
            files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
            seen = {"armed": bundle.status.armed, "files": [file for file in files if file]}
            Path(__file__).with_name("seen.json").write_text(json.dumps(seen))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    pip("wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), str(ROOT / "clients" / "python"))
    (made,) = folder.glob("*.whl")
    return made


def pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "PIP_NO_INDEX": "1"})
    assert done.returncode == 0, done.stdout + done.stderr


def test_it_has_the_version_of_skyloop_and_the_command(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        information = next(name for name in names if name.endswith(".dist-info/METADATA"))
        metadata = archive.read(information).decode()
        scripts = archive.read(information.replace("METADATA", "entry_points.txt")).decode()
    assert f"Version: {skyloop.__version__}" in metadata
    needed = {line.split()[1].split(">")[0] for line in metadata.splitlines() if line.startswith("Requires-Dist")}
    assert needed == {"numpy", "msgpack", "opencv-python-headless"}
    assert "skyloop-client = skyloop_client.__main__:main" in scripts
    client = {path.name for path in (ROOT / "src" / "skyloop" / "client").glob("*.py")}
    assert client == {Path(name).name for name in names if name.startswith("skyloop/client/")}


def test_a_pilot_and_an_agent_need_nothing_else(wheel: Path, tmp_path: Path) -> None:
    installed, beside = tmp_path / "installed", tmp_path / "beside"
    pip("install", "--no-deps", "--no-compile", "--target", str(installed), str(wheel))
    beside.mkdir()
    for package in ("numpy", "msgpack"):
        spec = find_spec(package)
        assert spec is not None and spec.origin is not None
        home = Path(spec.origin).parent
        for each in (home, home.with_name(f"{package}.libs")):
            if each.exists():
                (beside / each.name).symlink_to(each)
    (tmp_path / "pilot.py").write_text(PILOT)
    # -I -S: no site-packages, no PYTHONPATH
    python = [sys.executable, "-I", "-S", "-c", BOOT.format(folders=[str(installed), str(beside)])]
    sut = [*python, "agent", "--", *python, "pilot", f"{tmp_path / 'pilot.py'}:Pilot"]
    summary = run_loop(
        load_scenario("hover", {"duration": 2.0}), tmp_path / "run", LoopOptions(wait_s=20.0), LocalProcess(sut)
    )
    assert (tmp_path / "run" / "sut.txt").read_text() == ""
    assert summary["links"]["loop"]["interactions"] >= 25
    seen = json.loads((tmp_path / "seen.json").read_text())
    assert seen["armed"]
    library = (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"))
    allowed = (str(installed), str(beside), str(tmp_path / "pilot.py"), *library)
    assert [file for file in seen["files"] if not file.startswith(allowed)] == []
    assert [file for file in seen["files"] if "site-packages" in file] == []
