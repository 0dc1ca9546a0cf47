"""The folder of a campaign: its plan, a line for each run that is done, failed runs, and the tables made from them.

A line is written when its run is done, whole or not at all. Whatever ends the campaign, the next start goes on from
there.
"""

from __future__ import annotations

import io
import json
import logging
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from skyloop.campaigns.plan import CampaignRun
from skyloop.campaigns.run_process import RunOutcome
from skyloop.core.files import RowFile, write_whole
from skyloop.core.machine_info import versions
from skyloop.recording.run_folder import make_empty_folder, plain
from skyloop_client.errors import DatasetError, RunFolderError, SkyloopError
from skyloop_client.regular_files import read_text

MOST_ARCHIVE_BYTES = 64 * 2**20
"""Of a packed run folder. Of a larger one, only what replays it and what shows it is sent."""
SMALL = ("scenario.yaml", "summary.json", "versions.json", "run.json")
"""What is kept of a failed run if there are very many."""


def packed(folder: Path) -> bytes:
    """The folder as a ZIP file. One that is too large comes without its subfolders."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    above = [path for path in files if path.parent == folder]
    if sum(path.stat().st_size for path in files) > 4 * MOST_ARCHIVE_BYTES:
        return _zipped(folder, above)
    archive = _zipped(folder, files)
    return archive if len(archive) <= MOST_ARCHIVE_BYTES else _zipped(folder, above)


def _zipped(folder: Path, files: list[Path]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for path in files:
            archive.write(path, path.relative_to(folder).as_posix())
    return held.getvalue()


def unpack(archive: bytes, folder: Path, *, everything: bool) -> None:
    """Into a folder that is there completely or not at all."""
    unfinished = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as files:
            for name in files.namelist():
                if not (unfinished / name).resolve().is_relative_to(unfinished.resolve()):
                    raise RunFolderError(f"a run's file is named '{name}', which is outside its folder")
                if everything or name in SMALL:
                    files.extract(name, unfinished)
        shutil.rmtree(folder, ignore_errors=True)
        unfinished.replace(folder)
    except BaseException:
        # on a full disk it would keep others from being written
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


log = logging.getLogger(__name__)

PLAN, RUNS, RESULTS, SUMMARY, REPORT = "plan.json", "runs.jsonl", "results.parquet", "summary.json", "report.html"
FAILED, WORST = "failed", "worst"
Row = dict[str, Any]
"""What is kept of a run: number, point, repeat, seed, parameters, outcome, cause, metrics, attempts and costs."""


class CampaignFolder:
    """Rows are in memory too, so that a full disk costs no run that is done."""

    def __init__(self, path: Path, plan: dict[str, object]) -> None:
        """Begin, or go on with the same plan."""
        self.path = path
        self.rows: dict[int, Row] = {}
        self._unwritten: list[Row] = []
        self._not_kept = 0
        """Folders of failed runs for which there was no room."""
        self._told: set[str] = set()
        self._made: list[Path] | None = None
        """Folders made by this start; None if it goes on with an earlier one."""
        self._begin(json.dumps(plan, indent=1) + "\n")
        self._lines = RowFile(path / RUNS, json.dumps({"skyloop campaign": 1}))
        # a run that was lost is made again by the next start
        self.rows.update((row["run"], row) for row in read_rows(path) if row["outcome"] != "lost")
        self.failed_kept = sum(1 for _ in path.glob(f"{FAILED}/*/scenario.yaml"))

    def _begin(self, plan: str) -> None:
        held = self.path / PLAN
        if held.exists():
            if read_text(held) != plan:
                raise RunFolderError(f"{self.path} is of another plan ({PLAN} differs); give another --out")
            before = json.loads(read_text(self.path / "versions.json"))
            if before != versions():
                log.warning("%s was begun with %s and goes on with %s", self.path, before, versions())
            return
        self._made = make_empty_folder(self.path)
        write_whole(self.path / "versions.json", json.dumps(versions(), indent=2) + "\n")
        write_whole(held, plan)

    def keep(self, row: Row, archive: bytes, most_failed: int) -> None:
        """Keep what a run has given. A disk that is full is reported once, and tried again with the next run."""
        number = int(row["run"])
        try:
            if archive and row["outcome"] != "success":
                unpack(archive, self.failed_folder(number), everything=self.failed_kept < most_failed)
                self.failed_kept += 1
        except (OSError, SkyloopError) as error:
            self._not_kept += 1
            self._tell_once("folder", f"the folder of failed run {number} cannot be kept: {error}; others are counted")
        self.rows[number] = row
        self._unwritten.append(row)
        self.write_pending()

    def write_pending(self) -> int:
        """Write what could not be written before. Returns how many rows are still only in memory."""
        try:
            while self._unwritten:
                self._lines.append([json.dumps(plain(self._unwritten[0]))])
                del self._unwritten[0]
        except DatasetError as error:
            self._tell_once("row", f"runs are done but not on disk yet: {error}; each run tries again")
        return len(self._unwritten)

    def _tell_once(self, what: str, text: str) -> None:
        if what not in self._told:
            self._told.add(what)
            log.warning("%s", text)

    def failed_folder(self, number: int) -> Path:
        return self.path / FAILED / f"{number:06d}"

    def discard_if_begun_now(self) -> None:
        if self._made is not None:
            for entry in self.path.iterdir():
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
            for folder in self._made:
                folder.rmdir()

    def close(self) -> None:
        if self.write_pending():
            log.warning("%d runs could not be written, and are made again by the next start", len(self._unwritten))
        if self._not_kept:
            log.warning("%d folders of failed runs could not be kept", self._not_kept)
        self._lines.close()


def read_rows(path: Path) -> Iterator[Row]:
    """Rows of a campaign's folder. A line that is not complete is left out, and its run made again."""
    try:
        lines = read_text(path / RUNS).splitlines()[1:]
    except (OSError, UnicodeDecodeError) as error:
        raise RunFolderError(f"'{path}' is no campaign: {error}") from None
    for line in lines:
        with suppress(ValueError):
            row = json.loads(line)
            row["metrics"] = {name: _number(value) for name, value in row["metrics"].items()}
            yield row


def _number(value: object) -> object:
    """JSON has no infinity."""
    return float(value) if value in ("inf", "-inf", "nan") else value


def row_of(run: CampaignRun, verdict: dict[str, object], outcome: RunOutcome) -> Row:
    return {
        "run": run.number, "point": run.point, "repeat": run.repeat, "seed": run.seed, "parameters": run.parameters,
        "outcome": verdict["outcome"], "cause": verdict.get("cause", ""), "metrics": verdict.get("metrics", {}),
        "attempts": outcome.attempts, "processor_s": outcome.processor_s, "wall_s": outcome.wall_s,
    }  # fmt: skip


def run_of(row: Row) -> CampaignRun:
    return CampaignRun(row["run"], row["point"], row["repeat"], row["seed"], row["parameters"])


def table_of(rows: list[Row]) -> Any:
    """All rows as a table of Arrow, in the order of their numbers, every parameter and metric a column."""
    import pyarrow

    names = ("run", "point", "repeat", "seed")
    columns: dict[str, list[object]] = {name: [row[name] for row in rows] for name in names}
    for group in ("parameters", "metrics"):
        for name in dict.fromkeys(name for row in rows for name in row[group]):
            columns[name] = [row[group].get(name) for row in rows]
    for name in ("outcome", "cause", "attempts", "processor_s", "wall_s"):
        columns[name] = [row[name] for row in rows]
    return pyarrow.table({name: _column(pyarrow, values) for name, values in columns.items()})


def _column(pyarrow: Any, values: list[Any]) -> object:
    """Values of different kinds, such as a number and a text, become texts of JSON."""
    numbers = [value for value in values if value is not None]
    if numbers and all(isinstance(value, int | float) and not isinstance(value, bool) for value in numbers):
        values = [None if value is None else float(value) for value in values] if _mixed(numbers) else values
    try:
        return pyarrow.array(values)
    except (pyarrow.ArrowInvalid, pyarrow.ArrowTypeError, pyarrow.ArrowNotImplementedError, OverflowError):
        return pyarrow.array([None if value is None else json.dumps(value) for value in values])


def _mixed(numbers: list[object]) -> bool:
    return any(isinstance(value, float) for value in numbers)


def write_table(table: object, path: Path) -> None:
    import pyarrow

    held = pyarrow.BufferOutputStream()
    from pyarrow import parquet

    parquet.write_table(table, held, compression="zstd")
    write_whole(path, held.getvalue().to_pybytes())
