"""examples/plugin is built and installed from wheels, in an environment with skyloop and nothing else of this tree."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from acme import ROOT

pytestmark = [pytest.mark.slow("builds wheels and installs them"), pytest.mark.processes]
BROKEN = {
    "pyproject.toml": """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "skyloop-broken"
version = "2.0"
[project.entry-points."skyloop.plugins"]
broken = "skyloop_broken:PLUGIN"
""",
    "src/skyloop_broken/__init__.py": "import no_such_package\n",
}
FAULT = "ModuleNotFoundError: No module named 'no_such_package'"


class Environment:
    """Empty but for what skyloop depends on, which is the packages of this environment without those of the tree."""

    def __init__(self, folder: Path) -> None:
        self._here, self.wheels = folder / "here", folder / "wheels"
        self._here.mkdir()
        venv.create(folder / "venv")
        self._python = folder / "venv" / "bin" / "python"
        needed = folder / "needed"
        needed.mkdir()
        for path in Path(sysconfig.get_path("purelib")).iterdir():
            if not path.name.startswith(("skyloop", "_editable", "__editable__", "__pycache__")):
                (needed / path.name).symlink_to(path)
        (site,) = (folder / "venv").glob("lib/python*/site-packages")
        (site / "needed.pth").write_text(f"{needed}\n")

    def build(self, project: Path) -> None:
        run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(self.wheels), cwd=project)

    def install(self) -> None:
        """All wheels, by the pip of this environment and without a network."""
        pip = [sys.executable, "-m", "pip", "--python", str(self._python), "install", "--quiet", "--no-index"]
        run(*pip, "--no-deps", *map(str, sorted(self.wheels.glob("*.whl"))), cwd=self._here)

    def skyloop(self, *words: str) -> tuple[str, str]:
        """What a verb says on stdout and stderr."""
        return run(str(self._python), "-m", "skyloop", *words, cwd=self._here)


def run(*command: str, cwd: Path) -> tuple[str, str]:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout, " ".join(done.stderr.split())


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    made = Environment(tmp_path_factory.mktemp("empty"))
    for project in (ROOT, ROOT / "clients/python", ROOT / "examples/plugin"):
        made.build(project)
    made.install()
    return made


def test_the_example_is_used_like_what_is_built_in(environment: Environment) -> None:
    listed = environment.skyloop("list")[0].splitlines()
    for name in ("beacon", "valley", "nearest"):
        assert any(line.split()[0] == name and line.rstrip().endswith("from beacon") for line in listed if line.strip())
    assert not any("from autonomy" in line for line in listed)
    found = {each["name"]: each for each in json.loads(environment.skyloop("doctor", "--json")[0])}
    assert [name for name in found if name.startswith("plugin: ")] == ["plugin: beacon"]
    assert (found["plugin: beacon"]["state"], found["plugin: beacon"]["found"]) == ("ok", "1.0")
    summary = json.loads(
        environment.skyloop("run", str(ROOT / "examples/plugin/flight.yaml"), "--out", "valley", "--json")[0]
    )
    assert any("landed" in event for event in summary["vehicles"]["drone"]["events"])
    said, _ = environment.skyloop("nearest", "valley")
    # past a beacon that stands 3 m aside, 2 m above the ground
    assert said.startswith("drone/beacon: 3.") and said.endswith(" m\n")


def test_a_plugin_that_cannot_be_imported_breaks_nothing_else(environment: Environment, tmp_path: Path) -> None:
    for name, text in BROKEN.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    environment.build(tmp_path)
    environment.install()
    listed, warned = environment.skyloop("list")
    assert "from beacon" in listed
    assert warned == f"skyloop: warning: plugin 'broken' is left out: {FAULT}"
    found = {each["name"]: each for each in json.loads(environment.skyloop("doctor", "--json")[0])}
    assert (found["plugin: broken"]["state"], found["plugin: broken"]["found"]) == (
        "optional", f"cannot be loaded: {FAULT}",
    )  # fmt: skip
    assert found["plugin: beacon"]["state"] == "ok"
    assert json.loads(environment.skyloop("run", "hover", "--set", "duration=0.1", "--json")[0])["scenario"] == "hover"
