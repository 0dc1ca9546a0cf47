"""A recording on disk: its description in `recording.json`, the journal with one file per group of frames, and the
manifest of a finished one."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from skyloop.core.files import PARTIAL, write_whole
from skyloop.core.plugins import plugins
from skyloop.recording.journal import fault_of, is_complete, read_group
from skyloop.recording.run_folder import plain
from skyloop_client.codec import info_from, plain_info
from skyloop_client.errors import CodecError, DatasetError
from skyloop_client.messages import Message
from skyloop_client.regular_files import opened, read_text
from skyloop_client.streams import StreamInfo

NAME = "recording.json"
VERSION = 1


@dataclass(frozen=True)
class Recording:
    """Opened with `open_recording`. Created by `create_recording` before the first message."""

    folder: Path
    infos: dict[str, StreamInfo]
    """By stream. Truth is under `truth/`, the rest under its vehicle's name."""
    facts: dict[str, Any]
    """vehicle, seed, frames, rate_hz, group_frames, n_groups, split, classes (names by number), scenario (resolved),
    versions."""
    written_to: Path | None = None
    """Folder that gets the folders of formats. None: the recording's own."""

    @property
    def formats_folder(self) -> Path:
        return self.written_to or self.folder

    @property
    def n_groups(self) -> int:
        return int(self.facts["n_groups"])

    @property
    def vehicle(self) -> str:
        """The vehicle for formats that hold only one: the scenario's first, or the one chosen by `of_vehicle`."""
        return str(self.facts["vehicle"])

    @property
    def vehicles(self) -> list[str]:
        """All recorded vehicles in the scenario's order."""
        return [str(vehicle["name"]) for vehicle in self.facts["scenario"].get("vehicles", ())] or [self.vehicle]

    def of_vehicle(self, name: str) -> Recording:
        """The same recording, with another vehicle chosen."""
        return replace(self, facts={**self.facts, "vehicle": name})

    @property
    def classes(self) -> list[str]:
        """Names of the semantic classes by number. 0 is the sky."""
        return list(self.facts["classes"])

    def group_path(self, group: int) -> Path:
        return self.folder / "journal" / f"group-{group:06d}.bin"

    def complete_groups(self) -> int:
        """Number of complete groups from the first on."""
        group = 0
        while group < self.n_groups and is_complete(self.group_path(group)):
            group += 1
        return group

    def group(self, group: int) -> list[Message]:
        """All messages of a group in order of arrival. Raises an error if a record is broken."""
        return list(read_group(self.group_path(group), strict=True))

    def messages(self, streams: Collection[str] | None = None) -> Iterator[Message]:
        """Messages of the complete groups in order of arrival, of all streams or the given ones."""
        for group in range(self.complete_groups()):
            for message in read_group(self.group_path(group)):
                if streams is None or message.stream in streams:
                    yield message

    def streams_of(self, record: str) -> list[str]:
        """Names of the streams with this record type, e.g. "CameraImage", in the order they were advertised."""
        return [name for name, info in self.infos.items() if info.message == record]

    def sensor_name(self, stream: str) -> str:
        """`drone/rgb0` and `truth/drone/rgb0` belong to sensor rgb0, `drone/radar0/raw` to radar0."""
        info = self.infos.get(stream)
        return sensor_of(StreamInfo(stream, "", vehicle=self.vehicle) if info is None else info)


def sensor_of(info: StreamInfo) -> str:
    """The name of the sensor that a stream belongs to."""
    return info.name.removeprefix("truth/").removeprefix(f"{info.vehicle}/").split("/")[0]


def create_recording(folder: Path, infos: dict[str, StreamInfo], facts: dict[str, object]) -> Recording:
    """Write the description before the recording starts."""
    data = {"version": VERSION, **plain(facts), "streams": [plain(plain_info(info)) for info in infos.values()]}
    try:
        (folder / "journal").mkdir(parents=True, exist_ok=True)
        write_whole(folder / NAME, json.dumps(data, indent=1) + "\n")
    except OSError as error:
        raise DatasetError(f"cannot write '{folder / NAME}': {error.strerror}") from error
    return Recording(folder, infos, facts)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """A lock, because several processes may record together and each may add streams."""
    file = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


def add_stream(folder: Path, info: StreamInfo) -> None:
    """Add a stream that was advertised in flight, unless another process has added it."""
    with locked(folder):
        recording = open_recording(folder)
        if info.name not in recording.infos:
            create_recording(folder, {**recording.infos, info.name: info}, recording.facts)


def open_recording(folder: Path) -> Recording:
    # their records are known from now on
    plugins()
    path = folder / NAME
    try:
        data = json.loads(read_text(path))
        if data.pop("version") != VERSION:
            raise DatasetError(f"'{path}' was written by another version of skyloop; record again, or use that version")
        infos = {info["name"]: info_from(info) for info in data.pop("streams")}
    except FileNotFoundError:
        raise DatasetError(
            f"'{folder}' holds no recording: {NAME} is missing; give a folder `skyloop record` made"
        ) from None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, CodecError) as error:
        raise DatasetError(f"'{path}' cannot be read: {error}; record again") from None
    return Recording(folder, infos, data)


# ---- manifest.json: size and BLAKE2b hash of every file, to detect later changes
#
# Some files are not listed: the manifest itself; `summary.json`, whose wall times differ between equal recordings; the
# report, which is made from the rest and includes this check; the marks of finished formats; and files and groups that
# are still being written.


MANIFEST = "manifest.json"
UNLISTED = (MANIFEST, "summary.json", "report.html", ".formats.json")
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
        with opened(path) as file:
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
    write_whole(folder / MANIFEST, head + ",\n".join(rows) + "\n }\n}\n")
    return manifest


def read_manifest(folder: Path) -> Manifest | None:
    """None if there is none."""
    path = folder / MANIFEST
    try:
        data: dict[str, Any] = json.loads(read_text(path))
        files = {str(name): ManifestEntry(int(row["size"]), str(row["blake2b"])) for name, row in data["files"].items()}
        return Manifest(bool(data["complete"]), int(data["groups"]), files)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DatasetError(f"'{path}' cannot be read: {error}; `skyloop check --repair` writes it again") from None


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
