"""How skyloop compiles its kernels: few of them, with explicit signatures, cached in the user's cache folder.

A kernel is compiled, or loaded from the cache, the first time it is called. `prepare` does that for all of them at
once and says so when it takes a while; with a cold cache it keeps a second core busy too.
"""

from __future__ import annotations

import gc
import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])

CACHE_FOLDER = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "skyloop"

FIRST, SECOND, LAST = range(3)
"""Turns of a cold compilation: FIRST and SECOND at the same time in two processes, LAST when both are done."""


def _sources_fingerprint() -> str:
    """Of all files that hold compiled code: Numba itself only watches the file of the entry point, not the pieces."""
    digest = hashlib.blake2b(numba.__version__.encode(), digest_size=8)
    for path in sorted(Path(__file__).parent.rglob("*.py")):
        text = path.read_bytes()
        if path.name == "compiled.py" or any(mark in text for mark in (b"\n@kernel", b"\n@inlined", b"np.dtype(")):
            digest.update(text)
    return digest.hexdigest()


if not os.environ.get("NUMBA_CACHE_DIR"):
    numba.config.CACHE_DIR = str(CACHE_FOLDER / "kernels" / _sources_fingerprint())


@dataclass(slots=True)
class _Kernel:
    dispatcher: Any
    signatures: Sequence[Any]
    turn: int
    done: bool = False

    def is_cached(self) -> bool:
        return bool(self.dispatcher._cache._cache_file._load_index())

    def compile(self) -> None:
        """Or load; afterwards arguments of other types are converted or refused, never compiled for."""
        if self.done:
            return
        self.done = True
        with _no_garbage_collection():
            for signature in self.signatures:
                self.dispatcher.compile(signature)
        self.dispatcher.disable_compile()
        del self.dispatcher._compile_for_args

    def first_call(self, *arguments: Any, **keywords: Any) -> Any:
        """What Numba calls when it has no machine code yet; it then calls what this returns."""
        self.compile()
        return self.dispatcher


_kernels: list[_Kernel] = []


def inlined(function: F) -> F:
    """A piece of a kernel: compiled into whatever calls it, never called from Python."""
    return numba.njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True)(function)  # type: ignore[no-any-return]


def kernel(*signatures: Any, turn: int = SECOND) -> Callable[[F], F]:
    """An entry point, or a large piece with a cache of its own; compiled for the given signatures and no others."""

    def register(function: F) -> F:
        dispatcher = numba.njit(error_model="numpy", nogil=True, cache=True)(function)
        entry = _Kernel(dispatcher, signatures, turn)
        dispatcher._compile_for_args = entry.first_call
        _kernels.append(entry)
        return dispatcher  # type: ignore[no-any-return]

    return register


def prepare() -> None:
    """Every kernel of the modules imported so far, ready to run."""
    missing = [entry for entry in _kernels if not entry.done and not entry.is_cached()]
    if missing:
        print(
            "skyloop: compiling the flight kernels, once per installation (10-20 s) ...",
            file=sys.stderr,
            flush=True,
        )
        if len({entry.turn for entry in missing}) > 1:
            _compile_on_two_cores()
    for entry in _kernels:
        entry.compile()


def _compile_on_two_cores() -> None:
    modules = sorted({entry.dispatcher.py_func.__module__ for entry in _kernels})
    code = f"from skyloop.compiled import compile_turn; compile_turn({modules!r}, {SECOND})"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.DEVNULL) as other:
        compile_turn(modules, FIRST)
        other.wait()


def compile_turn(modules: Sequence[str], turn: int) -> None:
    """The kernels of one turn; what another process leaves undone is done by whoever needs it."""
    for module in modules:
        __import__(module)
    for entry in _kernels:
        if entry.turn == turn:
            entry.compile()


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
