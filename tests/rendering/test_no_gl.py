"""Machines without OpenGL, with a driver that crashes, or with one that hangs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from painted_world import panel, shape
from skyloop.rendering import client
from skyloop.rendering.client import HOW_TO_INSTALL, Renderer
from skyloop.world.model import Model
from skyloop_client.errors import RendererError

pytestmark = pytest.mark.renders

NO_EGL = {"GLCONTEXT_LINUX_LIBEGL": "libnothing.so"}
NO_DRIVER = {"__EGL_VENDOR_LIBRARY_DIRS": "/nonexistent", "LIBGL_DRIVERS_PATH": "/nonexistent"}
SCENARIO = """
name: seeing
duration: 1
world: flat
vehicles:
  - {name: drone, airframe: iris, state: truth, sensors: {camera: {kind: camera, rate_hz: 10}}}
"""


@pytest.fixture(scope="module")
def model() -> Model:
    model = Model()
    model.place(shape(panel((6.0, 0.0, 0.0), (0.0, -4.0, 0.0), (0.0, 0.0, 4.0))), is_a="wall")
    model.freeze()
    return model


def trouble_of(model: Model) -> str:
    """The one line that the first use ends with; nothing is left running."""
    with pytest.raises(RendererError) as caught:
        renderer = Renderer(model)
        renderer.wait_ready()
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("environment", [NO_EGL, NO_DRIVER], ids=["no EGL", "no driver"])
def test_without_opengl_the_first_use_says_what_to_install(
    model: Model, monkeypatch: pytest.MonkeyPatch, environment: dict[str, str]
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    said = trouble_of(model)
    assert said.startswith("the renderer cannot start OpenGL: ")
    assert said.endswith(HOW_TO_INSTALL)


def fake_moderngl(folder: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    (folder / "moderngl.py").write_text(body)
    monkeypatch.setenv("PYTHONPATH", str(folder))


def test_a_driver_that_crashes_is_reported(model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_moderngl(tmp_path, monkeypatch, "import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)\n")
    said = trouble_of(model)
    assert said.startswith("the renderer process ended by signal 11")
    assert said.endswith(HOW_TO_INSTALL)


def test_a_driver_that_hangs_is_given_up(model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_moderngl(tmp_path, monkeypatch, "import time\ntime.sleep(600)\n")
    monkeypatch.setattr(client, "LOOK_S", 0.01)
    monkeypatch.setattr(client, "LOOK_S", 0.01)
    assert trouble_of(model) == "the renderer gave no answer for 1 s and was ended"


def test_a_run_ends_with_one_line_and_without_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in NO_EGL.items():
        monkeypatch.setenv(name, value)
    scenario = tmp_path / "seeing.yaml"
    scenario.write_text(SCENARIO)
    command = [sys.executable, "-c", "from skyloop.cli import main; main()", "run", str(scenario)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    said = [line for line in done.stderr.splitlines() if "compiling" not in line]
    assert len(said) == 1 and said[0].endswith(HOW_TO_INSTALL)
    assert list(tmp_path.iterdir()) == [scenario]
