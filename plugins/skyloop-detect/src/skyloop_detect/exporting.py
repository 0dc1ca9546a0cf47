"""Writes trained weights as ONNX: with 32 bits, with weights of 16 bits, and with 8 bits, calibrated on images.

With 8 bits the ranges of all layers are measured on images of the training; only the last layers, whose answers are
positions, keep 32 bits.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from skyloop_client.errors import DatasetError, MissingExtra
from skyloop_detect.image_files import read_image
from skyloop_detect.onnx_graph import ANSWERS, INPUT, onnx_model
from skyloop_detect.samples import Sample
from skyloop_detect.weights import load_network

CALIBRATION_IMAGES = 200
FILES = {"fp32": "people.onnx", "fp16": "people-fp16.onnx", "int8": "people-int8.onnx"}


def export(weights: Path, folder: Path, calibration: Sequence[Sample]) -> dict[str, Path]:
    """The three files in a folder, by precision."""
    paths = {precision: folder / name for precision, name in FILES.items()}
    try:
        for precision in ("fp32", "fp16"):
            onnx.save(_model(weights, half=precision == "fp16"), paths[precision])
        quantise(paths["fp32"], paths["int8"], calibration_images(calibration))
    except OSError as error:
        raise DatasetError(f"cannot write into '{folder}': {error.strerror or error}") from None
    return paths


def half_model(weights: Path) -> bytes:
    """An ONNX file with weights of 16 bits."""
    made: bytes = _model(weights, half=True).SerializeToString()
    return made


def _model(weights: Path, *, half: bool) -> Any:
    network, classes, facts = load_network(weights)
    kept = {name: value for name, value in facts.items() if name not in ("format", "classes")}
    return onnx_model(network, classes, kept, half=half)


def calibration_images(samples: Sequence[Sample]) -> Iterator[NDArray[np.uint8]]:
    """Images evenly out of all samples."""
    count = min(CALIBRATION_IMAGES, len(samples))
    for k in range(count):
        yield read_image(samples[k * len(samples) // count].path)


def quantise(source: Path, target: Path, images: Iterator[NDArray[np.uint8]]) -> None:
    """Write the model of `source` with 8 bits."""
    try:
        from onnxruntime import quantization
    except ImportError:
        raise MissingExtra("8 bits need onnxruntime; pip install onnxruntime") from None
    model = onnx.load(source)
    reader = _Reader(images)
    with _quiet():
        quantization.quantize_static(
            str(source),
            str(target),
            reader,
            quant_format=quantization.QuantFormat.QDQ,
            per_channel=True,
            weight_type=quantization.QuantType.QInt8,
            activation_type=quantization.QuantType.QUInt8,
            nodes_to_exclude=[node.name for node in model.graph.node if node.name.startswith(ANSWERS)],
        )
    made = onnx.load(target)
    # its metadata does not survive by itself
    onnx.helper.set_model_props(made, {entry.key: entry.value for entry in model.metadata_props})
    onnx.save(made, target)


class _Reader:
    """Images in the shape that onnxruntime's calibration asks for."""

    def __init__(self, images: Iterator[NDArray[np.uint8]]) -> None:
        self._images = images

    def get_next(self) -> dict[str, Any] | None:
        image = next(self._images, None)
        return None if image is None else {INPUT: image[None]}

    def __len__(self) -> int:
        return CALIBRATION_IMAGES

    def set_range(self, start_index: int, end_index: int) -> None:
        """All images are read one after the other."""


@contextmanager
def _quiet() -> Iterator[None]:
    """onnxruntime advises a preparation that this graph does not need."""
    before = logging.root.manager.disable
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        logging.disable(before)
