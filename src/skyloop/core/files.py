"""Files that are complete or absent, even if the writer is killed."""

from __future__ import annotations

import os
from pathlib import Path

from skyloop_client.errors import DatasetError

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
