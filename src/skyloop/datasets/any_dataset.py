"""Check, repair, export and report of a dataset with one seed or several."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from skyloop.core.files import write_whole
from skyloop.datasets import checking, export, report
from skyloop.datasets.check_journal import Finding, named
from skyloop.datasets.report_html import HtmlCell, page, section, table, verdict
from skyloop.datasets.seed_set import (
    JOINED,
    Files,
    differing,
    is_seed_set,
    join_labels,
    joined_files,
    read_seeds,
    recordings,
)
from skyloop.recording.formats.registry import FORMATS
from skyloop_client.errors import DatasetError


def check(folder: Path) -> list[Finding]:
    if not is_seed_set(folder):
        return checking.check(folder)
    findings = []
    for subfolder in recordings(folder).values():
        if subfolder.is_dir():
            inside = checking.check(subfolder)
            findings += [replace(finding, where=f"{subfolder.name}/{finding.where}") for finding in inside]
        else:
            findings.append(Finding("is missing; `skyloop record --resume` records it", subfolder.name, "warning"))
    for name in _joined_formats(folder):
        for output, files in joined_files(folder, name).items():
            if not (folder / output).is_dir():
                findings.append(Finding(f"{name} of all seeds is not written yet; {_advice(name)}", output, "warning"))
            elif wrong := differing(files, folder / output):
                what = named(f"{len(wrong)} files are not what the seeds hold; {_advice(name)}", wrong)
                findings.append(Finding(what, output))
    return findings


def _joined_formats(folder: Path) -> list[str]:
    """The planned formats and the existing ones."""
    n_vehicles = len(read_seeds(folder).scenario["vehicles"])
    planned = read_seeds(folder).formats
    there = [name for name in JOINED if any((folder / output).exists() for output in FORMATS[name].outputs(n_vehicles))]
    return [name for name in JOINED if name in planned or name in there]


def _advice(name: str) -> str:
    return f"`skyloop export --to {name}` writes it"


def repair(folder: Path) -> list[str]:
    if not is_seed_set(folder):
        return checking.repair(folder)
    done = []
    for subfolder in recordings(folder).values():
        if subfolder.is_dir():
            done += [f"{subfolder.name}: {line}" for line in checking.repair(subfolder)]
    for name in _joined_formats(folder):
        wrong = [output for output, files in joined_files(folder, name).items() if _is_wrong(folder / output, files)]
        if wrong:
            join_labels(folder, [name])
            done.append(f"{name} of all seeds was written again")
    return done


def _is_wrong(folder: Path, files: Files) -> bool:
    return not folder.is_dir() or bool(differing(files, folder))


def export_formats(folder: Path, formats: tuple[str, ...]) -> dict[str, tuple[float, list[Path]]]:
    """Like `export.export`. With several seeds, first each seed's formats, then those that hold all seeds."""
    if not is_seed_set(folder):
        return export.export(folder, formats)
    out: dict[str, tuple[float, list[Path]]] = {name: (0.0, []) for name in formats}
    for subfolder in recordings(folder).values():
        for name, (seconds, outputs) in export.export(subfolder, formats).items():
            out[name] = out[name][0] + seconds, [*out[name][1], *outputs]
    for name in formats:
        out[name] = out[name][0], join_labels(folder, [name]) or out[name][1]
    return out


def write_report(folder: Path) -> Path:
    """With several seeds: a report for each, and a page with links to them."""
    if not is_seed_set(folder):
        return report.write_report(folder)
    rows = []
    for seed, subfolder in recordings(folder).items():
        if not subfolder.is_dir():
            rows.append((str(seed), HtmlCell("not recorded yet"), ""))
            continue
        report.write_report(subfolder)
        link = HtmlCell(f'<a href="{html.escape(subfolder.name)}/{report.NAME}">{html.escape(subfolder.name)}</a>')
        rows.append((str(seed), link, _in_words(checking.check(subfolder))))
    joined = [finding for finding in check(folder) if not finding.where.startswith("seed-")]
    parts = [section("Seeds", table(("seed", "report", "check"), rows))]
    parts.append(section("Formats of all seeds", f"<p>{_in_words(joined)}</p>"))
    path = folder / report.NAME
    write_whole(path, page(f"Dataset {folder.resolve().name}", f"{len(rows)} seeds", parts))
    return path


def _in_words(findings: Sequence[Finding]) -> HtmlCell:
    if not findings:
        return verdict(True, "no defects")
    errors = sum(finding.severity == "error" for finding in findings)
    counts = f"{errors} errors, {len(findings) - errors} warnings"
    return verdict(not errors, counts, counts)


def one_seed(folder: Path) -> Path:
    """The folder itself. It must not have several seeds."""
    if is_seed_set(folder):
        names = ", ".join(str(subfolder) for subfolder in list(recordings(folder).values())[:3])
        raise DatasetError(f"'{folder}' holds several seeds; give the folder of one of them: {names}")
    return folder
