"""The public API: its page is current and short, its names exist, and plugins keep to it."""

from __future__ import annotations

import ast
import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from skyloop.api import PUBLIC
from skyloop_client.errors import MissingExtra

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))
import api_page  # noqa: E402
from public_api_contract import public_modules  # noqa: E402

MOST = 303
NAMES = list(api_page.names())
KEEPING_TO_IT = [*ROOT.glob("plugins/*/src/**/*.py"), *ROOT.glob("examples/plugin/src/**/*.py")]


def test_the_page_is_current() -> None:
    assert api_page.PAGE.read_text(encoding="utf-8") == api_page.page(), "run `make pages`"


def test_it_is_short_and_says_something_about_each_name() -> None:
    assert len(NAMES) == len(set(NAMES)) <= MOST
    without = [f"{module}.{name}" for module, name in NAMES if not api_page.line_about(module, name)]
    assert not without, "these need a docstring"


@pytest.mark.parametrize("module", [module for modules in PUBLIC.values() for module in modules])
def test_every_name_can_be_imported(module: str) -> None:
    try:
        found = importlib.import_module(module)
    except MissingExtra:
        # Stable-Baselines3 is in no environment of the tests
        assert module == "skyloop.gym.sb3"
        return
    for name in (name for each, name in NAMES if each == module):
        assert hasattr(found, name) or importlib.import_module(f"{module}.{name}")


def imports(text: str) -> Iterator[tuple[str, str]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and str(node.module).partition(".")[0] in ("skyloop", "skyloop_client"):
            yield from ((str(node.module), each.name) for each in node.names)


def test_plugins_import_only_listed_names() -> None:
    """The plugins of the tree, the example, and the one on the page; `make lint` checks the modules."""
    page = (ROOT / "docs" / "how-to" / "plugin.md").read_text(encoding="utf-8")
    texts = {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8") for path in KEEPING_TO_IT}
    texts["docs/how-to/plugin.md"] = "".join(
        re.findall(r"^```python\n(.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)
    )
    others = [
        f"{file}: {module}.{name}"
        for file, text in texts.items()
        for module, name in imports(text)
        if (module, name) not in NAMES
    ]
    assert not others, "add these to src/skyloop/api.py, or do without"


def test_the_contract_of_lint_knows_modules_and_packages() -> None:
    allowed = public_modules()
    assert {"skyloop.core.bus", "skyloop.world.atmosphere"} <= allowed
    assert "skyloop.vehicle.fleet" not in allowed
