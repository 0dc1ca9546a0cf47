"""`manifest.json`: size and BLAKE2b hash of every file of a dataset, to detect later changes.

Some files are not listed: the manifest itself; `summary.json`, whose wall times differ between equal recordings; the
report, which is made from the rest and includes this check; the marks of finished formats; and files and groups that
are still being written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skyloop.core.files import PARTIAL, write_whole
from skyloop.recording.journal import fault_of, is_complete
from skyloop.recording.recording import open_recording
from skyloop_client.errors import DatasetError

NAME = "manifest.json"
UNLISTED = (NAME, "summary.json", "report.html", ".formats.json")
"""Paths in the dataset that no manifest lists."""
HASH_BYTES = 16
NOT_LISTED = "is not listed in the manifest"


@dataclass(frozen=True, slots=True)
class ManifestEntry:
    size: int
    """bytes."""
    blake2b: str
    """32 hexadecimal digits."""


@dataclass(frozen=True, slots=True)
class Manifest:
    complete: bool
    """Whether every planned group of frames was in the journal."""
    groups: int
    """Number of complete groups from the first on."""
    files: dict[str, ManifestEntry]
    """By path in the dataset, with slashes."""


def entry_of(path: Path) -> ManifestEntry:
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=HASH_BYTES))
            return ManifestEntry(file.tell(), digest.hexdigest())
    except OSError as error:
        raise DatasetError(f"cannot read '{path}': {error.strerror}") from error


def files_of(folder: Path) -> Iterator[str]:
    """The paths that a manifest lists, in order."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        relative = path.relative_to(folder)
        unfinished = any(part.endswith(PARTIAL) for part in relative.parts)
        unfinished |= relative.parts[0] == "journal" and not is_complete(path)
        if relative.as_posix() not in UNLISTED and not unfinished:
            yield relative.as_posix()


def write_manifest(folder: Path, kept: Mapping[str, ManifestEntry] | None = None) -> Manifest:
    """List a dataset as it is now. Call it when nothing more will be written. Entries in `kept` are not hashed again.

    Groups of the journal are read record by record. A broken group is neither listed nor counted."""
    recording = open_recording(folder)
    kept = kept or {}
    names = set(files_of(folder))
    names -= {name for name in names if name.startswith("journal/") and fault_of(folder / name)}
    groups = 0
    while groups < recording.n_groups and f"journal/{recording.group_path(groups).name}" in names:
        groups += 1
    files = {name: kept.get(name) or entry_of(folder / name) for name in sorted({*names, *kept})}
    manifest = Manifest(groups == recording.n_groups, groups, files)
    rows = [
        f"  {json.dumps(name)}: " + json.dumps({"size": entry.size, "blake2b": entry.blake2b})
        for name, entry in files.items()
    ]
    head = f'{{\n "version": 1,\n "complete": {json.dumps(manifest.complete)},\n "groups": {groups},\n "files": {{\n'
    write_whole(folder / NAME, head + ",\n".join(rows) + "\n }\n}\n")
    return manifest


def read_manifest(folder: Path) -> Manifest | None:
    """None if there is none."""
    path = folder / NAME
    try:
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        files = {str(name): ManifestEntry(int(row["size"]), str(row["blake2b"])) for name, row in data["files"].items()}
        return Manifest(bool(data["complete"]), int(data["groups"]), files)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DatasetError(f"'{path}' cannot be read: {error}; `skyloop check --repair` writes it anew") from None


def differences(folder: Path, manifest: Manifest) -> dict[str, str]:
    """By path, what is wrong with each file that differs. Sizes are checked first, because that is fast."""
    out = {}
    for name, listed in manifest.files.items():
        path = folder / name
        if not path.is_file():
            out[name] = "is listed in the manifest but missing"
        elif (size := path.stat().st_size) != listed.size:
            out[name] = f"has {size} bytes, {listed.size} in the manifest"
        elif entry_of(path).blake2b != listed.blake2b:
            out[name] = f"has other content than when the manifest was written (hash {listed.blake2b[:8]}… expected)"
    present = set(files_of(folder))
    out.update(dict.fromkeys(sorted(present - set(manifest.files)), NOT_LISTED))
    return out
