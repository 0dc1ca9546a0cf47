"""`skyloop check`: reports each fault of a dataset in one line, and repairs what the journal allows."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from skyloop.core.files import PARTIAL
from skyloop.datasets.check_asl import asl_sensors, check_asl
from skyloop.datasets.check_journal import Finding, Journal, Severity, check_journal, named
from skyloop.datasets.export import Exporter, finished_formats
from skyloop.datasets.recording_plan import PLAN, RecordingPlan
from skyloop.recording.formats.registry import FORMATS
from skyloop.recording.recording import (
    MANIFEST,
    NOT_LISTED,
    Manifest,
    ManifestEntry,
    Recording,
    differences,
    open_recording,
    read_manifest,
    write_manifest,
)
from skyloop_client.errors import DatasetError

REBUILD = f"rebuild{PARTIAL}"
"""Folder in the dataset in which formats are written before they replace the old ones."""

BEHIND = "it was not finished"
"""The reason for a format that only lags behind the journal."""


@dataclass(slots=True)
class _Examined:
    findings: list[Finding]
    journal: Journal
    manifest: Manifest | None
    different: dict[str, str]
    """Files that differ from the manifest, each with the difference."""
    wrong: dict[str, str]
    """Formats that must be written, each with the reason."""


def check(folder: Path) -> list[Finding]:
    """All faults of a dataset. Works on anything that a killed recording left."""
    if not (folder / "recording.json").exists():
        if (folder / PLAN).exists():
            return [
                Finding("is missing: nothing was recorded yet; `skyloop record --resume`", "recording.json", "warning")
            ]
        sequences = sorted(path for path in folder.glob("mav[0-9]*") if path.is_dir())
        if sequences:
            return [finding for path in sequences for finding in check_asl(path, None, Journal(), marked=True)]
    return _examine(open_recording(folder)).findings


def repair(folder: Path) -> list[str]:
    """Repair what the journal allows. Returns the actions, empty if there was nothing to do."""
    if not (folder / "recording.json").exists() and (folder / PLAN).exists():
        return _clear(folder)
    recording = open_recording(folder)
    done = _clear(folder)
    before = _examine(recording)
    trouble = _why_not_rebuild(before)
    if not trouble and (dropped := _drop_orphans(recording)):
        done += dropped
        before = _examine(recording)
    for name, why in before.wrong.items():
        if trouble:
            done.append(f"{name} was left as it is: {why}, but {trouble}")
        else:
            in_place = FORMATS[name].grows and why == BEHIND
            _rebuild(recording, name, in_place)
            done.append(f"{name} was {'completed' if in_place else 'written again'} from the journal: {why}")
    manifest = write_manifest(folder, _distrusted(recording, before, left=bool(trouble)))
    if manifest != before.manifest:
        state = "complete" if manifest.complete else f"not complete: {manifest.groups} of {recording.n_groups} groups"
        done.append(f"{MANIFEST} was written again; the dataset is {state}")
    return done


def _why_not_rebuild(examined: _Examined) -> str:
    """Data in a dataset is not replaced from a journal that holds less."""
    if examined.journal.broken:
        return "the journal is broken"
    if not examined.journal.sound_groups:
        return "the journal holds no complete group"
    if any(name.startswith("journal/") and what != NOT_LISTED for name, what in examined.different.items()):
        return "the journal is not what it was"
    return ""


def _examine(recording: Recording) -> _Examined:
    folder = recording.folder
    journal = check_journal(recording)
    findings = [
        Finding("was left by a writer that was stopped", path.relative_to(folder).as_posix(), "warning")
        for path in sorted(folder.rglob(f"*{PARTIAL}"))
        if REBUILD not in path.relative_to(folder).parts[:-1]
    ]
    findings += journal.findings
    manifest, different = None, {}
    try:
        manifest = read_manifest(folder)
        if manifest is None:
            what = "is missing, so nothing can be said about changed files; `skyloop check --repair` writes it"
            findings.append(Finding(what, MANIFEST, "warning"))
        else:
            different = differences(folder, manifest)
    except DatasetError as error:
        findings.append(Finding(str(error), MANIFEST))
    for name, what in different.items():
        findings.append(Finding(what, name, "warning" if what == NOT_LISTED else "error"))
    wrong = {}
    for name in _expected_formats(recording):
        of_format, why = _check_format(recording, name, journal, different)
        findings += of_format
        if why:
            wrong[name] = why
    return _Examined(findings, journal, manifest, different, wrong)


def _outputs(recording: Recording, name: str) -> list[Path]:
    """The possible folders of a format, by vehicle."""
    return [recording.folder / output for output in FORMATS[name].outputs(len(recording.vehicles))]


def _expected_formats(recording: Recording) -> list[str]:
    """The planned formats, those marked as complete, and those that exist."""
    folder = recording.folder
    planned = RecordingPlan.read(folder).formats if (folder / PLAN).exists() else ()
    marks = finished_formats(folder)
    return [
        name
        for name in FORMATS
        if name in planned or name in marks or any(path.exists() for path in _outputs(recording, name))
    ]


def _check_format(
    recording: Recording, name: str, journal: Journal, different: dict[str, str]
) -> tuple[list[Finding], str]:
    """The faults, and the reason why the format must be written again, if there is one."""
    kind = FORMATS[name]
    outputs = _outputs(recording, name)
    groups = finished_formats(recording.folder).get(name)
    names = [output.name for output in outputs]
    changed = [path for path, what in different.items() if what != NOT_LISTED and path.split("/")[0] in names]
    marked = groups is not None and groups >= journal.sound_groups
    if not any(output.exists() for output in outputs):
        severity: Severity = "error" if groups is not None else "warning"
        what = "is gone" if groups is not None else "is not written yet"
        return [Finding(f"{name} {what}; `skyloop check --repair` writes it", kind.output, severity)], f"it {what}"
    findings = _check_all_asl(recording, journal, marked) if kind.output == "mav0" else []
    if any(finding.severity == "error" for finding in findings):
        return findings, "it is not what the journal holds"
    if changed:
        return findings, f"{len(changed)} of its files are not as the manifest says"
    if not marked and journal.sound_groups:
        held = f"{groups} of {journal.sound_groups} groups" if groups is not None else "not finished"
        what = f"{name} is not complete ({held}); `skyloop check --repair` completes it"
        findings.append(Finding(what, kind.output, "warning" if kind.grows else "error"))
        return findings, BEHIND
    return findings, ""


def _check_all_asl(recording: Recording, journal: Journal, marked: bool) -> list[Finding]:
    """The folder of every vehicle."""
    findings = []
    for vehicle, output in zip(recording.vehicles, _outputs(recording, "asl"), strict=True):
        if output.is_dir():
            findings += check_asl(output, recording, journal, marked, vehicle)
        else:
            what = f"the folder of '{vehicle}' is missing; `skyloop check --repair` writes it"
            findings.append(Finding(what, output.name, "error" if marked else "warning"))
    return findings


def _clear(folder: Path) -> list[str]:
    """Remove the remains of writers that were stopped."""
    done = []
    for path in sorted(folder.rglob(f"*{PARTIAL}")):
        if path.is_dir():
            shutil.rmtree(path)
        elif path.exists():
            path.unlink()
        else:
            continue
        done.append(f"removed {path.relative_to(folder).as_posix()}")
    return done


def _drop_orphans(recording: Recording) -> list[str]:
    """Remove ASL files that no row names. Their samples are in the journal."""
    done = []
    for sensor in (s for output in _outputs(recording, "asl") if output.is_dir() for s in asl_sensors(output)):
        orphans = sensor.orphans() if (sensor.folder / "data.csv").is_file() else []
        for path in orphans:
            path.unlink()
        if orphans:
            names = named(f"{len(orphans)} files without a row", [path.name for path in orphans])
            done.append(f"removed from {sensor.folder.relative_to(recording.folder).as_posix()}/data {names}")
    return done


def _rebuild(recording: Recording, name: str, in_place: bool) -> None:
    """Continue a growing format where it stopped. Any other is written separately and then replaces the old one."""
    if in_place:
        Exporter(recording.folder, (name,)).finish()
        if FORMATS[name].output != "mav0" or not _check_all_asl(recording, check_journal(recording), marked=True):
            return
    # in a folder of the same name, because some formats write their folder's name into files
    aside = recording.folder / REBUILD / recording.folder.resolve().name
    shutil.rmtree(aside, ignore_errors=True)
    aside.mkdir(parents=True)
    for needed in ("recording.json", PLAN, "journal"):
        if (recording.folder / needed).exists():
            (aside / needed).symlink_to((recording.folder / needed).resolve())
    exporter = Exporter(aside, (name,))
    exporter.finish()
    # mav0 last, because it tells how far ASL is
    for output in reversed(_outputs(recording, name)):
        if output.exists():
            output.replace(output.with_name(f"{output.name}.old{PARTIAL}"))
        if (aside / output.name).exists():
            (aside / output.name).replace(output)
    exporter.mark_finished(recording.folder, name)
    _clear(recording.folder)


def _distrusted(recording: Recording, before: _Examined, left: bool) -> dict[str, ManifestEntry]:
    """A changed file that cannot be written again keeps its old entry, so that the new manifest does not accept it."""
    outputs = {path.name for name in FORMATS for path in _outputs(recording, name)}
    if before.manifest is None:
        return {}
    return {
        name: before.manifest.files[name]
        for name in before.different
        if name in before.manifest.files and (left or name.split("/")[0] not in outputs)
    }
