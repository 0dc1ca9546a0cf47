"""What a training must remember, and the two files in which it does: numbers as safetensors, the rest as JSON.

The curves that TensorBoard shows are written without its package. An event file is a row of records: length, its
checksum, the bytes, their checksum; the bytes are the protocol buffer `Event` with `wall_time` (1), `step` (2),
`file_version` (3) or `summary` (5), which holds tags and values.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from skyloop.core.files import write_whole
from skyloop_client import regular_files
from skyloop_client.errors import DatasetError
from skyloop_detect.network import Network
from skyloop_detect.weights import load_tensors, save_tensors

if TYPE_CHECKING:
    from skyloop_detect.training import TrainingOptions

TENSORS, STATE = "state.safetensors", "state.json"
KEPT = ("epoch", "epochs", "steps", "waited", "history")
"""Attributes of a training that the JSON holds as they are."""
WARM_UP = 0.04
"""The share of the training over which the rate rises."""
LAST_RATE = 0.01
"""Of the highest, at the end of the cosine."""
MEAN_OVER = 0.9995
"""The share of the averaged weights that stays at each step, once there are many."""


class Trained:
    """A network, its optimiser, and the mean of its latest weights."""

    def __init__(self, network: Network, optimiser: torch.optim.Optimizer, options: TrainingOptions) -> None:
        self.network, self.optimiser, self.options = network, optimiser, options
        state = network.state_dict()
        self.mean: dict[str, Tensor] = {name: tensor.detach().clone() for name, tensor in state.items()}
        averaged = [name for name, tensor in state.items() if tensor.is_floating_point()]
        # listed once, because optimisers change weights in place; at each step it would take as long as the step
        self._averaged = [self.mean[name] for name in averaged], [state[name].detach() for name in averaged]
        self.epoch = 0
        self.epochs: int | None = None
        """That are planned, if it is fewer than asked for."""
        self.steps = 0
        self.best = math.nan
        self.waited = 0
        """Validations since the best one."""
        self.history: list[dict[str, float]] = []

    def set_rate(self, share: float) -> None:
        """share: of the whole training that is done."""
        highest = self.options.rate * math.sqrt(self.options.batch / 64.0)
        if share < WARM_UP:
            rate = highest * max(share / WARM_UP, 0.01)
        else:
            along = min(1.0, (share - WARM_UP) / (1.0 - WARM_UP))
            rate = highest * (LAST_RATE + (1.0 - LAST_RATE) * 0.5 * (1.0 + math.cos(math.pi * along)))
        for group in self.optimiser.param_groups:
            group["lr"] = rate

    @torch.no_grad()
    def average(self) -> None:
        """After a step."""
        self.steps += 1
        kept = min(MEAN_OVER, (1.0 + self.steps) / (10.0 + self.steps))
        means, latest = self._averaged
        torch._foreach_lerp_(means, latest, 1.0 - kept)


def save_state(folder: Path, trained: Trained, classes: tuple[str, ...], seconds: float) -> None:
    """After an epoch. The JSON is written last; it belongs to the tensors of its epoch."""
    tensors = {f"network/{name}": tensor for name, tensor in trained.network.state_dict().items()}
    tensors |= {f"mean/{name}": tensor.clone() for name, tensor in trained.mean.items()}
    for number, entry in trained.optimiser.state_dict()["state"].items():
        tensors |= {f"optimiser/{number}/{name}": value for name, value in entry.items()}
    # one of the two names is the older state until the JSON names the newer one
    name = f"{trained.epoch % 2}-{TENSORS}"
    save_tensors(folder / name, tensors, {})
    state = {key: vars(trained)[key] for key in KEPT}
    state |= {"best": None if math.isnan(trained.best) else trained.best, "seconds": seconds, "tensors": name}
    state |= {"classes": list(classes), "options": asdict(trained.options)}
    write_whole(folder / STATE, json.dumps(state, indent=1) + "\n")


def load_state(folder: Path, trained: Trained, classes: tuple[str, ...]) -> float:
    """Go on where a training stopped. Returns the seconds that it took so far."""
    try:
        state = json.loads(regular_files.read_text(folder / STATE))
        differing = {k for k, v in asdict(trained.options).items() if state["options"].get(k) != v}
        if tuple(state["classes"]) != classes or differing:
            what = ", ".join(sorted(differing)) or "classes"
            raise DatasetError(f"'{folder}' holds a training with other {what}; give the same, or another --out")
        tensors, _ = load_tensors(folder / state["tensors"])
        trained.network.load_state_dict(_under("network/", tensors))
        for name, tensor in _under("mean/", tensors).items():
            trained.mean[name].copy_(tensor)
        whole = trained.optimiser.state_dict()
        whole["state"] = {}
        for name, tensor in _under("optimiser/", tensors).items():
            number, key = name.split("/")
            whole["state"].setdefault(int(number), {})[key] = tensor
        trained.optimiser.load_state_dict(whole)
        vars(trained).update({key: state[key] for key in KEPT})
        trained.best = math.nan if state["best"] is None else float(state["best"])
        return float(state["seconds"])
    except (OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
        raise DatasetError(f"the training in '{folder}' is damaged ({error}); give another --out") from None


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}


_POLYNOMIAL = 0x82F63B78
"""CRC-32C, reflected."""


def _table() -> list[int]:
    out = []
    for byte in range(256):
        crc = byte
        for _ in range(8):
            crc = crc >> 1 ^ (_POLYNOMIAL if crc & 1 else 0)
        out.append(crc)
    return out


_CRC = _table()


def masked_crc(data: bytes) -> int:
    """CRC-32C, rotated and shifted as TFRecord wants it."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _CRC[(crc ^ byte) & 0xFF] ^ crc >> 8
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def record(data: bytes) -> bytes:
    length = struct.pack("<Q", len(data))
    return length + struct.pack("<I", masked_crc(length)) + data + struct.pack("<I", masked_crc(data))


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def _field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def scalars(step: int, seconds: float, values: Mapping[str, float]) -> bytes:
    """An Event with one value per tag."""
    summary = b"".join(
        _field(1, _field(1, tag.encode()) + b"\x15" + struct.pack("<f", value)) for tag, value in values.items()
    )
    return b"\x09" + struct.pack("<d", seconds) + b"\x10" + _varint(step) + _field(5, summary)


class EventLog:
    """Appends to one event file; a resumed training goes on in the same file."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "events.out.tfevents.0.skyloop"
        if not self._path.exists():
            self._append(b"\x09" + struct.pack("<d", 0.0) + _field(3, b"brain.Event:2"))

    def add(self, step: int, seconds: float, values: Mapping[str, float]) -> None:
        """seconds: since the training began, in place of the wall clock's time."""
        self._append(scalars(step, seconds, values))

    def _append(self, event: bytes) -> None:
        try:
            with self._path.open("ab") as file:
                file.write(record(event))
        except OSError as error:
            raise DatasetError(f"cannot write '{self._path}': {error.strerror}") from None
