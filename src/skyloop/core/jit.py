"""How skyloop compiles its kernels: few of them, with explicit signatures, cached in the user's cache folder.

A kernel is compiled, or loaded from the cache, the first time it is called. `prepare` does that for all of them at
once and says so when it takes a while; with a cold cache it keeps a second core busy too.
"""

from __future__ import annotations

import gc
import hashlib
import importlib
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
from numba import types
from numba.core.compiler_lock import global_compiler_lock

from skyloop.core.interrupts import kept_from_children

F = TypeVar("F", bound=Callable[..., Any])

CACHE_FOLDER = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "skyloop"

FIRST, MIDDLE, LAST, WHEN_CALLED = range(4)
"""Turns of a cold compilation by two processes: FIRST the large parts of a LAST kernel, so that they are there when it
has its turn. WHEN_CALLED is left alone until it is called or a caller of it is compiled."""


def _sources_fingerprint() -> str:
    """Of all files that hold compiled code: Numba itself only watches the file of the entry point, not the pieces."""
    digest = hashlib.blake2b(numba.__version__.encode(), digest_size=8)
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        text = path.read_bytes()
        if path.name == "jit.py" or any(mark in text for mark in (b"\n@kernel", b"\n@inlined", b"np.dtype(")):
            digest.update(text)
    return digest.hexdigest()


if not os.environ.get("NUMBA_CACHE_DIR"):
    numba.config.CACHE_DIR = str(CACHE_FOLDER / "kernels" / _sources_fingerprint())


@dataclass(slots=True)
class _Kernel:
    dispatcher: Any
    signatures: Sequence[Any]
    turn: int
    begun: bool = False
    done: bool = False

    @property
    def name(self) -> str:
        return f"{self.dispatcher.py_func.__module__}.{self.dispatcher.py_func.__name__}"

    def is_cached(self) -> bool:
        return bool(self.dispatcher._cache._cache_file._load_index())

    def compile(self) -> None:
        """Or load; afterwards arguments of other types are converted or refused, never compiled for."""
        if self.done:
            return
        # another thread waits until it can be called: before, it would call and call again until the stack is full
        with global_compiler_lock:
            if self.begun:
                return
            self.begun = True
            with _no_garbage_collection():
                for signature in self.signatures:
                    self.dispatcher.compile(signature)
            self.dispatcher.disable_compile()
            del self.dispatcher._compile_for_args
            self.done = True

    def first_call(self, *arguments: Any, **keywords: Any) -> Any:
        """What Numba calls when it has no machine code yet; it then calls what this returns."""
        self.compile()
        return self.dispatcher


_kernels: list[_Kernel] = []


def inlined(function: F) -> F:
    """A piece of a kernel: compiled into whatever calls it, never called from Python."""
    piece = numba.njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True)(function)
    asked = piece.get_call_template
    # numbers lose their values, or a piece called with 1, with 2 and with n would be compiled three times
    piece.get_call_template = lambda args, kws: asked(tuple(map(types.unliteral, args)), kws)
    return piece  # type: ignore[no-any-return]


def kernel(*signatures: Any, turn: int = MIDDLE) -> Callable[[F], F]:
    """An entry point, or a large piece with a cache of its own; compiled for the given signatures and no others."""

    def register(function: F) -> F:
        dispatcher = numba.njit(error_model="numpy", nogil=True, cache=True, no_cfunc_wrapper=True)(function)
        entry = _Kernel(dispatcher, signatures, turn)
        asked = dispatcher.get_call_template

        def called_by_another(args: Any, kws: Any) -> Any:
            entry.compile()
            return asked(args, kws)

        dispatcher._compile_for_args = entry.first_call
        dispatcher.get_call_template = called_by_another
        _kernels.append(entry)
        return dispatcher  # type: ignore[no-any-return]

    return register


def prepare(*rooms: str) -> None:
    """The kernels whose names begin so ("skyloop.vehicle" is all of that room), ready to run; all, if none is given."""
    needed = [e for e in _kernels if not rooms or (e.turn != WHEN_CALLED and e.name.startswith(rooms))]
    missing = [entry for entry in needed if not entry.done and not entry.is_cached()]
    if missing:
        print(
            f"skyloop: compiling {len(missing)} kernels, once per installation (10-30 s) ...",
            file=sys.stderr,
            flush=True,
        )
        if len(missing) > 3:
            _compile_on_two_cores([entry.name for entry in sorted(missing, key=lambda entry: entry.turn)])
    for entry in needed:
        if entry.turn != FIRST:
            entry.compile()


def is_cold() -> bool:
    """Was nothing compiled on this machine yet?"""
    folder = Path(str(numba.config.CACHE_DIR))
    return not (folder.is_dir() and any(folder.rglob("*.nbi")))


def _compile_on_two_cores(names: list[str]) -> None:
    """This process and another one, each taking the next kernel that neither has begun."""
    with tempfile.TemporaryDirectory() as claims:
        code = f"from skyloop.core.jit import compile_unclaimed; compile_unclaimed({names!r}, {claims!r})"
        with kept_from_children():
            other = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.DEVNULL)
        try:
            compile_unclaimed(names, claims)
            other.wait()
        finally:
            other.kill()
            other.wait()


def compile_unclaimed(names: Sequence[str], claims: str) -> None:
    """In this order, whatever the other process does not compile."""
    for name in names:
        importlib.import_module(name.rpartition(".")[0])
    kernels = {entry.name: entry for entry in _kernels}
    for name in names:
        with suppress(FileExistsError):
            (Path(claims) / name).touch(exist_ok=False)
            kernels[name].compile()


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
