"""A plan: what a campaign runs, with which parameters and seeds, what it measures, and when it may stop."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, field_validator, model_validator

from skyloop.campaigns.intervals import Stop
from skyloop.campaigns.scores import metric_name
from skyloop.campaigns.seeds import seeds_from
from skyloop.campaigns.space import STRICT, Choice, Design, Point, Span, corners, points, run_seed
from skyloop.core.validation import read_yaml, validated
from skyloop.recording.verdict import Condition, success_rule
from skyloop.sim.scenario import Scenario, make_scenario, read_scenario
from skyloop_client.errors import ScenarioError
from skyloop_client.user_code import is_plugin, load_plugin

MOST_RUNS = 10_000_000
COLUMNS = ("run", "point", "repeat", "seed", "outcome", "cause", "attempts", "processor_s", "wall_s")
"""Columns of the results beside parameters and metrics."""


Settings = dict[str, Any]
"""Of all runs alike, by path in the scenario or by argument of the task."""


class Search(BaseModel):
    """What `--search worst` looks for, and how long."""

    model_config = STRICT

    objective: str | None = None
    """The metric that is worst. Left out: how near the success rule is to be broken, or how far it is broken."""
    worst: Literal["most", "least"] = "most"
    """Whether the greatest or the least value of `objective` is the worst."""
    generations: Annotated[int, Field(ge=1, le=1000)] = 8
    """How often the search looks at what was found and goes on from there."""
    runs: Annotated[int, Field(ge=4, le=100_000)] = 24
    """Runs of each generation."""


class CampaignPlan(BaseModel):
    """The file of `skyloop campaign`."""

    model_config = STRICT

    name: Annotated[str, Field(pattern=r"^[^/\\\x00-\x1f]+$")] = "campaign"
    """The name of its folder. Left out, it is that of the file."""
    scenario: str | None = None
    """The scenario that is flown: a name of `skyloop list`, or a YAML file beside the plan."""
    task: str | None = None
    """Instead of a scenario: a function as file.py:name or module:name. It gets the parameters by name, `seed` and
    `folder` too if it has such arguments, and returns metrics by name."""
    settings: Settings = {}
    """Changes that hold for every run, such as `duration: 20`."""
    design: Design = "grid"
    """How points are chosen: all combinations, by chance, by chance but evenly along each parameter, or listed."""
    space: dict[str, Choice] | list[Point] = {}
    """By parameter (a key of the scenario with dots, or an argument of the task): a list of values, or a span
    {least, most}. With `design: list`: a list of points."""
    points: Annotated[int, Field(ge=1, le=MOST_RUNS)] | None = None
    """How many points `random` and `latin-hypercube` have."""
    seed: int = 1
    """Draws the points, and the seeds of the runs."""
    seeds: Literal["draw"] | str | list[int] = "draw"
    """Seeds that each point is flown with: `1..5`, or a list. `draw`: each run has one of its own."""
    repeats: Annotated[int, Field(ge=1, le=MOST_RUNS)] = 1
    """How often each point is flown with each seed. With listed seeds, a repeat is the very same flight again."""
    metrics: list[str] = []
    """What is kept of each run: a name of the run's summary, or file.py:function, which gets the run folder."""
    success: str | None = None
    """When a run is a success, such as `landing_error_m < 0.3 and not crashed`. Left out: what the scenario says; of a
    task, that no error ended it and its `success` is not false."""
    stop: Stop | None = None
    """When the campaign may stop before all runs are made."""
    search: Search = Search()
    """For `--search worst`."""
    time_limit: Annotated[float, Field(gt=0.0)] = 3600.0
    """Wall s after which a run is ended and counts as lost."""
    retries: Annotated[int, Field(ge=0, le=100)] = 1
    """How often a run is made again whose process died or ran out of time."""
    cores: Annotated[float, Field(ge=0.05, le=1024)] = 1.0
    """Cores that a run keeps busy."""
    failed_folders: Annotated[int, Field(ge=0)] = 1000
    """Failed runs whose whole run folder is kept. Of further ones, the scenario and the summary are."""

    @model_validator(mode="after")
    def _one_thing_to_run(self) -> CampaignPlan:
        if (self.scenario is None) == (self.task is None):
            raise ValueError("give a scenario or a task, one of the two")
        if self.task is not None and not is_plugin(self.task):
            raise ValueError(f"task is '{self.task}'; write file.py:function or module:function")
        return self

    @model_validator(mode="after")
    def _design_fits_the_space(self) -> CampaignPlan:
        if isinstance(self.space, list) != (self.design == "list"):
            raise ValueError("space is a list of points with design: list, and only then")
        if self.design in ("grid", "list") and self.points is not None:
            raise ValueError(f"points is {self.points}, but design: {self.design} has points of its own; leave it out")
        return self

    @field_validator("seeds")
    @classmethod
    def _seeds_are_numbers(cls, value: str | list[int]) -> str | list[int]:
        if value != "draw" and isinstance(value, str):
            try:
                seeds_from(value)
            except ScenarioError:
                raise ValueError(f"'{value}' is not draw, FIRST..LAST or numbers with commas, each once") from None
        return value

    @property
    def conditions(self) -> tuple[Condition, ...]:
        return success_rule(self.success, "success") if self.success is not None else ()

    @property
    def parameters(self) -> list[str]:
        if isinstance(self.space, dict):
            return list(self.space)
        return list(dict.fromkeys(name for point in self.space for name in point))

    @property
    def measured(self) -> list[str]:
        """The metrics, and those that the success rule and the search ask for."""
        asked = [condition.metric for condition in self.conditions]
        asked += [self.search.objective] if self.search.objective is not None else []
        named = {metric_name(metric) for metric in self.metrics}
        return [*dict.fromkeys([*self.metrics, *(name for name in asked if name not in named)])]


@dataclass(frozen=True, slots=True)
class CampaignRun:
    """One run of a campaign."""

    number: int
    point: int
    repeat: int
    seed: int
    parameters: Point


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSpec:
    """What a worker needs to know of the plan. It is pickled."""

    where: str
    """For errors."""
    scenario: Any
    """The scenario's own data, or None."""
    settings: Settings
    task: str | bytes | None
    scenario_folder: Path | None
    folder: Path
    """Where files that the plan names are looked for."""
    metrics: list[str]
    success: str | None

    def make_scenario(self, parameters: Point, seed: int) -> Scenario:
        # a copy: a parameter may lie within a setting
        changes = copy.deepcopy({**self.settings, **parameters, "seed": seed})
        return make_scenario(self.scenario, changes, place=f"{self.where}: space", folder=self.scenario_folder)


@dataclass(frozen=True, slots=True)
class Loaded:
    """A plan with what it names, read on this machine: other machines need not have these files."""

    plan: CampaignPlan
    where: str
    """For errors."""
    folder: Path
    """Where files that the plan names are looked for."""
    scenario: Any
    """The scenario's own data, or None."""
    scenario_folder: Path | None
    function: bytes | None = None
    """A task that only this program has, pickled."""

    def spec(self) -> RunSpec:
        plan = self.plan
        return RunSpec(
            where=self.where, scenario=self.scenario, settings=plan.settings, task=self.function or plan.task,
            scenario_folder=self.scenario_folder, folder=self.folder, metrics=plan.measured, success=plan.success,
        )  # fmt: skip


def load_plan(path: Path) -> Loaded:
    data = read_yaml(path)
    if isinstance(data, dict):
        data = {"name": path.stem, **data}
    return make_plan(data, str(path), path.parent.resolve())


def make_plan(data: Any, where: str, folder: Path, function: bytes | None = None) -> Loaded:
    """Checked as far as can be without a flight: every value of every parameter is tried in the scenario."""
    if not isinstance(data, dict):
        raise ScenarioError(f"{where}: a plan is a mapping of keys to values")
    plan = validated(CampaignPlan, data, where)
    if plan.success is not None:
        success_rule(plan.success, f"{where}: success")
    columns = [*COLUMNS, *plan.parameters, *map(metric_name, plan.measured)]
    for name in columns:
        if columns.count(name) > 1:
            raise ScenarioError(f"{where}: '{name}' would be the name of two columns; leave one out or rename it")
    for metric in plan.metrics:
        if is_plugin(metric):
            load_plugin(metric, folder)
    scenario, scenario_folder = None, None
    if plan.scenario is not None:
        is_file = Path(plan.scenario).suffix in (".yaml", ".yml")
        scenario, scenario_folder = read_scenario(folder / plan.scenario if is_file else plan.scenario)
    loaded = Loaded(plan, where, folder, scenario, scenario_folder, function)
    if scenario is None and function is None:
        load_plugin(str(plan.task), folder)
    if scenario is not None:
        for point in corners(plan.space) or [{}]:
            loaded.spec().make_scenario(point, 1)
    return loaded


def check_design(plan: CampaignPlan, where: str) -> None:
    """What only a design needs; a search does not."""
    if plan.design in ("random", "latin-hypercube") and plan.points is None:
        raise ScenarioError(f"{where}: points is missing; design: {plan.design} needs to know how many")
    for name, choice in plan.space.items() if plan.design == "grid" and isinstance(plan.space, dict) else ():
        if isinstance(choice, Span) and choice.steps is None:
            raise ScenarioError(f"{where}: space.{name}: steps is missing; a grid needs to know how many values")
    if runs_planned(plan) > MOST_RUNS:
        raise ScenarioError(f"{where}: these are {runs_planned(plan):,} runs; {MOST_RUNS:,} are the most")


def runs_planned(plan: CampaignPlan) -> int:
    axes: list[int] = [plan.repeats, 1 if plan.seeds == "draw" else len(_listed(plan))]
    if isinstance(plan.space, list):
        axes.append(len(plan.space))
    elif plan.design == "grid":
        axes += [len(choice.grid() if isinstance(choice, Span) else choice) for choice in plan.space.values()]
    else:
        axes.append(plan.points or 0)
    return math.prod(axes)


def planned_runs(plan: CampaignPlan) -> list[CampaignRun]:
    """All runs by number. Repeats and seeds are outermost: a campaign that stops early has seen every point."""
    where = points(plan.design, plan.space, plan.points or 0, plan.seed)
    seeds: list[int | None] = [None] if plan.seeds == "draw" else [*_listed(plan)]
    out: list[CampaignRun] = []
    for repeat in range(plan.repeats):
        for seed in seeds:
            for number, point in enumerate(where):
                drawn = run_seed(plan.seed, len(out)) if seed is None else seed
                out.append(CampaignRun(len(out), number, repeat, drawn, point))
    return out


def seed_of(plan: CampaignPlan, number: int) -> int:
    """The seed of a run of a search, in which no point comes twice: drawn, or the listed ones in turn."""
    return run_seed(plan.seed, number) if plan.seeds == "draw" else _listed(plan)[number % len(_listed(plan))]


def _listed(plan: CampaignPlan) -> list[int]:
    return seeds_from(plan.seeds) if isinstance(plan.seeds, str) else plan.seeds
