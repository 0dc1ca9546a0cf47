"""The detector on a board: which programs it refuses to become, and a flight with it under an emulator."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import pytest
import torch

from skyloop.cli.verbs import execute
from skyloop.sim.scenario import load_scenario
from skyloop_client.errors import LinkError, SkyloopError
from skyloop_detect.commands.board_detector import board_command
from skyloop_detect.exporting import onnx_model
from skyloop_detect.network import Network

OPTIONS = "vehicles.drone.estimators.detect.options"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Untrained: it finds nothing, and says so for every image."""
    with torch.random.fork_rng():
        torch.manual_seed(1)
        path = tmp_path_factory.mktemp("model") / "untrained.onnx"
        onnx.save(onnx_model(Network(1), ("person",), {}), path)
    return path


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"detector": "labels"}, "the board runs the network, not the detector 'labels'"),
        ({"detector": "network", "window": True}, "the board has no screen"),
        (
            {"detector": "network", "options": {"runtime": "torch"}},
            "the board takes model and least_score, not runtime",
        ),
        ({"detector": "network", "options": {"model": "none.onnx"}}, "'none.onnx' does not exist"),
    ],
)
def test_what_the_board_cannot_do_is_one_line(options: dict[str, object], said: str) -> None:
    scenario = load_scenario("park-people", {OPTIONS: options})
    with pytest.raises(SkyloopError, match=said):
        board_command(scenario, "drone", "detect")


def test_the_command_names_camera_and_model(model: Path) -> None:
    options = {"detector": "network", "options": {"model": str(model), "least_score": 0.4}}
    command = board_command(load_scenario("park-people", {OPTIONS: options}), "drone", "detect")
    assert command[0].endswith("detect.cpp") and Path(command[1]).read_bytes()[4:]
    assert command[2:] == ["--camera", "front", "--estimator", "detect", "--vehicle", "drone"]


def test_another_estimator_stays_off_the_board() -> None:
    from skyloop.cli.loop_programs import estimator_from

    with pytest.raises(LinkError, match="the board runs programs for aarch64"):
        estimator_from(load_scenario("park-people"), "people", "board", 1.0)


@pytest.mark.slow("an emulated board takes four seconds for an image")
@pytest.mark.needs("aarch64-linux-gnu-g++", "qemu-aarch64")
def test_the_detector_looks_on_from_the_board(model: Path, tmp_path: Path) -> None:
    """docs/how-to/detection.md's command, with few images: each takes the emulator four seconds."""
    words = ["loop", "park-people", "--task", "detect", "--target", "board", "--speed", "40"]
    sets = {f"{OPTIONS}.detector": "network", f"{OPTIONS}.options.model": model, "duration": 1.6,
            "vehicles.drone.sensors.front.rate_hz": 2}  # fmt: skip
    for key, value in sets.items():
        words += ["--set", f"{key}={value}"]
    assert execute([*words, "--out", str(tmp_path / "run")]) == 0
    summary = json.loads((tmp_path / "run" / "summary.json").read_text(encoding="utf-8"))
    assert summary["messages"]["drone/detect/boxes"] >= 2
    (program,) = summary["links"]["loop"]["pilots"]
    assert program["computed_s"] > 0.0
