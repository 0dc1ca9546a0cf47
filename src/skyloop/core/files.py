"""The cache folder of kernels, textures and built programs, and files that stay readable even if their
writer is killed: complete or absent, or of complete lines. Loads nothing heavy, so that anything may import it.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from skyloop_client.errors import DatasetError
from skyloop_client.regular_files import read_bytes


def cache_folder() -> Path:
    """Of this user. One without a home, as in a container, has a folder among the temporary ones."""
    if named := os.environ.get("XDG_CACHE_HOME"):
        return Path(named) / "skyloop"
    try:
        return Path.home() / ".cache" / "skyloop"
    except RuntimeError:
        return Path(tempfile.gettempdir()) / f"skyloop-{os.getuid()}"


CACHE_FOLDER = cache_folder()
"""Of the user; what is in it can be made again."""


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


class RowFile:
    """A text file that grows by whole lines. After a full disk or a kill, an incomplete last line is cut off."""

    def __init__(self, path: Path, header: str) -> None:
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as error:
            raise DatasetError(f"cannot write '{path}': {error.strerror}") from error
        text = read_bytes(path)
        self._size = text.rfind(b"\n") + 1
        os.ftruncate(self._file, self._size)
        if not self._size:
            self.append([header])

    def append(self, lines: list[str]) -> None:
        data = memoryview("".join(f"{line}\n" for line in lines).encode())
        size = self._size + len(data)
        try:
            while data:
                data = data[os.write(self._file, data) :]
        except OSError as error:
            os.ftruncate(self._file, self._size)
            raise DatasetError(f"cannot write '{self._path}': {error.strerror}") from error
        self._size = size

    def keep(self, n_lines: int) -> None:
        """Keep the header and so many lines. The rest is cut off."""
        text = read_bytes(self._path)
        end = 0
        for _ in range(n_lines + 1):
            end = text.find(b"\n", end) + 1
            if end == 0:
                return
        os.ftruncate(self._file, end)
        self._size = end

    def close(self) -> None:
        os.close(self._file)
