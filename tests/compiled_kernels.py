"""Compiles the kernels that the cache lacks, all in this process: `jit.prepare` is sooner done on two cores, but each
of its processes compiles the pieces that kernels share, a third more work."""

from __future__ import annotations

import importlib
import tempfile
from pathlib import Path

from skyloop.core import jit


def import_kernels() -> None:
    package = Path(jit.__file__).parents[1]
    for path in sorted(package.rglob("*.py")):
        if b"\n@kernel" in path.read_bytes():
            importlib.import_module(".".join(path.relative_to(package.parent).with_suffix("").parts))


if __name__ == "__main__":
    import_kernels()
    missing = sorted((entry for entry in jit._kernels if not entry.is_cached()), key=lambda entry: entry.turn)
    with tempfile.TemporaryDirectory() as claims:
        jit.compile_unclaimed([entry.name for entry in missing], claims)
