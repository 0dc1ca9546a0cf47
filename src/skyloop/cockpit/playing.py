"""Shows run folders, recordings and EuRoC sequences in the cockpit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from skyloop.cockpit.cockpit_beside import about
from skyloop.cockpit.courier import Courier
from skyloop.cockpit.player import Player
from skyloop.cockpit.server_start import PORT, CockpitServer
from skyloop.cockpit.world_frame import looks, world_frame
from skyloop.core.interrupts import Interruption
from skyloop.core.validation import read_yaml
from skyloop.recording.run_reader import IndexedStreams, is_recording, open_indexed, read_run
from skyloop.sim.assembly import build
from skyloop.sim.scenario import Scenario, make_scenario


def play_folder(
    folder: Path, speed: float = 1.0, host: str = "127.0.0.1", port: int = PORT,
    opened: Callable[[str], None] = lambda url: None,
) -> None:  # fmt: skip
    """A page with nothing but this folder, until Ctrl-C. `opened` is called with its address."""
    players: list[Player] = []

    def on_order(order: dict[str, Any]) -> None:
        if order.get("kind") == "play" and players:
            players[0].answer(order)
        elif order.get("id") is not None:
            why = "this cockpit plays one recording that was named on the command line"
            server.courier.tell({"kind": "reply", "id": order["id"], "ok": False, "error": why})

    server = CockpitServer(on_order, host, port)
    try:
        with Interruption() as interruption, playing(server.courier, folder) as player:
            player.set_time({"speed": speed})
            players.append(player)
            opened(server.url)
            player.run(interruption.check)
    finally:
        server.close()


@contextmanager
def playing(courier: Courier, folder: Path) -> Iterator[Player]:
    """A player that is connected and ready to run."""
    streams, scenario = _opened(folder)
    if scenario is None:
        vehicles = {
            info.vehicle: {"index": 0, "rotors": [], "spins": [], "planner": False}
            for info in (stream.info for stream in streams.streams.values())
            if info.vehicle
        }
        told = {"scenario": folder.name, "seed": 0, "world": "", "description": "", "vehicles": vehicles}
        nothing = np.zeros((0, 3, 4), np.float32)
        yield Player(courier, streams, {**told, "folder": folder.name}, b"", lambda t_ns: nothing)
        return
    with build(_bare(scenario)) as simulation:
        editor, clock = simulation.port.editor, simulation.clock

        def moving(t_ns: int) -> Any:
            clock.set(t_ns)
            return editor.moving_poses()

        vehicles = {name: looks(vehicle) for name, vehicle in simulation.port.vehicles.items()}
        told = {**about(scenario), "vehicles": vehicles, "folder": folder.name}
        yield Player(courier, streams, told, world_frame(editor.appearance()), moving)


def _opened(folder: Path) -> tuple[IndexedStreams, Scenario | None]:
    if is_recording(folder):
        streams, flown = open_indexed(folder)
        return streams, None if flown is None else make_scenario(flown, place=str(folder))
    streams = read_run(folder)
    place = folder / "scenario.yaml"
    return streams, make_scenario(read_yaml(place), place=str(place))


def _bare(scenario: Scenario) -> Scenario:
    """Only what is seen: the world and the airframes."""
    nothing: dict[str, Any] = {"sensors": {}, "estimators": {}, "pilot": None, "perception": {}, "state": "truth"}
    bare = [vehicle.model_copy(update=nothing) for vehicle in scenario.vehicles]
    return scenario.model_copy(update={"vehicles": bare, "observers": {}})
