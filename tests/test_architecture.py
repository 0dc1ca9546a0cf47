"""ARCHITECTURE.md names what exists, and the code keeps the rules it states."""

from __future__ import annotations

import ast
import functools
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import skyloop

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "skyloop"
FILES = sorted(PACKAGE.rglob("*.py"))

FOUNDATION = {
    "errors", "messages", "streams", "frames", "rotations", "compiled", "keyed_random", "clock", "schedule",
    "bus", "plugins", "results", "waveform", "codec",
}  # fmt: skip
ASSEMBLY = {
    "validation", "scenario", "assembly", "running", "looking", "trials", "datasets", "bench", "catalogue", "doctor",
    "cli", "looping", "piloting", "flying", "serving", "sizing", "gym",
}  # fmt: skip
SPINE = {
    "world": FOUNDATION,
    "vehicle": FOUNDATION | {"world"},
    "sensors": FOUNDATION | {"world"},
    "rendering": FOUNDATION | {"world"},
    "parts": FOUNDATION | {"world", "vehicle", "sensors"},
    "sensing": FOUNDATION | {"world", "vehicle", "sensors", "parts"},
    "joining": FOUNDATION | {"world", "vehicle", "sensors", "parts", "sensing", "simulation"},
    "stage": FOUNDATION | {"world", "vehicle"},
    "simulation": FOUNDATION | {"world", "vehicle", "sensors", "parts", "stage"},
}
CONSUMERS = {
    "recording": FOUNDATION,
    "navigation": FOUNDATION,
    "perception": FOUNDATION,
    "tasks": FOUNDATION | {"navigation", "client"},
    "client": FOUNDATION,
    "links": FOUNDATION | {"client", "recording"},
}
TYPES_ONLY = {"links": {"simulation", "stage"}}
"""What a room may name in annotations without importing it at run time."""
ALLOWED = {
    **dict.fromkeys(FOUNDATION, FOUNDATION),
    **SPINE,
    **CONSUMERS,
    **{room: FOUNDATION | set(SPINE) | set(CONSUMERS) | ASSEMBLY for room in ASSEMBLY},
}

WALL_CLOCK_ALLOWED = {"clock", "running", "doctor", "cli", "bench", "trials", "datasets", "client", "links", "looping"}
WALL_CLOCKS = {
    "time.time", "time.time_ns", "time.perf_counter", "time.perf_counter_ns", "time.monotonic",
    "time.monotonic_ns", "datetime.now", "datetime.utcnow", "datetime.today", "date.today",
}  # fmt: skip
SEEDED = {"np.random.Generator", "np.random.Philox", "np.random.SeedSequence", "np.random.default_rng"}
BANNED_NAMES = {"utils", "util", "common", "helpers", "helper", "manager", "base"}

LONGEST_FILE = 400
LONGEST_FUNCTION = 60
EXCEPTIONS: dict[str, int] = {}
"""file or file:function → lines; may only become fewer."""


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def shown(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


@functools.cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def rooms_imported(tree: ast.Module) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            source = node.module or ""
            modules = [f"skyloop.{alias.name}" for alias in node.names] if source == "skyloop" else [source]
        else:
            continue
        for module in modules:
            if module.startswith("skyloop."):
                yield module.split(".")[1], node.lineno


def dotted(node: ast.AST) -> str:
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([*([node.id] if isinstance(node, ast.Name) else []), *reversed(parts)])


def test_the_page_names_what_exists_and_nothing_else() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    drawing = page[page.index("src/skyloop/") : page.index("## The import ladder")]
    named = set(re.findall(r"^      ([a-z_]+(?:\.py|/)) ", drawing, flags=re.MULTILINE))
    existing = {
        path.name + ("/" if path.is_dir() else "")
        for path in PACKAGE.iterdir()
        if path.name not in ("__init__.py", "__pycache__", "py.typed")
    }
    assert named == existing


def test_it_is_one_page() -> None:
    assert len((ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").splitlines()) <= 110


@pytest.mark.parametrize("path", FILES, ids=shown)
def test_import_ladder(path: Path) -> None:
    room = room_of(path)
    if room == "__init__":
        return
    for imported, line in rooms_imported(tree_of(path)):
        allowed = imported == room or imported in ALLOWED[room] | TYPES_ONLY.get(room, set())
        assert allowed, f"{shown(path)}:{line}: {room} must not import {imported}"


def test_foundation_has_no_circles() -> None:
    """Its files can be put in an order."""
    imports = {
        name: {i for path in FILES if room_of(path) == name for i, _ in rooms_imported(tree_of(path))} - {name}
        for name in FOUNDATION
    }
    ready: set[str] = set()
    while len(ready) < len(imports):
        next_ones = {name for name in imports if name not in ready and imports[name] <= ready}
        assert next_ones, f"a circle among {sorted(set(imports) - ready)}"
        ready |= next_ones


@pytest.mark.parametrize("path", FILES, ids=shown)
def test_no_wall_clock_and_no_global_random_state(path: Path) -> None:
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Attribute):
            name = dotted(node)
            place = f"{shown(path)}:{node.lineno}: {name}"
            if room_of(path) not in WALL_CLOCK_ALLOWED:
                assert not any(name == c or name.endswith(f".{c}") for c in WALL_CLOCKS), place
            if re.match(r"(np|numpy)\.random\.\w", name):
                assert name.replace("numpy.", "np.") in SEEDED, place
        if isinstance(node, ast.ImportFrom):
            place = f"{shown(path)}:{node.lineno}: from {node.module}"
            assert node.module not in ("random", "numpy.random"), place
            assert node.module not in ("time", "datetime") or room_of(path) in WALL_CLOCK_ALLOWED, place
        if isinstance(node, ast.Import):
            assert "random" not in [alias.name for alias in node.names], f"{shown(path)}:{node.lineno}"


def test_banned_names() -> None:
    for folder in ("src", "tests", "examples", "tools"):
        for path in (ROOT / folder).rglob("*"):
            words = re.split(r"[_\-.]", path.name.lower())
            if path.suffix in (".py", ".yaml") or path.is_dir():
                assert not BANNED_NAMES & set(words), path


@pytest.mark.parametrize("path", FILES, ids=shown)
def test_files_and_functions_are_short(path: Path) -> None:
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= EXCEPTIONS.get(shown(path), LONGEST_FILE), f"{shown(path)} has {lines} lines"
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.FunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            place = f"{shown(path)}:{node.name}"
            assert length <= EXCEPTIONS.get(place, LONGEST_FUNCTION), f"{place} has {length} lines"


def test_the_spine_is_read_in_a_minute() -> None:
    path = PACKAGE / "simulation.py"
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 160
    functions = {node.name: node for node in ast.walk(tree_of(path)) if isinstance(node, ast.FunctionDef)}
    step = functions["step"]
    assert (step.end_lineno or 0) - step.lineno + 1 <= 40


def test_public_names_can_be_imported() -> None:
    for name in skyloop.__all__:
        assert getattr(skyloop, name) is not None
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = skyloop.no_such_name
    for path in FILES:
        if path.name != "__init__.py":
            module = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
            importlib.import_module(module)
