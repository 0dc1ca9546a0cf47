"""Serves a world to AirSim's clients, and to MAVLink clients and external autopilots. Behind `skyloop serve`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from skyloop.core.plugins import Registry
from skyloop.links.airsim.link import PORT, READY_NS, AirSimConfig, ServerEnds
from skyloop.links.airsim.options import AirSimOptions, ForeignAutopilot
from skyloop.links.airsim.settings import level_of
from skyloop.links.autopilots.configs import ArdupilotConfig, AutopilotConfig, Px4Config, Px4SerialConfig
from skyloop.links.link_gate import Link, LinkConfig, LinkGate
from skyloop.sim.assembly import build
from skyloop.sim.scenario import Scenario, make_scenario
from skyloop_client.errors import Interrupted, LinkError, unknown_name
from skyloop_client.streams import NS_PER_S

Say = Callable[[str], None]
WORLDS: Registry[object] = Registry("worlds", "world")


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
    others = [*_autopilots(options, say), *links]
    levels = Levels(others)
    airsim = AirSimConfig(
        pace=clock_speed,
        opened=opened,
        address=(host, port),
        paused=paused,
        options=options,
        say=say,
        ends=lambda: ends() or levels.next is not None,
        load_level=levels.load,
    )
    gate = LinkGate()
    try:
        scenario = gate.open([airsim, *others], scenario)
        levels.build = lambda world: build(_in_world(scenario, world), gates=(gate,))
        # clients are answered at least once
        left_ns = None if lasts_s is None else max(round(lasts_s * NS_PER_S), READY_NS)
        served_s, levels.next = 0.0, build(scenario, gates=(gate,))
        while (simulation := levels.next) is not None:
            with simulation:
                levels.next = None
                gate.attach(simulation.port)
                try:
                    while left_ns is None or simulation.clock.now_ns < left_ns:
                        simulation.step()
                except (KeyboardInterrupt, Interrupted, ServerEnds):
                    pass
                finally:
                    if levels.next is None:
                        gate.finish("the server ends")
                    else:
                        gate.detach()
                served_s += simulation.now
                left_ns = None if left_ns is None else max(left_ns - simulation.clock.now_ns, READY_NS)
        return {"simulated_s": served_s, **gate.summary()}
    finally:
        levels.close()
        gate.close()


class Levels:
    """The world that a client asked for, until it takes the place of the one that is served."""

    build: Callable[[str], Any]
    """Builds the simulation of a world."""

    def __init__(self, others: Sequence[Link | LinkConfig]) -> None:
        self.next: Any = None
        """A simulation that has not begun."""
        self._others = others

    def load(self, world: str) -> None:
        """It is built while the present one waits, so that it can go on if that fails."""
        if self._others:
            raise LinkError("other links fly or watch here and would lose the world; serve AirSim's clients alone")
        if self.next is not None:
            raise LinkError("another world is being loaded already")
        if world not in WORLDS:
            raise unknown_name("world", world, WORLDS)
        self.next = self.build(world)

    def close(self) -> None:
        """A world that nobody entered any more."""
        if self.next is not None:
            self.next.close()


def _in_world(scenario: Scenario, world: str) -> Scenario:
    return scenario.model_copy(update={"world": make_scenario({"world": level_of(world)}).world})


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
