"""Serves a world to AirSim's clients, and to MAVLink clients and external autopilots. Behind `skyloop serve`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from skyloop.apps.autopilot import AutopilotOptions, autopilot_link, prepared_vehicle
from skyloop.apps.mavlink import mavlink_link, where_to_connect
from skyloop.apps.run import Watch
from skyloop.links.airsim.listener import RpcListener
from skyloop.links.airsim.options import AirSimOptions, ForeignAutopilot
from skyloop.links.airsim.server import AirSimServer, ServerEnds
from skyloop.links.autopilots.ardupilot import ArdupilotOptions
from skyloop.links.autopilots.launching import AutopilotSpec
from skyloop.links.autopilots.px4 import Px4Options
from skyloop.links.link_gate import Link, LinkGate
from skyloop.links.pace import Pace
from skyloop.sim.assembly import build
from skyloop.sim.scenario import Scenario
from skyloop_client.errors import Interrupted, LinkError
from skyloop_client.messages import Message
from skyloop_client.streams import NS_PER_S

PORT = 41451
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
    mavlink: Mapping[str, Any] | None = None,
    opened: Callable[[str], None] = lambda address: None,
    say: Say = lambda line: None,
    ends: Callable[[], bool] = lambda: False,
    others: Callable[[LinkGate], Mapping[str, Link]] = lambda link_gate: {},
    watch: Watch = lambda simulation: None,
) -> dict[str, Any]:
    """Serve until Ctrl-C, until `ends` says so, or for a number of simulated seconds. Returns a summary.

    paused: time waits until a client continues it, so a script that steps time gives the same results every time.
    clock_speed: simulated seconds per second of wall time; None: as fast as possible. `opened` is called with the
    address for clients once they are answered. mavlink: the options of `MavlinkOptions`; MAVLink clients may then fly
    the same vehicles. `others` gives further links."""
    link_gate = LinkGate(Pace(clock_speed))
    # first, so that a port in use is reported before a world is built
    listener = RpcListener(link_gate.inbox, host, (port,))
    try:
        server = link_gate.links["airsim"] = AirSimServer(listener, options, say, ends)
        scenario = _open_autopilots(scenario, options, link_gate, say)
        if mavlink is not None:
            _open_mavlink(scenario, options, link_gate, mavlink, say)
        link_gate.links.update(others(link_gate))
        with build(scenario, gates=(link_gate,)) as simulation:
            watch(simulation)
            link_gate.attach(simulation.port)
            for stream in simulation.bus.infos:
                if stream.startswith("link/"):
                    simulation.bus.on(stream, lambda message: say(_news(message)))
            simulation.editor.expect_views()
            # wait until sensors have samples: a GPS sample takes 0.2 s to arrive
            simulation.advance_to(NS_PER_S // 2)
            server.state.time.pause(paused)
            listener.open()
            opened(f"{host}:{listener.ports[0]}")
            end_ns = None if lasts_s is None else round(lasts_s * NS_PER_S)
            try:
                while end_ns is None or simulation.clock.now_ns < end_ns:
                    simulation.step()
            except (KeyboardInterrupt, Interrupted, ServerEnds):
                pass
            return {"simulated_s": simulation.now, **link_gate.summary()}
    finally:
        link_gate.finish("the server ends")
        listener.close()


def _open_autopilots(scenario: Scenario, options: AirSimOptions, link_gate: LinkGate, say: Say) -> Scenario:
    """A link for each vehicle that PX4 or ArduPilot flies, and the scenario with the sensors that they need."""
    foreign = {
        own.vehicle: own.external_autopilot for own in options.vehicles.values() if own.external_autopilot is not None
    }
    vehicles = []
    for vehicle in scenario.vehicles:
        pilot = foreign.get(vehicle.name)
        if pilot is not None:
            vehicle = prepared_vehicle(vehicle, pilot.kind)
            spec = AutopilotSpec(pilot.kind, Path(pilot.device) if pilot.device else None)
            link, address = autopilot_link(scenario, vehicle, 0, spec, _told(pilot), link_gate)
            link_gate.links[f"{pilot.kind} {vehicle.name}"] = link
            say(f"'{vehicle.name}' waits on the ground for {pilot.name} at {address}")
        vehicles.append(vehicle)
    return scenario.model_copy(update={"vehicles": vehicles})


def _told(pilot: ForeignAutopilot) -> AutopilotOptions:
    """The same autopilot without a time limit for its connection, because AirSim's clients need not wait for it."""
    return AutopilotOptions(
        host=pilot.host,
        port=pilot.port,
        baud=pilot.baud,
        px4=Px4Options(lockstep="strict" if pilot.lockstep else "none", wait_s=None),
        ardupilot=ArdupilotOptions(no_lockstep=not pilot.lockstep, wait_s=None),
    )


def _open_mavlink(
    scenario: Scenario, options: AirSimOptions, link_gate: LinkGate, mavlink: Mapping[str, Any], say: Say
) -> None:
    for name, vehicle in options.vehicles.items():
        if vehicle.external_autopilot is not None:
            raise LinkError(
                f"--mavlink: '{name}' is flown by {vehicle.external_autopilot.name}, which has MAVLink of its own"
            )
        if not vehicle.flies:
            raise LinkError(f"--mavlink: '{name}' is a ComputerVision vehicle and does not fly")
    link = link_gate.links["mavlink"] = mavlink_link(scenario, link_gate, mavlink)

    def say_where() -> None:
        for line in where_to_connect(link):
            say(line)

    link.on_open = say_where


def _news(message: Message) -> str:
    event = message.data
    return f"{message.stream.removeprefix('link/')} {event.kind}: {event.text}"
