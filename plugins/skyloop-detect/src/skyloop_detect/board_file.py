"""Writes the network as a file for `clients/cpp/detector.hpp`, which runs it on computers without any runtime.

The file is made from an ONNX model with 32 or 16 bits, as `exporting` writes it. It holds the layers in their order,
the anchors for one size of images, and the numbers of `finding`, in the encoding of the link's messages.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

from skyloop_client.codec import encode
from skyloop_client.errors import DatasetError
from skyloop_detect import finding
from skyloop_detect.anchors import LARGEST_LOG, SCALES, anchors
from skyloop_detect.runtimes import read_onnx

KIND = "skyloop detector 1"
IMAGE = 0
"""The number of the map that is the image; each step makes the next one."""


def board_file(model: Path, size: tuple[int, int], least_score: float) -> bytes:
    """The model for images of (height, width) `size`."""
    read, classes = read_onnx(model)
    tape = _Tape(read, model)
    contents = {
        "type": KIND,
        "size": list(size),
        "classes": list(classes),
        "steps": tape.steps,
        "scores": tape.answers["scores"],
        "offsets": tape.answers["offsets"],
        "anchors": anchors(*size),
        "scales": list(SCALES),
        "largest_log": LARGEST_LOG,
        "least_score": least_score,
        "overlap": finding.OVERLAP,
        "most": finding.MOST,
        "candidates": finding.CANDIDATES,
    }
    return b"".join(bytes(part) for part in encode(contents))


class _Tape:
    """The steps of a graph. Names of the graph's values stand for numbers of maps."""

    def __init__(self, model: onnx.ModelProto, path: Path) -> None:
        self.steps: list[dict[str, Any]] = []
        self.answers: dict[str, list[int]] = {}
        self._path = path
        self._weights = {entry.name: numpy_helper.to_array(entry) for entry in model.graph.initializer}
        self._maps: dict[str, Any] = {"image": IMAGE}
        self._doubled: set[str] = set()
        """Names of maps that are to be taken at twice their size."""
        for node in model.graph.node:
            self._take(node)

    def _take(self, node: onnx.NodeProto) -> None:
        source, name = node.input[0], node.output[0]
        match node.op_type:
            case "Cast" if source in self._weights:
                self._weights[name] = self._weights[source].astype(np.float32)
            case "Conv":
                self._maps[name] = self._convolution(node)
            case "Relu":
                # each convolution has one reader, its rectifier
                self._maps[name] = self._maps[source]
                self.steps[-1]["rectify"] = True
            case "Add":
                self._maps[name] = self._sum(*node.input)
            case "Resize":
                self._maps[name] = self._maps[source]
                self._doubled.add(name)
            case "Slice":
                # cuts a doubled map, the only one that is ever cut
                self._maps[name] = self._maps[source]
                self._doubled.add(name)
            case "Concat":
                self._maps[name] = [self._maps[part] for part in node.input]
            case "Sigmoid" | "Identity":
                self.answers[name] = self._maps[source]
            case "Cast" | "Transpose" | "Reshape":
                self._maps[name] = self._maps[source]
            case "Shape":
                # of the map that a doubled one is cut to; the board cuts it by itself
                pass
            case other:
                raise DatasetError(
                    f"'{self._path}' has the step {other}, which the board cannot take; give a model with 32 or 16 bits"
                )

    def _convolution(self, node: onnx.NodeProto) -> int:
        facts = {entry.name: onnx.helper.get_attribute_value(entry) for entry in node.attribute}
        weight, bias = (self._weight(name) for name in node.input[1:])
        return self._step(
            "convolution",
            self._maps[node.input[0]],
            weight=weight,
            bias=bias,
            size=int(weight.shape[-1]),
            step=int(facts["strides"][0]),
            groups=int(facts["group"]),
            rectify=False,
        )

    def _weight(self, name: str) -> NDArray[np.float32]:
        if name not in self._weights:
            raise DatasetError(f"'{self._path}' has 8 bits, which the board cannot take; give a model with 32 or 16")
        return np.ascontiguousarray(self._weights[name], np.float32)

    def _sum(self, one: str, other: str) -> int:
        kind = "double" if other in self._doubled else "add"
        return self._step(kind, self._maps[one], **{"with": self._maps[other]})

    def _step(self, kind: str, source: int, **about: object) -> int:
        self.steps.append({"kind": kind, "from": source, **about})
        return len(self.steps)
