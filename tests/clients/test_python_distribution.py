"""The two distributions: built, and the client flown with where there is nothing but numpy and msgpack."""

from __future__ import annotations

import email
import json
import os
import runpy
import subprocess
import sys
import sysconfig
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from skyloop.links.loop.loop_link import LoopConfig
from skyloop.links.loop.targets import LocalProcess
from skyloop.run import run_scenario
from skyloop.sim.scenario import load_scenario
from skyloop_client.version import __version__

ROOT = Path(__file__).parents[2]
RELEASE: dict[str, Any] = runpy.run_path(str(ROOT / "tools" / "release.py"))

BOOT = "import sys; sys.path[:0] = {folders!r}; from skyloop_client.__main__ import main; sys.exit(main(sys.argv[1:]))"

PILOT = """
import importlib, json, pkgutil, sys
from pathlib import Path
import skyloop_client
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
            for module in pkgutil.walk_packages(skyloop_client.__path__, "skyloop_client."):
                try:
                    importlib.import_module(module.name)
                except ImportError as error:
                    if error.name != "cv2":
                        raise
            files = [getattr(module, "__file__", None) for module in list(sys.modules.values())]
            seen = {"armed": bundle.status.armed, "files": [file for file in files if file]}
            seen["simulator"] = importlib.util.find_spec("skyloop") is not None
            Path(__file__).with_name("seen.json").write_text(json.dumps(seen))
"""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    built: dict[str, Path] = RELEASE["build"](tmp_path_factory.mktemp("dist"))
    return built


def pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-input", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, "PIP_NO_INDEX": "1"})
    assert done.returncode == 0, done.stdout + done.stderr


def metadata_of(wheel: Path) -> Any:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return email.message_from_bytes(archive.read(name))


def needs(wheel: Path) -> set[str]:
    """What is needed whatever extras are chosen."""
    lines = metadata_of(wheel).get_all("Requires-Dist")
    return {line.split(">")[0].split("<")[0] for line in lines if "extra ==" not in line}


@pytest.mark.processes
def test_both_have_the_version_of_the_one_file_and_share_no_file(wheels: dict[str, Path], tmp_path: Path) -> None:
    assert RELEASE["check_contents"](wheels) == __version__
    assert needs(wheels["skyloop_client"]) == {"numpy", "msgpack"}
    assert "skyloop-client" in needs(wheels["skyloop"])
    doubled = tmp_path / wheels["skyloop"].name
    doubled.write_bytes(wheels["skyloop"].read_bytes())
    with zipfile.ZipFile(doubled, "a") as archive:
        archive.writestr("skyloop_client/wire.py", "")
    with pytest.raises(RELEASE["ReleaseError"], match="skyloop and skyloop_client both hold skyloop_client/wire"):
        RELEASE["check_contents"]({**wheels, "skyloop": doubled})


@pytest.mark.parametrize(
    ("name", "source"), [("skyloop", "src/skyloop"), ("skyloop_client", "clients/python/src/skyloop_client")]
)
@pytest.mark.processes
def test_a_wheel_holds_the_whole_package_its_licence_and_its_command(
    name: str, source: str, wheels: dict[str, Path]
) -> None:
    with zipfile.ZipFile(wheels[name]) as archive:
        held = set(archive.namelist())
        licence = archive.read(f"{name}-{__version__}.dist-info/licenses/LICENSE")
        scripts = archive.read(f"{name}-{__version__}.dist-info/entry_points.txt").decode()
    package = ROOT / source
    tracked = {path for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts}
    assert {path.relative_to(package.parent).as_posix() for path in tracked} == {
        path for path in held if path.startswith(f"{name}/")
    }
    assert licence == (ROOT / "LICENSE").read_bytes()
    assert f"{name.replace('_', '-')} = {name}." in scripts


@pytest.mark.processes
def test_a_pilot_and_an_agent_need_nothing_else(wheels: dict[str, Path], tmp_path: Path) -> None:
    installed, beside = tmp_path / "installed", tmp_path / "beside"
    pip("install", "--no-deps", "--no-compile", "--target", str(installed), str(wheels["skyloop_client"]))
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
    summary = run_scenario(
        load_scenario("hover", {"duration": 2.0}),
        tmp_path / "run",
        links=[LoopConfig(wait_s=20.0, target=LocalProcess(sut))],
    )
    assert (tmp_path / "run" / "sut.txt").read_text() == ""
    assert summary["links"]["loop"]["interactions"] >= 25
    seen = json.loads((tmp_path / "seen.json").read_text())
    assert seen["armed"] and not seen["simulator"]
    library = (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"))
    allowed = (str(installed), str(beside), str(tmp_path / "pilot.py"), *library)
    assert [file for file in seen["files"] if not file.startswith(allowed)] == []
    assert [file for file in seen["files"] if "site-packages" in file] == []
