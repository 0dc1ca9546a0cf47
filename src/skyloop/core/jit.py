"""How skyloop compiles its kernels: few of them, with explicit signatures, cached in the user's cache folder.

A kernel is compiled, or loaded from the cache, the first time it is called. `prepare` does that for all of them at
once and says so when it takes a while; with a cold cache it keeps a second core busy too.

Four parts of Numba are used that it does not promise to keep: a dispatcher asks its attribute `_compile_for_args` for
machine code and its attribute `get_call_template` when compiled code calls it, `global_compiler_lock` is held while it
compiles, and cache locators are listed in `CacheImpl._locator_classes` and keep their folder in `_cache_path`.
tests/core/test_jit.py tests each of them, and pyproject.toml names the versions that were tried.
"""

from __future__ import annotations

import gc
import hashlib
import importlib
import logging
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FrameType, FunctionType
from typing import Any, TypeVar

import numba
from numba import types
from numba.core.caching import CacheImpl, UserProvidedCacheLocator
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher

from skyloop.core.files import CACHE_FOLDER
from skyloop.core.interrupts import kept_from_children

log = logging.getLogger(__name__)
F = TypeVar("F", bound=Callable[..., Any])

PACKAGE = Path(__file__).parents[1]
MARK = ".compiled"
"""Ending of the files that say which kernels are in the cache."""

COMPILED_CODE = (b"\n@kernel", b"\n@inlined", b"np.dtype(", b"(NamedTuple)")
"""What a file contains that holds compiled code or the records given to it."""

FIRST, MIDDLE, LAST, WHEN_CALLED = range(4)
"""Turns of a cold compilation by two processes: FIRST the large parts of a LAST kernel, so that they are there when it
has its turn. WHEN_CALLED is left alone until it is called or a caller of it is compiled."""


@cache
def _sources_fingerprint(package: Path) -> str:
    """Of all files that hold compiled code: Numba itself only watches the file of the entry point, not the pieces."""
    digest = hashlib.blake2b(numba.__version__.encode(), digest_size=8)
    for path in sorted(package.rglob("*.py")):
        text = path.read_bytes()
        if path.name == "jit.py" or any(mark in text for mark in COMPILED_CODE):
            digest.update(text)
    return digest.hexdigest()


if not os.environ.get("NUMBA_CACHE_DIR"):
    numba.config.CACHE_DIR = str(CACHE_FOLDER / "kernels" / _sources_fingerprint(PACKAGE))


class SharedKernelFolder(UserProvidedCacheLocator):  # type: ignore[misc]
    """Named after the module, not after its path: all checkouts and environments of this user share machine code.

    Numba names it after the path. The folder above is named after the sources, so they are the same."""

    def __init__(self, function: FunctionType, file: str) -> None:
        super().__init__(function, file)
        folder, package = kernel_cache_folder(), _package_of(file)
        if package is not None and package != PACKAGE:
            folder /= f"{package.name}-{_sources_fingerprint(package)}"
        self._cache_path = str(folder / function.__module__)

    @classmethod
    def from_function(cls, function: FunctionType, file: str) -> SharedKernelFolder | None:
        """None for kernels in no package, which Numba then keeps in its usual way."""
        return super().from_function(function, file) if _package_of(file) else None


def _package_of(file: str) -> Path | None:
    """The folder of the outermost package that the file is in."""
    folder, package = Path(file).parent, None
    while (folder / "__init__.py").exists():
        folder, package = folder.parent, folder
    return package


@contextmanager
def _in_shared_folder() -> Iterator[None]:
    usual = numba.config.CACHE_LOCATOR_CLASSES
    others = usual or ",".join(each.__name__ for each in CacheImpl._locator_classes)
    numba.config.CACHE_LOCATOR_CLASSES = f"{__name__}.{SharedKernelFolder.__name__},{others}"
    try:
        yield
    finally:
        numba.config.CACHE_LOCATOR_CLASSES = usual


@dataclass(slots=True)
class _Kernel:
    dispatcher: CPUDispatcher
    signatures: Sequence[types.Type]
    turn: int
    begun: bool = False
    done: bool = False

    @property
    def name(self) -> str:
        return f"{self.dispatcher.py_func.__module__}.{self.dispatcher.py_func.__name__}"

    @property
    def _mark(self) -> Path:
        """A file beside Numba's own that says what was compiled."""
        return Path(self.dispatcher.stats.cache_path) / f"{self.name}.{sys.implementation.cache_tag}{MARK}"

    @property
    def _source(self) -> str:
        """What the code says. Numba compiles anew when it differs."""
        path = Path(self.dispatcher.py_func.__code__.co_filename)
        return hashlib.blake2b(path.read_bytes(), digest_size=8).hexdigest()

    def is_cached(self) -> bool:
        try:
            return self._mark.read_text(encoding="utf-8") == self._source
        except OSError:
            return False

    def compile(self) -> None:
        """Or load; afterwards arguments of other types are converted or refused, never compiled for."""
        if self.done:
            return
        # another thread waits until it can be called: before, it would call and call again until the stack is full
        with global_compiler_lock:
            if self.begun:
                return
            self.begun = True
            with _no_garbage_collection(), _interruptible():
                for signature in self.signatures:
                    self.dispatcher.compile(signature)
            self.dispatcher.disable_compile()
            del self.dispatcher._compile_for_args
            self.done = True
            if not self.is_cached():
                # where nothing can be written, Numba keeps nothing either
                with suppress(OSError):
                    self._mark.write_text(self._source, encoding="utf-8")

    def first_call(self, *arguments: object, **keywords: object) -> CPUDispatcher:
        """What Numba calls when it has no machine code yet; it then calls what this returns."""
        if not self.done and not self.is_cached():
            _say_that_it_compiles()
        self.compile()
        return self.dispatcher


_kernels: list[_Kernel] = []


def record_type(record: type, **fields: types.Type) -> types.Tuple:
    """For the signature of a kernel that is given `tuple(a record)` and begins with `Record(*given)`.

    Numba finds out the type of a NamedTuple itself anew at every call, which takes a microsecond.
    """
    assert list(fields) == list(record.__annotations__), f"{record.__name__} has the fields {record.__annotations__}"
    return types.Tuple(tuple(fields.values()))


def readonly(kind: types.Type, dimensions: int) -> types.Array:
    """The type of an array that a kernel only reads; writable arrays are accepted as well."""
    return types.Array(kind, dimensions, "C", readonly=True)


def inlined(function: F) -> F:
    """A piece of a kernel: compiled into whatever calls it, never called from Python."""
    piece = numba.njit(error_model="numpy", no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True)(function)
    asked = piece.get_call_template
    # numbers lose their values, or a piece called with 1, with 2 and with n would be compiled three times
    piece.get_call_template = lambda args, kws: asked(tuple(map(types.unliteral, args)), kws)
    compiled: F = piece
    return compiled


def kernel(*signatures: types.Type, turn: int = MIDDLE) -> Callable[[F], F]:
    """An entry point, or a large piece with a cache of its own; compiled for the given signatures and no others."""

    def register(function: F) -> F:
        with _in_shared_folder():
            dispatcher = numba.njit(error_model="numpy", nogil=True, cache=True, no_cfunc_wrapper=True)(function)
        entry = _Kernel(dispatcher, signatures, turn)
        asked = dispatcher.get_call_template

        def called_by_another(args: object, kws: object) -> object:
            entry.compile()
            return asked(args, kws)

        dispatcher._compile_for_args = entry.first_call
        dispatcher.get_call_template = called_by_another
        _kernels.append(entry)
        compiled: F = dispatcher
        return compiled

    return register


def prepare(*rooms: str, when_called: bool = False) -> None:
    """The kernels whose names begin so ("skyloop.vehicle" is all of that room), ready to run; all, if none is given.

    when_called: also those that otherwise wait for their first call."""
    turns = (FIRST, MIDDLE, LAST, WHEN_CALLED) if when_called else (FIRST, MIDDLE, LAST)
    needed = [e for e in _kernels if not rooms or (e.turn in turns and e.name.startswith(rooms))]
    missing = [entry for entry in needed if not entry.done and not entry.is_cached()]
    if missing:
        _say_that_it_compiles(len(missing))
        if len(missing) > 3:
            _compile_on_two_cores([entry.name for entry in sorted(missing, key=lambda entry: entry.turn)])
    for entry in needed:
        if entry.turn != FIRST:
            entry.compile()
    log.debug("%d kernels ready, cached in %s", len(needed), numba.config.CACHE_DIR)


_said = False


def _say_that_it_compiles(count: int = 0) -> None:
    """Once per process, unless `prepare` knows how many: half a minute of silence looks like a hang.

    It is logged even if the program never set up logging."""
    global _said
    if count or not _said:
        level = logging.INFO if log.hasHandlers() else logging.WARNING
        kernels = f"{count} kernels" if count > 1 else "a kernel" if count else "kernels"
        log.log(level, "compiling %s of skyloop, once per machine; this may take a minute or two ...", kernels)
    _said = True


def kernel_cache_folder() -> Path:
    return Path(str(numba.config.CACHE_DIR))


def kernels_in_cache() -> int:
    """Of skyloop's own."""
    marks = kernel_cache_folder().glob(f"{PACKAGE.name}.*/*.{sys.implementation.cache_tag}{MARK}")
    return sum(1 for _ in marks)


def are_compiled(*rooms: str) -> bool:
    """Would `prepare` have nothing to compile?"""
    return all(entry.done or entry.is_cached() for entry in _kernels if entry.name.startswith(rooms))


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
def _interruptible() -> Iterator[None]:
    """Ctrl-C ends it for certain, and quietly.

    The compiler calls Python from C, where a KeyboardInterrupt may be cleared like any error: a lookup in a dict does
    so. One that got lost is raised again at the end. It may also strike inside a constructor of LLVM's Python binding.
    What that leaves half made complains on stderr when it is freed, long after; of these complaints, and no others,
    the user hears nothing."""
    asked = False
    before: Any = signal.getsignal(signal.SIGINT)
    handled = callable(before) and threading.current_thread() is threading.main_thread()

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        asked = True
        before(number, frame)

    if handled:
        signal.signal(signal.SIGINT, note)
    try:
        yield
        if asked:
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        usual = sys.unraisablehook

        def tell(complaint: sys.UnraisableHookArgs) -> None:
            if not str(getattr(complaint.object, "__module__", "")).startswith("llvmlite."):
                usual(complaint)

        sys.unraisablehook = tell
        raise
    finally:
        if handled:
            signal.signal(signal.SIGINT, before)


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
