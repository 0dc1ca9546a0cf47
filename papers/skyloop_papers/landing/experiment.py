"""One hundred landings on four boards, as Fig. 4 and Tables I to III of fpga-landing-hil; and what it did not try."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from skyloop.world.scenery.landing_marker import LandingMarker
from skyloop_papers.experiment import Cell, Rule, RunByRun
from skyloop_papers.flight_watch import succeeded
from skyloop_papers.landing.flight import (
    ABLATION,
    AIM_RMS,
    AIM_TIME,
    BOARDS,
    CONDITIONS,
    PUBLISHED_LANDED,
    PUBLISHED_MSE,
    PUBLISHED_TIME,
    QUICK,
    LandingPlan,
    land,
    land_on_board,
)
from skyloop_papers.plots import figure
from skyloop_papers.runs import Job, Run
from skyloop_papers.tables import Cells, Form, by_table, lines, table

SHOWN_SEEDS = 6
"""Of a cause that is frequent, how many seeds are named."""
LATE = "that board misses its deadlines on purpose; the paper has none like it"


def job_name(group: str, which: str, seed: int) -> str:
    """Of one landing; a name of a file too."""
    return f"{group}-{which.replace(' ', '_').replace('/', '')}-{seed}"


class LandingExperiment(RunByRun[LandingPlan]):
    paper = "fpga-landing-hil"
    plans = LandingPlan(), QUICK
    rules = (
        Rule("other", LATE, row="late"),
        Rule("repeat", "the same landings on another board; the first one counts", row="qemu|throttled"),
        Rule("all", table="Table I", column="landed"),
        Rule("less", table="Table (II|III)", simulated=True),
    )
    pictures = ("landing-starts.png", "landing-errors.png", "landing-failures.jpg")

    def jobs(self, plan: LandingPlan, folder: Path) -> list[Job]:
        def job(group: str, which: str, seed: int, call: Callable[..., Run], *arguments: object) -> Job:
            name = job_name(group, which, seed)
            failed = folder / "failed" / name
            return Job.of(folder, name, call, seed, *arguments, str(failed), leaves=failed)

        rate = plan.camera_rate_hz
        jobs = [
            job("board", board, seed, land_on_board, *BOARDS[board], rate)
            for board in plan.boards
            for seed in plan.starts
        ]
        for clock in plan.clocks_mhz:
            setup = {"clock_mhz": clock}
            jobs += [job("clock", f"{clock:g}", seed, land_on_board, "qemu", setup, rate) for seed in plan.clock_starts]
        for which in plan.conditions:
            jobs += [job("condition", which, seed, land, CONDITIONS[which], rate) for seed in plan.condition_starts]
        for which in plan.ablation:
            jobs += [job("ablation", which, seed, land, ABLATION[which], rate) for seed in plan.ablation_starts]
        return jobs

    def describe(self, run: Run) -> str:
        if "failed" in run:
            return f"failed: {run['failed']}"
        return f"off by {run['x']:+.3f}, {run['y']:+.3f} m and {run['heading']:+.3f} rad after {run['time']:.1f} s"

    def judge(self, plan: LandingPlan, runs: dict[str, Run]) -> list[Cell]:
        """Failed landings are named."""

        def flown(group: str, which: str, seeds: Iterable[int]) -> list[Run]:
            return [runs[job_name(group, which, seed)] for seed in seeds]

        cells: list[Cell] = []
        for board in plan.boards:
            cells += _tables(board, flown("board", board, plan.starts))
        for condition in plan.conditions:
            cells.append(_summary("conditions", condition, flown("condition", condition, plan.condition_starts)))
        for change in plan.ablation:
            cells.append(_summary("ablation", change, flown("ablation", change, plan.ablation_starts)))
        for clock in plan.clocks_mhz:
            cells.append(_summary("clock", f"{clock:g} MHz", flown("clock", f"{clock:g}", plan.clock_starts)))
        return cells

    def write(self, folder: Path, plan: LandingPlan, runs: dict[str, Run], cells: Sequence[Cell]) -> None:
        by_board = {board: [runs[job_name("board", board, seed)] for seed in plan.starts] for board in plan.boards}
        draw_starts(next(iter(by_board.values())), folder / "landing-starts.png")
        draw_errors(by_board, folder / "landing-errors.png")
        draw_failures(pictures_of_failures(folder / "failed"), folder / "landing-failures.jpg")

    def page(self, cells: Sequence[Cell]) -> dict[str, str]:
        found = by_table(cells)
        boards = Cells(found["Table I"] + found["Table II"] + found["Table III"])
        return {
            "boards": _boards(boards),
            "times": _times(boards),
            "conditions": lines(found["conditions"], {"condition": "{row}", **GROUP_COLUMNS}),
            "ablation": lines(found["ablation"], {"what differs": "{row}", **GROUP_COLUMNS}),
            "clock": lines(found["clock"], CLOCK_COLUMNS),
            "failed": _failures(cells),
        }

    def plan_page(self) -> dict[str, str]:
        p = LandingPlan()
        groups = {
            "the paper's test": (p.boards, p.starts),
            "conditions": (p.conditions, p.condition_starts),
            "ablation": (p.ablation, p.ablation_starts),
            "clock": ([f"{clock:g} MHz" for clock in p.clocks_mhz], p.clock_starts),
        }
        rows = [
            [name, ", ".join(each), f"{seeds[0]} to {seeds[-1]}", str(len(each) * len(seeds))]
            for name, (each, seeds) in groups.items()
        ]
        return {"flown": table(["", "each of", "seeds", "landings"], rows)}


EXPERIMENT = LandingExperiment()


def pictures_of_failures(folder: Path) -> list[Path]:
    """The first picture of each board and of each change; the numbers at the end of the names are seeds."""
    first: dict[str, Path] = {}
    for path in sorted(folder.glob("*/failed.png")):
        first.setdefault(path.parent.name.rpartition("-")[0], path)
    return list(first.values())


# ---- cells


def _tables(board: str, runs: list[Run]) -> list[Cell]:
    """Tables I to III for one board. Errors and times are of the landings that succeeded."""
    landed, n = succeeded(runs), len(runs)
    about = {"failed": _failed(runs), "aim": n, **_timing(runs)}
    cells = [Cell("Table I", board, "landed", PUBLISHED_LANDED[0], len(landed), "1", n, None, about)]
    if not landed:
        return cells
    for key, published in PUBLISHED_MSE.items():
        values = [run[key] for run in landed]
        square = statistics.fmean(value * value for value in values)
        unit = "rad" if key == "heading" else "m"
        about = {"mse": square, "published_mse": published, "aim": AIM_RMS[key], "worst": max(map(abs, values))}
        rms = math.sqrt(square)
        cells.append(Cell("Table II", board, key, math.sqrt(published), rms, unit, len(landed), None, about))
    times = [run["time"] for run in landed]
    measure: dict[str, Callable[[list[float]], float]] = {
        "mean": statistics.fmean, "median": statistics.median, "max": max, "min": min,
    }  # fmt: skip
    for key, published in PUBLISHED_TIME.items():
        aim = {"aim": AIM_TIME[key]} if key in AIM_TIME else {}
        cells.append(
            Cell("Table III", board, f"{key} time", published, measure[key](times), "s", len(landed), None, aim)
        )
    return [cells[0], *(replace(cell, left_out=n - len(landed)) for cell in cells[1:])]


def _summary(group: str, name: str, runs: list[Run]) -> Cell:
    """How many of a group landed, with their errors and times beside it."""
    landed = succeeded(runs)
    about: dict[str, Any] = {"failed": _failed(runs), **_timing(runs)}
    if landed:
        for key in PUBLISHED_MSE:
            about[f"{key}_rms"] = math.sqrt(statistics.fmean(run[key] ** 2 for run in landed))
        about["time"] = statistics.fmean(run["time"] for run in landed)
        about["longest"] = max(run["time"] for run in landed)
        about["farthest"] = max(math.hypot(run["x"], run["y"]) for run in landed)
    return Cell(group, name, "", None, len(landed), "1", len(runs), None, about)


def _failed(runs: list[Run]) -> dict[str, str]:
    return {str(run["seed"]): run["failed"] for run in runs if "failed" in run}


def _timing(runs: list[Run]) -> dict[str, Any]:
    """What boards that count their time say of it."""
    counted = [run["execution_ms"] for run in runs if run.get("execution_ms")]
    if not counted:
        return {}
    return {
        "execution_ms": statistics.fmean(times["mean"] for times in counted),
        "longest_ms": max(times["max"] for times in counted),
        "missed": sum(times["missed"] for times in counted),
    }


# ---- the page


LANDED = "{ours:g} of {n}"


def _boards(cells: Cells) -> str:
    """Tables I and II: published beside measured."""
    rows = [_line(cells, "landed", "landed", f"{PUBLISHED_LANDED[0]} of {PUBLISHED_LANDED[1]}", "all", LANDED)]
    for key, published in PUBLISHED_MSE.items():
        unit = "rad" if key == "heading" else "m"
        aim, rms = f"≤ {AIM_RMS[key]:g}", f"{math.sqrt(published):.2f}"
        rows.append(_line(cells, f"{key}, rms, {unit}", key, rms, aim, ".3f"))
        rows.append(_line(cells, f"{key}, mean square, {unit}²", key, f"{published:.4f}", "", "{mse:.4f}"))
    return table(["", "paper", "aim", *cells.rows], rows, right=1)


def _times(cells: Cells) -> str:
    """Table III, and what the boards' own timers count."""
    rows = []
    for key, published in PUBLISHED_TIME.items():
        aim = f"≤ {AIM_TIME[key]:g}" if key in AIM_TIME else ""
        rows.append(_line(cells, f"{key}, s", f"{key} time", f"{published:.1f}", aim, ".1f"))
    for key, what in (("execution_ms", "execution, mean, ms"), ("longest_ms", "execution, longest, ms")):
        row = _line(cells, what, "landed", "", "", f"{{{key}:.3f}}")
        rows += [row] if any(row[1:]) else []
    return table(["", "paper", "aim", *cells.rows], rows, right=1)


def _line(cells: Cells, label: str, column: str, paper: str, aim: str, form: str) -> list[str]:
    """Of a table with a column for each board."""
    return [label, paper, aim, *(cells.shown(board, column, form) for board in cells.rows)]


GROUP_COLUMNS: dict[str, Form] = {
    "landed": LANDED, "x, m rms": "{x_rms:.3f}", "y, m rms": "{y_rms:.3f}", "heading, rad rms": "{heading_rms:.3f}",
    "farthest, m": "{farthest:.2f}", "time, s": "{time:.1f}", "longest, s": "{longest:.1f}",
}  # fmt: skip
CLOCK_COLUMNS: dict[str, Form] = {
    "clock": "{row}", "landed": LANDED, "execution, ms": "{execution_ms:.2f}", "longest, ms": "{longest_ms:.2f}",
    "images missed": "{missed:g}", "farthest, m": "{farthest:.2f}",
}  # fmt: skip


def _failures(cells: Sequence[Cell]) -> str:
    """How often each group failed for each cause, and with which seeds."""
    seeds: dict[tuple[str, str], list[str]] = {}
    for cell in cells:
        for seed, cause in cell.conditions.get("failed", {}).items():
            seeds.setdefault((cell.row, cause), []).append(seed)
    rows = [
        [group, cause, str(len(which)), ", ".join(which[:SHOWN_SEEDS]) + (", ..." if len(which) > SHOWN_SEEDS else "")]
        for (group, cause), which in seeds.items()
    ]
    return table(["group", "cause", "landings", "seeds"], rows) if rows else "No landing failed.\n"


# ---- pictures of many landings: starts and tracks as in Fig. 4, and where they ended

BLUE, RED, DARK = "#1f77b4", "#d1495b", "#30343a"


def draw_starts(runs: list[Run], path: Path) -> None:
    """Starts and tracks in space and from above, in the axes of the marker."""
    with figure(path, (11, 5), dpi=110) as drawn:
        space = drawn.add_subplot(1, 2, 1, projection="3d")
        above = drawn.add_subplot(1, 2, 2)
        for run in runs:
            track = np.array(run["track"])
            colour = RED if "failed" in run else BLUE
            space.plot(*track[:, 1:4].T, color=colour, linewidth=0.5, alpha=0.5)
            above.plot(track[:, 1], track[:, 2], color=colour, linewidth=0.5, alpha=0.5)
        starts = np.array([run["start"][:3] for run in runs])
        space.scatter(*starts.T, s=8, color=DARK)
        above.scatter(starts[:, 0], starts[:, 1], s=8, color=DARK, label="starts", zorder=3)
        above.scatter([0.0], [0.0], s=60, marker="x", color=RED, label="marker", zorder=4)
        space.set(xlabel="x [m]", ylabel="y [m]", zlabel="height [m]", title="starts and tracks")
        above.set(xlabel="x [m]", ylabel="y [m]", title="from above", aspect="equal")
        above.legend(loc="upper right", frameon=True)


def draw_failures(pictures: list[Path], path: Path) -> None:
    """What the detector saw last in some of the landings that failed, one below the other; nothing if none did."""
    from PIL import Image

    shown = [Image.open(picture).convert("RGB") for picture in pictures] or [Image.new("RGB", (640, 20), "white")]
    sheet = Image.new("RGB", (max(image.width for image in shown), sum(image.height for image in shown)), "white")
    top = 0
    for image in shown:
        sheet.paste(image, (0, top))
        top += image.height
    sheet.save(path, quality=85)


def draw_errors(by_board: dict[str, list[Run]], path: Path) -> None:
    """Where the vehicles stood at the end, over the marker, and their headings; one column for each board."""
    marker, turn = LandingMarker(), np.linspace(0.0, 2.0 * math.pi, 100)
    with figure(path, (3.2 * len(by_board), 6), dpi=110) as drawn:
        axes = drawn.subplots(2, len(by_board), squeeze=False)
        for (where, heading), (board, runs) in zip(axes.T, by_board.items(), strict=True):
            landed = succeeded(runs)
            for radius in (marker.ring_inner_radius, marker.ring_outer_radius):
                where.plot(radius * np.cos(turn), radius * np.sin(turn), color=DARK, linewidth=0.8)
            where.scatter([run["x"] for run in landed], [run["y"] for run in landed], s=10, color=BLUE)
            where.set(title=f"{board}: {len(landed)} of {len(runs)}", aspect="equal", xlabel="x [m]")
            heading.hist([math.degrees(run["heading"]) for run in landed], bins=20, color=BLUE)
            heading.set(xlabel="heading error [°]")
        axes[0, 0].set_ylabel("y [m]")
        axes[1, 0].set_ylabel("landings")
