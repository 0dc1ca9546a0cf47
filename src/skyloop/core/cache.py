"""Where skyloop keeps what it made once: kernels, textures, built programs. Loads nothing, so anybody may ask."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def cache_folder() -> Path:
    """Of this user. One without a home, as in a container, has a folder among the temporary ones."""
    if named := os.environ.get("XDG_CACHE_HOME"):
        return Path(named) / "skyloop"
    try:
        return Path.home() / ".cache" / "skyloop"
    except RuntimeError:
        return Path(tempfile.gettempdir()) / f"skyloop-{os.getuid()}"


CACHE_FOLDER = cache_folder()
