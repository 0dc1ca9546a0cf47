"""Figures about the code itself: sizes, imports that go both ways, long argument lists, reaches past the ports.

python tools/code_figures.py [FOLDER ...]      # packages to look at; both of ours if none is given
"""

from __future__ import annotations

import ast
import re
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = [ROOT / "src" / "skyloop", ROOT / "clients" / "python" / "src" / "skyloop_client"]
MOST_POSITIONAL = 7
REACH = re.compile(r"^(?!\s*(?:from|import)).*(?<!links)\.(fleet|autopilots?|stage)\b", re.M)


def imports(tree: ast.Module) -> Iterator[tuple[str, bool]]:
    """Modules imported anywhere in a file, and whether for annotations only."""
    for_types = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        else:
            continue
        for name in names:
            yield name, id(node) in for_types


def module_names(folders: list[Path]) -> dict[Path, str]:
    names = {}
    for folder in folders:
        for path in folder.rglob("*.py"):
            parts = path.relative_to(folder.parent).with_suffix("").parts
            names[path] = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
    return names


def import_edges(
    trees: dict[Path, ast.Module], modules: dict[Path, str]
) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """(importer, imported) among these modules: at run time, and with those for annotations."""
    known = set(modules.values())
    run_time: set[tuple[str, str]] = set()
    any_time: set[tuple[str, str]] = set()
    for path, tree in trees.items():
        for name, only_types in imports(tree):
            if name in known and name != modules[path]:
                any_time.add((modules[path], name))
                if not only_types:
                    run_time.add((modules[path], name))
    return run_time, any_time


def two_way_pairs(edges: set[tuple[str, str]]) -> list[tuple[str, str]]:
    return sorted((a, b) for a, b in edges if a < b and (b, a) in edges)


def positional(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    return [argument.arg for argument in [*node.args.posonlyargs, *node.args.args]]


def spread(values: list[int]) -> str:
    ordered = sorted(values)
    return f"{statistics.median(ordered):.0f} / {ordered[int(0.9 * (len(ordered) - 1))]} / {ordered[-1]}"


def main(folders: list[Path]) -> None:
    files = {path: path.read_text(encoding="utf-8") for folder in folders for path in sorted(folder.rglob("*.py"))}
    trees = {path: ast.parse(text) for path, text in files.items()}
    modules = module_names(folders)
    run_time, any_time = import_edges(trees, modules)

    def rooms(edges: set[tuple[str, str]]) -> set[tuple[str, str]]:
        pairs = {tuple(".".join(name.split(".")[:2]) for name in edge) for edge in edges}
        return {(a, b) for a, b in pairs if a != b and "." in a and "." in b}

    functions = [
        (path, node)
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    lengths = [(node.end_lineno or node.lineno) - node.lineno + 1 for _, node in functions]
    wide = [
        (len([argument for argument in positional(node) if argument != "self"]), f"{modules[path]}.{node.name}")
        for path, node in functions
    ]
    wide = sorted((entry for entry in wide if entry[0] > MOST_POSITIONAL), reverse=True)
    reaches = [
        path for path, text in files.items() for _ in REACH.findall(text)
        if path.is_relative_to(ROOT / "src" / "skyloop") and path.relative_to(ROOT / "src" / "skyloop").parts[0]
        in ("links", "cockpit", "gym", "datasets", "cli")
    ]  # fmt: skip
    lines = [text.count("\n") for text in files.values()]
    print(f"files                       {len(files)}, {sum(lines)} lines")
    print(f"lines of a file             {spread([count for count in lines if count > 5])} (median, p90, most)")
    print(f"lines of a function         {spread(lengths)}")
    for what, edges in (("at run time", run_time), ("with annotations", any_time)):
        print(f"packages both ways          {two_way_pairs(rooms(edges))} {what}")
        print(f"modules both ways           {two_way_pairs(edges)} {what}")
    print(f"over {MOST_POSITIONAL} positional arguments  {len(wide)}, most {wide[0] if wide else 0}")
    print(f"reaches past the ports      {len(reaches)}")


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]] or PACKAGES)
