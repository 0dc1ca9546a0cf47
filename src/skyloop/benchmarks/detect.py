"""`skyloop bench detect`: how fast the shipped detector looks at images on one core beside torch, and how well it does.

The images are some of the test images of the people dataset, made anew: places that were not trained on.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from skyloop.core.machine_info import usable_cores
from skyloop.core.results import Figure
from skyloop_detect.commands.train import PARTS, score_model
from skyloop_detect.dataset_reader import read_samples
from skyloop_detect.detector import Detector, load_detector, model_file
from skyloop_detect.image_files import read_image
from skyloop_detect.training_data.people_set import make_people, plan_tests

PER_PART, PER_PLACE = 150, 10
LOOKS = 200
AIM_PER_S, AIM_VS_TORCH, AIM_8_BITS = 100.0, 3.0, 0.02
AIMS = {"ap50_person": 0.90, "ap50_new_world": 0.80, "ap50_bad_weather": 0.60}
WHERE = {
    "ap50_person": "places of the five worlds that were not trained on",
    "ap50_new_world": "corridor and blocks, worlds that were not trained on",
    "ap50_bad_weather": "the five worlds in fog, rain and dusk",
}
OTHERS = (("people", "onnxruntime"), ("people-fp16", "openvino"), ("people-fp16", "onnxruntime"))


def measure(per_part: int = PER_PART, looks: int = LOOKS) -> list[Figure]:
    # before minutes of rendering: is everything there?
    usual, slow = load_detector(), load_detector(runtime="torch")
    with tempfile.TemporaryDirectory(prefix="skyloop-bench-") as made:
        folder = Path(made) / "people"
        plan_tests(folder, per_part, PER_PLACE)
        make_people(folder, usable_cores())
        figures = _speeds(usual, slow, _small_images(folder), looks)
        return figures + _scores(folder, per_part)


def _small_images(folder: Path) -> list[NDArray[np.uint8]]:
    samples = [sample for sample in read_samples(folder, "test") if sample.size == (320, 240)]
    return [read_image(sample.path) for sample in samples[:50]]


def _speeds(usual: Detector, slow: Detector, images: list[NDArray[np.uint8]], looks: int) -> list[Figure]:
    fast = images_per_s(usual, images, looks)
    torch = images_per_s(slow, images, max(10, looks // 5))
    figures = [
        Figure(
            "images_per_s", fast, "1/s", aim=AIM_PER_S,
            note=f"320 x 240 px, {usual.runtime}, one thread, processor time, from pixels to boxes",
        ),
        Figure(
            "optimised_vs_torch", fast / torch, "", aim=AIM_VS_TORCH,
            note=f"torch looks at {torch:.1f} images per second with the same weights and one thread",
        ),
    ]  # fmt: skip
    for model, runtime in OTHERS:
        value = images_per_s(load_detector(model, runtime), images, looks)
        key = f"images_per_s_{runtime}" + ("_fp16" if model.endswith("fp16") else "")
        figures.append(Figure(key, value, "1/s", note=f"the same with {model} on {runtime}"))
    return figures


def images_per_s(detector: Detector, images: list[NDArray[np.uint8]], looks: int) -> float:
    """By processor time, so that other programs do not count."""
    for image in images[:3]:
        detector.find(image)
    began = time.process_time()
    for k in range(looks):
        detector.find(images[k % len(images)])
    return looks / (time.process_time() - began)


def _scores(folder: Path, per_part: int) -> list[Figure]:
    coarse, whole = score_model(model_file("people"), folder), score_model(model_file("people-fp16"), folder)
    figures = [
        Figure(
            key, coarse[key], "", aim=AIMS[key],
            note=f"AP50 of persons >= 16 px, at most half hidden; {per_part} images of {WHERE[key]}",
        )
        for key in PARTS
    ]  # fmt: skip
    lost = whole["ap50_person"] - coarse["ap50_person"]
    note = f"AP50 that 8 bits cost on the same images as ap50_person; {whole['ap50_person']:.3f} without them"
    return [*figures, Figure("ap50_lost_by_int8", lost, "", aim=AIM_8_BITS, lower_is_better=True, note=note)]
