"""The state of the code that a reproduction's figures depend on, as one hash per room.

What counts is what the experiment imports, directly or through others, the shipped scenarios that this code names, and
the airframes. Comments, docstrings and layout do not count, nor does what only draws or prints. A figure is stale when
a room has another hash than the one kept with it."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import skyloop
import skyloop_client
import skyloop_papers

ROOTS = {package.__name__: Path(str(package.__file__)).parent for package in (skyloop, skyloop_client, skyloop_papers)}
NAMED = re.compile(r"skyloop(_client|_papers)?(\.\w+)+")
"""A module named in a string is imported later, such as that of a world or a pilot."""
SHOWS = re.compile(r"[._](page|plots?|pictures|report|pages|registry|code_state|verdicts)$")
"""Modules whose changes change no figure: they draw, print or list."""
UNCOUNTED = ("skyloop.cli", "skyloop_papers.benchmarks")


def code_state(module: str) -> dict[str, str]:
    """By room, the hash of what a module depends on."""
    rooms: dict[str, Any] = {}
    modules = sorted(_closure(module))
    for name in modules:
        rooms.setdefault(room_of(name), hashlib.blake2b(digest_size=6)).update(f"{name} {_facts(name)[0]} ".encode())
    for folder, room in (("sim/scenarios", "scenarios"), ("vehicle/airframes", "airframes")):
        for path in sorted((ROOTS["skyloop"] / folder).glob("*.yaml")):
            if room == "airframes" or any(_names(name, path.stem) for name in modules):
                rooms[f"{room}/{path.stem}"] = hashlib.blake2b(path.read_bytes(), digest_size=6)
    return {room: digest.hexdigest() for room, digest in sorted(rooms.items())}


def changed_rooms(kept: dict[str, str], now: dict[str, str]) -> list[str]:
    """The rooms that have changed since. Scenarios that are new or not named now cannot have been used."""
    changed = {room for room, digest in kept.items() if now.get(room, digest if "/" in room else "") != digest}
    changed |= {room for room in now if room not in kept and "/" not in room}
    return sorted({room.partition("/")[0] for room in changed})


def room_of(module: str) -> str:
    """ "vehicle" of skyloop.vehicle.autopilot; "client" of all of skyloop_client."""
    package, *rest = module.split(".")
    if package == "skyloop_papers":
        return "reproductions"
    return "client" if package == "skyloop_client" else rest[0] if rest else "skyloop"


def _closure(module: str) -> set[str]:
    found, left = set(), [module]
    while left:
        name = left.pop()
        if name in found or SHOWS.search(name) or name.startswith(UNCOUNTED) or _file(name) is None:
            continue
        found.add(name)
        left += _facts(name)[1]
    return found


@cache
def _file(module: str) -> Path | None:
    package, *rest = module.split(".")
    place = ROOTS.get(package)
    if place is None:
        return None
    path = place.joinpath(*rest)
    for candidate in (path.with_suffix(".py") if rest else path / "__init__.py", path / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


@cache
def _facts(module: str) -> tuple[str, tuple[str, ...]]:
    """The hash of a module's code, and the modules it names."""
    path = _file(module)
    assert path is not None
    digest = hashlib.blake2b(digest_size=8)
    named: set[str] = set()
    for part in _parts(ast.parse(path.read_bytes())):
        digest.update(part.encode(errors="surrogatepass"))
        named.update(match[0] for match in NAMED.finditer(part))
    modules = set()
    for name in named:
        # "skyloop.core.bus.Bus" is a name in a module
        while name and _file(name) is None:
            name = name.rpartition(".")[0]
        if name and name != module:
            modules.add(name)
    return digest.hexdigest(), tuple(sorted(modules))


def _names(module: str, scenario: str) -> bool:
    """Whether a module has a scenario's name in a string, or one that fits, such as f"{world}-nav"."""
    whole, patterns = _strings(module)
    return scenario in whole or any(pattern.fullmatch(scenario) for pattern in patterns)


@cache
def _strings(module: str) -> tuple[frozenset[str], tuple[re.Pattern[str], ...]]:
    """The strings of a module, and patterns of those that are put together of letters and values."""
    path = _file(module)
    assert path is not None
    nodes = list(ast.walk(ast.parse(path.read_bytes())))
    whole = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    patterns = []
    for node in nodes:
        texts = [getattr(part, "value", None) for part in node.values] if isinstance(node, ast.JoinedStr) else []
        if any(isinstance(text, str) and re.search("[a-z]", text) for text in texts):
            patterns.append(re.compile("".join(re.escape(text) if isinstance(text, str) else ".+" for text in texts)))
    return frozenset(whole), tuple(patterns)


def _parts(node: ast.AST) -> Iterator[str]:
    """What the code says, the same in every version of Python: types of nodes and their values, no docstrings."""
    yield f"({type(node).__name__}"
    if isinstance(node, ast.ImportFrom) and node.module:
        yield from (f" {node.module}.{alias.name} " for alias in node.names)
    for name in node._fields:
        value = getattr(node, name, None)
        if name in ("type_comment", "type_params", "kind", "ctx") or value is None or value == []:
            continue
        if isinstance(value, ast.AST):
            yield from _parts(value)
        elif isinstance(value, list):
            for item in _without_docstrings(value) if name == "body" else value:
                yield from _parts(item) if isinstance(item, ast.AST) else (f" {item!r}",)
        else:
            yield f" {value!r}"
    yield ")"


def _without_docstrings(body: list[Any]) -> list[Any]:
    """A string that stands alone documents what is above it."""
    alone = [item.value for item in body if isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant)]
    texts = {id(value) for value in alone if isinstance(value.value, str)}
    return [item for item in body if not (isinstance(item, ast.Expr) and id(item.value) in texts)]


def state_name(module: str) -> str:
    """Eight characters for a folder's name."""
    return hashlib.blake2b(repr(sorted(code_state(module).items())).encode(), digest_size=4).hexdigest()
