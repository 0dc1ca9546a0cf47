"""Compiles the kernels that the cache lacks, all in this process: `jit.prepare` is sooner done on two cores, but each
of its processes compiles the pieces that kernels share, a third more work."""

from __future__ import annotations

import importlib
import tempfile
from importlib.metadata import entry_points
from pathlib import Path

from skyloop.core import jit
from skyloop.core.plugins import GROUP


def import_kernels() -> None:
    plugins = [each.module.partition(".")[0] for each in entry_points(group=GROUP)]
    for name in ("skyloop", *plugins):
        package = Path(str(importlib.import_module(name).__file__)).parent
        for path in sorted(package.rglob("*.py")):
            if b"\n@kernel" in path.read_bytes():
                importlib.import_module(".".join(path.relative_to(package.parent).with_suffix("").parts))


if __name__ == "__main__":
    import_kernels()
    missing = sorted((entry for entry in jit._kernels if not entry.is_cached()), key=lambda entry: entry.turn)
    with tempfile.TemporaryDirectory() as claims:
        jit.compile_unclaimed([entry.name for entry in missing], claims)
