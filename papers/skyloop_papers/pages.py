"""Writes the numbers on the pages under docs/ from results files. A test checks that they are up to date.

A page marks the text that comes from results:

    <!-- results: NAME BLOCK -->
    ...
    <!-- end -->

Between the marks is what the experiment's `page(cells)` makes of docs/results/NAME.json. `NAME-protocol` stands for its
`plan_page()`, `report` for the tables of all experiments, and `benches` for those of the benches. A page is out of date
if it lacks one of the experiment's `sentences(cells)`, or if its results were measured under another plan than the code
has now.
"""

from __future__ import annotations

import datetime
import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skyloop.core.files import write_whole
from skyloop.core.machine_info import machine_description
from skyloop_client.errors import SetupError
from skyloop_papers import catalogue
from skyloop_papers.code_version import UNKNOWN, code_version
from skyloop_papers.experiment import HELD, JUDGED, PAPERS, SPEED, UNJUDGED, Cell, in_words, verdict_counts
from skyloop_papers.runner import read_cells
from skyloop_papers.tables import paragraph, table

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"(<!-- results: ([a-z0-9-]+) ([a-z0-9-]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
ALIKE = 1e-3
"""Allowed relative difference of a number on another processor or renderer."""
PLAN_PAGE, REPORT, BENCHES = "-protocol", "report", "benches"
"""The end of the name of a page about a plan, and the names of the tables of all experiments and of the benches."""
SPEED_HEAD = ("experiment", "what", "paper", "the paper's machine", "here", "our machine", "unit")
NOT_YET = "Not measured yet: `{command}` fills this in.\n"
KEPT = ("key", "value", "unit", "aim", "lower_is_better")
"""What is kept of a bench's figure."""
MEASURED_BY = "measured-by.json"
"""In a folder of results: the machine and the code by which it was begun."""


@dataclass(frozen=True, slots=True)
class Published:
    """The content of a results file."""

    cells: list[Cell]
    """Of the full form, with verdicts."""
    quick: dict[str, float]
    """Of the quick form by name of cell, if they are repeatable: a test can measure these again."""
    plan: object
    """The plan of the measurement, as plain JSON data."""
    commit: str = UNKNOWN
    """Of the code that gave the results."""
    machine: dict[str, Any] | None = None
    date: str = ""
    """Of the day on which its flights began."""
    flown_again: dict[str, Any] | None = None
    """Runs that later code flew again with the same figures; see `again`."""


def results_file(name: str) -> Path:
    return DOCS / "results" / f"{name}.json"


def read(name: str) -> Published | None:
    """None if the command was never run."""
    path = results_file(name)
    if not path.exists():
        return None
    plain = json.loads(path.read_text(encoding="utf-8"))
    cells = catalogue.load(name).judged(read_cells(plain["results"]))
    kept = {key: plain[key] for key in ("commit", "machine", "date", "flown_again") if key in plain}
    return Published(cells, plain["quick"], plain.get("protocol"), **kept)


def plan_of(name: str) -> object:
    """The plan of the full form, as plain JSON data."""
    return json.loads(json.dumps(catalogue.load(name).plan().plain()))


def begin(folder: Path, *, cluster: bool = False) -> None:
    """Keep in a folder of results by which machine and code it was begun; others may finish and publish it.

    cluster: the machine only asked, and those of a Ray cluster flew."""
    path = folder / MEASURED_BY
    kept = _measured_by(folder)
    if not path.exists() or (cluster and "cluster" not in kept["machine"]):
        kept["machine"] |= {"cluster": True} if cluster else {}
        write_whole(path, json.dumps(kept, indent=1) + "\n")


def _measured_by(folder: Path | None) -> dict[str, Any]:
    if folder is None or not (folder / MEASURED_BY).exists():
        today = datetime.datetime.now(datetime.UTC).date().isoformat()
        return {"machine": machine_description(), "commit": code_version(), "date": today}
    kept: dict[str, Any] = json.loads((folder / MEASURED_BY).read_text(encoding="utf-8"))
    return {"machine": kept["machine"], "commit": kept.get("commit", UNKNOWN), "date": kept.get("date", "")}


def write(name: str, cells: Sequence[Cell], quick: Sequence[Cell] = (), folder: Path | None = None) -> list[Path]:
    """Write the results file, every page that shows it, and its pictures from the folder. Returns the changed paths."""
    if not DOCS.is_dir():
        raise SetupError("the pages are only in a checkout of skyloop; leave out --update-docs")
    experiment = catalogue.load(name)
    plain = {
        "command": f"skyloop reproduce {name} --update-docs",
        "protocol": plan_of(name),
        **_measured_by(folder),
        "results": experiment.plain(cells),
        "quick": {cell.name: cell.ours for cell in quick if cell.repeats},
    }
    changed = _put(name, plain)
    return changed + [_replaced(folder / picture) for picture in experiment.pictures if folder is not None]


def write_flown_again(name: str, record: dict[str, Any] | None) -> list[Path]:
    """Keep with published results that runs were flown again with the same figures, or take such a record away.

    Returns the changed paths."""
    plain = json.loads(results_file(name).read_text(encoding="utf-8"))
    kept = plain.pop("flown_again", None)
    if record is None and kept is None:
        return []
    return _put(name, plain if record is None else {**plain, "flown_again": record})


def judge_again(name: str) -> None:
    """Give published results the verdicts of today's rules."""
    published = read(name)
    if published is not None:
        plain = json.loads(results_file(name).read_text(encoding="utf-8"))
        _put(name, {**plain, "results": catalogue.load(name).plain(published.cells)})


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


def pages() -> list[Path]:
    """The pages that show results, README among them."""
    texts = [path for path in (DOCS.parent / "README.md", *DOCS.rglob("*.md")) if path.is_file()]
    return sorted(path for path in texts if BLOCK.search(path.read_text(encoding="utf-8")))


def rendered(text: str) -> str:
    """The page with every block filled from the results files."""
    return BLOCK.sub(lambda match: match[1] + block(match[2], match[3]) + match[5], text)


def page_names() -> list[str]:
    """Of experiments, of their plans, and of the report."""
    names = list(catalogue.listed())
    return [*names, *(f"{name}{PLAN_PAGE}" for name in names if catalogue.load(name).plan_page()), REPORT]


def block(name: str, which: str) -> str:
    """The lines of one block, with a final line break."""
    if name == REPORT:
        return report_blocks()[which]
    if name == BENCHES:
        return bench_block(which)
    if name.endswith(PLAN_PAGE):
        return catalogue.load(name.removesuffix(PLAN_PAGE)).plan_page()[which].rstrip("\n") + "\n"
    published = read(name)
    if published is None:
        return NOT_YET.format(command=f"skyloop reproduce {name} --update-docs")
    if which == "state":
        said = [] if published.plan == plan_of(name) else ["The plan was changed since; the new one is not flown yet."]
        return paragraph(state_in_words(published), *said, verdicts_in_words(published.cells))
    return catalogue.load(name).page(published.cells)[which].rstrip("\n") + "\n"


def report_blocks() -> dict[str, str]:
    """How the numbers of all papers came out, speeds of computers, and for README what was flown when."""
    summary, speeds, flights, total = [], [], [], Counter[str]()
    for name in catalogue.listed():
        published = read(name)
        if published is None:
            continue
        counted = verdict_counts(published.cells)
        total += counted
        summary.append([f"[`{name}`]({name}.md)", PAPERS[catalogue.load(name).paper], *_counted(counted)])
        speeds += speed_rows(name, published.cells, published.machine)
        judged = _judged(counted)
        held = f"{counted[HELD]} of {judged}" if judged else "none judged"
        page = f"[`{name}`](docs/reproductions/{name}.md)"
        flights.append([page, held, state_in_a_word(published), published.date])
    summary.append(["all", "", *_counted(total)])
    return {
        "summary": table(("`skyloop reproduce`", "paper", "judged", *JUDGED, "not judged"), summary, right=2),
        "speeds": table(SPEED_HEAD, speeds),
        "flights": table(("`skyloop reproduce`", "held", "flown at commit", "on"), flights),
    }


# ---- benches


def bench_figures(name: str) -> list[dict[str, Any]]:
    """The figures that the pages show of a bench; none if it was never published."""
    figures: list[dict[str, Any]] = _benches().get(name, {}).get("figures", [])
    return figures


def _benches() -> dict[str, Any]:
    path = results_file(BENCHES)
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def write_bench(name: str, figures: Sequence[dict[str, Any]]) -> list[Path]:
    """Publish the figures of a bench's full form. Returns the changed paths."""
    kept = [{key: figure[key] for key in KEPT} for figure in figures if figure["value"] is not None]
    return _put(BENCHES, {**_benches(), name: {**_measured_by(None), "figures": kept}})


def bench_block(name: str) -> str:
    """When and where a bench was measured, and its figures."""
    known = _benches()[name]
    state = Published([], {}, None, known["commit"], known["machine"], known["date"])
    rows = [
        [f"`{figure['key']}`", short(figure["value"]), figure["unit"], limit(figure), _holds(figure)]
        for figure in known["figures"]
    ]
    return paragraph(state_in_words(state)) + "\n" + table(("figure", "value", "unit", "aim", "holds"), rows)


def short(value: float) -> str:
    """Three digits, or all of a whole number below a million."""
    rounded = float(f"{value:.3g}") if abs(value) < 1000.0 else round(value, 2 - int(math.log10(abs(value))))
    return f"{rounded:,.10g}".replace(",", " ") if abs(value) >= 10_000.0 else f"{rounded:.10g}"


def limit(figure: dict[str, Any]) -> str:
    """An aim in words; empty if there is none."""
    return "" if figure["aim"] is None else f"{'≤' if figure['lower_is_better'] else '≥'} {short(figure['aim'])}"


def _holds(figure: dict[str, Any]) -> str:
    if figure["aim"] is None:
        return ""
    low, high = (figure["value"], figure["aim"]) if figure["lower_is_better"] else (figure["aim"], figure["value"])
    return "yes" if low <= high else "**no**"


def _counted(counted: Counter[str]) -> list[str]:
    return [str(_judged(counted)), *(str(counted[word]) for word in JUDGED), in_words(counted, UNJUDGED)]


def _judged(counted: Counter[str]) -> int:
    return sum(counted[word] for word in JUDGED)


def speed_rows(name: str, cells: Sequence[Cell], machine: dict[str, Any] | None) -> list[list[str]]:
    """Under SPEED_HEAD, those numbers of an experiment that the computer gives."""
    here = machine_in_words(machine)
    return [
        [name, f"{cell.table}: {cell.name}", f"{cell.published:.4g}", cell.why, f"{cell.ours:.4g}", here, cell.unit]
        for cell in cells
        if cell.verdict == SPEED
    ]


def state_in_words(published: Published) -> str:
    """Which code and machine gave the figures, for the top of a page."""
    machine = machine_in_words(published.machine)
    known = published.commit != UNKNOWN
    said = f"Measured at commit `{published.commit}`" if known else "Measured at a commit that was not kept"
    said += f" on {machine}" if machine else ""
    said += f", {published.date}" if published.date else ""
    again = published.flown_again
    if again is None:
        return f"{said}."
    which = "published figures" if again["of_published_digits"] else "figures"
    runs = f"{len(again['runs'])} of {again['of']} runs flown again at commit `{again['commit']}`"
    return f"{said}; {runs} gave the same {which} to the last digit."


def verdicts_in_words(cells: Sequence[Cell]) -> str:
    """How many numbers of the paper are judged, and how they came out."""
    counted = verdict_counts(cells)
    given = sum(counted[word] for word in (*JUDGED, *UNJUDGED))
    if not given:
        return "The paper gives no number for it."
    said = f"Numbers of the paper beside ours: {given}. [Judged](report.md#the-rules): {in_words(counted, JUDGED)}."
    return f"{said} Not judged: {in_words(counted, UNJUDGED)}."


def state_in_a_word(published: Published) -> str:
    """The same for a table."""
    said = f"`{published.commit}`" if published.commit != UNKNOWN else UNKNOWN
    again = published.flown_again
    return said if again is None else f"{said}; {len(again['runs'])} of {again['of']} runs again at `{again['commit']}`"


def machine_in_words(machine: dict[str, Any] | None) -> str:
    """The machine that made the results; empty if it was not kept."""
    if machine is None:
        return ""
    cluster = "a Ray cluster, asked from " if machine.get("cluster") else ""
    cpu = machine["cpu"] or "an unknown processor"
    return f"{cluster}{machine['cores']} cores of {cpu}" + (", with a GPU" if machine["gpu"] else "")


def out_of_date(name: str) -> list[str]:
    """One line for each statement about results that the page lacks. White space is ignored."""
    published = read(name)
    if published is None:
        return []
    again = f"run `skyloop reproduce {name} --update-docs`"
    sentences = catalogue.load(name).sentences(published.cells)
    lines = [] if published.plan == plan_of(name) else [f"{name}.json is of another plan: {again}"]
    for page in pages():
        text = page.read_text(encoding="utf-8")
        flat = " ".join(text.split())
        missing = [sentence for sentence in sentences if " ".join(sentence.split()) not in flat]
        if name in names_in(text):
            lines += [f"{page.name} does not say: {sentence}" for sentence in missing]
    return lines


def differing(name: str, quick: Sequence[Cell]) -> list[str]:
    """A line for each cell of the quick form that differs from the results file."""
    published = read(name)
    known = {} if published is None else published.quick
    lines = []
    for cell in quick:
        before = known.get(cell.name, cell.ours)
        if cell.repeats and not math.isclose(cell.ours, before, rel_tol=ALIKE, abs_tol=1e-9):
            lines.append(f"{cell.name}: {cell.ours:g}, docs/results/{name}.json has {before:g}")
    return lines


def names_in(text: str) -> set[str]:
    """The results files that a page shows."""
    return {match[2] for match in BLOCK.finditer(text)}
