"""Run folders in one piece, as they travel from worker to campaign."""

from __future__ import annotations

import io
import shutil
import zipfile
from pathlib import Path

from skyloop_client.errors import RunFolderError

MOST_PARCEL_BYTES = 64 * 2**20
"""Of a packed run folder. Of a larger one, only what replays it and what shows it is sent."""
SMALL = ("scenario.yaml", "summary.json", "versions.json", "run.json")
"""What is kept of a failed run if there are very many."""


def packed(folder: Path) -> bytes:
    """The folder as a ZIP file. One that is too large comes without its subfolders."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    above = [path for path in files if path.parent == folder]
    if sum(path.stat().st_size for path in files) > 4 * MOST_PARCEL_BYTES:
        return _zipped(folder, above)
    parcel = _zipped(folder, files)
    return parcel if len(parcel) <= MOST_PARCEL_BYTES else _zipped(folder, above)


def _zipped(folder: Path, files: list[Path]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as parcel:
        for path in files:
            parcel.write(path, path.relative_to(folder).as_posix())
    return held.getvalue()


def unpack(parcel: bytes, folder: Path, *, whole: bool) -> None:
    """Into a folder that is there completely or not at all."""
    unfinished = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    try:
        with zipfile.ZipFile(io.BytesIO(parcel)) as files:
            for name in files.namelist():
                if not (unfinished / name).resolve().is_relative_to(unfinished.resolve()):
                    raise RunFolderError(f"a run's file is named '{name}', which is outside its folder")
                if whole or name in SMALL:
                    files.extract(name, unfinished)
        shutil.rmtree(folder, ignore_errors=True)
        unfinished.replace(folder)
    except BaseException:
        # on a full disk it would keep others from being written
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
