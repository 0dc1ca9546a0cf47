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
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])

CACHE_FOLDER = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "skyloop"

FIRST, MIDDLE, SECOND, LAST = range(4)
"""Turns of a cold compilation by two processes: one begins with FIRST, the other with SECOND, they meet in the MIDDLE;
LAST is when both are done."""


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

    @property
    def module(self) -> str:
        return str(self.dispatcher.py_func.__module__)

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


def kernel(*signatures: Any, turn: int = MIDDLE) -> Callable[[F], F]:
    """An entry point, or a large piece with a cache of its own; compiled for the given signatures and no others."""

    def register(function: F) -> F:
        dispatcher = numba.njit(error_model="numpy", nogil=True, cache=True)(function)
        entry = _Kernel(dispatcher, signatures, turn)
        dispatcher._compile_for_args = entry.first_call
        _kernels.append(entry)
        return dispatcher  # type: ignore[no-any-return]

    return register


def prepare(*modules: str) -> None:
    """The kernels of these modules ("skyloop.vehicle" is all of that room), ready to run; all, if none is named."""
    needed = [entry for entry in _kernels if not modules or entry.module.startswith(modules)]
    missing = [entry for entry in needed if not entry.done and not entry.is_cached()]
    if missing:
        print(
            f"skyloop: compiling {len(missing)} kernels, once per installation (10-30 s) ...",
            file=sys.stderr,
            flush=True,
        )
        if len(missing) > 3:
            _compile_on_two_cores(sorted({entry.module for entry in missing}))
    for entry in needed:
        entry.compile()


def _compile_on_two_cores(modules: list[str]) -> None:
    """This process from the front of the list, another one from its back, until they meet."""
    with tempfile.TemporaryDirectory() as claims:
        arguments = f"{modules!r}, {claims!r}, backwards=True"
        code = f"from skyloop.compiled import compile_missing; compile_missing({arguments})"
        with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.DEVNULL) as other:
            compile_missing(modules, claims)
            other.wait()


def compile_missing(modules: Sequence[str], claims: str, *, backwards: bool = False) -> None:
    """What is neither cached nor claimed by the other process, but for the last turn, which is built of the others."""
    for module in modules:
        __import__(module)
    ours = [entry for entry in _kernels if entry.module in modules and entry.turn != LAST]
    # the heaviest stand at the two ends
    order = sorted(ours, key=lambda entry: entry.turn)
    for entry in order[::-1] if backwards else order:
        claim = Path(claims) / f"{entry.module}.{entry.dispatcher.py_func.__name__}"
        with suppress(FileExistsError):
            claim.touch(exist_ok=False)
            if not entry.is_cached():
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
