"""Weights as safetensors files: arrays and text, nothing that runs when it is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from torch import Tensor

from skyloop.core.files import write_whole
from skyloop_client import regular_files
from skyloop_client.errors import DatasetError, MissingExtra
from skyloop_detect.detector import trained_weights
from skyloop_detect.network import Network

FORMAT = "skyloop-detection-1"
SHIPPED_NAME = "people"


def save_tensors(path: Path, tensors: dict[str, Tensor], facts: dict[str, str]) -> None:
    save = _safetensors().save
    data = save({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}, facts)
    write_whole(path, _in_order(data))


def _in_order(data: bytes) -> bytes:
    """The package writes facts in an order drawn anew each time; the same weights shall be the same bytes."""
    end = 8 + int.from_bytes(data[:8], "little")
    head = json.loads(data[8:end])
    head["__metadata__"] = dict(sorted(head["__metadata__"].items()))
    text = json.dumps(head, separators=(",", ":"), ensure_ascii=False).encode()
    return data[:8] + text.ljust(end - 8) + data[end:]


def load_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Tensors and facts of a file."""
    _safetensors()
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(regular_files.checked(path), framework="pt") as file:
            facts = dict(sorted((file.metadata() or {}).items()))
            return {name: file.get_tensor(name) for name in file.keys()}, facts  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise DatasetError(f"'{path}' is no safetensors file ({error})") from None


def save_network(path: Path, state: dict[str, Tensor], classes: tuple[str, ...], facts: dict[str, str]) -> None:
    # torch counts batches in whole numbers that nobody uses
    kept = {name: tensor for name, tensor in state.items() if not name.endswith("num_batches_tracked")}
    save_tensors(path, kept, {"format": FORMAT, "classes": ",".join(classes), **facts})


def load_network(path: Path) -> tuple[Network, tuple[str, ...], dict[str, str]]:
    """A network that is ready to answer, its classes, and what else the file tells."""
    tensors, facts = load_tensors(path)
    if facts.get("format") != FORMAT:
        raise DatasetError(f"'{path}' holds no weights of skyloop's detector")
    classes = tuple(facts["classes"].split(","))
    network = Network(len(classes))
    wanted = {name: tensor for name, tensor in network.state_dict().items() if not name.endswith("num_batches_tracked")}
    if {n: t.shape for n, t in tensors.items()} != {n: t.shape for n, t in wanted.items()}:
        raise DatasetError(f"'{path}' holds weights of another network; train again with this version")
    network.load_state_dict(tensors, strict=False)
    return network.eval(), classes, facts


def begin_with(network: Network, start: str, classes: tuple[str, ...]) -> None:
    """Take over the weights of an earlier training: `people`, the shipped ones, or a file. For other classes the heads
    that tell them apart stay new."""
    earlier, known, _ = load_network(trained_weights(start) if start == SHIPPED_NAME else Path(start))
    state = earlier.state_dict()
    network.load_state_dict(
        {name: value for name, value in state.items() if known == classes or not name.startswith("class_heads")},
        strict=False,
    )


def _safetensors() -> Any:
    try:
        import safetensors.torch
    except ImportError:
        raise MissingExtra("weights need safetensors; pip install 'skyloop-detect[train]'") from None
    return safetensors.torch
