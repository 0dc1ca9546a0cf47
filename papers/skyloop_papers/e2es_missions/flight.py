"""The flights of `skyloop reproduce e2es-missions`: their plan, and one flight on odometry, which is scored and drawn.

A mission that failed leaves its full run folder; of one that succeeded only pictures and the summary stay."""

from __future__ import annotations

import shutil
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop.links.link_gate import LinkGate, Onlooker
from skyloop.run import run_scenario
from skyloop.sim.scenario import Scenario, load_scenario, make_scenario
from skyloop.sim.simulation_port import SimulationPort
from skyloop.world.world import build_world
from skyloop_autonomy.evaluation.map_truth import true_voxels
from skyloop_autonomy.evaluation.navigation_troubles import WORLDS, drawn_goals, mission_scenario
from skyloop_autonomy.evaluation.vio_flights import ON_THE_ESTIMATE, checked_flight
from skyloop_autonomy.mapping import Mapper, MapperSettings, judge
from skyloop_autonomy.mapping.counting import FREE, OCCUPIED
from skyloop_autonomy.mapping.map_builder import MapBuilder
from skyloop_autonomy.pilots.navigate import NavigatePilot
from skyloop_autonomy.planning.replanning import NavigatorConfig
from skyloop_autonomy.vio.visual_localiser import VisualLocaliser
from skyloop_client.bundle import Bundle
from skyloop_client.errors import SkyloopError
from skyloop_client.estimator import Answer
from skyloop_client.messages import Event, Message, VoxelMap
from skyloop_papers.experiment import ExperimentPlan
from skyloop_papers.flight_watch import SPENT, clocked, ended_children_s, first_collision
from skyloop_papers.plots import figure

SEEDS = tuple(range(81, 91))
"""Of each world. Lower seeds were looked at while the navigation was made."""
WITH_WALKERS = tuple((("room", "house", "corridor")[seed % 3], seed) for seed in range(91, 101))
"""World and seed of the missions among walking people. Not in the warehouse, where the vehicle flies above them."""
WALKERS = 5
EXPLORED = (("room", 81), ("corridor", 81))
"""World and seed of the flights by hand in the paper, Figs 11 to 14."""
GOALS = 6
GOAL_WITHIN, TOP_SPEED = 0.5, 1.0
"""m from each goal, and m/s."""
AIM_IOU_TRUTH, AIM_IOU_VIO, AIM_FACTOR = 0.90, 0.80, 3.0
COMPUTERS = ("i5-8250U", "i7-8550U")
"""Those of the paper's Table 1. A number is compared with that of the second, which is faster."""
PUBLISHED_FACTOR = (0.6, 0.92)
"""Simulated per real time."""
PUBLISHED_MS = {"maps": ((26, 4, 70), (18, 4, 64)), "planning": ((90, 20), (65, 16))}
"""By stage and computer: global map, local map, and distances projected on the ground; the way, and a motion."""


@dataclass(frozen=True, slots=True)
class MissionsPlan(ExperimentPlan):
    """What is flown. The quick form is one mission with one goal."""

    worlds: tuple[str, ...] = WORLDS
    seeds: tuple[int, ...] = SEEDS
    with_walkers: tuple[tuple[str, int], ...] = WITH_WALKERS
    walkers: int = WALKERS
    explored: tuple[tuple[str, int], ...] = EXPLORED
    goals: int = GOALS

    def plain(self) -> dict[str, Any]:
        fixed = {"goal_within": GOAL_WITHIN, "top_speed": TOP_SPEED}
        drawn = {world: drawn_goals(load_scenario(f"{world}-nav")).model_dump(mode="json") for world in self.worlds}
        settings = {
            "navigator": NavigatorConfig().model_dump(mode="json"),
            "maps": MapperSettings().model_dump(mode="json"),
        }
        return {**asdict(self), **fixed, "drawn": drawn, **settings}


QUICK = MissionsPlan(("room",), (1,), (), 0, (), 1)


HERE = "skyloop_papers.e2es_missions.flight"
KEPT_FILES = ("summary.json", "scenario.yaml", "map.png", "navigation-drone.png")
DEPTH_HZ = 15
DEPTH = {"kind": "depth_camera", "preset": "d435-kim", "rate_hz": DEPTH_HZ}
"""The depth camera of an exploration, the same as in the missions."""


class ClockedOdometry(VisualLocaliser):
    def on_message(self, message: Message) -> Answer:
        return clocked("odometry", super().on_message, message)


class ClockedMaps(MapBuilder):
    def on_message(self, message: Message) -> Answer:
        return clocked("maps", super().on_message, message)


class ClockedNavigatePilot(NavigatePilot):
    def __call__(self, bundle: Bundle) -> Any:
        return clocked("planning", super().__call__, bundle)


class MissionObserver(Onlooker):
    """Watches a flight: collisions, the newest map of the vehicle, and a map of the same images on true poses."""

    def __init__(self, settings: MapperSettings) -> None:
        self._settings = settings
        self.events: list[Event] = []
        self.voxels: VoxelMap | None = None
        self.port: SimulationPort | None = None
        self.on_truth: Mapper | None = None

    def attach(self, port: SimulationPort, folder: Path | None, link_gate: LinkGate) -> None:
        self.port, bus = port, port.bus
        mapper = self.on_truth = Mapper({"depth": bus.infos["drone/depth"]}, self._settings)
        bus.on("drone/events", lambda message: self.events.append(message.data))
        bus.on("drone/maps/voxels", self._keep)
        bus.on("drone/depth", lambda message: self._see(mapper, message))
        bus.on("truth/drone", lambda message: clocked("judging", self._locate, message))

    def _see(self, mapper: Mapper, message: Message) -> None:
        clocked("judging", mapper.add_image, "depth", message.data)

    def _keep(self, message: Message) -> None:
        self.voxels = message.data

    def _locate(self, message: Message) -> None:
        assert self.on_truth is not None
        self.on_truth.add_pose(message.t_ns, message.data.position, message.data.quat_wxyz)

    @property
    def is_on_the_ground(self) -> bool:
        assert self.port is not None
        status = self.port.vehicle("drone").status
        return status.landed and not status.armed


def fly_mission(world: str, seed: int, walkers: int, goals: int, folder: str) -> dict[str, Any]:
    """Fly to the goals of a seed on stereo odometry."""
    scenario = clocked_scenario(mission_scenario(world, seed, walkers=walkers))
    vehicle = scenario.vehicles[0]
    assert vehicle.pilot is not None
    options = {**vehicle.pilot.model_dump(mode="json", exclude={"kind"})}
    options["goals"] = options["goals"][:goals]
    data = scenario.model_dump(mode="json")
    data["vehicles"][0]["pilot"] = {
        "kind": f"{HERE}:ClockedNavigatePilot", "rate_hz": options.pop("rate_hz"), "options": options,
    }  # fmt: skip
    return _flown(make_scenario(data, place=scenario.name), Path(folder), {"world": world, "walkers": walkers}, goals)


def explore(world: str, seed: int, folder: str) -> dict[str, Any]:
    """Fly the round on which localisation is measured, with a depth camera and maps."""
    try:
        scenario, _ = checked_flight(world, seed, ON_THE_ESTIMATE)
    except SkyloopError as error:
        return {"world": world, "seed": seed, "failed": str(error)}
    maps = mission_scenario(world, seed).vehicles[0].estimators["maps"].model_dump(mode="json", exclude_none=True)
    data = scenario.model_dump(mode="json")
    data["vehicles"][0]["sensors"]["depth"] = DEPTH
    data["vehicles"][0]["estimators"]["maps"] = maps
    changed = clocked_scenario(make_scenario(data, place=scenario.name))
    return _flown(changed, Path(folder), {"world": world, "walkers": 0}, 0)


def clocked_scenario(scenario: Scenario) -> Scenario:
    """With parts that count their processor time."""
    data = scenario.model_dump(mode="json", exclude_none=True)
    kinds = {"vio": "ClockedOdometry", "maps": "ClockedMaps"}
    for name, kind in kinds.items():
        data["vehicles"][0]["estimators"][name]["kind"] = f"{HERE}:{kind}"
    return make_scenario(data, place=scenario.name)


def _flown(scenario: Scenario, folder: Path, about: dict[str, Any], goals: int) -> dict[str, Any]:
    """Fly, score and tidy up; goals: how many there are to reach."""
    # what an interrupted flight left
    shutil.rmtree(folder, ignore_errors=True)
    SPENT.clear()
    options = scenario.vehicles[0].estimators["maps"].options
    observer = MissionObserver(MapperSettings(**options.get("settings", {})))
    began, children = time.process_time(), ended_children_s()
    try:
        summary = run_scenario(scenario, folder, links=[observer])
    except SkyloopError as error:
        return {**about, "seed": scenario.seed, "failed": str(error), "again": _again(folder)}
    spent, rendering = time.process_time() - began, ended_children_s() - children
    scored = {**about, "seed": scenario.seed, **_scores(summary), **_times(summary, spent, rendering)}
    cause = cause_of(observer, scored, goals)
    scored |= _map_scores(scenario, observer, folder)
    if cause:
        return {**scored, "failed": cause, "again": _again(folder)}
    for path in folder.iterdir():
        if path.name not in KEPT_FILES and path.suffix not in (".gif", ".png"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    return scored


def _again(folder: Path) -> str:
    """The same seed flies the same flight."""
    return f"skyloop run {folder / 'scenario.yaml'}"


def _scores(summary: dict[str, Any]) -> dict[str, Any]:
    flown = summary["vehicles"]["drone"]
    navigation = flown.get("navigation", {})
    scored = {"way_m": flown["flown_m"], "estimate_error_m": flown["estimate_errors_rms_m"]["drone/vio"]}
    for key in ("goals", "goals_reached", "farthest_from_goal_m", "fastest_m_s", "least_clearance_m", "touches"):
        if key in navigation:
            scored[key] = navigation[key]
    return scored


def cause_of(observer: MissionObserver, scored: dict[str, Any], goals: int) -> str:
    """Why a flight failed, in one line; empty if it did not."""
    hit = first_collision(observer.events)
    if hit is not None:
        return f"{hit.kind.value} {hit.text} at {hit.t_ns * 1e-9:.1f} s"
    missed = [goal for goal in scored.get("goals", []) if goal["state"] != "reached"]
    if missed:
        return f"goal {missed[0]['goal'][:2]} {missed[0]['state']} at {missed[0]['t']:.0f} s: {missed[0]['reason']}"
    if scored.get("goals_reached", 0) < goals:
        return f"{scored.get('goals_reached', 0)} of {goals} goals within the time"
    if goals and scored["farthest_from_goal_m"] > GOAL_WITHIN:
        return f"{scored['farthest_from_goal_m']:.2f} m from a goal"
    if goals and scored["fastest_m_s"] > TOP_SPEED:
        return f"flew at {scored['fastest_m_s']:.2f} m/s"
    return "" if observer.is_on_the_ground else "not on the ground at the end"


def _map_scores(scenario: Scenario, observer: MissionObserver, folder: Path) -> dict[str, Any]:
    """The vehicle's last published map, and the one on true poses, beside the true occupancy."""
    if observer.voxels is None or observer.on_truth is None:
        return {}
    model = build_world(scenario.world, scenario.seed, None).model
    model.freeze()
    own, maps = observer.voxels, observer.on_truth.maps(distances=False)
    assert maps is not None
    truth, unclear = true_voxels(model, None, own.origin, own.voxels.shape, own.resolution)
    there = judge(own.voxels == OCCUPIED, own.voxels == FREE, truth, own.resolution, unclear)
    draw_map(folder / "map.png", f"{scenario.name}, seed {scenario.seed}", own, truth)
    truth, unclear = true_voxels(model, None, maps.origin, maps.states.shape, maps.cell)
    right = judge(maps.occupied, maps.free, truth, maps.cell, unclear)
    return {"map_on_vio": asdict(there), "map_on_truth": asdict(right)}


def _times(summary: dict[str, Any], spent: float, rendering: float) -> dict[str, Any]:
    """Simulated over processor time of all processes, and the share of each stage. Judging does not count."""
    total = spent - SPENT["judging"] + rendering
    stages = {"rendering": rendering, **{name: SPENT[name] for name in ("odometry", "maps", "planning")}}
    stages["vehicle, sensors, streams, recording"] = total - sum(stages.values())
    simulated = summary["simulated_s"]
    return {
        "simulated_s": simulated, "processor_s": total, "factor": simulated / total,
        "real_time_factor": summary["real_time_factor"],
        "stages": {name: value / total for name, value in stages.items()},
    }  # fmt: skip


# ---- the picture of a map, as in Figs 11 to 14 of e2es


def draw_map(path: Path, title: str, voxels: VoxelMap, truth: NDArray[np.bool_]) -> None:
    """Left the true occupancy, right the map, both coloured by the height of the highest occupied voxel."""
    seen = (voxels.voxels == OCCUPIED) | (voxels.voxels == FREE)
    known = seen.any(axis=2)
    x, y = np.nonzero(known) if known.any() else (np.array([0]), np.array([0]))
    box = slice(x.min(), x.max() + 1), slice(y.min(), y.max() + 1)
    low = np.asarray(voxels.origin)[:2] + voxels.resolution * np.array([x.min(), y.min()])
    width, depth = voxels.resolution * np.array([np.ptp(x) + 1, np.ptp(y) + 1])
    extent = (low[0], low[0] + width, low[1], low[1] + depth)
    shown = {
        "world": _heights(truth, voxels)[box],
        "map": np.where(known, _heights(voxels.voxels == OCCUPIED, voxels), np.nan)[box],
    }
    heights = np.concatenate([panel[np.isfinite(panel)] for panel in shown.values()])
    limits = (heights.min(), heights.max()) if heights.size else (0.0, 1.0)
    # a long world is drawn above its map, others beside it
    rows = 2 if width > 1.6 * depth else 1
    size = (11.0, 2.0 + 20.0 * depth / width) if rows == 2 else (12.0, 1.6 + 5.0 * depth / width)
    with figure(path, size, f"{title}; grey: not seen", x=0.01, ha="left") as drawn:
        axes = drawn.subplots(rows, 3 - rows, sharex=True, sharey=True)
        for axis, (name, panel) in zip(axes, shown.items(), strict=True):
            axis.set_facecolor("0.8")
            seen_there = np.where(known[box], 1.0, np.nan) if name == "map" else np.ones(panel.shape)
            axis.imshow(seen_there.T, origin="lower", extent=extent, cmap="gray", vmin=0, vmax=1)
            image = axis.imshow(
                panel.T, origin="lower", extent=extent, cmap="viridis", vmin=limits[0], vmax=limits[1],
                interpolation="nearest",
            )  # fmt: skip
            axis.grid(False)
            axis.set(title=name, ylabel="north [m]")
        axes[-1].set_xlabel("east [m]")
        drawn.colorbar(image, ax=axes, label="highest occupied voxel [m]", shrink=0.9)


def _heights(cells: NDArray[np.bool_], voxels: VoxelMap) -> NDArray[np.float64]:
    """(nx, ny) m of the upper face of the highest occupied voxel; NaN where there is none."""
    highest = cells.shape[2] - np.argmax(cells[:, :, ::-1], axis=2)
    return np.where(cells.any(axis=2), voxels.origin[2] + voxels.resolution * highest, np.nan)
