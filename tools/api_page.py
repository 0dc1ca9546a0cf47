"""Writes docs/reference/api.md from `skyloop.api` and the docstrings of what it names. Behind `make pages`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from skyloop.api import PUBLIC

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "api.md"
SOURCES = {"skyloop": ROOT / "src", "skyloop_client": ROOT / "clients" / "python" / "src"}
HEAD = """# The public API

What users and plugins may import: {count} names. All other modules may change without notice, and `make lint` refuses a
plugin of the tree that imports them. [Write a plugin](../how-to/plugin.md) has an example of each kind.
`skyloop show message NAME` lists the fields of a record.

This page is written by `make pages` from `src/skyloop/api.py` and the docstrings in the code.
"""


def page() -> str:
    lines = [HEAD.format(count=sum(1 for _ in names()))]
    for topic, modules in PUBLIC.items():
        lines += [f"## {topic}", "", "| import | what it is |", "|---|---|"]
        for module, text in modules.items():
            lines.append(f"| **`from {module} import`** | |")
            lines += [f"| `{name}` | {line_about(module, name).replace('|', chr(92) + '|')} |" for name in text.split()]
        lines.append("")
    return "\n".join(lines)


def names() -> Iterator[tuple[str, str]]:
    """Module and name."""
    for modules in PUBLIC.values():
        for module, text in modules.items():
            yield from ((module, name) for name in text.split())


def line_about(module: str, name: str) -> str:
    """The first sentence of a name's docstring, from the module where it is defined; empty without one."""
    if file_of(f"{module}.{name}") is not None:
        return sentence(ast.get_docstring(tree(f"{module}.{name}")))
    for at, node in enumerate(tree(module).body):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
            return sentence(ast.get_docstring(node))
        if name in assigned(node):
            return sentence(text_below(tree(module).body, at))
    for found in ast.walk(tree(module)):
        if isinstance(found, ast.ImportFrom) and any(name == (each.asname or each.name) for each in found.names):
            return line_about(str(found.module), name)
    raise LookupError(f"skyloop.api names '{name}', which {module} does not have")


def assigned(node: ast.stmt) -> set[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}


def text_below(body: list[ast.stmt], at: int) -> str | None:
    node = body[at + 1] if at + 1 < len(body) else None
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    return node.value.value if is_text else None


def sentence(text: str | None) -> str:
    whole = " ".join((text or "").strip().partition("\n\n")[0].split())
    return whole.partition(". ")[0].rstrip(".:")


@cache
def tree(module: str) -> ast.Module:
    path = file_of(module)
    if path is None:
        raise LookupError(f"skyloop.api names {module}, which does not exist")
    return ast.parse(path.read_text(encoding="utf-8"))


def file_of(module: str) -> Path | None:
    stem = SOURCES[module.partition(".")[0]] / module.replace(".", "/")
    return next((path for path in (stem.with_suffix(".py"), stem / "__init__.py") if path.is_file()), None)


if __name__ == "__main__":
    if not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != page():
        PAGE.write_text(page(), encoding="utf-8")
        print(f"written: {PAGE.relative_to(ROOT)}")
