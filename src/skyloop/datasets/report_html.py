"""Parts of the report: tables, plots and pictures as self-contained HTML."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop_client.messages import Label

INK = "#23303b"
COLOURS = ("#d1495b", "#1f77b4", "#2a9d5c", "#e08e1b", "#8a63b8", "#4b7f8c", "#b5651d", "#5c6bc0")
"""Colours of the classes, in the order of their names."""
STYLE = """
body{font:15px/1.5 system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;color:#23303b}
body{margin:0;background:#f4f6f8}
main{max-width:1120px;margin:0 auto;padding:24px 20px 60px}
h1{font-size:26px;margin:8px 0 0}h2{font-size:18px;margin:0 0 10px}
.lead{color:#5a6872;margin:2px 0 18px}
section{background:#fff;border:1px solid #e1e6ea;border-radius:8px;padding:16px 18px;margin:0 0 16px}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:14px}
th{text-align:left;color:#5a6872;font-weight:600}td,th{padding:3px 16px 3px 0;vertical-align:top}
tr+tr td{border-top:1px solid #eef1f3}td.n,th.n{text-align:right}
.grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(250px,1fr));gap:10px}
figure{margin:0}figure img{width:100%;display:block;border-radius:4px}figcaption{font-size:12.5px;color:#5a6872}
.wide{max-width:100%;display:block;margin:12px 0 0}section>p:last-child{margin-bottom:0}details{margin:12px 0 0}
.ok{color:#20794a}.bad{color:#b3261e;font-weight:600}.warn{color:#9a6200}
.note{color:#5a6872;font-size:13px;margin:8px 0 0}pre{font-size:12px;overflow-x:auto;background:#f4f6f8;padding:10px}
.key{display:inline-block;width:10px;height:10px;border-radius:2px;margin:0 5px 0 0}
.named{margin-right:14px;white-space:nowrap}
"""


def page(title: str, lead: str, sections: Iterable[str]) -> str:
    """A complete document."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        f'<h1>{html.escape(title)}</h1>\n<p class="lead">{html.escape(lead)}</p>\n'
        + "\n".join(sections)
        + "\n</main>\n</body>\n</html>\n"
    )


def section(title: str, body: str, note: str = "") -> str:
    below = f'\n<p class="note">{html.escape(note)}</p>' if note else ""
    return f"<section>\n<h2>{html.escape(title)}</h2>\n{body}{below}\n</section>"


class HtmlCell(str):
    """Table text that is already HTML."""


def verdict(holds: bool, good: str = "as configured", bad: str = "off") -> HtmlCell:
    return HtmlCell(f'<span class="{"ok" if holds else "bad"}">{html.escape(good if holds else bad)}</span>')


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Numbers are right-aligned. Strings are escaped."""
    kept = [list(row) for row in rows]
    right = [
        bool(kept) and all(isinstance(row[k], int | float) or row[k] == "–" for row in kept) for k in range(len(head))
    ]
    lines = ["<table>"]
    if any(head):
        cells = (f"<th{' class=n' if right[k] else ''}>{html.escape(name)}</th>" for k, name in enumerate(head))
        lines.append("<tr>" + "".join(cells) + "</tr>")
    for row in kept:
        cells = (f"<td{' class=n' if right[k] else ''}>{_shown(value)}</td>" for k, value in enumerate(row))
        lines.append("<tr>" + "".join(cells) + "</tr>")
    return "\n".join([*lines, "</table>"])


def _shown(value: object) -> str:
    if isinstance(value, HtmlCell):
        return str(value)
    return f"{value:.4g}" if isinstance(value, float) else html.escape(str(value))


def png(picture: NDArray[np.uint8]) -> str:
    """A picture as a data address of an image."""
    from PIL import Image

    held = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(picture)).save(held, "PNG", optimize=False, compress_level=9)
    return "data:image/png;base64," + base64.b64encode(held.getvalue()).decode()


def jpeg(picture: NDArray[np.uint8], quality: int = 82) -> str:
    from PIL import Image

    held = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(picture)).save(held, "JPEG", quality=quality)
    return "data:image/jpeg;base64," + base64.b64encode(held.getvalue()).decode()


def figure(address: str, caption: str) -> str:
    text = html.escape(caption)
    return f'<figure><img src="{address}" alt="{text}"><figcaption>{text}</figcaption></figure>'


def plot(
    draw: Callable[..., None], size: tuple[float, float] = (10.6, 3.2), columns: int = 2, widths: Sequence[float] = ()
) -> str:
    """`draw` gets the axes. The same data gives the same bytes."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    style: dict[Any, Any] = {
        "axes.edgecolor": "#b8c2ca", "axes.labelcolor": INK, "text.color": INK, "axes.grid": True,
        "grid.color": "#e6eaee", "axes.axisbelow": True, "font.size": 9, "axes.spines.top": False,
        "axes.spines.right": False, "axes.titlesize": 10, "axes.titlelocation": "left",
    }  # fmt: skip
    with plt.rc_context(style):
        drawn, axes = plt.subplots(
            1, columns, figsize=size, layout="constrained", squeeze=False, width_ratios=widths or [1.0] * columns
        )
        draw(*axes[0])
        held = io.BytesIO()
        drawn.savefig(held, format="png", dpi=110, metadata={"Software": None})
        plt.close(drawn)
    address = "data:image/png;base64," + base64.b64encode(held.getvalue()).decode()
    return f'<img class="wide" src="{address}" alt="plot">'


def class_colours(names: Iterable[str]) -> dict[str, str]:
    return {name: COLOURS[k % len(COLOURS)] for k, name in enumerate(sorted(set(names)))}


def boxed(image: NDArray[np.uint8], labels: Sequence[Label], colours: dict[str, str], width: int) -> NDArray[np.uint8]:
    """The image at a width, with a box and a name around each labelled object."""
    from PIL import Image, ImageDraw

    scale = width / image.shape[1]
    picture = Image.fromarray(image).resize((width, round(image.shape[0] * scale)), Image.Resampling.LANCZOS)
    draw = ImageDraw.Draw(picture)
    for label in sorted(labels, key=lambda item: -item.distance):
        left, top, right, bottom = label.box_px
        # around the object, so that a small one is not painted over
        box = (left * scale - 3, top * scale - 3, (right + 1) * scale + 2, (bottom + 1) * scale + 2)
        colour = colours[label.class_name]
        draw.rectangle(box, outline=colour, width=2)
        if box[2] - box[0] >= 20:
            spot = draw.textbbox((box[0], box[1] - 12), label.class_name)
            draw.rectangle((spot[0], spot[1] - 1, spot[2] + 3, spot[3] + 1), fill=colour)
            draw.text((box[0] + 2, box[1] - 12), label.class_name, fill="white")
    return np.asarray(picture)


def key_of(colours: dict[str, str]) -> str:
    """The legend of the classes' colours."""
    spots = (
        f'<span class="named"><span class="key" style="background:{tint}"></span>{html.escape(name)}</span>'
        for name, tint in colours.items()
    )
    return f'<p class="note">{" ".join(spots)}</p>' if colours else ""
