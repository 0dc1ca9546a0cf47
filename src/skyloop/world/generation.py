"""What the generated worlds share: random numbers by topic, and things once made kept on disk."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop.core.cache import CACHE_FOLDER
from skyloop.core.stream_key import stream_key

Arrays = dict[str, NDArray[Any]]


def generator(seed: int, topic: str) -> np.random.Generator:
    """Chance for one topic of one world ("park/trees"); others draw nothing from it."""
    return np.random.Generator(np.random.Philox(key=stream_key(seed, f"world/{topic}")))


def kept(name: str, source: str, make: Callable[[], Arrays]) -> Arrays:
    """What `make` gives, from the disk the second time; `source` is the file whose change makes it stale (__file__)."""
    mark = hashlib.blake2b(Path(source).read_bytes() + name.encode(), digest_size=16).hexdigest()
    path = CACHE_FOLDER / "made" / f"{mark}.npz"
    with suppress(OSError, ValueError, EOFError, KeyError), np.load(path, allow_pickle=False) as stored:
        return {key: stored[key] for key in stored.files}
    made = make()
    # a full disk or a read-only home costs time at the next start, nothing else
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, unfinished = tempfile.mkstemp(dir=path.parent, suffix=".part")
        with os.fdopen(handle, "wb") as file:
            np.savez(file, **made)  # type: ignore[arg-type]
        Path(unfinished).replace(path)
    return made
