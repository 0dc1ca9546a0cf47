"""ARCHITECTURE.md names what exists, and the code keeps the rules it states; `make lint` checks the import ladder."""

from __future__ import annotations

import ast
import gc
import importlib.util
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

import skyloop

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "skyloop"
CLIENT = ROOT / "clients" / "python" / "src" / "skyloop_client"
WALL_CLOCK_ALLOWED = (
    "skyloop_client",
    "links",
    "cockpit",
    "run.py",
    "datasets",
    "campaigns",
    "cli",
    "core/clock.py",
)
WALL_CLOCKS = {
    "time.time", "time.time_ns", "time.perf_counter", "time.perf_counter_ns", "time.monotonic",
    "time.monotonic_ns", "datetime.now", "datetime.utcnow", "datetime.today", "date.today",
}  # fmt: skip
SEEDED = {"np.random.Generator", "np.random.Philox", "np.random.SeedSequence", "np.random.default_rng"}
BANNED_NAMES = {"utils", "util", "common", "helpers", "helper", "manager", "base"}

OPENS_ITSELF = re.compile(
    r"(?<!regular_files)\.read_(text|bytes)\(|\.open\(\"r|\.open\((encoding|newline)|Image\.open\((?!checked|regular_files)|np\.load\((?!checked|regular_files)"
)
OWN_FILES = (
    "world/generation.py", "rendering/programs.py", "rendering/textures.py", "recording/ros2/types.py",
    "datasets/worker.py", "datasets/worker_processes.py", "cockpit/cockpit.py", "core/machine_info.py", "core/jit.py",
    "links/loop/targets.py",
)  # fmt: skip
"""These read what skyloop or the kernel wrote: shaders, caches, shipped scenarios, /proc, output of programs."""

LONGEST_FILE = 400
LONGEST_FUNCTION = 60
MOST_POSITIONAL = 7
MOST_FOR_ANNOTATIONS = 3
"""Pairs of modules that import each other for annotations only."""
LONGEST_SPINE, LONGEST_STEP = 160, 40
LONGEST_PAGE = 110


@cache
def files() -> dict[Path, ast.Module]:
    paths = [path for folder in (PACKAGE, CLIENT) for path in sorted(folder.rglob("*.py"))]
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in paths}


@cache
def nodes() -> dict[Path, list[ast.AST]]:
    gc.disable()  # it would look through the growing trees again and again, four times as long as parsing takes
    try:
        return {path: list(ast.walk(tree)) for path, tree in files().items()}
    finally:
        gc.enable()


@cache
def functions() -> list[tuple[Path, ast.FunctionDef | ast.AsyncFunctionDef]]:
    return [
        (path, node)
        for path, found in nodes().items()
        for node in found
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def shown(path: Path) -> str:
    """Below `skyloop`, or with `skyloop_client` in front."""
    return path.relative_to(PACKAGE if path.is_relative_to(PACKAGE) else CLIENT.parent).as_posix()


def length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def dotted(node: ast.AST) -> str:
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([*([node.id] if isinstance(node, ast.Name) else []), *reversed(parts)])


OUTSIDE = ("links", "cockpit", "gym", "datasets", "cli")
"""Rooms that fly or watch a simulation through its ports."""
BEHIND_THE_PORTS = {"fleet", "autopilot", "autopilots", "stage"}
BEHIND_THE_EDITOR = {"scene", "model", "fleet"}


def test_nobody_reaches_past_the_ports() -> None:
    """Links, the cockpit and the gym get ports and the editor; what is behind these is the simulation's own."""
    found = []
    for path, inside in nodes().items():
        room = shown(path).split("/")[0]
        if room not in OUTSIDE:
            continue
        for node in inside:
            if not isinstance(node, ast.Attribute):
                continue
            past_editor = node.attr in BEHIND_THE_EDITOR and dotted(node.value).split(".")[-1] in ("editor", "_editor")
            holds_simulation = room == "links" and node.attr.lstrip("_") == "simulation"
            if node.attr in BEHIND_THE_PORTS or past_editor or holds_simulation:
                found.append(f"{shown(path)}:{node.lineno}: {dotted(node)}")
    assert not found, "use VehiclePort, SimulationPort and WorldEditor:\n" + "\n".join(found)


def test_the_page_names_what_exists_and_nothing_else() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    drawing = page[page.index("src/skyloop/\n") : page.index("## The import ladder")]
    named = set(re.findall(r"^      ([a-z_]+(?:\.py|/)) ", drawing, flags=re.MULTILINE))
    existing = {
        path.name + ("/" if path.is_dir() else "")
        for path in PACKAGE.iterdir()
        if path.name not in ("__init__.py", "__main__.py", "__pycache__", "py.typed")
    }
    assert named == existing
    assert len(page.splitlines()) <= LONGEST_PAGE


def uses_of_the_wall_clock(inside: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    for node in inside:
        if isinstance(node, ast.Attribute):
            name = dotted(node)
            if any(name == clock or name.endswith(f".{clock}") for clock in WALL_CLOCKS):
                yield node.lineno, name
        if isinstance(node, ast.ImportFrom) and node.module in ("time", "datetime"):
            yield node.lineno, f"from {node.module}"


def uses_of_global_random_state(inside: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    for node in inside:
        if isinstance(node, ast.Attribute):
            name = dotted(node).replace("numpy.", "np.")
            if re.match(r"np\.random\.\w", name) and name not in SEEDED:
                yield node.lineno, name
        if isinstance(node, ast.ImportFrom) and node.module in ("random", "numpy.random"):
            yield node.lineno, f"from {node.module}"
        if isinstance(node, ast.Import) and "random" in [alias.name for alias in node.names]:
            yield node.lineno, "import random"


def test_no_wall_clock_and_no_global_random_state() -> None:
    found = []
    for path, inside in nodes().items():
        if not shown(path).startswith(WALL_CLOCK_ALLOWED):
            found += [f"{shown(path)}:{line}: {what}" for line, what in uses_of_the_wall_clock(inside)]
        found += [f"{shown(path)}:{line}: {what}" for line, what in uses_of_global_random_state(inside)]
    assert found == []


def test_those_uses_would_be_found() -> None:
    clocks = "import time\nfrom datetime import datetime\nt = time.monotonic()\nd = datetime.datetime.now()"
    assert [line for line, _ in uses_of_the_wall_clock(ast.walk(ast.parse(clocks)))] == [2, 3, 4]
    chance = "import random\nfrom numpy.random import normal\nx = np.random.normal()\ny = np.random.default_rng(1)"
    assert [line for line, _ in uses_of_global_random_state(ast.walk(ast.parse(chance)))] == [1, 2, 3]


def test_banned_names() -> None:
    for folder in ("src", "clients", "tests", "examples", "tools"):
        for path in (ROOT / folder).rglob("*"):
            words = re.split(r"[_\-.]", path.name.lower())
            if path.suffix in (".py", ".yaml") or path.is_dir():
                assert not BANNED_NAMES & set(words), path


def test_files_and_functions_are_short() -> None:
    assert [f"{shown(path)}: {lines(path)} lines" for path in files() if lines(path) > LONGEST_FILE] == []
    long = [
        f"{shown(path)}:{node.name}: {length(node)} lines"
        for path, node in functions()
        if length(node) > LONGEST_FUNCTION
    ]
    assert long == []


def test_long_argument_lists_are_records_or_keywords() -> None:
    wide = []
    for path, node in functions():
        arguments = [argument.arg for argument in [*node.args.posonlyargs, *node.args.args] if argument.arg != "self"]
        if len(arguments) > MOST_POSITIONAL:
            wide.append(f"{shown(path)}:{node.name}: {len(arguments)} positional arguments")
    assert wide == []


def test_no_two_modules_import_each_other() -> None:
    """import-linter looks at the modules of one folder; this also sees a package and a module inside it."""
    spec = importlib.util.spec_from_file_location("code_figures", ROOT / "tools" / "code_figures.py")
    assert spec is not None and spec.loader is not None
    figures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(figures)
    run_time, any_time = figures.import_edges(files(), figures.module_names([PACKAGE, CLIENT]))
    assert figures.two_way_pairs(run_time) == []
    assert len(figures.two_way_pairs(any_time)) <= MOST_FOR_ANNOTATIONS


def test_the_spine_is_read_in_a_minute() -> None:
    path = PACKAGE / "sim" / "simulation.py"
    assert lines(path) <= LONGEST_SPINE
    step = next(node for where, node in functions() if where == path and node.name == "step")
    assert length(step) <= LONGEST_STEP


def test_public_names_can_be_imported() -> None:
    for name in skyloop.__all__:
        assert getattr(skyloop, name) is not None
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = skyloop.no_such_name


def test_input_files_are_opened_in_one_place() -> None:
    """A FIFO in place of any file would hang its reader: see skyloop_client/regular_files.py."""
    sources = [*files(), *(ROOT / "plugins").glob("skyloop-[adj]*/src/**/*.py")]
    left = [path for path in sources if OPENS_ITSELF.search(path.read_text(encoding="utf-8"))]
    theirs = {str(path.relative_to(ROOT)) for path in left if not str(path).endswith(OWN_FILES)}
    assert theirs <= {"plugins/skyloop-detect/src/skyloop_detect/commands/model_card.py"}
