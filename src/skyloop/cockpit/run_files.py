"""Run folders and datasets as the page may see them: their names, their summaries and a few kinds of files."""

from __future__ import annotations

import json
from pathlib import Path

from fastapi.responses import FileResponse

from skyloop.cockpit.access_guard import NAME, REPORT_POLICY, run_folder
from skyloop.cockpit.wire import Fields
from skyloop.recording.recording import NAME as RECORDING
from skyloop_client.errors import LinkError
from skyloop_client.regular_files import read_text

SHOWN = {
    ".png": "image/png", ".gif": "image/gif", ".jpg": "image/jpeg", ".json": "application/json",
    ".csv": "text/plain", ".txt": "text/plain", ".yaml": "text/plain", ".md": "text/plain", ".html": "text/html",
}  # fmt: skip
MOST_RUNS = 500
MOST_SUMMARY = 2_000_000


class RunFiles:
    def __init__(self, roots: dict[str, Path]) -> None:
        """`roots`: folders that hold run folders and datasets, by the name that a page calls them."""
        self._roots = roots

    def listed(self) -> list[Fields]:
        found = [
            (path.stat().st_mtime, root, path)
            for root, parent in self._roots.items()
            if parent.is_dir()
            for path in parent.iterdir()
            if path.is_dir() and not path.is_symlink() and NAME.fullmatch(path.name)
        ]
        return [self._one(root, path) for _, root, path in sorted(found, reverse=True)[:MOST_RUNS]]

    def _one(self, root: str, folder: Path) -> dict[str, object]:
        files = sorted(path.name for path in folder.iterdir() if path.is_file() and path.suffix in SHOWN)
        kind = _kind(folder)
        return {
            "root": root, "name": folder.name, "kind": kind, "files": files,
            "playable": (folder / "streams.json").exists() or (folder / RECORDING).exists(),
            "summary": _short(folder / "summary.json"),
        }  # fmt: skip

    def response(self, root: str, run: str, name: str) -> FileResponse:
        """Raises a LinkError for any name that leads elsewhere."""
        if root not in self._roots:
            raise LinkError("this cockpit shows one flight; there are no folders to browse")
        folder = run_folder(self._roots[root], run)
        path = folder / name
        if not NAME.fullmatch(name) or path.suffix not in SHOWN or path.is_symlink() or not path.is_file():
            raise LinkError("there is no such file in this folder")
        headers = {"Content-Security-Policy": REPORT_POLICY.decode()}
        return FileResponse(path, media_type=SHOWN[path.suffix], headers=headers)


def _kind(folder: Path) -> str:
    if (folder / "streams.json").exists():
        return "run"
    if (folder / RECORDING).exists() or (folder / "report.html").exists():
        return "dataset"
    return next((kind for kind in ("reproduce", "bench", "record") if folder.name.startswith(kind)), "folder")


def _short(path: Path) -> dict[str, object]:
    """The numbers of a summary that a list shows."""
    try:
        if path.stat().st_size > MOST_SUMMARY:
            return {}
        whole = json.loads(read_text(path))
    except (OSError, ValueError):
        return {}
    if not isinstance(whole, dict):
        return {}
    return {key: whole[key] for key in ("scenario", "seed", "simulated_s", "real_time_factor") if key in whole}
