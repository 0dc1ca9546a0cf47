"""How skyloop compiles its kernels: few of them, with explicit signatures, cached in the user's cache folder."""

from __future__ import annotations

import gc
import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])

CACHE_FOLDER = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "skyloop"


def _sources_fingerprint() -> str:
    """Of all files that hold compiled code: Numba itself only watches the file of the entry point, not the pieces."""
    digest = hashlib.blake2b(numba.__version__.encode(), digest_size=8)
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        text = path.read_bytes()
        if b"skyloop.compiled" in text or b"np.dtype(" in text:
            digest.update(text)
    return digest.hexdigest()


if not os.environ.get("NUMBA_CACHE_DIR"):
    numba.config.CACHE_DIR = str(CACHE_FOLDER / "kernels" / _sources_fingerprint())

_announced = False


def _announce_compilation() -> None:
    """Say once per process that a silent wait is a compilation."""
    global _announced
    if not _announced:
        _announced = True
        print("skyloop: compiling the flight kernels, once per installation (10-20 s) ...", file=sys.stderr)


def inlined(function: F) -> F:
    """A piece of a kernel: compiled into whatever calls it, never called from Python."""
    return numba.njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)  # type: ignore[no-any-return]


def kernel(*signatures: Any) -> Callable[[F], F]:
    """An entry point: compiled for the given signatures on import, or loaded from the cache."""

    def compile_now(function: F) -> F:
        dispatcher = numba.njit(error_model="numpy", nogil=True, cache=True)(function)
        for signature in signatures:
            if not _is_cached(dispatcher, signature):
                _announce_compilation()
            with _no_garbage_collection():
                dispatcher.compile(signature)
        dispatcher.disable_compile()
        return dispatcher  # type: ignore[no-any-return]

    return compile_now


@contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """The compiler makes millions of objects and hardly any garbage; looking for it costs a tenth of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _is_cached(dispatcher: Any, signature: Any) -> bool:
    """Whether loading will hit; a wrong guess only costs or saves one line of text."""
    index = dispatcher._cache._cache_file._index_path
    return os.path.exists(index) and bool(dispatcher._cache._cache_file._load_index())
