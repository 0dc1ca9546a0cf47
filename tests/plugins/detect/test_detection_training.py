"""A training that must learn four images by heart, and what comes out of it on every runtime."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from drawn_people import PER_IMAGE, drawn, write_both

from skyloop.core.detection_scores import overlaps
from skyloop.links.loop.targets import COMPILER, EMULATOR, runnable
from skyloop_client.errors import DatasetError, SetupError
from skyloop_detect import network, training
from skyloop_detect.augmentation import plain
from skyloop_detect.board_file import board_file
from skyloop_detect.commands.board_detector import SOURCE
from skyloop_detect.commands.train import score_model, train_detector
from skyloop_detect.dataset_reader import read_samples
from skyloop_detect.detector import WEIGHTS as SHIPPED_WEIGHTS
from skyloop_detect.detector import load_detector
from skyloop_detect.exporting import FILES
from skyloop_detect.image_store import ImageBatch, load_images
from skyloop_detect.samples import Sample
from skyloop_detect.training import WEIGHTS, TrainingOptions
from skyloop_detect.weights import begin_with, load_tensors

pytestmark = pytest.mark.flights

CPU = torch.device("cpu")
SIZES = {
    "STEM": 12,
    "STAGES": ((16, 2, 1, 2), (24, 2, 1, 2), (32, 2, 1, 2), (32, 2, 1, 1), (48, 2, 1, 2)),
    "PYRAMID": 32,
}
"""Of a small network that has every kind of layer of the real one."""
REAL_SIZES = {name: getattr(network, name) for name in SIZES}
IMAGES, EPOCHS = 4, 45
RATE = 0.02
"""High, because few steps must do."""


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    """Several threads wait for each other when other tests run beside."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module", autouse=True)
def small_network():
    with pytest.MonkeyPatch.context() as patch:
        for name, value in SIZES.items():
            patch.setattr(network, name, value)
        yield


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_both(tmp_path_factory.mktemp("drawn"), IMAGES)


@pytest.fixture(scope="module")
def trained(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("trained")
    options = TrainingOptions(epochs=EPOCHS, batch=IMAGES, rate=RATE, every=EPOCHS, augment=False)
    summary = train_detector(data, folder, options, device="cpu")
    assert summary["val_ap50"] > 0.95
    return folder


@pytest.mark.slow("trains a network")
def test_a_few_images_are_learnt_by_heart(trained: Path) -> None:
    summary = json.loads((trained / "summary.json").read_text(encoding="utf-8"))
    assert summary["classes"] == ["person"] and summary["epochs"] == EPOCHS
    assert all(size < 8e6 for size in summary["sizes"].values())
    card = (trained / "model-card.md").read_text(encoding="utf-8")
    assert f"| person | {summary['test']['ap50_person']['person']:.3f} |" in card and "## Limits" in card
    losses = [entry["loss/score"] + entry["loss/box"] for entry in summary["history"]]
    assert losses[-1] < 0.3 * losses[0]


@pytest.mark.parametrize(
    ("runtime", "file"),
    [("torch", WEIGHTS), *((r, f) for r in ("onnxruntime", "openvino") for f in FILES.values())],
)
def test_every_runtime_finds_the_blots(trained: Path, runtime: str, file: str) -> None:
    detector = load_detector(trained / file, runtime)
    found = 0
    for seed in range(IMAGES):
        image, boxes = drawn(seed)
        objects = detector.find(image)
        truth = np.array([[x, y, x + w, y + h] for x, y, w, h in boxes], float)
        found += int((overlaps(truth, objects.boxes_px).max(axis=1, initial=0.0) > 0.5).sum())
        assert set(objects.classes) <= {"person"} and (np.diff(objects.scores) <= 0.0).all()
    assert found >= 0.9 * IMAGES * PER_IMAGE


def test_onnx_answers_as_torch_does(trained: Path) -> None:
    """Also at a size at which maps of odd size are doubled and cut."""
    random = np.random.default_rng(3)
    torch_runtime = load_detector(trained / WEIGHTS, "torch")._runtime
    for size in ((120, 160), (75, 107)):
        image = random.integers(0, 256, (*size, 3), dtype=np.uint8)
        scores, offsets = torch_runtime.answer(image)
        for runtime in ("onnxruntime", "openvino"):
            other = load_detector(trained / FILES["fp32"], runtime)._runtime.answer(image)
            np.testing.assert_allclose(other[0], scores, atol=2e-4)
            np.testing.assert_allclose(other[1], offsets, atol=2e-3)
        half = load_detector(trained / FILES["fp16"], "onnxruntime")._runtime.answer(image)
        np.testing.assert_allclose(half[0], scores, atol=0.03)


def test_eight_bits_cost_little(data: Path, trained: Path) -> None:
    whole = score_model(trained / FILES["fp32"], data)["ap50_person"]
    coarse = score_model(trained / FILES["int8"], data, "onnxruntime")["ap50_person"]
    assert whole > 0.95 and abs(whole - coarse) < 0.05


def loaded(data: Path) -> dict[str, tuple[list[Sample], list[ImageBatch]]]:
    samples = read_samples(data, "train")
    return dict.fromkeys(("train", "val"), (samples, load_images(samples, ("person",), CPU)))


def test_a_training_that_was_cut_off_goes_on_as_if_it_had_not_been(data: Path, tmp_path: Path) -> None:
    class Cut(Exception):
        pass

    def stop(progress: training.TrainingProgress) -> None:
        if progress.epoch == 2:
            raise Cut

    def train(name: str, **about: Any) -> None:
        options = TrainingOptions(**{"epochs": 3, "batch": 2, "every": 3, **about.pop("options", {})})
        (tmp_path / name).mkdir(exist_ok=True)
        training.train(tmp_path / name, images, ("person",), CPU, options, **about)

    images = loaded(data)
    train("whole")
    with pytest.raises(Cut):
        # at the end of the second epoch, before it is kept: that one is trained again
        train("cut", progress=stop)
    train("cut")
    assert (tmp_path / "whole" / WEIGHTS).read_bytes() == (tmp_path / "cut" / WEIGHTS).read_bytes()
    with pytest.raises(DatasetError, match="other rate"):
        train("cut", options={"rate": 0.1})


def test_a_training_begins_with_earlier_weights(data: Path, trained: Path, tmp_path: Path) -> None:
    def first_score(name: str, start: str) -> float:
        (tmp_path / name).mkdir()
        options = TrainingOptions(epochs=1, batch=IMAGES, rate=1e-5, every=1, augment=False, start=start)
        return float(training.train(tmp_path / name, loaded(data), ("person",), CPU, options)["val_ap50"])

    assert first_score("new", "") < 0.1
    assert first_score("begun", str(trained / WEIGHTS)) > 0.9
    with pytest.raises(DatasetError, match="no safetensors file"):
        first_score("none", str(tmp_path / "missing.safetensors"))


def test_the_shipped_weights_begin_a_training_of_other_classes() -> None:
    """They tell five classes apart: all but that is taken over."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in REAL_SIZES.items():
            patch.setattr(network, name, value)
        begun = network.Network(1)
        begin_with(begun, "people", ("person",))
    shipped, _ = load_tensors(SHIPPED_WEIGHTS)
    state = begun.state_dict()
    assert torch.equal(state["stem.conv.weight"], shipped["stem.conv.weight"])
    assert state["class_heads.0.answer.bias"].shape != shipped["class_heads.0.answer.bias"].shape


def test_minutes_end_a_training_that_is_slower_than_planned(data: Path, tmp_path: Path) -> None:
    # 10 s per epoch at first, from which 5 are planned for the minute; then 30 s
    wall = iter([0.0, 10.0, 20.0, 50.0, 80.0])
    options = TrainingOptions(epochs=100, batch=IMAGES, every=50, minutes=1.0)
    summary = training.train(tmp_path, loaded(data), ("person",), CPU, options, clock=lambda: next(wall))
    assert summary["epochs"] == 4 and (tmp_path / WEIGHTS).is_file()


def test_mixed_precision_learns_the_same(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a GPU, with the processor's bfloat16."""
    made = training._new_network(1, 1)
    (canvas,) = loaded(data)["train"][1]
    batch = plain(canvas.pixels, canvas.boxes, canvas.kinds, canvas.skipped)
    seen = []
    for on in ((), ("cpu",)):
        monkeypatch.setattr(training, "MIXED_ON", on)
        made.zero_grad()
        score, box = training._loss(made.train(), batch, CPU)
        (score + box).backward()
        gradient = torch.cat([p.grad.flatten() for p in made.parameters() if p.grad is not None])
        assert gradient.dtype == score.dtype == torch.float32
        seen.append((float((score + box).detach()), gradient))
    assert seen[0][0] != seen[1][0] == pytest.approx(seen[0][0], rel=0.1)
    assert float(torch.cosine_similarity(seen[0][1], seen[1][1], dim=0)) > 0.8


@pytest.mark.processes
@pytest.mark.parametrize(
    "board",
    [
        pytest.param(False, marks=pytest.mark.needs("g++"), id="here"),
        pytest.param(True, marks=pytest.mark.needs(COMPILER, EMULATOR), id="aarch64"),
    ],
)
def test_the_program_for_boards_finds_the_same(trained: Path, tmp_path: Path, board: bool) -> None:
    """In plain C++, also under an emulator of another processor; boxes within 0.01 px of onnxruntime's."""
    image, _ = drawn(1)
    height, width = image.shape[:2]
    picture = tmp_path / "picture.ppm"
    picture.write_bytes(b"P6\n%d %d\n255\n" % (width, height) + image.tobytes())
    model = tmp_path / "model.board"
    command = runnable([str(SOURCE), str(model), "--picture", str(picture)], board=board)
    for file in (FILES["fp32"], FILES["fp16"]):
        model.write_bytes(board_file(trained / file, (height, width), 0.3))
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        boxes = {tuple(float(word) for word in line.split()[:4]) for line in said.splitlines()}
        expected = load_detector(trained / file, "onnxruntime", least_score=0.3).find(image)
        assert len(expected.scores) >= PER_IMAGE - 1 and {line.split()[5] for line in said.splitlines()} == {"person"}
        np.testing.assert_allclose(sorted(boxes), sorted(map(tuple, expected.boxes_px)), atol=0.01)


@pytest.mark.processes
@pytest.mark.needs("g++")
def test_the_board_refuses_what_it_cannot_run(trained: Path, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="has the step DequantizeLinear, which the board cannot take"):
        board_file(trained / FILES["int8"], (120, 160), 0.3)
    (tmp_path / "wrong.board").write_bytes(b"\x05\x00\x00\x00hello")
    command = runnable([str(SOURCE), str(tmp_path / "wrong.board"), "--picture", "none.ppm"])
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stderr.startswith("detect: ") and len(done.stderr.splitlines()) == 1


def test_tensorrt_is_asked_for_by_name(trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("onnxruntime.get_available_providers", lambda: ["CPUExecutionProvider"])
    with pytest.raises(SetupError, match="no TensorrtExecutionProvider"):
        load_detector(trained / FILES["fp32"], "tensorrt")
