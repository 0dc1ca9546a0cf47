"""What `skyloop reproduce detection` looks at and how it is judged, fixed before the run; see the page.

Nothing here may change once a run that counts has begun. A results folder holds a copy, and a different plan is
refused.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from skyloop_detect.detector import LEAST_SCORE
from skyloop_detect.scoring import LEAST_PX, MOST_HIDDEN, OVERLAP
from skyloop_detect.training_data.people_set import IMAGES, NEW_WORLDS, WORLDS
from skyloop_papers.experiment import ExperimentPlan

PARTS = {"held-out seeds": "", "new world": "new-world", "bad weather": "bad-weather"}
"""By name: the folders of the people dataset whose test split it is."""
AIMS = {"held-out seeds": 0.90, "new world": 0.80, "bad weather": 0.60}
AIM_8_BITS, AIM_PER_S, AIM_VS_TORCH = 0.02, 100.0, 3.0
FILES = {"people": "people-int8.onnx", "people-fp16": "people-fp16.onnx", "people-torch": "people.safetensors"}
"""By the names of models, their files when the results were measured."""
WAYS = {
    "torch, 32 bits": ("people-torch", "torch"),
    "onnxruntime, 16-bit weights": ("people-fp16", "onnxruntime"),
    "onnxruntime, 8 bits": ("people", "onnxruntime"),
    "OpenVINO, 16-bit weights": ("people-fp16", "openvino"),
    "OpenVINO, 8 bits": ("people", "openvino"),
}
"""By name: the model and the runtime."""
SHOWN = "OpenVINO, 8 bits"
"""Whose curves, classes and misses are shown: the default of `load_detector`."""
PLAIN = "OpenVINO, 16-bit weights"
"""With which 8 bits are compared."""


@dataclass(frozen=True, slots=True)
class DetectionPlan(ExperimentPlan):
    """What is looked at. The quick form is a few images and two runtimes."""

    per_part: int = 800
    per_place: int = 20
    ways: tuple[str, ...] = tuple(WAYS)
    speed_images: int = 50
    speed_looks: int = 300
    training_steps: int = 3
    """Steps of a training that are timed on this machine's processor."""
    loop_seconds: float = 10.0
    """Simulated s of each flight of Table 8, with the detector in the loop."""

    def plain(self) -> dict[str, Any]:
        fixed = {
            "overlap": OVERLAP,
            "least_px": LEAST_PX,
            "most_hidden": MOST_HIDDEN,
            "least_score": LEAST_SCORE,
            "worlds": list(WORLDS),
            "new_worlds": list(NEW_WORLDS),
            "of_a_dataset_of": IMAGES,
            "ways_with": {name: [FILES[model], runtime] for name, (model, runtime) in WAYS.items()},
        }
        return {**asdict(self), **fixed}


QUICK = DetectionPlan(10, 5, (SHOWN,), 4, 20, 1, 1.0)
