"""Finds people and objects in images: `load_detector().find(image)`."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skyloop.core.files import CACHE_FOLDER, write_whole
from skyloop_client import part, regular_files
from skyloop_client.errors import DatasetError, MissingExtra, SetupError, unknown_name
from skyloop_detect.finding import FoundBoxes, find
from skyloop_detect.runtimes import RUNTIMES, Runtime, start_runtime

MODELS = Path(__file__).parent / "models"
SHIPPED = MODELS / "people-int8.onnx"
"""With 8 bits, which is twice as fast as the others. Its ranges were measured on images of the training."""
WEIGHTS = Path(__file__).parents[2] / "weights" / "people.safetensors"
"""What it was made from, with 32 bits; in a checkout only."""
NAMES = ("people", "people-fp16", "people-torch")
LEAST_SCORE = 0.35
"""Below it an object is not listed, unless asked for; precision and recall are about equal there."""
SMALLEST, LARGEST = 32, 4096
"""px, sides of images that can be looked at."""


class Objects(NamedTuple):
    """What was found in one image, best first; the fields are as in `Detections`."""

    boxes_px: NDArray[np.float64]
    """(n, 4) px: left, top, right and bottom edge; 0 is the outer edge of the first pixel."""
    classes: tuple[str, ...]
    scores: NDArray[np.float64]
    """(n,) 0 to 1."""


class Detector:
    def __init__(self, runtime: Runtime, least_score: float = LEAST_SCORE) -> None:
        self._runtime = runtime
        self.least_score = least_score

    @property
    def runtime(self) -> str:
        return self._runtime.name

    @property
    def classes(self) -> tuple[str, ...]:
        """Those that the model knows, in the order of its outputs."""
        return self._runtime.classes

    def find(self, image: NDArray[np.uint8], only: Collection[str] = ()) -> Objects:
        """image: (height, width, 3) uint8, red, green, blue. only: the classes to list; empty: all."""
        for name in only:
            if name not in self.classes:
                raise unknown_name("class of this model", name, self.classes)
        found = self.find_numbers(image, self.least_score)
        names = [self.classes[k] for k in found.classes]
        listed = [k for k, name in enumerate(names) if not only or name in only]
        return Objects(found.boxes[listed], tuple(names[k] for k in listed), found.scores[listed])

    def find_numbers(self, image: NDArray[np.uint8], least_score: float) -> FoundBoxes:
        """The same with numbers of classes, down to a score of one's own; for scoring."""
        check_image(image)
        scores, offsets = self._runtime.answer(np.ascontiguousarray(image))
        return find(scores, offsets, (image.shape[0], image.shape[1]), least_score)


@part
def load_detector(
    model: str | Path | None = None, runtime: str = "auto", *, least_score: float = LEAST_SCORE, threads: int = 1
) -> Detector:
    """A detector that is ready to look.

    model: None for the shipped one, the name of a shipped one, or a file: .onnx, or .safetensors for torch.
    runtime: openvino, onnxruntime, tensorrt or torch; auto: what fits the file and is installed, fastest first.
    """
    if not 0.0 < least_score < 1.0:
        raise DatasetError(f"least score {least_score:g}: give more than 0 and less than 1")
    if threads < 1:
        raise DatasetError(f"threads {threads}: give 1 or more")
    if runtime not in ("auto", *RUNTIMES):
        raise unknown_name("runtime", runtime, ("auto", *RUNTIMES))
    path = model_file(model, runtime)
    return Detector(start_runtime(runtime if runtime != "auto" else _fitting(path), path, threads), least_score)


def model_file(model: str | Path | None, runtime: str = "auto") -> Path:
    """The file of a model."""
    name = str(model) if model is not None else "people-torch" if runtime == "torch" else "people"
    if name == "people":
        return SHIPPED
    if name in NAMES:
        return trained_weights(name) if name == "people-torch" else _made_of_weights(trained_weights(name))
    path = Path(name)
    if not path.suffix:
        raise unknown_name("model", name, NAMES)
    if not path.is_file():
        raise DatasetError(f"the model '{path}' does not exist")
    if path.suffix not in (".onnx", ".safetensors"):
        raise DatasetError(f"'{path}' is no model: give an .onnx or .safetensors file")
    return path


def trained_weights(name: str) -> Path:
    """Those of the shipped model."""
    if not WEIGHTS.is_file():
        raise SetupError(f"'{name}' needs the weights in a checkout of skyloop; or train with `skyloop train people`")
    return WEIGHTS


def _made_of_weights(weights: Path) -> Path:
    """The model with weights of 16 bits. It is made when it is first used, and kept in the cache."""
    digest = hashlib.sha256(regular_files.read_bytes(weights)).hexdigest()[:24]
    path = CACHE_FOLDER / "models" / f"people-fp16-{digest}.onnx"
    if not path.is_file():
        try:
            from skyloop_detect.exporting import half_model
        except ImportError:
            raise MissingExtra("'people-fp16' is made with torch; pip install 'skyloop-detect[train]'") from None
        write_whole(path, half_model(weights))
    return path


def _fitting(path: Path) -> str:
    if path.suffix == ".safetensors":
        return "torch"
    for name in ("openvino", "onnxruntime"):
        if find_spec(name) is not None:
            return name
    raise MissingExtra("finding people needs OpenVINO or onnxruntime; pip install openvino")


def check_image(image: object) -> None:
    """Raise one clear line unless it is a colour image."""
    if not isinstance(image, np.ndarray) or image.dtype != np.uint8:
        kind = image.dtype if isinstance(image, np.ndarray) else type(image).__name__
        raise DatasetError(f"an image must be a numpy array of uint8, not {kind}")
    if image.ndim != 3 or image.shape[2] != 3:
        raise DatasetError(f"an image must have the shape (height, width, 3), not {image.shape}")
    if not all(SMALLEST <= side <= LARGEST for side in image.shape[:2]):
        size = f"{image.shape[1]} x {image.shape[0]}"
        raise DatasetError(f"an image of {size} px cannot be looked at; give {SMALLEST} to {LARGEST} px each way")
