"""Serves a world to AirSim's clients, and to MAVLink clients and external autopilots. Behind `skyloop serve`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from skyloop.links.airsim.link import PORT, READY_NS, AirSimConfig, ServerEnds
from skyloop.links.airsim.options import AirSimOptions, ForeignAutopilot
from skyloop.links.autopilots.configs import ArdupilotConfig, AutopilotConfig, Px4Config, Px4SerialConfig
from skyloop.links.link_gate import Link, LinkConfig, LinkGate
from skyloop.sim.assembly import build
from skyloop.sim.scenario import Scenario
from skyloop_client.errors import Interrupted, LinkError
from skyloop_client.streams import NS_PER_S

Say = Callable[[str], None]


def serve(
    scenario: Scenario,
    options: AirSimOptions,
    *,
    host: str = "127.0.0.1",
    port: int = PORT,
    clock_speed: float | None = 1.0,
    lasts_s: float | None = None,
    paused: bool = False,
    opened: Callable[[str], None] | None = None,
    say: Say = lambda line: None,
    ends: Callable[[], bool] = lambda: False,
    links: Sequence[Link | LinkConfig] = (),
) -> dict[str, Any]:
    """Serve until Ctrl-C, until `ends` says so, or for a number of simulated seconds. Returns a summary.

    paused: time waits until a client continues it, so a script that steps time gives the same results every time.
    clock_speed: simulated seconds per second of wall time; None: as fast as possible. `opened` is called with the
    address for clients once they are answered. `links` fly or show the same vehicles."""
    _check_all_fly(options, links)
    airsim = AirSimConfig(
        pace=clock_speed,
        opened=opened,
        address=(host, port),
        paused=paused,
        options=options,
        say=say,
        ends=ends,
    )
    gate = LinkGate()
    try:
        scenario = gate.open([airsim, *_autopilots(options, say), *links], scenario)
        with build(scenario, gates=(gate,)) as simulation:
            gate.attach(simulation.port)
            # clients are answered at least once
            end_ns = None if lasts_s is None else max(round(lasts_s * NS_PER_S), READY_NS)
            try:
                while end_ns is None or simulation.clock.now_ns < end_ns:
                    simulation.step()
            except (KeyboardInterrupt, Interrupted, ServerEnds):
                pass
            finally:
                gate.finish("the server ends")
            return {"simulated_s": simulation.now, **gate.summary()}
    finally:
        gate.close()


def _check_all_fly(options: AirSimOptions, links: Sequence[Link | LinkConfig]) -> None:
    for link in links:
        for name, vehicle in options.vehicles.items():
            if isinstance(link, LinkConfig) and link.kind == "mavlink" and not vehicle.flies:
                raise LinkError(f"mavlink: '{name}' is a ComputerVision vehicle and does not fly")


def _autopilots(options: AirSimOptions, say: Say) -> list[LinkConfig]:
    """A link for each vehicle that PX4 or ArduPilot flies."""
    return [
        _autopilot(own.external_autopilot, own.vehicle, say)
        for own in options.vehicles.values()
        if own.external_autopilot is not None
    ]


def _autopilot(pilot: ForeignAutopilot, vehicle: str, say: Say) -> AutopilotConfig:
    """Without a time limit for its connection, because AirSim's clients need not wait for it."""

    def opened(address: str) -> None:
        say(f"'{vehicle}' waits on the ground for {pilot.name} at {address}")

    # AirSim's clock speed is the pace
    common: dict[str, Any] = {
        "pace": None,
        "vehicle": vehicle, "host": pilot.host, "port": pilot.port, "wait_s": None, "opened": opened
    }  # fmt: skip
    if pilot.kind == "ardupilot":
        return ArdupilotConfig(**common, no_lockstep=not pilot.lockstep)
    lockstep = "strict" if pilot.lockstep else "none"
    if pilot.kind == "px4":
        return Px4Config(**common, lockstep=lockstep)
    return Px4SerialConfig(**common, lockstep=lockstep, program=pilot.device, baud=pilot.baud)
