"""The programs that run the network: OpenVINO, onnxruntime (also with TensorRT), and torch for comparison.

Each answers an image with the scores and offsets of its anchors. One thread is the default: a vehicle's computer has
more to do.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from skyloop_client import regular_files
from skyloop_client.errors import DatasetError, MissingExtra, SetupError

if TYPE_CHECKING:
    import onnx

Answer = tuple[NDArray[np.float32], NDArray[np.float32]]
"""(n, classes) scores and (n, 4) offsets."""
SIZES_KEPT = 4
"""Sizes of images for which OpenVINO keeps a compiled model."""


class Runtime(Protocol):
    name: str
    classes: tuple[str, ...]

    def answer(self, image: NDArray[np.uint8]) -> Answer: ...


class OpenVinoRuntime:
    name = "openvino"

    def __init__(self, path: Path, threads: int) -> None:
        # it would otherwise ask for consent to send statistics
        os.environ.setdefault("OPENVINO_TELEMETRY_OPT_OUT", "1")
        try:
            import openvino
        except ImportError:
            raise MissingExtra("this runtime needs OpenVINO; pip install openvino") from None
        self._core = openvino.Core()
        self._path = path
        # before OpenVINO, which offers what is no ONNX to its other readers, and those write to stderr
        self.classes = read_onnx(path)[1]
        try:
            model = self._core.read_model(path)
        except (OSError, RuntimeError) as error:
            raise _no_model(path, error) from None
        _check_names([port.any_name for port in (*model.inputs, *model.outputs)], path)
        # f32: some processors would use bfloat16, and then give other boxes than the rest
        self._terms = {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32"}
        self._requests: dict[tuple[int, ...], Any] = {}

    def answer(self, image: NDArray[np.uint8]) -> Answer:
        if image.shape not in self._requests:
            if len(self._requests) == SIZES_KEPT:
                self._requests.pop(next(iter(self._requests)))
            # a fixed size is several times as fast as an open one
            model = self._core.read_model(self._path)
            model.reshape([1, *image.shape])
            self._requests[image.shape] = self._core.compile_model(model, "CPU", self._terms).create_infer_request()
        request = self._requests[image.shape]
        request.infer({0: image[None]})
        return request.get_tensor("scores").data[0], request.get_tensor("offsets").data[0]


class OnnxRuntime:
    name = "onnxruntime"

    def __init__(self, path: Path, threads: int, providers: tuple[str, ...] = ("CPUExecutionProvider",)) -> None:
        try:
            import onnxruntime
        except ImportError:
            raise MissingExtra("this runtime needs onnxruntime; pip install onnxruntime") from None
        onnxruntime.set_default_logger_severity(3)
        if providers[0] not in onnxruntime.get_available_providers():
            have = ", ".join(onnxruntime.get_available_providers())
            raise SetupError(f"this onnxruntime has no {providers[0]}, only {have}; install one built with it")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        try:
            self._session = onnxruntime.InferenceSession(
                str(regular_files.checked(path)), options, providers=list(providers)
            )
        except Exception as error:
            # its errors have no class of their own in common
            raise _no_model(path, error) from None
        facts = self._session.get_modelmeta().custom_metadata_map
        self.classes = _classes(facts.get("classes", ""), path)
        _check_names([port.name for port in (*self._session.get_inputs(), *self._session.get_outputs())], path)

    def answer(self, image: NDArray[np.uint8]) -> Answer:
        scores, offsets = self._session.run(["scores", "offsets"], {"image": image[None]})
        return scores[0], offsets[0]


class TensorRtRuntime(OnnxRuntime):
    """Through onnxruntime's provider, with 16 bits; what TensorRT cannot run goes to CUDA."""

    name = "tensorrt"

    def __init__(self, path: Path, threads: int) -> None:
        super().__init__(path, threads, ("TensorrtExecutionProvider", "CUDAExecutionProvider", "CPUExecutionProvider"))


class TorchRuntime:
    name = "torch"

    def __init__(self, path: Path, threads: int) -> None:
        try:
            import torch

            from skyloop_detect.weights import load_network
        except ImportError:
            raise MissingExtra("this runtime needs torch; pip install 'skyloop-detect[train]'") from None
        if path.suffix != ".safetensors":
            raise DatasetError(f"'{path}': torch takes weights as .safetensors")
        self._torch, self._threads = torch, threads
        self._network, self.classes, _ = load_network(path)

    def answer(self, image: NDArray[np.uint8]) -> Answer:
        torch, before = self._torch, self._torch.get_num_threads()
        torch.set_num_threads(self._threads)
        try:
            with torch.inference_mode():
                images = torch.from_numpy(np.array(image)).permute(2, 0, 1)[None].float() / 255.0
                logits, offsets = self._network(images)
                return torch.sigmoid(logits)[0].numpy(), offsets[0].numpy()
        finally:
            torch.set_num_threads(before)


RUNTIMES: dict[str, Callable[[Path, int], Runtime]] = {
    "openvino": OpenVinoRuntime,
    "onnxruntime": OnnxRuntime,
    "tensorrt": TensorRtRuntime,
    "torch": TorchRuntime,
}


def start_runtime(name: str, path: Path, threads: int) -> Runtime:
    return RUNTIMES[name](path, threads)


def _no_model(path: Path, error: Exception) -> DatasetError:
    reason = str(error).strip().splitlines()
    return DatasetError(
        f"'{path}' is no model that can be read ({reason[-1].strip() if reason else type(error).__name__})"
    )


def _check_names(names: list[str], path: Path) -> None:
    if sorted(names) != ["image", "offsets", "scores"]:
        raise DatasetError(f"'{path}' is a model, but none of skyloop's detector: it has {', '.join(sorted(names))}")


def _classes(text: str, path: Path) -> tuple[str, ...]:
    if not text:
        raise DatasetError(f"'{path}' is a model, but does not name its classes; it is none of skyloop's detector")
    return tuple(text.split(","))


def read_onnx(path: Path) -> tuple[onnx.ModelProto, tuple[str, ...]]:
    """The model in an ONNX file, and its classes, which OpenVINO does not hand out."""
    try:
        import onnx

        model = onnx.load(regular_files.checked(path))
        facts = {entry.key: entry.value for entry in model.metadata_props}
    except ImportError:
        raise MissingExtra("reading a model needs onnx; pip install onnx") from None
    except Exception as error:
        # what its protocol buffers raise depends on how they were built
        raise _no_model(path, error) from None
    return model, _classes(facts.get("classes", ""), path)
