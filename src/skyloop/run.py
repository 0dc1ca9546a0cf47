"""Runs a scenario to its end: folder, progress, summary, plot. Behind `skyloop run`."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np

from skyloop.core.bus import Bus
from skyloop.core.interrupts import STOPPED, Interruption
from skyloop.core.machine_info import versions
from skyloop.core.plugins import Registry
from skyloop.links.link_gate import Link, LinkConfig, LinkGate
from skyloop.recording.estimate_pictures import EstimatePictures
from skyloop.recording.flight_log import FlightLog, Tell, VehicleLog
from skyloop.recording.flight_plot import plot_flight
from skyloop.recording.run_folder import RunFolder, Summary
from skyloop.recording.stream_pictures import Pictures
from skyloop.recording.verdict import why_failed
from skyloop.sim.assembly import build
from skyloop.sim.estimator_assembly import check_nobody_is_outside
from skyloop.sim.parts import PilotPart
from skyloop.sim.scenario import Scenario, Vehicle
from skyloop.sim.simulation import Simulation
from skyloop.vehicle.pilots.pilots import BehaviourPilot
from skyloop_client.errors import Interrupted, RunFolderError, SkyloopError
from skyloop_client.messages import Message
from skyloop_client.streams import NS_PER_S

log = logging.getLogger(__name__)

Progress = Callable[[float], None]
"""Called from time to time with the simulated seconds so far."""

PlotWanted = Callable[[Summary], bool]
"""Asked with the summary when all else is written: drawing takes as long as a short flight."""


class Report(Protocol):
    """A part of a run's report, made as `Class(bus, world, scenario, folder)` when the run begins."""

    def finish(self, summary: Summary) -> None:
        """Add to the summary when the run is over, and write files."""


REPORTS: Registry[Callable[..., Report]] = Registry("reports", "report")
NOTHING_FLOWN = f"{STOPPED} before anything was flown; there is no run folder"
REPORT_NS = NS_PER_S // 5
"""Simulated time between two looks at whether the flight is over."""
SETTLE_S = 1.0
"""Simulated seconds after the last pilot is done."""


def run_scenario(
    scenario: Scenario,
    folder: Path,
    progress: Progress = lambda t: None,
    links: Sequence[Link | LinkConfig] = (),
    plot_wanted: PlotWanted = lambda summary: True,
    tell: Tell = lambda vehicle, event: None,
) -> Summary:
    """Fly, record, summarise. Returns the summary that is also in `summary.json`."""
    if not any(isinstance(link, LinkConfig) and link.feeds_estimators for link in links):
        check_nobody_is_outside(scenario)
    gate = LinkGate()
    try:
        return _run(gate.open(links, scenario), folder, progress, gate if links else None, plot_wanted, tell)
    finally:
        gate.close()


def _run(
    scenario: Scenario, folder: Path, progress: Progress, links: LinkGate | None, plot_wanted: PlotWanted, tell: Tell
) -> dict[str, object]:
    with build(scenario, gates=() if links is None else (links,)) as simulation, Interruption() as interruption:
        record = RunFolder(folder, scenario.model_dump(mode="json"), versions())
        try:
            if links is not None:
                links.attach(simulation.port, folder)
            record.record(simulation.bus)
            _log_events(scenario, simulation.bus)
            pictures = Pictures(simulation.bus, folder)
            estimate_pictures = EstimatePictures(simulation.bus, folder)
            about = (simulation.bus, simulation.port.editor, scenario, folder)
            reports = [report(*about) for report in REPORTS.loadable().values()]
            flight_log = FlightLog(simulation.bus, [vehicle.name for vehicle in scenario.vehicles], tell)
            began, began_s = time.perf_counter(), simulation.now
            trouble: SkyloopError | None = None
            try:
                fly(simulation, scenario.duration, progress, links, interruption)
            except (SkyloopError, KeyboardInterrupt) as caught:
                # the second Ctrl-C, while a step does not end
                error = Interrupted(STOPPED) if isinstance(caught, KeyboardInterrupt) else caught
                if links is not None:
                    links.finish(str(error))
                if simulation.clock.now_ns == 0:
                    # files of the first instant exist, but nothing was flown
                    record.discard()
                    raise Interrupted(NOTHING_FLOWN) if isinstance(error, Interrupted) else error from None
                if isinstance(error, RunFolderError):
                    raise
                # an error such as a NaN from a pilot ends the flight, but the folder must still be complete
                trouble = error
            summary = summarise(simulation, scenario, flight_log, time.perf_counter() - began, began_s)
            if trouble is not None:
                summary["ended_by"] = str(trouble)
            if links is not None:
                links.finish("the flight is over")
                if told := links.summary():
                    summary["links"] = told
            pictures.finish()
            estimate_pictures.finish()
            for report in reports:
                report.finish(summary)
            summary["cause"] = why_failed(scenario.success, summary, flight_log.vehicles)
            summary["success"] = not summary["cause"]
            record.finish(summary)
        finally:
            record.close()
        if plot_wanted(summary):
            plot_flight(flight_log, f"{scenario.name} (seed {scenario.seed})", folder / "flight.png")
    if trouble is not None:
        raise trouble
    return summary


def _log_events(scenario: Scenario, bus: Bus) -> None:
    """With -v: log the events of vehicles and links."""

    def told(message: Message) -> None:
        event = message.data
        log.debug("at %.3f s, %s: %s: %s", event.t_ns / NS_PER_S, message.stream, event.kind, event.text)

    if log.isEnabledFor(logging.DEBUG):
        log.debug("built '%s' with seed %d and %d streams", scenario.name, scenario.seed, len(bus.infos))
        for stream in bus.infos:
            if stream.startswith("link/") or stream.endswith("/events"):
                bus.on(stream, told)


def fly(
    simulation: Simulation,
    duration: float,
    progress: Progress = lambda t: None,
    links: LinkGate | None = None,
    interruption: Interruption | None = None,
) -> None:
    """Fly until the time is over, every pilot is done, or Ctrl-C."""
    interruption = interruption or Interruption()
    pilots = simulation.parts_of(PilotPart)
    end_ns = round(duration * NS_PER_S)
    next_report_ns = 0
    while simulation.port.next_ns < end_ns:
        t_ns = simulation.step()
        interruption.check()
        if t_ns >= next_report_ns:
            progress(t_ns / NS_PER_S)
            # on a grid of its own, so that a flight from a snapshot ends at the same instant as one from its beginning
            next_report_ns = (t_ns // REPORT_NS + 1) * REPORT_NS
            done = pilots and all(pilot.done for pilot in pilots) and not (links is not None and links.lasts)
            if done or (links is not None and links.over):
                links = None
                end_ns = min(end_ns, t_ns + round(SETTLE_S * NS_PER_S))
                pilots = []
    progress(simulation.now)


def summarise(simulation: Simulation, scenario: Scenario, log: FlightLog, wall: float, began_s: float = 0.0) -> Summary:
    """`began_s`: simulated s at which the flight began; not 0 if it began with a snapshot."""
    vehicles = {}
    anchor = scenario.world.options.get("anchor")
    missions = {
        pilot.vehicle: pilot.pilot.mission
        for pilot in simulation.parts_of(PilotPart)
        if isinstance(pilot.pilot, BehaviourPilot)
    }
    landing = [pilot.vehicle for pilot in simulation.parts_of(PilotPart) if pilot.lands]
    for vehicle in scenario.vehicles:
        flown = log.vehicles[vehicle.name]
        port = simulation.port.vehicle(vehicle.name)
        status, battery = port.status, port.battery
        down = status.landed and not status.armed
        lands = vehicle.name in landing or status.mode in ("land", "home")
        vehicles[vehicle.name] = {
            "flown_m": flown.flown,
            "highest_m": flown.highest,
            "fastest_m_s": flown.fastest,
            "battery_left": battery.state_of_charge,
            "energy_j": battery.energy_used,
            "mode": status.mode,
            "crashed": flown.crashed,
            "contacts": flown.contacts,
            "failsafes": flown.failsafes,
            "landed": down and not flown.crashed,
            "left_in_air": lands and not down,
            "off_start_m": flown.off_start,
            **missions.get(vehicle.name, {}),
            **({} if anchor is None else flown.off_anchor(np.array(anchor, np.float64))),
            **_errors(vehicle, flown),
            "events": [f"{event.t_ns / 1e9:.2f} s {event.kind}: {event.text}" for event in flown.events],
        }
        if flown.events_left_out:
            vehicles[vehicle.name]["events_left_out"] = flown.events_left_out
    return {
        "scenario": scenario.name,
        "seed": scenario.seed,
        "simulated_s": simulation.now,
        "wall_s": wall,
        "real_time_factor": (simulation.now - began_s) / wall,
        "messages": dict(simulation.bus.counts),
        "vehicles": vehicles,
    }


def _errors(vehicle: Vehicle, flown: VehicleLog) -> dict[str, object]:
    """The vehicle's distance from its pilot's setpoints, and the errors of its estimates, if there are any."""
    out: Summary = {}
    tracked = flown.off_reference
    if tracked.count:
        out["tracking_error_rms_m"], out["tracking_error_max_m"] = tracked.rms, tracked.farthest
    errors = {stream: distances.rms for stream, (_, distances) in flown.estimates.items()}
    if errors:
        # of the estimate that it flies on, or of the first one if it flies on truth
        flown_on = [f"{vehicle.name}/{vehicle.state}", vehicle.state, *errors]
        out["estimate_error_rms_m"] = errors[next(stream for stream in flown_on if stream in errors)]
        out["estimate_errors_rms_m"] = errors
    return out
