"""The report of `skyloop reproduce all` on paper: the summary, and every number that a paper published."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from skyloop.core.results import Result
from skyloop_client.errors import SetupError
from skyloop_papers.all_papers import Measured
from skyloop_papers.registry import REPRODUCTIONS
from skyloop_papers.report_tables import RULE, SUMMARY_HEAD, TITLE, summary
from skyloop_papers.verdicts import HELD, NOT_HELD, UNDECIDED, judged

INK = {HELD: "#20794a", NOT_HELD: "#b3261e", UNDECIDED: "#9a6200"}
SIZE = 7.0
"""Of the letters in tables, points."""


def write_pdf(path: Path, measured: Sequence[Measured], *, quick: bool) -> None:
    try:
        from reportlab.lib.pagesizes import A4, landscape
        from reportlab.platypus import PageBreak, SimpleDocTemplate, Spacer
    except ImportError:
        raise SetupError("a report on paper needs reportlab; pip install 'skyloop[report]'") from None
    words = _Words()
    form = "The quick form: few or short runs, to see that all works." if quick else "The whole form."
    story: list[Any] = [words.title(TITLE), words.text(form), words.text(RULE), Spacer(1, 8)]
    story.append(words.table(SUMMARY_HEAD, [[str(cell) for cell in row] for row in summary(measured)]))
    for one in measured:
        published = [result for result in one.results if result.published is not None]
        if one.failed:
            story += [Spacer(1, 10), words.heading(one.name), words.text(f"Failed: {one.failed}")]
        if published:
            story += [PageBreak(), words.heading(f"{one.name}: {REPRODUCTIONS[one.name][1]}"), Spacer(1, 6)]
            story.append(words.results(one, published))
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
        from reportlab.lib.styles import ParagraphStyle
        from reportlab.pdfbase.pdfmetrics import registerFont
        from reportlab.pdfbase.ttfonts import TTFont

        for name, weight in (("skyloop", "normal"), ("skyloop-bold", "bold")):
            found = font_manager.findfont(font_manager.FontProperties(family="DejaVu Sans", weight=weight))
            registerFont(TTFont(name, found))
        self._plain = ParagraphStyle("plain", fontName="skyloop", fontSize=9, leading=12)
        self._small = ParagraphStyle("small", fontName="skyloop", fontSize=SIZE, leading=SIZE + 1.5)
        self._heading = ParagraphStyle("heading", fontName="skyloop-bold", fontSize=11, leading=15)
        self._title = ParagraphStyle("title", fontName="skyloop-bold", fontSize=16, leading=22)

    def text(self, text: str) -> Any:
        return self._paragraph(text, self._plain)

    def heading(self, text: str) -> Any:
        return self._paragraph(text, self._heading)

    def title(self, text: str) -> Any:
        return self._paragraph(text, self._title)

    @staticmethod
    def _paragraph(text: str, style: Any) -> Any:
        from xml.sax.saxutils import escape

        from reportlab.platypus import Paragraph

        return Paragraph(escape(text), style)

    def results(self, one: Measured, results: Sequence[Result]) -> Any:
        rows, inks = [], []
        for result in results:
            said = judged(one.name, result)
            sd = "" if result.sd is None else f"{result.sd:.2g}"
            cell, why = (self._paragraph(text, self._small) for text in (result.cell, said.why))
            numbers = (f"{result.published:.4g}", f"{result.measured:.4g}", result.unit, str(result.n), sd)
            rows.append([result.table, cell, *numbers, said.word, why])
            inks.append(INK.get(said.word, "#23303b"))
        head = ("table", "cell", "published", "measured", "unit", "n", "sd", "verdict", "why")
        return self.table(head, rows, widths=(58, 250, 52, 52, 42, 34, 44, 66, 170), inks=inks)

    def table(
        self,
        head: Sequence[str],
        rows: Sequence[Sequence[Any]],
        widths: Sequence[float] | None = None,
        inks: Sequence[str] = (),
    ) -> Any:
        from reportlab.lib.colors import HexColor
        from reportlab.platypus import Table, TableStyle

        style: list[Any] = [
            ("FONT", (0, 0), (-1, -1), "skyloop", SIZE), ("FONT", (0, 0), (-1, 0), "skyloop-bold", SIZE),
            ("LINEBELOW", (0, 0), (-1, -1), 0.3, HexColor("#d5dbe0")), ("VALIGN", (0, 0), (-1, -1), "TOP"),
            ("TOPPADDING", (0, 0), (-1, -1), 1.5), ("BOTTOMPADDING", (0, 0), (-1, -1), 1.5),
        ]  # fmt: skip
        style += [("TEXTCOLOR", (7, row), (7, row), HexColor(ink)) for row, ink in enumerate(inks, 1)]
        return Table([list(head), *map(list, rows)], colWidths=widths, repeatRows=1, style=TableStyle(style))
