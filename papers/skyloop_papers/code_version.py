"""Which code a result was flown with: the commit, and a hash of what was changed since."""

from __future__ import annotations

import hashlib
import subprocess
from functools import cache
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[2]
CODE = ("src", "clients/python", "plugins", "papers")
"""Commits to anything else leave the version as it is."""
PACKAGES = (
    "skyloop", "skyloop_client", "skyloop_autonomy", "skyloop_landing", "skyloop_detect", "skyloop_jax",
    "skyloop_papers",
)  # fmt: skip
UNKNOWN = "unknown"
SHOWN = 12
"""Characters of a commit's hash."""


@cache
def code_version() -> str:
    """The last commit to the code, as "1be61889eddb", or "1be61889eddb+0f3c9a21" with changes that are not committed.

    Where there is no repository it is "sources-0f3c9a21"."""
    try:
        commit = _git("log", "-1", f"--abbrev={SHOWN}", "--format=%h", "--", *CODE)
        changed = _git("status", "--porcelain", "--", *CODE)
    except (OSError, subprocess.CalledProcessError):
        commit, changed = "", "all"
    if not changed and commit:
        return commit
    return f"{commit}+{_hash_of_sources()}" if commit else f"sources-{_hash_of_sources()}"


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _hash_of_sources() -> str:
    digest = hashlib.blake2b(digest_size=4)
    for name in PACKAGES:
        found = find_spec(name)
        if found is None or found.origin is None:
            continue
        folder = Path(found.origin).parent
        for path in sorted([*folder.rglob("*.py"), *folder.rglob("*.yaml")]):
            digest.update(f"{path.relative_to(folder)} ".encode() + path.read_bytes())
    return digest.hexdigest()
