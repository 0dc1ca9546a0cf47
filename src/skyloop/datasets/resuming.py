"""Decides what a resumed recording may keep: only data that was read and is as it was written."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path
from typing import Any

from skyloop.datasets.export import unmark
from skyloop.recording.formats.registry import FORMATS
from skyloop.recording.journal import fault_of, is_whole
from skyloop.recording.manifest import NOT_LISTED, differences, read_manifest
from skyloop_client.errors import DatasetError

log = logging.getLogger(__name__)


def drop_what_is_broken(folder: Path, plan: dict[str, Any]) -> None:
    """Remove broken groups of frames, which are flown again, and formats that were changed."""
    try:
        manifest = read_manifest(folder)
    except DatasetError as error:
        log.warning("%s", error)
        manifest = None
    different = {} if manifest is None else differences(folder, manifest)
    if "plan.json" in different:
        raise DatasetError(
            f"'{folder / 'plan.json'}' was changed since it was recorded; put it back, or record into a new folder"
        )
    for group in sorted((folder / "journal").glob("group-*.bin")):
        listed = different.get(f"journal/{group.name}", NOT_LISTED)
        fault = fault_of(group) if is_whole(group) else ""
        if fault or listed != NOT_LISTED:
            log.warning("'%s': %s; its frames are flown again", group, fault or f"it {listed}")
            group.unlink()
    n_vehicles = len(plan["scenario"]["vehicles"])
    for name, kind in FORMATS.items():
        outputs = [output for output in kind.outputs(n_vehicles) if (folder / output).exists()]
        # without a manifest, changes of a format cannot be detected
        changed = [path for path in different if path.split("/")[0] in outputs]
        if outputs and (manifest is None or changed):
            if changed:
                path, what = folder / changed[0], different[changed[0]]
                log.warning("'%s' %s; %s is written anew from the journal", path, what, name)
            unmark(folder, name)
            for output in outputs:
                shutil.rmtree(folder / output)
