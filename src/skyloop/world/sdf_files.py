"""Files that an SDF world names: found in given folders only, never over the network, and read without surprises."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers.expat import ExpatError, ParserCreate

from skyloop_client.errors import ScenarioError
from skyloop_client.regular_files import read_bytes

MOST_BYTES = 1 << 26
DEEPEST = 100
"""Elements in elements."""
MOST_ELEMENTS = 1_000_000


def read_xml(path: Path) -> Element:
    """The root of a file that declares no entities: those can make a small file fill the memory, or read others."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ScenarioError(f"'{path}' has more than {MOST_BYTES >> 20} MiB; split it")
        data = read_bytes(path)
    except OSError as error:
        raise ScenarioError(f"'{path}' cannot be read: {error.strerror}") from None
    try:
        return _parsed(_without_comments(data), path)
    except (ExpatError, ValueError, LookupError) as error:
        raise ScenarioError(f"'{path}' is damaged or no SDF file: {error}") from None


def _without_comments(data: bytes) -> bytes:
    """Gazebo bears `--` in comments, which XML forbids; lines keep their numbers."""
    kept, start = [], 0
    while (begin := data.find(b"<!--", start)) >= 0 and (end := data.find(b"-->", begin)) >= 0:
        kept += [data[start:begin], b"\n" * data.count(b"\n", begin, end)]
        start = end + 3
    return b"".join([*kept, data[start:]])


def _parsed(data: bytes, path: Path) -> Element:
    builder, depth, count = TreeBuilder(), 0, 0

    def begin(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth, count
        depth, count = depth + 1, count + 1
        if depth > DEEPEST or count > MOST_ELEMENTS:
            raise ScenarioError(f"'{path}' has more than {DEEPEST} levels or {MOST_ELEMENTS} elements; split it")
        builder.start(tag, attributes)

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1
        builder.end(tag)

    def refuse(*_: object) -> None:
        raise ScenarioError(f"'{path}' declares a document type, which SDF has not; remove the line <!DOCTYPE ...>")

    # without namespaces, because Gazebo's own worlds use prefixes that they do not declare
    parser = ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler, parser.StartDoctypeDeclHandler = begin, end, refuse
    parser.CharacterDataHandler = builder.data
    parser.Parse(data, True)
    root: Element = builder.close()
    return root


class Folders:
    """Where an SDF world and what it names may lie."""

    def __init__(self, world: Path, more: Sequence[Path]) -> None:
        for folder in more:
            if not folder.is_dir():
                raise ScenarioError(f"imported world: models has '{folder}', which is no folder")
        self.roots = [folder.resolve() for folder in (world.parent, world.parent / "models", *more)]

    def __str__(self) -> str:
        return ", ".join(f"'{root}'" for root in self.roots if root.is_dir())

    def find(self, uri: str, near: Path) -> Path | None:
        """What a URI means in a file of the folder `near`. None: it is on the network, or there is no such file."""
        scheme, separator, rest = uri.strip().partition("://")
        if not separator:
            bases, rest = [near], scheme
        elif scheme in ("model", "package"):
            bases = self.roots
        elif scheme == "file":
            bases = [near, *self.roots]
        elif scheme in ("http", "https"):
            # as Gazebo's cache has it: the model's name in lower case
            name = rest.rstrip("/").rpartition("/")[2]
            return next((path for each in (name, name.lower()) if (path := self.find(f"model://{each}", near))), None)
        else:
            return None
        for base in bases:
            try:
                path = (base / rest).resolve()
                found = path.exists()
            except (OSError, ValueError):
                raise ScenarioError(f"uri '{uri[:80]}' is no path") from None
            if not any(path.is_relative_to(root) for root in self.roots):
                raise ScenarioError(
                    f"uri '{uri}' leads out of the folders {self}; name its folder in the option models"
                )
            if found:
                return path
        return None

    def model_file(self, uri: str, near: Path) -> Path | None:
        """The SDF file of an included model: the newest that its model.config names, or model.sdf."""
        folder = self.find(uri, near)
        if folder is None or folder.is_file():
            return folder
        named = folder / "model.config"
        files = read_xml(named).findall("sdf") if named.is_file() else []
        newest = max(files, key=lambda each: version_of(each.get("version")), default=None)
        name = "model.sdf" if newest is None else (newest.text or "").strip()
        return self.find(name, folder)


def is_remote(uri: str) -> bool:
    return uri.partition("://")[0] in ("http", "https")


def version_of(text: str | None) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d{1,4}", text or "")[:3])
