"""Shows a run folder, a recording or a EuRoC sequence as if it were flying: any instant, any speed, both ways."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from skyloop.cockpit.cockpit_beside import about
from skyloop.cockpit.server_bridge import Courier
from skyloop.cockpit.server_start import PORT, CockpitServer
from skyloop.cockpit.wire import Fields
from skyloop.cockpit.world_frame import looks, world_frame
from skyloop.core.interrupts import Interruption
from skyloop.core.validation import read_yaml
from skyloop.recording.run_reader import IndexedStreams, is_recording, open_indexed, read_run
from skyloop.sim.assembly import build
from skyloop.sim.scenario import Scenario, make_scenario
from skyloop_client.errors import LinkError, SkyloopError
from skyloop_client.streams import NS_PER_S

TICK_S = 1.0 / 30.0
SPEEDS = (0.01, 100.0)
SEEK_EVENTS = 200
"""Events before the instant that are shown after a jump."""

MovingAt = Callable[[int], object]


class Player:
    """Runs in the main thread until it is stopped."""

    def __init__(
        self, courier: Courier, reader: IndexedStreams, about: dict[str, object], world: bytes, moving: MovingAt
    ) -> None:
        self._courier = courier
        self._reader = reader
        self._moving = moving
        self._lock = threading.Lock()
        self._t_ns = float(reader.begin_ns)
        self._speed = 1.0
        self._paused = False
        self._jumped = True
        self._stopping = threading.Event()
        self._shown: dict[str, int] = {}
        marks = [[message.arrival_ns / NS_PER_S, str(message.data.kind)] for message in reader.events()]
        details = {
            "live": False,
            "begin": reader.begin_ns / NS_PER_S,
            "end": reader.end_ns / NS_PER_S,
            "marks": marks[:2000],
        }
        infos = {name: stream.info for name, stream in reader.streams.items()}
        courier.connect({**about, **details}, infos, world, self.clock)

    def clock(self) -> Fields:
        return {
            "t_ns": int(self._t_ns), "paused": self._paused, "factor": 0.0 if self._paused else self._speed,
            "speed": self._speed, "vehicles": {}, "commander": "", "execution": {}, "snapshots": [],
        }  # fmt: skip

    def stop(self) -> None:
        self._stopping.set()

    def answer(self, order: Fields) -> None:
        """In the courier's thread."""
        self._courier.reply(order, lambda: self.set_time(order.get("arguments", {})))

    def set_time(self, given: Fields) -> None:
        with self._lock:
            if given.get("speed") is not None:
                speed = given["speed"]
                if not isinstance(speed, int | float) or not SPEEDS[0] <= speed <= SPEEDS[1]:
                    raise LinkError(f"speed is {speed!r}; give {SPEEDS[0]:g} to {SPEEDS[1]:g}")
                self._speed = float(speed)
            if "paused" in given:
                self._paused = bool(given["paused"])
            if given.get("seek") is not None:
                self._t_ns, self._jumped = self._within(float(given["seek"]) * NS_PER_S), True
            if given.get("step") is not None:
                self._paused, self._jumped = True, True
                self._t_ns = self._within(self._t_ns + max(float(given["step"]), 0.01) * NS_PER_S)

    def _within(self, t_ns: float) -> float:
        return min(max(t_ns, float(self._reader.begin_ns)), float(self._reader.end_ns))

    def run(self, interrupted: Callable[[], None] = lambda: None) -> None:
        last = time.monotonic()
        while not self._stopping.wait(TICK_S):
            interrupted()
            now = time.monotonic()
            with self._lock:
                if not self._paused:
                    self._t_ns = self._within(self._t_ns + (now - last) * self._speed * NS_PER_S)
                jumped, self._jumped = self._jumped, False
                t_ns = int(self._t_ns)
            last = now
            try:
                self._show(t_ns, jumped)
            except SkyloopError as error:
                # a file that was removed or cut off; the rest can still be looked at
                self._courier.put_line("error", str(error))
                self._paused = True
        self._courier.disconnect()

    def _show(self, t_ns: int, jumped: bool) -> None:
        """Everything that is new at this instant; after a jump, everything."""
        for name, stream in self._reader.streams.items():
            index = stream.index_at(t_ns)
            before = self._shown.get(name, -1)
            if index < 0 or (index == before and not jumped):
                continue
            if stream.info.message == "Event":
                # each is shown once, also when a person goes to and fro
                self._shown[name] = max(index, before)
                first = max(before + 1, index - SEEK_EVENTS)
                for number in range(first, index + 1):
                    self._courier.put(stream.at(number))
            elif self._courier.wants(name):
                self._shown[name] = index
                self._courier.put(stream.at(index))
            else:
                # whoever wants it later gets it then, also while time stands still
                self._shown.pop(name, None)
        self._courier.put_extra("movers", self._moving(t_ns))


def play_folder(
    folder: Path, speed: float = 1.0, host: str = "127.0.0.1", port: int = PORT,
    opened: Callable[[str], None] = lambda url: None,
) -> None:  # fmt: skip
    """A page with nothing but this folder, until Ctrl-C. `opened` is called with its address."""
    players: list[Player] = []

    def on_order(order: dict[str, object]) -> None:
        if order.get("kind") == "play" and players:
            players[0].answer(order)
        else:
            server.courier.refuse(order, "this cockpit plays one recording that was named on the command line")

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

        def moving(t_ns: int) -> object:
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
    nothing: Fields = {"sensors": {}, "estimators": {}, "pilot": None, "perception": {}, "state": "truth"}
    bare = [vehicle.model_copy(update=nothing) for vehicle in scenario.vehicles]
    return scenario.model_copy(update={"vehicles": bare, "observers": {}})
