"""The report of `skyloop reproduce all`, as a page and on paper: each number beside the published one."""

from __future__ import annotations

import html
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from skyloop.datasets import report_html
from skyloop.datasets.report_html import page, section, table
from skyloop_client.errors import SetupError
from skyloop_papers import catalogue
from skyloop_papers.experiment import (
    CELL_HEAD,
    HELD,
    JUDGED,
    NOT_HELD,
    NOT_PUBLISHED,
    PAPERS,
    SPEED,
    UNDECIDED,
    UNJUDGED,
    Cell,
    in_words,
    verdict_counts,
)
from skyloop_papers.pages import SPEED_HEAD, speed_rows
from skyloop_papers.runner import PLAN, Measured

if TYPE_CHECKING:
    from reportlab.platypus import Flowable, Paragraph, Table

TITLE = "Five papers, published beside measured"
RULE = (
    "Judged is the same quantity of the same work, if it does not depend on whose computer it was: no speeds of "
    "computers, no inputs, nothing twice, no means over survivors. The interval is that of the mean at 95 %. Less is "
    "better for errors: held if the interval ends at or below the published number, not held if it begins above it. "
    "More is better for ratios, the other way round. What should be the same is held within a tenth. An interval that "
    "lies across is undecided. A number without sd stands for itself."
)
SUMMARY_HEAD = ("paper", "experiment", *JUDGED, *UNJUDGED, "more numbers", "s")
CLASS = {HELD: "ok", NOT_HELD: "bad", UNDECIDED: "warn"}
HEAD = (*CELL_HEAD, "verdict", "why", "run")
LARGEST_PICTURES = 12
"""Of one experiment."""
INK = {HELD: "#20794a", NOT_HELD: "#b3261e", UNDECIDED: "#9a6200"}
SIZE = 7.0
"""Of the letters in tables, points."""


def write_report(out: Path, measured: Sequence[Measured], *, quick: bool) -> Path:
    """index.html and report.pdf."""
    path = out / "index.html"
    path.write_text(report_page(out, measured, quick=quick), encoding="utf-8")
    write_pdf(out / "report.pdf", measured, quick=quick)
    return path


def report_page(out: Path, measured: Sequence[Measured], *, quick: bool) -> str:
    form = "the quick form: few or short runs, to see that all works" if quick else "the full form"
    counted = sum((verdict_counts(one.cells) for one in measured), Counter[str]())
    lead = f"{form}; " + in_words(counted, (*JUDGED, *UNJUDGED))
    sections = [section("Summary", table(SUMMARY_HEAD, summary(measured)), RULE)]
    for paper, title in PAPERS.items():
        own = [one for one in measured if one.cells and catalogue.load(one.name).paper == paper]
        sections += [_experiment(out, one, title) for one in own]
    if speeds := _speeds(measured):
        sections.append(section("Speeds of computers", table(SPEED_HEAD, speeds), "Side by side, without a verdict."))
    failed = [[one.name, one.failed] for one in measured if one.failed]
    if failed:
        sections.append(section("Failed", table(("experiment", "why"), failed)))
    sections.append(section("Machine", table(("", ""), _machines(measured))))
    return page(TITLE, lead, sections)


def _speeds(measured: Sequence[Measured]) -> list[list[str]]:
    return [row for one in measured for row in speed_rows(one.name, one.cells, one.machine)]


def _judgeable(cells: Sequence[Cell]) -> list[Cell]:
    """Those that the paper gives too, without speeds of computers, which have a table of their own."""
    return [cell for cell in cells if cell.published is not None and cell.verdict != SPEED]


def _experiment(out: Path, one: Measured, paper: str) -> str:
    link = html.escape(str(one.folder.relative_to(out)))
    # every number links to the folder of the runs that gave it
    runs = report_html.HtmlCell(f'<a href="{link}/">runs</a>')
    published = [[*row_of(cell), runs] for cell in _judgeable(one.cells)]
    others = [[*row_of(cell), runs] for cell in one.cells if cell.published is None]
    body = table(HEAD, published) if published else "<p>There is no number of the paper to judge.</p>"
    if others:
        more = table(HEAD, others)
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
    note = f"{catalogue.listed()[one.name]}; {one.folder.name}" + (f"; {seeds}" if seeds else "")
    return section(f"{paper}: {one.name}", body, note)


def row_of(cell: Cell) -> list[object]:
    sd = "–" if cell.sd is None else float(f"{cell.sd:.2g}")
    published = "–" if cell.published is None else float(cell.published)
    where = report_html.HtmlCell(f'<span class="named">{html.escape(cell.table)}</span>')
    word = "" if cell.verdict == NOT_PUBLISHED else cell.verdict
    verdict = report_html.HtmlCell(f'<span class="named {CLASS.get(cell.verdict, "")}">{html.escape(word)}</span>')
    return [where, cell.name, published, float(cell.ours), cell.unit, cell.n, sd, verdict, cell.why]


def _machines(measured: Sequence[Measured]) -> list[list[str]]:
    """The computers on which the experiments were made, usually one."""
    by_machine: dict[str, list[str]] = {}
    for one in measured:
        machine = ", ".join(f"{key} {value}" for key, value in one.machine.items() if value is not None)
        by_machine.setdefault(machine, []).append(one.name)
    return [[", ".join(names), machine] for machine, names in by_machine.items()]


def summary(measured: Sequence[Measured]) -> Iterator[list[object]]:
    """A row per experiment."""
    for one in measured:
        counted = verdict_counts(one.cells)
        paper = catalogue.load(one.name).paper if one.cells else "–"
        words = (*JUDGED, *UNJUDGED, NOT_PUBLISHED)
        counts = ["failed", *["–"] * (len(words) - 1)] if one.failed else [counted[word] for word in words]
        yield [paper, one.name, *counts, round(one.seconds)]


def seeds_of(one: Measured) -> str:
    """What the plan in the experiment's folder says of its seeds, in a line."""
    try:
        plain = json.loads((one.folder / PLAN).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        plain = {}
    return ", ".join(f"{key} {_in_short(value)}" for key, value in _entries(plain) if "seed" in key)


def _entries(plain: object) -> Iterator[tuple[str, object]]:
    for key, value in plain.items() if isinstance(plain, dict) else ():
        yield key, value
        yield from _entries(value)


def _in_short(value: object) -> str:
    """31, 32, … 40 as "31 to 40"."""
    if isinstance(value, list) and len(value) > 2 and value == list(range(value[0], value[0] + len(value))):
        return f"{value[0]} to {value[-1]}"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


# ---- on paper


def write_pdf(path: Path, measured: Sequence[Measured], *, quick: bool) -> None:
    try:
        from reportlab.lib.pagesizes import A4, landscape
        from reportlab.platypus import PageBreak, SimpleDocTemplate, Spacer
    except ImportError:
        raise SetupError("a report on paper needs reportlab; pip install 'skyloop[report]'") from None
    words = _Words()
    form = "The quick form: few or short runs, to see that all works." if quick else "The full form."
    story: list[Flowable] = [
        words.text(TITLE, 16.0, 22.0, "skyloop-bold"),
        words.text(form),
        words.text(RULE),
        Spacer(1, 8),
    ]
    head = [words.text(each, SIZE, SIZE + 1.5, "skyloop-bold") for each in SUMMARY_HEAD]
    widths = (120, 80, 40, 45, 55, 70, 60, 65, 65, 70, 60, 40)
    story.append(words.table(head, [[str(cell) for cell in row] for row in summary(measured)], widths))
    for one in measured:
        published = _judgeable(one.cells)
        if one.failed:
            story += [Spacer(1, 10), words.heading(one.name), words.text(f"Failed: {one.failed}")]
        if published:
            story += [PageBreak(), words.heading(f"{one.name}: {catalogue.listed()[one.name]}"), Spacer(1, 6)]
            story.append(words.cells(published))
    if speeds := _speeds(measured):
        rows = [[words.text(text, SIZE, SIZE + 1.5) for text in row] for row in speeds]
        story += [PageBreak(), words.heading("Speeds of computers, without a verdict"), Spacer(1, 6)]
        story.append(words.table(SPEED_HEAD, rows, widths=(60, 250, 46, 150, 46, 150, 40)))
    # without dates and random numbers: the same results give the same bytes
    margin = 36
    document = SimpleDocTemplate(
        str(path), pagesize=landscape(A4), leftMargin=margin, rightMargin=margin, topMargin=margin, bottomMargin=margin,
        title=TITLE, author="skyloop", invariant=1,
    )  # fmt: skip
    document.build(story)


class _Words:
    """Paragraphs and tables in one font that has the signs of our cells, such as R² and µs."""

    def __init__(self) -> None:
        from matplotlib import font_manager
        from reportlab.pdfbase.pdfmetrics import registerFont
        from reportlab.pdfbase.ttfonts import TTFont

        for name, weight in (("skyloop", "normal"), ("skyloop-bold", "bold")):
            found = font_manager.findfont(font_manager.FontProperties(family="DejaVu Sans", weight=weight))
            registerFont(TTFont(name, found))

    @staticmethod
    def text(text: str, size: float = 9.0, leading: float = 12.0, font: str = "skyloop") -> Paragraph:
        from xml.sax.saxutils import escape

        from reportlab.lib.styles import ParagraphStyle
        from reportlab.platypus import Paragraph

        return Paragraph(escape(text), ParagraphStyle("one", fontName=font, fontSize=size, leading=leading))

    def heading(self, text: str) -> Paragraph:
        return self.text(text, 11.0, 15.0, "skyloop-bold")

    def cells(self, cells: Sequence[Cell]) -> Table:
        rows: list[list[str | Paragraph]] = []
        for cell in cells:
            name, why = (self.text(text, SIZE, SIZE + 1.5) for text in (cell.name, cell.why))
            where, _, *numbers = cell.texts()
            rows.append([where, name, *numbers, cell.verdict, why])
        inks = [INK.get(cell.verdict, "#23303b") for cell in cells]
        widths = (58, 250, 52, 52, 42, 34, 44, 66, 170)
        return self.table((*CELL_HEAD, "verdict", "why"), rows, widths=widths, inks=inks)

    def table(
        self,
        head: Sequence[str | Paragraph],
        rows: Sequence[Sequence[str | Paragraph]],
        widths: Sequence[float] | None = None,
        inks: Sequence[str] = (),
    ) -> Table:
        from reportlab.lib.colors import HexColor
        from reportlab.platypus import Table, TableStyle

        style: list[tuple[object, ...]] = [
            ("FONT", (0, 0), (-1, -1), "skyloop", SIZE), ("FONT", (0, 0), (-1, 0), "skyloop-bold", SIZE),
            ("LINEBELOW", (0, 0), (-1, -1), 0.3, HexColor("#d5dbe0")), ("VALIGN", (0, 0), (-1, -1), "TOP"),
            ("TOPPADDING", (0, 0), (-1, -1), 1.5), ("BOTTOMPADDING", (0, 0), (-1, -1), 1.5),
        ]  # fmt: skip
        style += [("TEXTCOLOR", (7, row), (7, row), HexColor(ink)) for row, ink in enumerate(inks, 1)]
        return Table([list(head), *map(list, rows)], colWidths=widths, repeatRows=1, style=TableStyle(style))
