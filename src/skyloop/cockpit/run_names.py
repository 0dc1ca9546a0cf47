"""Names of run folders as they come from a page: one folder below the root, and nothing else."""

from __future__ import annotations

import re
from pathlib import Path

from skyloop_client.errors import LinkError

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,150}")


def run_folder(root: Path, name: str) -> Path:
    path = root / name
    if not NAME.fullmatch(name) or path.is_symlink() or not path.is_dir():
        raise LinkError("there is no such run folder")
    return path
