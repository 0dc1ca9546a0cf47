"""Runs of a reproduction on the machines of a cluster: what they write there comes back, and other code is refused."""

from __future__ import annotations

import json
import platform
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from skyloop.campaigns.parcels import packed, unpack
from skyloop.campaigns.run_process import Work
from skyloop_client.errors import SetupError
from skyloop_papers.code_state import state_name

Call = Callable[..., dict[str, Any]]


def far_work(call: Call, arguments: tuple[Any, ...], leaves: Path | None) -> Work:
    """leaves: the file or folder that the run writes, as it stands among the arguments."""
    return Work.of(run_far, (call, arguments, "" if leaves is None else str(leaves), state_name(call.__module__)))


def run_far(call: Call, arguments: tuple[Any, ...], leaves: str, state: str) -> tuple[dict[str, Any], bytes]:
    """There: make the run in a folder of this machine. Returns what it gives, and what it wrote as a parcel."""
    found = state_name(call.__module__)
    if found != state:
        raise SetupError(
            f"{platform.node()} has another state of skyloop's code ({found}) than the machine that asks ({state}), "
            "and figures of both would be mixed; install the same one there"
        )
    with tempfile.TemporaryDirectory(prefix="skyloop-far-") as made:
        there = Path(made) / Path(leaves or "nothing").name
        try:
            run = call(*(str(there) if leaves and argument == leaves else argument for argument in arguments))
        except SetupError as error:
            raise SetupError(f"on {platform.node()}: {error}") from None
        parcel = packed(there) if there.is_dir() else packed(there.parent) if there.is_file() else b""
        # a run may tell where it wrote
        text = json.dumps(run).replace(json.dumps(str(there))[1:-1], json.dumps(leaves)[1:-1])
    told: dict[str, Any] = json.loads(text)
    return told, parcel


def put_there(parcel: bytes, leaves: Path) -> None:
    """Here: what a run wrote, at the place where it would have written it on this machine."""
    unpacked = leaves.with_name(f".{leaves.name}.far")
    unpack(parcel, unpacked, whole=True)
    written = unpacked / leaves.name
    if leaves.is_dir():
        shutil.rmtree(leaves)
    (written if written.is_file() else unpacked).replace(leaves)
    shutil.rmtree(unpacked, ignore_errors=True)
