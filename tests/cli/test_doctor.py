from __future__ import annotations

import re
import tomllib
from pathlib import Path

import numba
import pytest
from typer.testing import CliRunner

from skyloop.cli import doctor
from skyloop.cli.verbs import app
from skyloop.core import machine_info
from skyloop.core.system_packages import package_of
from skyloop.rendering.client import HOW_TO_INSTALL
from skyloop.rendering.egl_devices import HOW_TO_USE_A_GPU


@pytest.fixture(scope="module")
def findings() -> list[doctor.Diagnosis]:
    return doctor.examine()


@pytest.mark.renders
def test_this_machine_can_fly(findings: list[doctor.Diagnosis]) -> None:
    assert [each.name for each in findings if each.state == "missing"] == []
    assert len({each.name for each in findings}) == len(findings)
    assert all(each.found for each in findings)
    assert all(each.advice for each in findings if each.state != "ok")


def test_an_absent_package_is_missing_and_says_how_to_get_it() -> None:
    absent = doctor._package("a-package-nobody-has")
    assert absent.state == "missing"
    assert "make setup" in absent.advice


@pytest.mark.processes
def test_gpu_is_what_nvidia_smi_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "nvidia-smi"
    fake.write_text("#!/bin/sh\necho 'Some GPU, 8192 MiB, 600.1'\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert machine_info.gpu_name() == "Some GPU, 8192 MiB, 600.1"
    fake.write_text("#!/bin/sh\nexit 9\n")
    assert machine_info.gpu_name() is None
    fake.unlink()
    assert doctor._gpu().state == "optional"


def test_kernel_cache_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    a_file = tmp_path / "file"
    a_file.write_text("")
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(a_file))
    cache = doctor._kernel_cache()
    assert cache.state == "missing"
    assert "XDG_CACHE_HOME" in cache.advice


@pytest.mark.renders
def test_opengl_is_really_started(monkeypatch: pytest.MonkeyPatch) -> None:
    assert re.fullmatch(r".+, OpenGL \d\.\d.*: the [CG]PU renders", doctor._opengl().found)
    monkeypatch.setenv("GLCONTEXT_LINUX_LIBEGL", "libnothing.so")
    opengl = doctor._opengl()
    assert opengl.state == "missing"
    assert opengl.found == "cameras do not work: the EGL loader (libnothing.so) is missing"
    assert opengl.advice == HOW_TO_INSTALL
    assert "apt-get install libegl1 libgl1 libgl1-mesa-dri" in opengl.advice


def test_a_gpu_that_does_not_draw_is_told_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "gpu_name", lambda: "NVIDIA H200")
    monkeypatch.setattr(doctor, "output_of", lambda command: '["llvmpipe", "4.5"]')
    opengl = doctor._opengl()
    assert opengl.found == "llvmpipe, OpenGL 4.5: the CPU renders, although there is NVIDIA H200"
    assert (opengl.state, opengl.advice) == ("optional", HOW_TO_USE_A_GPU)
    monkeypatch.setenv("SKYLOOP_DEVICE", "cpu")
    assert doctor._opengl().state == "ok"
    monkeypatch.setattr(doctor, "output_of", lambda command: '["NVIDIA H200/PCIe/SSE2", "4.6"]')
    assert doctor._opengl().found == "NVIDIA H200/PCIe/SSE2, OpenGL 4.6: the GPU renders"


@pytest.mark.renders
def test_a_driver_that_is_missing_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The loader is there, and its folder of vendor files is empty."""
    monkeypatch.setenv("__EGL_VENDOR_LIBRARY_DIRS", str(tmp_path))
    opengl = doctor._opengl()
    assert opengl.found == "cameras do not work: the EGL loader is there, but it finds no driver"
    assert (opengl.state, opengl.advice) == ("missing", HOW_TO_INSTALL)


@pytest.mark.renders
def test_every_extra_is_listed_with_what_is_missing(findings: list[doctor.Diagnosis]) -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    listed = {each.name: each for each in findings if each.name.startswith("extra: ")}
    assert listed["extra: skyloop-landing[video]"].found.startswith("glfw ")
    found = {name: each for name, each in listed.items() if "[" not in name}
    assert sorted(found) == [f"extra: {name}" for name in sorted(project["optional-dependencies"])]
    assert all(name.removeprefix("extra: ") in doctor.WHAT_FOR for name in found)
    assert found["extra: mavlink"].state == "ok" and "pymavlink 2." in found["extra: mavlink"].found


def test_an_absent_extra_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    known = machine_info.package_version
    monkeypatch.setattr(doctor, "package_version", lambda name: None if name == "pyserial" else known(name))
    mavlink = {each.name: each for each in doctor._extras()}["extra: mavlink"]
    assert (mavlink.state, mavlink.found) == ("optional", "not installed: pyserial")
    assert mavlink.advice.endswith("pip install 'skyloop[mavlink]'")


def test_missing_system_packages_are_told_with_their_command(monkeypatch: pytest.MonkeyPatch) -> None:
    lacking = [package_of("chromium"), package_of("npm")]
    monkeypatch.setattr(doctor, "missing_packages", lambda *wanted_by: lacking)
    found = doctor._system_packages()
    assert [(each.name, each.state) for each in found] == [
        ("system: chromium", "optional"),
        ("system: npm", "optional"),
    ]
    assert found[0].advice == f"for {lacking[0].purpose}: sudo apt-get install chromium"
    monkeypatch.setattr(doctor, "missing_packages", lambda *wanted_by: [])
    (everything,) = doctor._system_packages()
    assert (everything.name, everything.state) == ("system packages", "ok")


def test_brackets_are_printed(monkeypatch: pytest.MonkeyPatch) -> None:
    absent = doctor.Diagnosis("extra: bench", "optional", "not installed: a[b]", "pip install 'skyloop[bench]'")
    monkeypatch.setattr(doctor, "examine", lambda: [absent])
    said = CliRunner().invoke(app, ["doctor"]).output
    assert "pip install 'skyloop[bench]'" in said and "a[b]" in said
