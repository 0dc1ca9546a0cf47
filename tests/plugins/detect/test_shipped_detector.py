"""The shipped model on fifty images that it was not trained on.

Eighteen are of the five worlds with other seeds, sixteen of new worlds, sixteen of fog, rain and dusk."""

from __future__ import annotations

from pathlib import Path

import pytest

from skyloop_client.errors import SetupError
from skyloop_detect import detector as detector_module
from skyloop_detect.commands.train import score_model
from skyloop_detect.dataset_reader import read_samples
from skyloop_detect.detector import MODELS, SHIPPED, load_detector, model_file
from skyloop_detect.samples import CLASSES, read_image

pytestmark = pytest.mark.flights

IMAGES = Path(__file__).parent / "people_images"


@pytest.fixture(scope="module")
def whole() -> float:
    """AP50 of persons with 32 bits in torch."""
    return score_model(model_file("people-torch"), IMAGES)["ap50_person"]


def test_it_finds_people(whole: float) -> None:
    assert 0.90 < whole < 0.93


@pytest.mark.slow("compiles the network for each runtime")
@pytest.mark.parametrize(
    ("model", "runtime", "off"),
    [
        ("people", "openvino", 0.02),
        ("people", "onnxruntime", 0.02),
        ("people-fp16", "onnxruntime", 0.002),
    ],
)
def test_fewer_bits_and_other_runtimes_find_nearly_as_well(whole: float, model: str, runtime: str, off: float) -> None:
    assert score_model(model_file(model), IMAGES, runtime)["ap50_person"] == pytest.approx(whole, abs=off)


def test_the_model_that_is_taken_without_a_name_has_8_bits_and_knows_all_classes() -> None:
    detector = load_detector()
    assert detector.classes == CLASSES and model_file(None) == MODELS / "people-int8.onnx"
    sample = read_samples(IMAGES, "test")[0]
    found = detector.find(read_image(sample.path))
    assert "person" in found.classes and found.scores[0] > 0.5


def test_one_model_is_shipped_and_it_is_small() -> None:
    (model,) = MODELS.glob("*.onnx")
    assert model == SHIPPED and model.stat().st_size <= 2_000_000
    assert not list(MODELS.glob("*.safetensors"))


def test_the_model_with_16_bits_is_made_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detector_module, "CACHE_FOLDER", tmp_path)
    made = model_file("people-fp16")
    assert made.parent == tmp_path / "models" and 2_900_000 < made.stat().st_size < 3_200_000
    before = made.stat().st_mtime_ns
    assert model_file("people-fp16") == made and made.stat().st_mtime_ns == before


def test_without_a_checkout_there_are_no_other_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(detector_module, "WEIGHTS", tmp_path / "people.safetensors")
    for name in ("people-fp16", "people-torch"):
        with pytest.raises(SetupError, match=f"^'{name}' needs the weights in a checkout of skyloop"):
            model_file(name)
    assert model_file("people").is_file()
