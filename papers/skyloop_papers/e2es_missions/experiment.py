"""Flights to goals and maps as in sections 5.1 and 5.2 of e2es: six goals on odometry, between unknown obstacles.

Beyond the paper: four worlds, ten seeds each, scores of the maps, and missions among walking people."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from skyloop_autonomy.planning.replanning import NavigatorConfig
from skyloop_papers.e2es_missions.flight import (
    AIM_FACTOR,
    AIM_IOU_TRUTH,
    AIM_IOU_VIO,
    COMPUTERS,
    DEPTH_HZ,
    GOAL_WITHIN,
    PUBLISHED_FACTOR,
    PUBLISHED_MS,
    QUICK,
    TOP_SPEED,
    MissionsPlan,
    explore,
    fly_mission,
)
from skyloop_papers.experiment import Cell, Rule, RunByRun
from skyloop_papers.flight_watch import collisions, succeeded
from skyloop_papers.runs import Job, Run
from skyloop_papers.tables import Cells, Figures, Form, by_table, lines, table

ALL_REACHED = "all goals reached"
WITH_WALKERS = "with walkers"
FLIGHT_FIGURES: dict[str, tuple[str, str, float | None]] = {
    "farthest from a goal": ("farthest_from_goal_m", "m", GOAL_WITHIN),
    "top speed": ("fastest_m_s", "m/s", TOP_SPEED),
    "least clearance": ("least_clearance_m", "m", None),
    "way": ("way_m", "m", None),
    "error of the estimate, rms": ("estimate_error_m", "m", None),
}
"""By cell, the figure of a flight that it is the mean of, its unit and the aim."""
MAP_FIGURES = {"map_on_truth": ("true poses", AIM_IOU_TRUTH), "map_on_vio": ("odometry", AIM_IOU_VIO)}
MISSIONS: Figures = {
    "missions": (ALL_REACHED, "{ours:g} of {n}"),
    "collisions": ("collisions", "g"),
    "off a goal, m": ("farthest from a goal", "{worst:.2f}"),
    "top speed, m/s": ("top speed", "{worst:.2f}"),
    "least clearance, m": ("least clearance", "{worst:.2f}"),
    "way, m": ("way", ".0f"),
    "estimate off, m": ("error of the estimate, rms", ".2f"),
}

FACTOR = "simulated per processor second"
PER = {
    "maps": ("per depth image", 1.0 / DEPTH_HZ),
    "planning": ("per motion, with its share of the ways", NavigatorConfig().motion_every),
}
"""By stage of Table 1: of what its processor time is given here, and how many s of flight lie between two of them."""
TABLE_1: dict[str, Form] = {"": "{name}", **{name: f"{{{name}}}" for name in COMPUTERS}, "here": "{ours:.2g}{ms}"}


class MissionsExperiment(RunByRun[MissionsPlan]):
    paper = "e2es"
    plans = MissionsPlan(), QUICK
    rules = (Rule("speed", COMPUTERS[1], table="Table 1"),)

    def jobs(self, plan: MissionsPlan, folder: Path) -> list[Job]:
        def job(name: str, call: Callable[..., Run], *arguments: object) -> Job:
            flown = folder / "missions" / name
            return Job.of(folder, name, call, *arguments, str(flown), leaves=flown)

        # the longest first, so that no core waits at the end for one of them
        jobs = [job(f"explore-{world}-{seed}", explore, world, seed) for world, seed in plan.explored]
        jobs += [
            job(f"walkers-{world}-{seed}", fly_mission, world, seed, plan.walkers, plan.goals)
            for world, seed in plan.with_walkers
        ]
        return jobs + [
            job(f"mission-{world}-{seed}", fly_mission, world, seed, 0, plan.goals)
            for world in reversed(plan.worlds)
            for seed in plan.seeds
        ]

    def describe(self, run: Run) -> str:
        if "failed" in run:
            return f"failed: {run['failed']}"
        words = [f"{run['goals_reached']} goals"] if "goals_reached" in run else []
        words += [f"IoU {run['map_on_vio']['iou']:.2f}"] if "map_on_vio" in run else []
        return ", ".join([*words, f"estimate off by {run['estimate_error_m']:.3f} m"])

    def judge(self, plan: MissionsPlan, runs: dict[str, Run]) -> list[Cell]:
        groups = {world: [runs[f"mission-{world}-{seed}"] for seed in plan.seeds] for world in plan.worlds}
        cells = [cell for world, flown in groups.items() for cell in _group(world, flown)]
        among = [runs[f"walkers-{world}-{seed}"] for world, seed in plan.with_walkers]
        if among:
            cells += _group(WITH_WALKERS, among)
        for world, flown in groups.items():
            cells += _map_cells(world, flown)
        for world, seed in plan.explored:
            cells += _map_cells(f"{world}, explored", [runs[f"explore-{world}-{seed}"]])
        return cells + _processor_times([run for flown in (*groups.values(), among) for run in flown])

    def page(self, cells: Sequence[Cell]) -> dict[str, str]:
        found = by_table(cells)
        missions = Cells(found["missions"])
        return {
            "missions": missions.by_row("", missions.rows, MISSIONS),
            "failed": _failed(cells),
            "maps": _maps(Cells(found["maps"])),
            "table-1": lines(found["Table 1"], TABLE_1),
            "times": lines(found["mission time"], {"of the processor time": "{name}", "here": "{ours:.0f} %"}),
        }

    def plan_page(self) -> dict[str, str]:
        plan = MissionsPlan()
        among = Counter(world for world, _ in plan.with_walkers)
        first, last = plan.seeds[0], plan.seeds[-1]
        rows = [[world, f"seeds {first} to {last}", str(among[world])] for world in plan.worlds]
        return {"flown": table(["world", "missions", f"with {plan.walkers} walkers"], rows, right=1)}

    def published_runs(self, plan: MissionsPlan, cells: Sequence[Cell]) -> dict[str, Run]:
        """Four digits of each, in the order of the flights. A figure that a flight of the group lacks is left out: the
        file does not say which one."""
        by = {(cell.row, cell.column): cell.conditions for cell in cells}
        groups = {world: [f"mission-{world}-{seed}" for seed in plan.seeds] for world in plan.worlds}
        groups[WITH_WALKERS] = [f"walkers-{world}-{seed}" for world, seed in plan.with_walkers]
        kept: dict[str, Run] = {}
        for group, names in groups.items():
            failed = by.get((group, ALL_REACHED), {}).get("failed", {})
            for name in names:
                kept[name] = {"failed": failed.get(name.partition("-")[2].replace("-", " "), "")}
            flown = [name for name in names if not kept[name]["failed"]]
            for what, (key, *_) in FLIGHT_FIGURES.items():
                _give(kept, flown, key, by.get((group, what), {}))
            _give_maps(kept, names, group, by)
        for world, seed in plan.explored:
            name = f"explore-{world}-{seed}"
            kept[name] = {}
            _give_maps(kept, [name], f"{world}, explored", by)
        return kept

    def as_published(self, run: Run, published: Run) -> Run:
        flown = {key: _digits(run[key]) for key, *_ in FLIGHT_FIGURES.values() if run.get(key) is not None}
        maps = {f"{key} IoU": _digits(run[key]["iou"]) for key in MAP_FIGURES if key in run}
        every = {"failed": run.get("failed", ""), **flown, **maps}
        return {name: every[name] for name in published if name in every}


EXPERIMENT = MissionsExperiment()


def _give_maps(kept: dict[str, Run], names: list[str], group: str, by: dict[tuple[str, str], Run]) -> None:
    for key, (poses, _) in MAP_FIGURES.items():
        _give(kept, names, f"{key} IoU", by.get((group, f"IoU on {poses}"), {}))


def _give(kept: dict[str, Run], names: list[str], figure: str, conditions: Run) -> None:
    values = conditions.get("values", [])
    if len(values) == len(names):
        for name, value in zip(names, values, strict=True):
            kept[name][figure] = value


def _digits(value: float) -> float:
    """Those of a single flight that are published."""
    return round(value, 4)


# ---- cells


def _group(name: str, runs: list[Run]) -> list[Cell]:
    """Missions of one world, or those with walkers. Means are over the missions that succeeded."""
    failed = {f"{run['world']} {run['seed']}": run["failed"] for run in runs if "failed" in run}
    flown, n = succeeded(runs), len(runs)
    out = [
        Cell("missions", name, ALL_REACHED, None, len(flown), "1", n, None, {"aim": n, "failed": failed}),
        Cell("missions", name, "collisions", None, collisions(failed.values()), "1", n, None, {"aim": 0}),
    ]

    for what, (key, unit, aim) in FLIGHT_FIGURES.items():
        values = [run[key] for run in flown if run.get(key) is not None]
        if values:
            worst = min(values) if what == "least clearance" else max(values)
            about = {"worst": worst, "aim": aim, "values": [_digits(value) for value in values]}
            out.append(Cell("missions", name, what, None, statistics.fmean(values), unit, len(values), None, about))
    return out


def _map_cells(name: str, runs: list[Run]) -> list[Cell]:
    out = []
    for key, (poses, aim) in MAP_FIGURES.items():
        scores = [run[key] for run in runs if key in run]
        if not scores:
            continue
        ious = [score["iou"] for score in scores]
        met = sum(iou >= aim for iou in ious)
        about = {"worst": min(ious), "aim": aim, "met": met, "values": [_digits(iou) for iou in ious]}
        out.append(Cell("maps", name, f"IoU on {poses}", None, statistics.fmean(ious), "1", len(ious), None, about))
        mean, within = (statistics.fmean(s[of] for s in scores) for of in ("distance_error", "within_one_voxel"))
        about = {"within_one_voxel": within}
        out.append(Cell("maps", name, f"distances on {poses}", None, mean, "m", len(scores), None, about))
    return out


def _processor_times(runs: list[Run]) -> list[Cell]:
    """Simulated time per processor time of all processes, and where it goes."""
    flown = [run for run in runs if "factor" in run]
    if not flown:
        return []
    factors = [run["factor"] for run in flown]
    n, mean = len(flown), statistics.fmean(factors)
    shares = {stage: statistics.fmean(run["stages"][stage] for run in flown) for stage in flown[0]["stages"]}
    return [
        *_table_1(mean, min(factors), shares, n),
        *(Cell("mission time", stage, "", None, 100.0 * share, "% of the time", n) for stage, share in shares.items()),
    ]


def _table_1(factor: float, slowest: float, shares: Mapping[str, float], n: int) -> list[Cell]:
    """Times of maps and planning from their shares of a flight, and how much faster than time it is flown."""
    theirs = dict(zip(COMPUTERS, map(str, PUBLISHED_FACTOR), strict=True))
    about = {"worst": slowest, "aim": AIM_FACTOR, "ms": "", **theirs}
    cells = [Cell("Table 1", "time factor", FACTOR, PUBLISHED_FACTOR[1], factor, "1/s", n, None, about)]
    for stage, published in PUBLISHED_MS.items():
        of_what, every = PER[stage]
        parts = {name: " + ".join(map(str, each)) + " ms" for name, each in zip(COMPUTERS, published, strict=True)}
        ours = 1e3 * every * shares[stage] / factor
        cells.append(Cell("Table 1", stage, of_what, sum(published[1]), ours, "ms", n, None, {"ms": " ms", **parts}))
    return cells


# ---- the page


def _failed(cells: Sequence[Cell]) -> str:
    rows = [
        [name, cause]
        for cell in cells
        if cell.column == ALL_REACHED
        for name, cause in cell.conditions["failed"].items()
    ]
    return table(["mission", "cause"], rows) if rows else "No mission failed.\n"


def _maps(cells: Cells) -> str:
    forms = {"IoU": "{ours:.3f} (worst {worst:.3f})", "aim": "{met} of {n} ≥ {aim:g}", "distances": ".3f"}
    heads, figures = [""], []
    for poses, _ in MAP_FIGURES.values():
        heads += [f"IoU, {poses}", "aim", "distance, m"]
        figures += [(f"{'IoU' if what == 'aim' else what} on {poses}", form) for what, form in forms.items()]
    return table(heads, [[name, *(cells.shown(name, *figure) for figure in figures)] for name in cells.rows], right=1)
