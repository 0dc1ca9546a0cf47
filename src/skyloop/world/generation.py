"""Shared code of the generated worlds: random numbers by topic, and a disk cache for generated arrays."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop.core.files import CACHE_FOLDER, write_whole
from skyloop.core.random_key import stream_key
from skyloop_client.errors import DatasetError

Arrays = dict[str, NDArray[Any]]


def generator(seed: int, topic: str) -> np.random.Generator:
    """A random generator for one topic of one world ("park/trees"); topics do not influence each other."""
    return np.random.Generator(np.random.Philox(key=stream_key(seed, f"world/{topic}")))


def kept(name: str, source: str, make: Callable[[], Arrays]) -> Arrays:
    """The result of `make`, cached on disk until the file `source` (__file__) changes."""
    mark = hashlib.blake2b(Path(source).read_bytes() + name.encode(), digest_size=16).hexdigest()
    path = CACHE_FOLDER / "made" / f"{mark}.npz"
    with suppress(OSError, ValueError, EOFError, KeyError), np.load(path, allow_pickle=False) as stored:
        return {key: stored[key] for key in stored.files}
    made = make()
    # a full disk or a read-only home only makes the next start slower
    with suppress(DatasetError):
        file = io.BytesIO()
        np.savez(file, **made)  # type: ignore[arg-type]
        write_whole(path, file.getvalue(), several_writers=True)
    return made
