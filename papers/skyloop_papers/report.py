"""The report of `skyloop reproduce all`: one page for all papers, each number beside the published one."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from skyloop.core.results import Result
from skyloop.datasets.report_html import Cell, page, section, table
from skyloop_papers.all_papers import Measured
from skyloop_papers.registry import REPRODUCTIONS
from skyloop_papers.report_pdf import write_pdf
from skyloop_papers.report_tables import PAPERS, RULE, SUMMARY_HEAD, TITLE, seeds_of, summary, verdict_counts
from skyloop_papers.verdicts import HELD, NOT_HELD, NOT_PUBLISHED, UNDECIDED, WORDS, Verdict, judged

CLASS = {HELD: "ok", NOT_HELD: "bad", UNDECIDED: "warn"}
HEAD = ("table", "cell", "published", "measured", "unit", "n", "sd", "verdict", "why", "run")
LARGEST_PICTURES = 12
"""Of one experiment."""


def write_report(out: Path, measured: Sequence[Measured], *, quick: bool) -> Path:
    """index.html and report.pdf."""
    path = out / "index.html"
    path.write_text(report_page(out, measured, quick=quick), encoding="utf-8")
    write_pdf(out / "report.pdf", measured, quick=quick)
    return path


def report_page(out: Path, measured: Sequence[Measured], *, quick: bool) -> str:
    form = "the quick form: few or short runs, to see that all works" if quick else "the whole form"
    counted = sum((verdict_counts(one.name, one.results) for one in measured), Counter[str]())
    lead = f"{form}; " + ", ".join(f"{counted[word]} {word}" for word in WORDS if counted[word])
    sections = [section("Summary", table(SUMMARY_HEAD, summary(measured)), RULE)]
    for paper, title in PAPERS.items():
        own = [(one, [result for result in one.results if result.paper == paper]) for one in measured]
        for one, results in own:
            if results:
                sections.append(_experiment(out, one, results, title))
    failed = [[one.name, one.failed] for one in measured if one.failed]
    if failed:
        sections.append(section("Failed", table(("experiment", "why"), failed)))
    sections.append(section("Machine", table(("", ""), _machines(measured))))
    return page(TITLE, lead, sections)


def _experiment(out: Path, one: Measured, results: Sequence[Result], paper: str) -> str:
    rows = [row_of(one, result) for result in results]
    link = html.escape(str(one.folder.relative_to(out)))
    published = [row for row, result in zip(rows, results, strict=True) if result.published is not None]
    others = [row for row, result in zip(rows, results, strict=True) if result.published is None]
    # every number links to the folder of the runs that gave it
    linked = [[*row, Cell(f'<a href="{link}/">runs</a>')] for row in published]
    body = table(HEAD, linked) if linked else "<p>The paper gives no number for this experiment.</p>"
    if others:
        more = table(HEAD, [[*row, Cell(f'<a href="{link}/">runs</a>')] for row in others])
        body += f"<details><summary>{len(others)} more numbers, not published</summary>{more}</details>"
    pictures = sorted(one.folder.glob("*.png")) + sorted(one.folder.glob("*.jpg"))
    shown = "".join(
        f'<figure><a href="{link}/{html.escape(path.name)}"><img src="{link}/{html.escape(path.name)}" '
        f'alt="{html.escape(path.stem)}" loading="lazy"></a><figcaption>{html.escape(path.stem)}</figcaption></figure>'
        for path in pictures[:LARGEST_PICTURES]
    )
    if shown:
        body += f'<div class="grid" style="margin-top:12px">{shown}</div>'
    seeds = seeds_of(one)
    note = f"{REPRODUCTIONS[one.name][1]}; {one.folder.name}" + (f"; {seeds}" if seeds else "")
    return section(f"{paper}: {one.name}", body, note)


def row_of(one: Measured, result: Result) -> list[Any]:
    said = judged(one.name, result)
    sd = "–" if result.sd is None else float(f"{result.sd:.2g}")
    published = "–" if result.published is None else float(result.published)
    value = float(result.measured)
    where = Cell(f'<span class="named">{html.escape(result.table)}</span>')
    return [where, result.cell, published, value, result.unit, result.n, sd, _shown(said), said.why]


def _shown(said: Verdict) -> Cell:
    word = "" if said.word == NOT_PUBLISHED else said.word
    return Cell(f'<span class="named {CLASS.get(said.word, "")}">{html.escape(word)}</span>')


def _machines(measured: Sequence[Measured]) -> list[list[str]]:
    """The computers on which the experiments were made, usually one."""
    by_machine: dict[str, list[str]] = {}
    for one in measured:
        told = ", ".join(f"{key} {value}" for key, value in one.machine.items() if value is not None)
        by_machine.setdefault(told, []).append(one.name)
    return [[", ".join(names), told] for told, names in by_machine.items()]
