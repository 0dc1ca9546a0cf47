"""A campaign: makes the runs of a plan, goes on where it was stopped, and leaves tables and a report.

skyloop.campaign("circle-wind", {"wind.mean.0": [0, 5, 10]}, ["tracking_error_rms_m"]).run()
"""

from __future__ import annotations

import hashlib
import inspect
import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, closing
from pathlib import Path
from typing import Any

from skyloop.campaigns.flight import one_run
from skyloop.campaigns.folder import RESULTS, SUMMARY, CampaignFolder, Row, row_of, run_of, table_of, write_table
from skyloop.campaigns.intervals import INTERVALS, StoppingPoint
from skyloop.campaigns.plan import (
    CampaignPlan,
    CampaignRun,
    Loaded,
    check_design,
    load_plan,
    make_plan,
    planned_runs,
    runs_planned,
)
from skyloop.campaigns.pools import HeadLost, Pool, outcomes, pickled_by_value, ray_pool
from skyloop.campaigns.report import write_report
from skyloop.campaigns.run_process import RemoteCall, RunOutcome
from skyloop.campaigns.search import WAY, check_search, found, generations
from skyloop.campaigns.space import corners
from skyloop.core.files import write_whole
from skyloop.core.jit import are_compiled, prepare
from skyloop.core.machine_info import machine_description
from skyloop.recording.run_folder import Summary, plain
from skyloop_client.errors import LinkError, ScenarioError, nearest_name
from skyloop_client.regular_files import checked

LOOKED_AT = 8
"""Runs after which a metric that none of them has is taken for a slip of the pen."""

NO_MATTER = ("name", "time_limit", "retries", "cores", "failed_folders")
"""Keys of a plan that change no run: a campaign goes on with others."""

Progress = Callable[[int, int, dict[str, int]], None]
"""Called with the runs that are done, those that are planned, and how many there are of each outcome."""


OpenPool = Callable[[], AbstractContextManager[Pool]]


class Campaign:
    """What `skyloop.campaign` makes. Nothing is run before `run`."""

    def __init__(self, loaded: Loaded, *, search: bool = False) -> None:
        self.loaded = loaded
        self.plan: CampaignPlan = loaded.plan
        self.search = search
        check_search(self.plan, loaded.where) if search else check_design(self.plan, loaded.where)

    def run(
        self,
        folder: str | Path | None = None,
        *,
        workers: int | None = None,
        address: str | None = None,
        progress: Progress = lambda done, planned, outcomes: None,
    ) -> Any:
        """Make all runs that are not in the folder yet, on this machine or on the Ray cluster at an address.

        Returns the results as a pandas DataFrame. The folder is `campaigns/<name>` if left out."""
        path = Path(folder) if folder is not None else Path("campaigns") / self.plan.name
        self.complete(path, lambda: ray_pool(workers, address, self.plan.cores), progress)
        return results(path)

    def complete(
        self,
        path: Path,
        pool: OpenPool,
        progress: Progress = lambda done, planned, outcomes: None,
        *,
        report: bool = True,
    ) -> Summary:
        """Make what is missing, then write tables and report. Returns what is in summary.json."""
        began = time.perf_counter()
        held = CampaignFolder(path, self.identity())
        try:
            before = len(held.rows)
            with _Making(self, held, pool, progress) as making:
                rows = making.searched() if self.search else making.designed()
                held.write_pending()
                summary = self._summary(rows, len(held.rows) - before, time.perf_counter() - began)
                write_table(table_of(rows), path / RESULTS)
                write_whole(path / SUMMARY, json.dumps(plain(summary), indent=2) + "\n")
                if report:
                    write_report(held, self.plan, rows, summary, making.fly_again)
        except HeadLost as error:
            raise LinkError(
                f"{error}; {len(held.rows)} runs are kept in {path}, and the same command goes on from there"
            ) from None
        except ScenarioError:
            # the plan must be changed, and a folder belongs to one plan
            held.discard_if_begun_now()
            raise
        finally:
            held.close()
        return summary

    def identity(self) -> dict[str, object]:
        """What a folder belongs to: the plan and the scenario that it names."""
        plan = self.plan.model_dump(mode="json", exclude=set(NO_MATTER))
        # the way of searching too: runs of another one lie elsewhere
        searching = WAY if self.search else False
        return {**plan, "searching": searching, "scenario_data": self.loaded.scenario}

    def work(self, run: CampaignRun, *, keep: bool = False) -> RemoteCall:
        return RemoteCall.of(one_run, (self.loaded.spec(), run, keep), self.plan.time_limit)

    def _summary(self, rows: list[Row], made_now: int, wall_s: float) -> dict[str, object]:
        plan = self.plan
        judged = [row for row in rows if row["outcome"] != "lost"]
        good = sum(row["outcome"] == "success" for row in judged)
        confidence = plan.stop.confidence if plan.stop is not None else 0.95
        interval = INTERVALS[plan.stop.interval if plan.stop is not None else "wilson"]
        out = {
            "name": plan.name, "runs": len(rows), "success": good, "failed": len(judged) - good,
            "lost": len(rows) - len(judged), "success_rate": good / len(judged) if judged else None,
            "interval": list(interval(good, len(judged), confidence)), "confidence": confidence,
            "planned": plan.search.generations * plan.search.runs if self.search else runs_planned(plan),
            "made_again": sum(row["attempts"] - 1 for row in rows), "made_now": made_now, "wall_s": wall_s,
            "processor_s": sum(row["processor_s"] for row in rows), "machine": machine_description(),
        }  # fmt: skip
        if self.search:
            out["search"] = found(plan, rows)
        return out


class _Making:
    """The runs of one start of a campaign. The pool is opened when the first run is missing."""

    def __init__(self, campaign: Campaign, held: CampaignFolder, pool: OpenPool, progress: Progress) -> None:
        self._campaign, self._held, self._progress = campaign, held, progress
        self._open = pool
        self._stack = ExitStack()
        self._pool: Pool | None = None
        self._counts = Counter(row["outcome"] for row in held.rows.values())
        self._troubles: list[tuple[Row, RunOutcome]] = []

    def __enter__(self) -> _Making:
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)

    def designed(self) -> list[Row]:
        """All runs of the design, or those up to the one after which the rule lets it stop."""
        plan, rows = self._campaign.plan, self._held.rows
        runs = planned_runs(plan)
        point = StoppingPoint(plan.stop)

        def enough() -> bool:
            while not point.reached and point.runs < len(runs) and runs[point.runs].number in rows:
                point.add(_verdict(rows[runs[point.runs].number]))
            return point.reached

        self._make(runs, len(runs), enough)
        return [rows[run.number] for run in (runs[: point.runs] if enough() else runs)]

    def searched(self) -> list[Row]:
        plan, rows = self._campaign.plan, self._held.rows
        planned = plan.search.generations * plan.search.runs
        done: list[CampaignRun] = []
        for runs in generations(plan, rows):
            self._make(runs, planned, lambda: False)
            done += runs
        return [rows[run.number] for run in done]

    def _make(self, runs: Sequence[CampaignRun], planned: int, enough: Callable[[], bool]) -> None:
        held, plan = self._held, self._campaign.plan
        missing = {run.number: run for run in runs if run.number not in held.rows}
        self._progress(len(held.rows), planned, dict(self._counts))
        if not missing or enough():
            return
        works = ((run.number, self._campaign.work(run)) for run in missing.values())
        with closing(outcomes(works, self._ready(), plan.retries)) as ended:
            for number, outcome in ended:
                row = _row_of(outcome)
                held.keep(row_of(missing[number], row, outcome), outcome.archive, plan.failed_folders)
                self._counts[row["outcome"]] += 1
                self._look_at(row, outcome, planned)
                self._progress(len(held.rows), planned, dict(self._counts))
                if enough():
                    return

    def _look_at(self, row: dict[str, object], outcome: RunOutcome, planned: int) -> None:
        """End the campaign if its first runs all have the same fault, which is then the plan's."""
        if len(self._troubles) >= LOOKED_AT:
            return
        self._troubles.append((row, outcome))
        if len(self._troubles) < min(LOOKED_AT, planned):
            return
        where, errors = self._campaign.loaded.where, [one.error for _, one in self._troubles]
        if all(error is not None for error in errors):
            raise ScenarioError(f"{where}: the first {len(errors)} runs all ended with an error: {row['cause']}")
        absent = set.intersection(*(set(one.get("absent", ())) for one, _ in self._troubles))
        for name in sorted(absent):
            known = {name for one, _ in self._troubles for name in one.get("known", ())}
            raise ScenarioError(f"{where}: metrics: no run has '{name}' in its summary; {nearest_name(name, known)}")

    def _ready(self) -> Pool:
        if self._pool is None:
            loaded = self._campaign.loaded
            if loaded.scenario is not None:
                from skyloop.sim.assembly import needed_rooms

                first = next(iter(corners(loaded.plan.space)), {})
                rooms = needed_rooms(loaded.spec().make_scenario(first, 1))
                if not are_compiled(*rooms):
                    # once and with a word, before several workers compile the same kernels in silence
                    prepare(*rooms)
            self._pool = self._stack.enter_context(self._open())
        return self._pool

    def fly_again(self, rows: Sequence[Row]) -> dict[int, bytes]:
        """The folders of runs that were not kept: the same flights again, with pictures."""
        works = [(row["run"], self._campaign.work(run_of(row), keep=True)) for row in rows]
        ended = outcomes(works, self._ready(), 0) if works else ()
        return {number: outcome.archive for number, outcome in ended if outcome.archive}


def _verdict(row: Row) -> bool | None:
    return None if row["outcome"] == "lost" else bool(row["outcome"] == "success")


def _row_of(outcome: RunOutcome) -> dict[str, object]:
    """What the run says of itself. Without an answer, or with an error that is not the flight's, it is lost."""
    if outcome.lost:
        return {"outcome": "lost", "cause": outcome.lost}
    if outcome.error is not None:
        return {"outcome": "lost", "cause": ": ".join(outcome.error)}
    row: Row = outcome.result
    return row


def campaign(
    what: str | Path | Callable[..., object], space: object = None, metrics: Sequence[str] = (), **more: object
) -> Campaign:
    """A campaign of a scenario (its name or file), of a function, or of a plan's file.

    space: values by parameter, as {"wind.mean.0": [0, 5, 10], "mass": (0.5, 2.0)}; a tuple of two is a span. A list of
    dicts is a list of points. metrics: as in a plan. more: further keys of a plan, such as design, points, success,
    seeds and stop; search="worst" looks for the worst case. A function gets the parameters by name, `seed` and `folder`
    too if it has such arguments, and returns metrics by name."""
    wanted = more.pop("search", None)
    if isinstance(wanted, dict):
        more["search"] = wanted
    if space is None and not callable(what) and Path(what).suffix in (".yaml", ".yml"):
        if metrics or more:
            raise ScenarioError("a plan's file says all of it; leave out metrics and further keys")
        return Campaign(load_plan(Path(what)), search=wanted is not None)
    data = {"space": _spelled(space or {}), "metrics": list(metrics), "name": _name_of(what), **more}
    if isinstance(data["space"], list):
        data.setdefault("design", "list")
    if callable(what):
        name, function = _task(what)
        loaded = make_plan({"task": name, **data}, "campaign", Path.cwd(), function)
    else:
        loaded = make_plan({"scenario": str(what), **data}, "campaign", Path.cwd())
    return Campaign(loaded, search=wanted is not None)


def _name_of(what: str | Path | Callable[..., object]) -> str:
    return str(getattr(what, "__name__", "task")).strip("<>") if callable(what) else Path(what).stem


def _task(function: Callable[..., object]) -> tuple[str, bytes | None]:
    """The name of a function of a module, or a name and the function itself if no other process could import it."""
    name, module = getattr(function, "__qualname__", "task"), getattr(function, "__module__", "__main__")
    if module != "__main__" and name.isidentifier():
        return f"{module}:{name}", None
    try:
        source = inspect.getsource(function)
    except (OSError, TypeError):
        source = name
    # another function is another plan
    mark = hashlib.blake2b(source.encode(), digest_size=4).hexdigest()
    return f"{module}:{name.strip('<>')}#{mark}", pickled_by_value(function)


def _spelled(space: Any) -> object:
    if not isinstance(space, dict):
        return list(space or [])
    return {
        name: {"least": choice[0], "most": choice[1]} if isinstance(choice, tuple) and len(choice) == 2 else choice
        for name, choice in space.items()
    }


def results(folder: str | Path) -> Any:
    """The results of a campaign's folder as a pandas DataFrame."""
    import pandas

    return pandas.read_parquet(checked(Path(folder) / RESULTS))
