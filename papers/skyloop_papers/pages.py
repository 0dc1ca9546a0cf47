"""Writes the numbers on the pages under docs/ from a results file. A test checks that they are up to date.

A page marks the text that comes from results:

    <!-- results: NAME BLOCK -->
    ...
    <!-- end -->

Between the marks is what the reproduction's page module makes of docs/results/NAME.json: its `blocks(results)`.
Sentences outside that repeat a measured number are listed by its `said(results)`: a page that lacks one of them is out
of date. So is one whose results were measured under other constants than the code has now: its `protocol()`, of which
the results file keeps a copy.
"""

from __future__ import annotations

import importlib
import json
import math
import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skyloop.core.files import write_whole
from skyloop.core.machine_info import machine_description
from skyloop.core.results import Result
from skyloop_client.errors import SetupError
from skyloop_papers.code_state import changed_rooms, code_state
from skyloop_papers.registry import PAGES, REPRODUCTIONS

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"(<!-- results: ([a-z0-9-]+) ([a-z0-9-]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
ALIKE = 1e-3
"""Allowed relative difference of a figure on another processor or renderer."""
NOT_YET = "Not measured yet: `{command}` fills this in.\n"
MEASURED_BY = "measured-by.json"
"""In a folder of results: the machine and the state of the code by which it was begun."""


@dataclass(frozen=True, slots=True)
class Published:
    """The content of a results file."""

    results: list[Result]
    """Results of the full form."""
    quick: dict[str, float]
    """Results of the quick form by cell, if they are repeatable: a test can measure these again."""
    protocol: Any
    """The constants of the measurement, as plain JSON data."""
    code: dict[str, str] | None = None
    """The state of the code that gave the results; see `code_state`."""
    machine: dict[str, Any] | None = None
    flown_again: dict[str, Any] | None = None
    """Runs that later code flew again with the same figures; see `flown_again`."""


class Cells(Mapping[str, Result]):
    """Results by cell. An unknown name gives an error that lists the known ones."""

    def __init__(self, results: Sequence[Result]) -> None:
        self._by_cell = {result.cell: result for result in results}

    def __getitem__(self, cell: str) -> Result:
        return self._by_cell[cell]

    def __iter__(self) -> Any:
        return iter(self._by_cell)

    def __len__(self) -> int:
        return len(self._by_cell)

    def value(self, cell: str) -> float:
        return self[cell].measured


def results_file(name: str) -> Path:
    return DOCS / "results" / f"{name}.json"


def read(name: str) -> Published | None:
    """None if the command was never run."""
    path = results_file(name)
    if not path.exists():
        return None
    plain = json.loads(path.read_text(encoding="utf-8"))
    results = [Result(**result) for result in plain["results"]]
    kept = {key: plain.get(key) for key in ("protocol", "code", "machine", "flown_again")}
    return Published(results, plain["quick"], **kept)


def protocol(name: str) -> Any:
    """The constants that decide the command's results, as plain JSON data. None if the page needs no measurement."""
    made = importlib.import_module(PAGES[name])
    return json.loads(json.dumps(made.protocol())) if hasattr(made, "protocol") else None


def begin(name: str, folder: Path, *, cluster: bool = False) -> None:
    """Keep in a folder of results by which machine and code it was begun; others may finish and publish it.

    cluster: the machine only asked, and those of a Ray cluster flew."""
    path = folder / MEASURED_BY
    kept = _measured_by(name, folder)
    if not path.exists() or (cluster and "cluster" not in kept["machine"]):
        kept["machine"] |= {"cluster": True} if cluster else {}
        write_whole(path, json.dumps(kept, indent=1) + "\n")


def _measured_now(name: str) -> dict[str, Any]:
    return {"machine": machine_description(), "code": code_now(name)}


def code_now(name: str) -> dict[str, str]:
    """The state of the code that a command's figures depend on."""
    return code_state(REPRODUCTIONS[name][0])


def _measured_by(name: str, folder: Path | None) -> dict[str, Any]:
    if folder is None or not (folder / MEASURED_BY).exists():
        return _measured_now(name)
    kept: dict[str, Any] = json.loads((folder / MEASURED_BY).read_text(encoding="utf-8"))
    return kept


def write(name: str, results: Sequence[Result], quick: Sequence[Result] = (), folder: Path | None = None) -> list[Path]:
    """Write the results file, every page that shows it, and its pictures from the folder. Returns the changed paths."""
    if not DOCS.is_dir():
        raise SetupError("the pages are only in a checkout of skyloop; leave out --update-docs")
    plain = {
        "command": f"skyloop reproduce {name} --update-docs",
        "protocol": protocol(name),
        **_measured_by(name, folder),
        "results": [result.plain() for result in results],
        "quick": {result.cell: result.measured for result in quick if repeats(result)},
    }
    changed = _put(name, plain)
    pictures = getattr(importlib.import_module(PAGES[name]), "PICTURES", ())
    return changed + [_replaced(folder / picture) for picture in pictures if folder is not None]


def write_flown_again(name: str, record: dict[str, Any] | None) -> list[Path]:
    """Keep with published results that runs were flown again with the same figures, or take such a record away.

    Returns the changed paths."""
    plain = json.loads(results_file(name).read_text(encoding="utf-8"))
    kept = plain.pop("flown_again", None)
    if record is None and kept is None:
        return []
    return _put(name, plain if record is None else {**plain, "flown_again": record})


def _put(name: str, plain: dict[str, Any]) -> list[Path]:
    """Write the results file and every page that shows it. Returns the changed paths."""
    path = results_file(name)
    path.parent.mkdir(exist_ok=True)
    write_whole(path, json.dumps(plain, indent=1, ensure_ascii=False) + "\n")
    changed = [path]
    for page in pages():
        before = page.read_text(encoding="utf-8")
        after = rendered(before)
        if after != before:
            page.write_text(after, encoding="utf-8")
            changed.append(page)
    return changed


def _replaced(picture: Path) -> Path:
    """Replace the picture of that name under docs/, as JPEG if that is one; a new one is put into images/. Returns its
    path."""
    from PIL import Image

    found = [path for path in DOCS.rglob(f"{picture.stem}.*") if path.suffix in (".png", ".jpg")]
    found = found or [DOCS / "images" / picture.name]
    if len(found) != 1:
        raise SetupError(f"docs/ has {len(found)} pictures named {picture.stem}, not one; which is {picture}?")
    if found[0].suffix == picture.suffix:
        found[0].write_bytes(picture.read_bytes())
    else:
        Image.open(picture).convert("RGB").save(found[0], quality=85)
    return found[0]


def repeats(result: Result) -> bool:
    """Whether the same machine gives the same figure again. A time does not."""
    return result.unit not in ("ms", "µs", "1/s", "core-ms", "% of the time")


def pages() -> list[Path]:
    """The pages that show results, README among them."""
    texts = [path for path in (DOCS.parent / "README.md", *DOCS.rglob("*.md")) if path.is_file()]
    return sorted(path for path in texts if BLOCK.search(path.read_text(encoding="utf-8")))


def rendered(text: str) -> str:
    """The page with every block filled from the results files."""
    return BLOCK.sub(lambda match: match[1] + block(match[2], match[3]) + match[5], text)


def block(name: str, which: str) -> str:
    """The lines of one block, with a final line break."""
    page, published = importlib.import_module(PAGES[name]), read(name)
    if published is None and not getattr(page, "WITHOUT_RESULTS", False):
        return NOT_YET.format(command=f"skyloop reproduce {name} --update-docs")
    if which == "state" and published is not None:
        return paragraph(state_in_words(name, published))
    made: dict[str, str] = page.blocks([] if published is None else published.results)
    return made[which].rstrip("\n") + "\n"


def state_in_words(name: str, published: Published) -> str:
    """Whether the figures are of the code as it is now, for the top of a page."""
    machine = machine_in_words(published)
    where = f" on {machine}" if machine else ""
    changed = stale_rooms(name, published)
    if changed == []:
        return f"Measured by the code as it is now,{where}." if where else "Measured by the code as it is now."
    before = "" if changed is None else f", before the code in {', '.join(changed)} was changed"
    again = runs_again(name, published)
    if again:
        return f"Flown with older code{where}{before}; {again} flown again with today's code gave {same(published)}."
    if changed is None:
        return "**Stale**: measured by an earlier state of the code, which was not kept with the figures."
    return f"**Stale**: measured{where}{before}. Figures may differ today."


def machine_in_words(published: Published) -> str:
    """The machine that made the results; empty if it was not kept."""
    told = published.machine
    if told is None:
        return ""
    cluster = "a Ray cluster, asked from " if told.get("cluster") else ""
    return f"{cluster}{told['cores']} cores of {told['cpu']}" + (", with a GPU" if told["gpu"] else "")


def state_in_a_word(name: str, published: Published) -> str:
    """The same for a table."""
    if stale_rooms(name, published) == []:
        return "present"
    again = runs_again(name, published)
    return f"older; {again} flown again, the same" if again else "stale"


def runs_again(name: str, published: Published) -> str:
    """How many runs today's code flew again with the same figures, as "2 of 9 runs"; empty if it flew none."""
    record = published.flown_again
    if record is None or record["code"] != code_now(name):
        return ""
    return f"{len(record['runs'])} of {record['of']} runs"


def same(published: Published) -> str:
    """What was the same when runs were flown again."""
    short = published.flown_again is not None and published.flown_again["of_published_digits"]
    return f"the same {'published ' if short else ''}figures to the last digit"


def stale_rooms(name: str, published: Published) -> list[str] | None:
    """The rooms changed since the results were measured. None if the state of the code was not kept."""
    return None if published.code is None else changed_rooms(published.code, code_now(name))


def out_of_date(name: str) -> list[str]:
    """One line for each statement about results that the page lacks. White space is ignored."""
    published = read(name)
    if published is None:
        return []
    again = f"run `skyloop reproduce {name} --update-docs`"
    made = importlib.import_module(PAGES[name])
    said: list[str] = made.said(published.results) if hasattr(made, "said") else []
    lines = [] if published.protocol == protocol(name) else [f"{name}.json is of another protocol: {again}"]
    for page in pages():
        text = page.read_text(encoding="utf-8")
        flat = " ".join(text.split())
        missing = [sentence for sentence in said if " ".join(sentence.split()) not in flat]
        if name in names_in(text):
            lines += [f"{page.name} does not say: {sentence}" for sentence in missing]
    return lines


def differing(name: str, quick: Sequence[Result]) -> list[str]:
    """A line for each cell of the quick form that differs from the results file."""
    published = read(name)
    known = {} if published is None else published.quick
    lines = []
    for result in quick:
        before = known.get(result.cell, result.measured)
        if repeats(result) and not math.isclose(result.measured, before, rel_tol=ALIKE, abs_tol=1e-9):
            lines.append(f"{result.cell}: {result.measured:g}, docs/results/{name}.json has {before:g}")
    return lines


def names_in(text: str) -> set[str]:
    """The results files that a page shows."""
    return {match[2] for match in BLOCK.finditer(text)}


def table(head: Sequence[str], rows: Sequence[Sequence[str]], right: int | None = None) -> str:
    """Markdown. From column `right` on, cells are right-aligned."""
    rule = ["---:" if right is not None and k >= right else "---" for k in range(len(head))]
    lines = [f"| {' | '.join(head)} |", f"|{'|'.join(rule)}|", *(f"| {' | '.join(row)} |" for row in rows)]
    return "\n".join(lines) + "\n"


def paragraph(*sentences: str) -> str:
    """One paragraph, wrapped like the pages."""
    return textwrap.fill(" ".join(sentences), 120, break_on_hyphens=False) + "\n"
