"""Input files are opened here, and only regular ones: a FIFO hangs whoever opens it, and a device may never end."""

from __future__ import annotations

import errno
import io
import os
import stat
from pathlib import Path

KINDS = {
    stat.S_IFIFO: "a FIFO", stat.S_IFCHR: "a device", stat.S_IFBLK: "a device", stat.S_IFSOCK: "a socket",
}  # fmt: skip


class NotRegularError(OSError):
    """Something else is in place of a file."""

    def __str__(self) -> str:
        return str(self.strerror)


def opened(path: os.PathLike[str] | str) -> io.BufferedReader:
    """For reading. Whoever expects an OSError gets one that says what is in the file's place."""
    kind = stat.S_IFMT(Path(path).stat().st_mode)
    if kind == stat.S_IFDIR:
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if kind in KINDS:
        raise NotRegularError(errno.EINVAL, f"it is {KINDS[kind]}, and only regular files are read")
    return open(path, "rb", opener=_without_waiting)


def _without_waiting(path: str, flags: int) -> int:
    """Whatever takes the file's place meanwhile does not hang either."""
    return os.open(path, flags | os.O_NONBLOCK)


def opened_text(
    path: os.PathLike[str] | str, encoding: str = "utf-8", errors: str = "strict", newline: str | None = None
) -> io.TextIOWrapper:
    return io.TextIOWrapper(opened(path), encoding, errors, newline)


def read_text(path: os.PathLike[str] | str, encoding: str = "utf-8", errors: str = "strict") -> str:
    with opened_text(path, encoding, errors) as file:
        return file.read()


def read_bytes(path: os.PathLike[str] | str) -> bytes:
    with opened(path) as file:
        return file.read()


def checked(path: os.PathLike[str] | str) -> Path:
    """The path, for a library that opens it by itself."""
    opened(path).close()
    return Path(path)
