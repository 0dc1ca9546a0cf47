"""`--device` chooses who draws, and says in one line why it cannot. Several renderers share a device."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from painted_world import panel, shape
from skyloop.cli import main
from skyloop.rendering import egl_devices
from skyloop.rendering.client import Renderer
from skyloop.rendering.egl_devices import HOW_TO_USE_A_GPU, VARIABLE, EglDevice, candidates, listed_devices
from skyloop.world.model import Model
from skyloop.world.views import Pinhole, ViewPose, ViewRequest
from skyloop.world.weather import WeatherConfig, weather_at
from skyloop_client.errors import RendererError, SkyloopError

GPU, CPU = EglDevice(0, False), EglDevice(1, True)


@pytest.fixture(scope="module")
def model() -> Model:
    model = Model()
    model.place(shape(panel((6.0, 0.0, 0.0), (0.0, -4.0, 0.0), (0.0, 0.0, 4.0))), is_a="wall")
    model.freeze()
    return model


def test_a_choice_is_among_what_egl_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(egl_devices, "listed_devices", lambda: [GPU, CPU])
    assert (candidates("auto"), candidates("gpu"), candidates("cpu")) == ([GPU, CPU], [GPU], [CPU])
    with pytest.raises(SkyloopError, match="no device named 'tpu'"):
        candidates("tpu")
    monkeypatch.setattr(egl_devices, "listed_devices", lambda: [GPU])
    with pytest.raises(RendererError, match="only GPUs"):
        candidates("cpu")


def test_without_a_gpu_one_line_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(egl_devices, "listed_devices", lambda: [CPU])
    with pytest.raises(RendererError) as refused:
        candidates("gpu")
    assert str(refused.value) == f"--device gpu: EGL has no GPU, only the software renderer; {HOW_TO_USE_A_GPU}"


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GLCONTEXT_LINUX_LIBEGL", "libnothing.so")
    with pytest.raises(RendererError, match=r"^the EGL loader \(libnothing\.so\) is missing$"):
        listed_devices()


def test_an_unknown_device_is_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["skyloop", "--device", "tpu", "list"])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 1
    assert capsys.readouterr().err == "skyloop: no device named 'tpu'; did you mean 'gpu'?\n"


@pytest.mark.renders
def test_several_renderers_share_a_device(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each worker of a recording has one. Their pictures are under way at the same time, and are the same."""
    monkeypatch.setenv(VARIABLE, "cpu" if listed_devices()[0].is_software else "gpu")
    pose = ViewPose(0, np.zeros(3), np.array([0.5, -0.5, 0.5, -0.5]))
    request = ViewRequest(Pinhole.from_fov(64, 48, 1.5), pose)
    weather = weather_at(WeatherConfig(), 50.0)
    renderers = [Renderer(model) for _ in range(2)]
    try:
        for each in renderers:
            for _ in range(2):
                each.submit([request], weather)
        pictures = [each.collect()[0] for each in renderers for _ in range(2)]
    finally:
        for each in renderers:
            each.close()
    assert renderers[0].description == renderers[1].description != ""
    assert len({picture.colour.tobytes() for picture in pictures}) == 1
    assert len({picture.surface.tobytes() for picture in pictures}) == 1
    assert (pictures[0].surface[..., 1] > 0).any()
