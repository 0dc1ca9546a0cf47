"""A world that AirSim's clients connect to. What `skyloop serve` does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from skyloop.assembly import build
from skyloop.errors import Interrupted
from skyloop.links.airsim_door import RpcDoor
from skyloop.links.airsim_options import AirSimOptions
from skyloop.links.airsim_server import AirSimServer, ServerEnds
from skyloop.links.pace import Pace
from skyloop.links.switchboard import Link, Switchboard
from skyloop.running import Watch
from skyloop.scenario import Scenario
from skyloop.streams import NS_PER_S

PORT = 41451


def serve(
    scenario: Scenario,
    options: AirSimOptions,
    *,
    host: str = "127.0.0.1",
    port: int = PORT,
    clock_speed: float | None = 1.0,
    lasts_s: float | None = None,
    paused: bool = False,
    opened: Callable[[str], None] = lambda address: None,
    say: Callable[[str], None] = lambda line: None,
    ends: Callable[[], bool] = lambda: False,
    others: Callable[[Switchboard], Mapping[str, Link]] = lambda switchboard: {},
    watch: Watch = lambda simulation: None,
) -> dict[str, Any]:
    """Until Ctrl-C, until `ends` says so, or for so many simulated seconds; returns what happened.

    paused: time stands still until a client lets it go on, so that a script that steps time gives the same every time.
    clock_speed: simulated seconds per second of wall time; None: as fast as it goes. `opened` is called with the
    address clients connect to, once they are answered. `others` gives links of other protocols to stand beside this.
    """
    switchboard = Switchboard(Pace(clock_speed))
    # first of all, so that a port in use is told before a world is built
    door = RpcDoor(switchboard.inbox, host, (port,))
    try:
        server = switchboard.links["airsim"] = AirSimServer(door, options, say, ends)
        switchboard.links.update(others(switchboard))
        with build(scenario, gates=(switchboard,)) as simulation:
            watch(simulation)
            switchboard.attach(simulation)
            simulation.stage.scene.expect_views()
            # sensors have something to tell, and a GPS sample takes 0.2 s to arrive
            simulation.advance_to(NS_PER_S // 2)
            server.time.pause(paused)
            opened(f"{host}:{door.ports[0]}")
            end_ns = None if lasts_s is None else round(lasts_s * NS_PER_S)
            try:
                while end_ns is None or simulation.clock.now_ns < end_ns:
                    simulation.step()
            except (KeyboardInterrupt, Interrupted, ServerEnds):
                pass
            return {"simulated_s": simulation.now, **switchboard.summary()}
    finally:
        switchboard.finish("the server ends")
        door.close()
