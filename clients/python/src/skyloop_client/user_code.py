"""User-defined parts: anything that a scenario names may come from outside as `module:Name` or `file.py:Name`.

Any error of such code becomes one line with file and line number. All code that a file or a request names is loaded
here, so here it is refused too: see `without_code` and `part`.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from skyloop_client.errors import PartError, ScenarioError, SkyloopError, nearest_name
from skyloop_client.streams import NS_PER_S

T = TypeVar("T")


def is_plugin(name: object) -> bool:
    """Whether a name in a scenario is `module:Name` or `file.py:Name`."""
    return isinstance(name, str) and ":" in name


WHY_NOT = "SKYLOOP_NO_CODE"
"""The environment variable that says why code is refused, in this process and in those that it starts."""


@contextmanager
def without_code(why: str) -> Iterator[None]:
    """Until it ends, `module:Name` and `file.py:Name` are refused, in processes started meanwhile too."""
    before = os.environ.get(WHY_NOT)
    os.environ[WHY_NOT] = why
    try:
        yield
    finally:
        os.environ.pop(WHY_NOT)
        if before is not None:
            os.environ[WHY_NOT] = before


def check_code_is_allowed(source: str) -> None:
    if why := os.environ.get(WHY_NOT):
        raise ScenarioError(f"'{source}' names code, which is not run here: {why}")


def part(made: T) -> T:
    """Marks a class or function of a module as one that `module:Name` may name. Subclasses are marked with it."""
    made.is_skyloop_part = True  # type: ignore[attr-defined]
    return made


def load_plugin(source: str, folder: Path | None = None) -> Any:
    """The object named by "module:Name". A module ending in .py is a file, relative to `folder`.

    Modules hold much that is no part, such as `os:system`: there only what `part` marks can be named, or plain data."""
    check_code_is_allowed(source)
    found = load_chosen(source, folder)
    is_file = source.partition(":")[0].endswith(".py")
    if not is_file and callable(found) and getattr(found, "is_skyloop_part", False) is not True:
        raise ScenarioError(
            f"'{source}' is not marked as a part of skyloop; put @part of skyloop_client above it, or name its file: "
            f"file.py:{source.partition(':')[2]}"
        )
    return found


def load_chosen(source: str, folder: Path | None = None) -> Any:
    """Like `load_plugin`, for what a person names on a command line: it need not be marked, and is never refused."""
    module_name, _, attribute = source.partition(":")
    if not module_name or not attribute:
        raise ScenarioError(f"'{source}' names no object; write module:Name or file.py:Name")
    module = _load_file(module_name, folder) if module_name.endswith(".py") else _import(module_name, source)
    try:
        return getattr(module, attribute)
    except AttributeError:
        names = [name for name in vars(module) if not name.startswith("_")]
        raise ScenarioError(f"'{module_name}' has no '{attribute}'; {nearest_name(attribute, names)}") from None


def _import(module_name: str, source: str) -> ModuleType:
    try:
        return importlib.import_module(module_name)
    except ImportError as error:
        raise ScenarioError(f"cannot import '{source}': {error}; is the module on the Python path?") from error
    except (Exception, SystemExit) as error:
        raise ScenarioError(f"'{source}' fails when loaded: {type(error).__name__}: {error}") from error


def _load_file(name: str, folder: Path | None) -> ModuleType:
    path = Path(name) if folder is None else folder / name
    if not path.is_file():
        raise ScenarioError(f"no file '{path}' to load '{name}' from; paths are relative to the scenario file")
    qualified = f"skyloop_plugin_{path.resolve().as_posix().replace('/', '_')[:-3]}"
    if qualified in sys.modules:
        return sys.modules[qualified]
    spec = importlib.util.spec_from_file_location(qualified, path)
    if spec is None or spec.loader is None:
        raise ScenarioError(f"'{path}' is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[qualified] = module
    try:
        with _siblings_can_be_imported(path.resolve().parent):
            spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[qualified]
        raise ScenarioError(f"'{path}' fails when loaded: {type(error).__name__}: {error}") from error
    return module


def forget_plugins() -> None:
    """Files are loaded anew from now on, so that nothing that they remember reaches the next flight."""
    for name in [name for name in sys.modules if name.startswith("skyloop_plugin_")]:
        del sys.modules[name]
    _siblings.clear()


_siblings: dict[Path, dict[str, ModuleType]] = {}
"""By folder: modules that files there have imported from it."""


@contextmanager
def _siblings_can_be_imported(folder: Path) -> Iterator[None]:
    """A file may import its siblings at its top, like a script. Afterwards they are hidden from all other modules.

    The folder comes last, so that a user's file named yaml.py does not replace a library."""
    known = _siblings.setdefault(folder, {})
    hidden = {name: sys.modules[name] for name in known if name in sys.modules}
    before = set(sys.modules)
    sys.modules.update(known)
    sys.path.append(str(folder))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in [name for name in sys.modules if name not in before or name in known]:
            if _lies_in(sys.modules[name], folder) and not name.startswith("skyloop_plugin_"):
                known[name] = sys.modules.pop(name)
        sys.modules.update(hidden)


def _lies_in(module: object, folder: Path) -> bool:
    if not isinstance(module, ModuleType):
        return False
    about = vars(module)
    file = about.get("__file__") or next(iter(about.get("__path__", ())), None)
    return file is not None and Path(file).resolve().is_relative_to(folder)


def made(label: str, make: Callable[..., T], *arguments: object, **options: object) -> T:
    """The object that a user's code makes. Any error becomes one line."""
    try:
        return make(*arguments, **options)
    except SkyloopError:
        raise
    except Exception as error:
        name = getattr(make, "__name__", make)
        given = f" with options {options}" if options else ""
        raise ScenarioError(f"{label}: {name}{given} fails: {type(error).__name__}: {error}") from error


def require(made: object, names: tuple[str, ...], label: str) -> None:
    for name in names:
        if not hasattr(made, name):
            raise ScenarioError(f"{label}: {type(made).__name__} has no '{name}'; see the examples of your own parts")


OURS = ("skyloop", "skyloop_client")
"""Our own packages, where a user need not look for a mistake."""


def call_user_code(label: str, t_ns: int, question: Callable[..., T], *arguments: object) -> T:
    """The result of a call of the user's code. Any error becomes one line."""
    try:
        return question(*arguments)
    except SkyloopError:
        raise
    except Exception as error:
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise PartError(f"{label} at {t_ns / NS_PER_S:.3f} s: {what}{_line_of(error)}") from error


def _line_of(error: Exception) -> str:
    """The place in the user's file. Empty if the call itself did not fit."""
    walked = list(traceback.walk_tb(error.__traceback__))[1:]
    frames = [(str(frame.f_globals.get("__name__")), frame.f_code.co_filename, line) for frame, line in walked]
    theirs = [(file, line) for module, file, line in frames if module.partition(".")[0] not in OURS]
    # libraries that it calls are not the place to look
    theirs = [(file, line) for file, line in theirs if file == theirs[0][0]]
    last = (theirs or [(file, line) for _, file, line in frames])[-1:]
    return "".join(f" ({Path(file).name}, line {line})" for file, line in last)
