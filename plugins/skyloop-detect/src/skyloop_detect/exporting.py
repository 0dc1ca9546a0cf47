"""Writes trained weights as ONNX: with 32 bits, with weights of 16 bits, and with 8 bits, calibrated on images.

With 8 bits the ranges of all layers are measured on images of the training; only the last layers, whose answers are
positions, keep 32 bits.

The network is written layer by layer, with each normalisation folded into its convolution. It is written by hand and
not by torch's exporter: the graph is the same with every version of torch, and takes the image as cameras give it.
Input `image`: (1, height, width, 3) uint8, of any size. Outputs `scores`: (1, n, classes) 0 to 1, and `offsets`:
(1, n, 4) from the anchors of `anchors.py`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from skyloop_client.errors import DatasetError, MissingExtra
from skyloop_detect.network import TAPPED, Block, ConvNorm, Head, Network, Separable
from skyloop_detect.samples import Sample, read_image
from skyloop_detect.weights import load_network

OPSET = 17
IR_VERSION = 8
"""Old enough for runtimes of 2022."""
INPUT, SCORES, OFFSETS = "image", "scores", "offsets"
ANSWERS = "answers/"
"""Names of the last nodes begin so; they are not made coarser by 8 bits."""


def onnx_model(
    network: Network, classes: tuple[str, ...], facts: dict[str, str], *, half: bool = False
) -> onnx.ModelProto:
    """The trained network as an ONNX model. Its classes and facts are in its metadata.

    half: weights of 16 bits, widened when the model is loaded, so that it runs everywhere at its usual speed."""
    graph = _Graph(half)
    with torch.no_grad():
        scores, offsets = _whole(graph, network.eval().cpu().float())
    graph.node("Sigmoid", [scores], SCORES)
    graph.node("Identity", [offsets], OFFSETS)
    made = helper.make_graph(
        graph.nodes,
        "skyloop people detector",
        [helper.make_tensor_value_info(INPUT, TensorProto.UINT8, [1, "height", "width", 3])],
        [
            helper.make_tensor_value_info(SCORES, TensorProto.FLOAT, [1, "anchors", len(classes)]),
            helper.make_tensor_value_info(OFFSETS, TensorProto.FLOAT, [1, "anchors", 4]),
        ],
        graph.weights,
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="skyloop")
    model.ir_version = IR_VERSION
    helper.set_model_props(model, {"classes": ",".join(classes), **facts})
    onnx.checker.check_model(model, full_check=True)
    return model


class _Graph:
    """Nodes and weights so far; every method returns the name of its result."""

    def __init__(self, half: bool) -> None:
        self._half = half
        self.nodes: list[onnx.NodeProto] = []
        self.weights: list[TensorProto] = []
        self.prefix = ""
        """Of the names of nodes."""

    def node(self, kind: str, inputs: list[str], output: str = "", **attributes: Any) -> str:
        name = output or f"{kind.lower()}_{len(self.nodes)}"
        label = f"{self.prefix}{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], name=label, **attributes))
        return name

    def constant(self, array: NDArray[np.generic]) -> str:
        name = f"weight_{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def convolution(self, x: str, conv: torch.nn.Conv2d, weight: NDArray[np.float32], bias: NDArray[np.float32]) -> str:
        pad = conv.kernel_size[0] // 2
        return self.node(
            "Conv",
            [x, self._weight(weight), self._weight(bias)],
            kernel_shape=list(conv.kernel_size),
            strides=list(conv.stride),
            pads=[pad] * 4,
            group=conv.groups,
        )

    def _weight(self, array: NDArray[np.generic]) -> str:
        if not self._half:
            return self.constant(array)
        return self.node("Cast", [self.constant(array.astype(np.float16))], to=TensorProto.FLOAT)

    def layer(self, x: str, layer: ConvNorm, scale: float = 1.0) -> str:
        """`scale`: of the input, taken into the weights."""
        norm = layer.norm
        assert norm.running_var is not None and norm.running_mean is not None
        factor = norm.weight.double() / torch.sqrt(norm.running_var.double() + norm.eps)
        weight = layer.conv.weight.double() * factor[:, None, None, None] * scale
        bias = norm.bias.double() - norm.running_mean.double() * factor
        x = self.convolution(x, layer.conv, weight.float().numpy(), bias.float().numpy())
        return self.node("Relu", [x]) if layer.rectify else x

    def block(self, x: str, block: Block) -> str:
        y = self.layer(self.layer(self.layer(x, block.widen), block.depthwise), block.narrow)
        return self.node("Add", [x, y]) if block.adds else y

    def separable(self, x: str, layer: Separable) -> str:
        return self.layer(self.layer(x, layer.depthwise), layer.pointwise)

    def head(self, x: str, head: Head, per_anchor: int) -> str:
        x = self.layer(x, head.depthwise)
        self.prefix = ANSWERS
        assert head.answer.bias is not None
        x = self.convolution(x, head.answer, head.answer.weight.numpy(), head.answer.bias.numpy())
        x = self.node("Transpose", [x], perm=[0, 2, 3, 1])
        x = self.node("Reshape", [x, self.constant(np.array([1, -1, per_anchor], np.int64))])
        self.prefix = ""
        return x

    def doubled_onto(self, coarse: str, fine: str) -> str:
        """The coarse map at twice its size, cut to the size of the fine one, added to it."""
        scales = self.constant(np.array([1.0, 1.0, 2.0, 2.0], np.float32))
        large = self.node(
            "Resize",
            [coarse, "", scales],
            mode="nearest",
            coordinate_transformation_mode="asymmetric",
            nearest_mode="floor",
        )
        size = self.node("Shape", [fine], start=2, end=4)
        starts, axes = self.constant(np.zeros(2, np.int64)), self.constant(np.array([2, 3], np.int64))
        return self.node("Add", [fine, self.node("Slice", [large, starts, size, axes])])


def _whole(graph: _Graph, network: Network) -> tuple[str, str]:
    x = graph.node("Transpose", [graph.node("Cast", [INPUT], to=TensorProto.FLOAT)], perm=[0, 3, 1, 2])
    x = graph.layer(x, network.stem, scale=1.0 / 255.0)
    taps = []
    for number, stage in enumerate(network.stages):
        for block in stage:  # type: ignore[attr-defined]
            x = graph.block(x, block)
        if number in TAPPED:
            taps.append(x)
    maps = [graph.layer(tap, layer) for tap, layer in zip(taps, network.laterals, strict=True)]  # type: ignore[arg-type]
    for k in range(len(maps) - 2, -1, -1):
        maps[k] = graph.doubled_onto(maps[k + 1], maps[k])
    maps = [graph.separable(m, layer) for m, layer in zip(maps, network.smoothers, strict=True)]  # type: ignore[arg-type]
    n = network.n_classes
    logits = [graph.head(m, head, n) for m, head in zip(maps, network.class_heads, strict=True)]  # type: ignore[arg-type]
    offsets = [graph.head(m, head, 4) for m, head in zip(maps, network.box_heads, strict=True)]  # type: ignore[arg-type]
    graph.prefix = ANSWERS
    return graph.node("Concat", logits, axis=1), graph.node("Concat", offsets, axis=1)


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


def _model(weights: Path, *, half: bool) -> onnx.ModelProto:
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

    def get_next(self) -> dict[str, NDArray[np.uint8]] | None:
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
