"""Flies a scenario with software outside: listener, coordinator, target, run folder. Behind `skyloop loop`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skyloop.apps.run import Progress, Watch, run_scenario
from skyloop.links.link_gate import LinkGate
from skyloop.links.loop.client_sessions import LinkOptions
from skyloop.links.loop.coordinator import Coordinator
from skyloop.links.loop.listener import Listener
from skyloop.links.loop.targets import PowerModel, Target
from skyloop.links.loop.timeline import plot_timeline
from skyloop.links.pace import Pace
from skyloop.sim.estimator_config import ESTIMATORS, PARTS_OF_THE_SIMULATION, EstimatorConfig
from skyloop.sim.scenario import Scenario, UserPilot
from skyloop.world.semantics import CLASSES
from skyloop_client.errors import ScenarioError, SkyloopError, nearest_name
from skyloop_client.plugins import is_plugin, load_plugin
from skyloop_client.version import __version__


@dataclass(frozen=True, slots=True)
class LoopOptions:
    mode: str = "sync"
    """sync, none or realtime."""
    host: str = "127.0.0.1"
    ports: tuple[int, ...] = (0,)
    """0: any free port."""
    pace: float | None = None
    """Most simulated s per wall s. Default: no limit in mode sync, and 1 in the others."""
    delays: Mapping[str, float] = field(default_factory=dict)
    """s by message class: how long the acquisition of a sample takes in the SUT's time."""
    hang_s: float = 60.0
    """Wall s of silence after which a computing SUT counts as hung."""
    wait_s: float = 60.0
    """Wall s to wait for the first pilot."""
    power: PowerModel = field(default_factory=PowerModel)
    """Power model of the SUT's computer."""
    pilots_inside: bool = False
    """The scenario's own pilots fly. Clients only compute."""


def run_loop(
    scenario: Scenario,
    folder: Path,
    options: LoopOptions,
    target: Target | None = None,
    *,
    progress: Progress = lambda t: None,
    opened: Callable[[str], None] = lambda address: None,
    watch: Watch = lambda simulation: None,
) -> dict[str, Any]:
    """Open a listener, let the target start the SUT, fly. Returns the summary that is also in `summary.json`.

    `opened` is called with the address that pilots connect to."""
    if not options.pilots_inside:
        # the clients that connect are the pilots
        vehicles = [vehicle.model_copy(update={"pilot": None}) for vehicle in scenario.vehicles]
        scenario = scenario.model_copy(update={"vehicles": vehicles})
    # without a pace, a free-running simulator would make every computer look slow
    pace = options.pace if options.mode == "sync" else options.pace or 1.0
    link_gate = LinkGate(Pace(pace))
    told = LinkOptions(
        mode=options.mode, delays=options.delays, hang_s=options.hang_s, wait_s=options.wait_s, power=options.power,
        classes=tuple(CLASSES), server=f"skyloop {__version__}", pilots_inside=options.pilots_inside,
    )  # fmt: skip
    listener = Listener(link_gate.inbox, options.host, options.ports)
    try:
        link = link_gate.links["loop"] = Coordinator(listener, told, target)
        opened(f"{options.host}:{listener.ports[0]}")
        return run_scenario(scenario, folder, progress, link_gate, watch)
    finally:
        listener.close()
        if target is not None:
            target.stop()
        # also after Ctrl-C or an error of the SUT; a flight without a summary has left nothing
        if (folder / "summary.json").exists():
            plot_timeline(link.timeline.rows, folder / "timeline.png", f"{scenario.name}, mode {options.mode}")


def outside_estimator(scenario: Scenario, told: str) -> tuple[Scenario, str, str, str]:
    """The scenario with one of its estimators outside, and that estimator's class, vehicle and name.

    `told` is the name of an estimator of the scenario, or file.py:Class. The class replaces the only estimator, or is
    added under its own name in small letters."""
    found = [(vehicle, name) for vehicle in scenario.vehicles for name in vehicle.estimators]
    if is_plugin(told):
        flown = [(vehicle, name) for vehicle, name in found if vehicle.state == name]
        chosen = found if len(found) == 1 else flown
        added = told.rpartition(":")[2].lower()
        if len(chosen) > 1:
            names = ", ".join(name for _, name in found)
            raise ScenarioError(
                f"--estimator {told}: the scenario has several estimators; give the name of one of {names}"
            )
        vehicle, name = chosen[0] if chosen else (scenario.vehicles[0], added)
        kind = told
    else:
        named = [(vehicle, name) for vehicle, name in found if told in (name, f"{vehicle.name}/{name}")]
        if len(named) != 1:
            hint = nearest_name(told, [f"{vehicle.name}/{name}" for vehicle, name in found])
            raise ScenarioError(f"--estimator {told}: the scenario has no such one; {hint} Or give file.py:Class")
        vehicle, name = named[0]
        kind = vehicle.estimators[name].kind
        if kind in PARTS_OF_THE_SIMULATION:
            raise ScenarioError(f"--estimator {told}: it is of kind {kind}, which runs in the simulation only")
        if not is_plugin(kind):
            kind = ESTIMATORS.path(kind)
        if scenario.folder is not None and kind.partition(":")[0].endswith(".py"):
            kind = str(Path(scenario.folder) / kind)
    old = vehicle.estimators.get(name, EstimatorConfig(kind="link"))
    products = _products_of(kind, name)
    config = EstimatorConfig(kind="link", inputs=old.inputs, options=old.options, products=products)
    changed = vehicle.model_copy(update={"estimators": {**vehicle.estimators, name: config}})
    vehicles = [changed if each is vehicle else each for each in scenario.vehicles]
    return scenario.model_copy(update={"vehicles": vehicles}), kind, vehicle.name, name


def _products_of(kind: str, name: str) -> dict[str, str]:
    """What a class says that it publishes under a name, if it can be loaded here and says anything."""
    try:
        told = getattr(load_plugin(kind), "products_of", None)
    except SkyloopError:
        # it runs on another machine, and its libraries may be there only
        return {}
    return dict(told(name)) if callable(told) else {}


def pilot_outside(scenario: Scenario) -> tuple[str, list[str]]:
    """The scenario's own pilot for a process of its own: what `skyloop-client pilot` loads, and its arguments."""
    flown = [vehicle for vehicle in scenario.vehicles if vehicle.pilot is not None]
    if len(flown) != 1:
        raise ScenarioError(f"--pilot scenario: '{scenario.name}' has {len(flown)} pilots; it must have exactly one")
    vehicle, pilot = flown[0], flown[0].pilot
    assert pilot is not None
    seeded = pilot if isinstance(pilot, UserPilot) else pilot.seeded(scenario.seed)
    config = seeded.model_dump(mode="json")
    rate = config.pop("rate_hz")
    kind, options = "skyloop.vehicle.pilots.pilots:pilot_from", config
    if is_plugin(pilot.kind):
        kind, options = pilot.kind, config["options"]
        if scenario.folder is not None and kind.partition(":")[0].endswith(".py"):
            kind = str(Path(scenario.folder) / kind)
    told = ["--rate", str(rate), "--vehicle", vehicle.name]
    return kind, [*told, *(["--options", json.dumps(options)] if options else [])]


def awaited_programs(scenario: Scenario, *, needs_pilot: bool, started: str) -> list[str]:
    """The programs that must connect before the flight begins and that the user starts.

    `started` is the vehicle/name of an estimator that is started here."""
    outside = [
        f"{vehicle.name}/{name}"
        for vehicle in scenario.vehicles
        for name, config in vehicle.estimators.items()
        if config.kind == "link"
    ]
    estimators = [f"an estimator for {stream}" for stream in outside if stream != started]
    return [*(["a pilot"] if needs_pilot else []), *estimators]
