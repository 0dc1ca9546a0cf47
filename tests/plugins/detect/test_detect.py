"""`skyloop detect` on files, folders and datasets, and its one line for what is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from PIL import Image

from skyloop.cli.verbs import execute
from skyloop_client.errors import DatasetError, UnknownNameError
from skyloop_detect.detector import load_detector
from skyloop_detect.exporting import onnx_model
from skyloop_detect.network import Network
from skyloop_detect.weights import save_network


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Untrained, so that it finds things anywhere."""
    torch.manual_seed(1)
    path = tmp_path_factory.mktemp("model") / "untrained.onnx"
    onnx.save(onnx_model(Network(2), ("person", "car"), {}), path)
    return path


def _picture(path: Path, size: tuple[int, int] = (64, 48)) -> Path:
    pixels = np.random.default_rng(2).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    Image.fromarray(pixels).save(path)
    return path


def test_files_are_drawn_and_results_are_cocos(model: Path, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in ("b.png", "a.jpg"):
        _picture(tmp_path / "in" / name)
    words = ["detect", str(tmp_path / "in"), "--model", str(model), "--score", "0.001", "--out", str(tmp_path / "out")]
    assert execute([*words, "--classes", "person"]) == 0
    assert [path.name for path in sorted((tmp_path / "out" / "drawn").iterdir())] == ["000001-a.png", "000002-b.png"]
    results = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    images = json.loads((tmp_path / "out" / "images.json").read_text(encoding="utf-8"))
    assert results and {entry["image_id"] for entry in results} == {1, 2}
    assert {entry["category_id"] for entry in results} == {1}
    from pycocotools.coco import COCO

    truth = COCO()
    truth.dataset = {**images, "annotations": []}
    truth.createIndex()
    assert len(truth.loadRes(results).anns) == len(results)


@pytest.mark.parametrize("content", ["", "no picture"])
def test_a_file_that_is_no_image(model: Path, tmp_path: Path, content: str, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.png").write_text(content, encoding="utf-8")
    words = ["detect", str(tmp_path / "a.png"), "--model", str(model), "--out", str(tmp_path / "out")]
    assert execute(words) == 1
    assert "is no image that can be read" in capfd.readouterr().err


def test_a_folder_without_images(model: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in").mkdir()
    assert execute(["detect", str(tmp_path / "in"), "--model", str(model), "--out", str(tmp_path / "out")]) == 1
    assert "holds no images" in capfd.readouterr().err


@pytest.mark.parametrize("runtime", ["openvino", "onnxruntime"])
def test_a_file_that_is_no_model(tmp_path: Path, runtime: str, capfd: pytest.CaptureFixture[str]) -> None:
    bad = tmp_path / "bad.onnx"
    for content in (b"\x80\x04 no model", b"\xe0 no text of TensorFlow either"):
        bad.write_bytes(content)
        with pytest.raises(DatasetError, match="is no model that can be read") as error:
            load_detector(bad, runtime)
        assert "\n" not in str(error.value)
    assert capfd.readouterr().err == ""
    other = onnx.helper.make_model(
        onnx.helper.make_graph(
            [onnx.helper.make_node("Relu", ["x"], ["y"])], "other",
            [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1])],
            [onnx.helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1])],
        ),
        opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8,
    )  # fmt: skip
    onnx.save(other, bad)
    with pytest.raises(DatasetError, match="none of skyloop's detector"):
        load_detector(bad, runtime)


def test_weights_that_are_none(tmp_path: Path) -> None:
    bad = tmp_path / "bad.safetensors"
    bad.write_bytes(b"\x80\x04 a pickle, perhaps")
    with pytest.raises(DatasetError, match="is no safetensors file"):
        load_detector(bad)
    state = {name: tensor for name, tensor in Network(3).state_dict().items() if "stem" in name}
    save_network(bad, state, ("a", "b", "c"), {})
    with pytest.raises(DatasetError, match="another network"):
        load_detector(bad)
    with pytest.raises(DatasetError, match="torch takes weights"):
        load_detector(_picture(tmp_path / "x.onnx.png").rename(tmp_path / "x.onnx"), "torch")


def test_an_image_of_another_kind_or_size(model: Path) -> None:
    detector = load_detector(model)
    bad: tuple[tuple[Any, str], ...] = (
        (np.zeros((48, 64, 3)), "of uint8, not float64"),
        ([[0]], "not list"),
        (np.zeros((48, 64), np.uint8), "shape"),
        (np.zeros((48, 64, 4), np.uint8), "shape"),
        (np.zeros((8, 64, 3), np.uint8), "64 x 8 px"),
        (np.zeros((48, 5000, 3), np.uint8), "5000 x 48 px"),
    )
    for image, said in bad:
        with pytest.raises(DatasetError, match=said):
            detector.find(image)
    with pytest.raises(UnknownNameError, match="did you mean 'person'"):
        detector.find(np.zeros((48, 64, 3), np.uint8), only=["persn"])


def test_boxes_stay_within_the_image_and_sizes_may_change(model: Path) -> None:
    detector = load_detector(model, least_score=0.001)
    random = np.random.default_rng(4)
    for height, width in ((48, 64), (50, 77), (48, 64)):
        found = detector.find(random.integers(0, 256, (height, width, 3), dtype=np.uint8))
        assert len(found.classes) == len(found.boxes_px) == len(found.scores) > 0
        assert (found.boxes_px >= 0.0).all() and (found.boxes_px <= [width, height, width, height]).all()
