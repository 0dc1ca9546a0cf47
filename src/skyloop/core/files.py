"""The cache folder of kernels, textures and built programs, and files that are complete or absent even if the writer is
killed. Loads nothing heavy, so that anything may import it.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from skyloop_client.errors import DatasetError


def cache_folder() -> Path:
    """Of this user. One without a home, as in a container, has a folder among the temporary ones."""
    if named := os.environ.get("XDG_CACHE_HOME"):
        return Path(named) / "skyloop"
    try:
        return Path.home() / ".cache" / "skyloop"
    except RuntimeError:
        return Path(tempfile.gettempdir()) / f"skyloop-{os.getuid()}"


CACHE_FOLDER = cache_folder()


PARTIAL = ".partial"
"""Suffix of files and folders that are not complete yet."""


def write_whole(path: Path, content: str | bytes, *, several_writers: bool = False) -> None:
    """Write under another name first, so that no reader sees half a file.

    That name is always the same, so that whoever goes on after a kill leaves no rest of it. If several processes may
    write the file at once, each needs a name of its own."""
    data = content.encode() if isinstance(content, str) else content
    partial = path.with_name(f"{path.name}.{os.getpid()}{PARTIAL}" if several_writers else path.name + PARTIAL)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial.write_bytes(data)
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise DatasetError(f"cannot write '{path}': {error.strerror}") from error
