"""What a person can order a vehicle to do, as plain data: from a page, a script or a file of commands.

Each order is carried out at the present instant, between two events, and is recorded as it was carried out."""

from __future__ import annotations

import csv
import json
import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import ClassVar, NamedTuple, TextIO

import numpy as np

from skyloop.cockpit.wire import Fields
from skyloop.links.inbox import Inbox
from skyloop.links.link_gate import Link, LinkConfig, LinkGate, Onlooker
from skyloop.sim.scenario import Scenario
from skyloop.sim.simulation_port import SimulationPort
from skyloop.sim.vehicle_port import VehiclePort
from skyloop_client.errors import LinkError, RunFolderError, unknown_name
from skyloop_client.messages import Arm, Array, Disarm, Goal, GoHome, Hover, Land, Request, Setpoint, TakeOff, Velocity
from skyloop_client.regular_files import opened_text

NAME = "commands.csv"
COLUMNS = ("t_ns", "vehicle", "order", "arguments")
MOST_BYTES = 100_000_000


class CommandRow(NamedTuple):
    t_ns: int
    vehicle: str
    order: str
    arguments: dict[str, object]


class CommandsFile:
    """Written row by row, so that a killed run keeps what was done."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        self._file: TextIO | None = None

    def add(self, command: CommandRow) -> None:
        if self._file is None:
            self._file = self._path.open("w", encoding="utf-8", newline="")
            csv.writer(self._file).writerow(COLUMNS)
        csv.writer(self._file).writerow([*command[:3], json.dumps(command.arguments)])
        self._file.flush()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def read_commands(path: Path) -> list[CommandRow]:
    """Rows in order; a fault is reported with its line."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise RunFolderError(f"'{path}' is larger than {MOST_BYTES // 1_000_000} MB; is it a file of commands?")
        with opened_text(path, newline="") as file:
            return list(_rows(path, csv.reader(file)))
    except (OSError, UnicodeDecodeError) as error:
        raise RunFolderError(f"cannot read commands '{path}': {error}") from None


def _rows(path: Path, rows: Iterator[list[str]]) -> Iterator[CommandRow]:
    if next(rows, None) != list(COLUMNS):
        raise RunFolderError(f"'{path}' is no file of commands; its first line must be {','.join(COLUMNS)}")
    last = 0
    for number, row in enumerate(rows, 2):
        try:
            t_ns, vehicle, order, arguments = int(row[0]), row[1], row[2], json.loads(row[3])
        except (ValueError, IndexError) as error:
            raise RunFolderError(f"{path}:{number}: no command: {error}") from None
        if t_ns < last or not isinstance(arguments, dict):
            raise RunFolderError(f"{path}:{number}: times must rise and arguments must be a JSON object")
        last = t_ns
        yield CommandRow(t_ns, vehicle, order, arguments)


COMMANDER = "cockpit"
"""The name under which the page commands a vehicle."""
TAKEOFF_HEIGHT = 1.5
"""m, as in E2ES."""
FARTHEST = 1e5
"""m; goals beyond are refused."""
FASTEST = 50.0
"""m/s and rad/s; faster wishes are refused."""
END = "end"
"""In a file of commands: the person ended the flight."""

Record = Callable[[CommandRow], None]


BY_HAND: dict[str, Request | Setpoint] = {
    "arm": Arm(), "kill": Disarm(), "land": Land(), "home": GoHome(), "hover": Hover()
}  # fmt: skip
"""Orders without arguments that take a vehicle out of the hands of the scenario's pilot."""


def _by_hand(request: Request | Setpoint, vehicle: VehiclePort, given: Mapping[str, object]) -> None:
    vehicle.relieve_pilot()
    vehicle.send(request, by=COMMANDER)


class Orders:
    """Carries orders out on the vehicles of a simulation."""

    def __init__(self, port: SimulationPort, record: Record = lambda command: None) -> None:
        self._port = port
        self._record = record
        self._table: dict[str, Callable[[VehiclePort, Mapping[str, object]], None]] = {
            **{name: partial(_by_hand, request) for name, request in BY_HAND.items()},
            "take_off": self._take_off, "goal": self._goal, "velocity": self._velocity,
            "give_back": self._give_back, "release": self._release, "plan_again": self._plan_again,
        }  # fmt: skip

    def carry_out(self, vehicle: str, order: str, arguments: Mapping[str, object]) -> None:
        """Raises a SkyloopError of one line if it cannot be done; then nothing is recorded."""
        if order not in self._table:
            raise unknown_name("order", order, self._table)
        port = self._port.vehicle(vehicle)
        self._table[order](port, arguments)
        self._record(CommandRow(self._port.now_ns, port.name, order, dict(arguments)))

    # ---- by hand: the scenario's pilot gives way

    def _take_off(self, vehicle: VehiclePort, given: Mapping[str, object]) -> None:
        height = _number(given, "height", TAKEOFF_HEIGHT, 0.1, 1000.0)
        vehicle.relieve_pilot()
        vehicle.send(Arm(), TakeOff(height), by=COMMANDER)

    def _velocity(self, vehicle: VehiclePort, given: Mapping[str, object]) -> None:
        values = [_number(given, name, 0.0, -FASTEST, FASTEST) for name in ("forward", "left", "up", "turn")]
        vehicle.relieve_pilot()
        vehicle.send(Velocity(np.array(values[:3]), "body", yaw_rate=values[3]), by=COMMANDER)

    # ---- to a position

    def _goal(self, vehicle: VehiclePort, given: Mapping[str, object]) -> None:
        """Straight there, or, if it is `planned`, by the pilot that plans a way."""
        goal = Goal(position_from(given))
        if not vehicle.is_flying:
            raise LinkError(f"'{vehicle.name}' is on the ground; take off first")
        if given.get("planned", False):
            vehicle.relieve_pilot(False)
            vehicle.publish("goal", goal, sender=COMMANDER)
            vehicle.claim(COMMANDER)
        else:
            vehicle.relieve_pilot()
            vehicle.send(goal, by=COMMANDER)

    def _plan_again(self, vehicle: VehiclePort, given: Mapping[str, object]) -> None:
        """The planner, or the scenario's pilot, goes on."""
        vehicle.relieve_pilot(False)

    def _give_back(self, vehicle: VehiclePort, given: Mapping[str, object]) -> None:
        """The scenario's pilot flies again; without one the vehicle hovers, then lands."""
        vehicle.relieve_pilot(False)
        vehicle.release(COMMANDER)

    def _release(self, vehicle: VehiclePort, given: Mapping[str, object]) -> None:
        """The person is gone: hover, then land. A planner must not go on with a goal of somebody who is gone."""
        vehicle.relieve_pilot()
        if not vehicle.is_flying or vehicle.status.mode == "land":
            return
        vehicle.send(Hover(), by=COMMANDER)
        vehicle.release(COMMANDER)


def position_from(given: Mapping[str, object]) -> Array:
    return np.array([_number(given, axis, None, -FARTHEST, FARTHEST) for axis in "xyz"])


def _number(given: Mapping[str, object], name: str, otherwise: float | None, low: float, high: float) -> float:
    value = given.get(name, otherwise)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise LinkError(f"'{name}' is {value!r}; give a number")
    if not low <= value <= high:
        raise LinkError(f"'{name}' is {value:g}; give {low:g} to {high:g}")
    return float(value)


class CommandsConfig(LinkConfig):
    """Repeats the orders of a cockpit flight: its commands.csv."""

    kind: ClassVar[str] = "commands"
    bare: ClassVar[str] = "file"

    file: Path

    def open(self, scenario: Scenario, inbox: Inbox) -> Sequence[Link]:
        return [CommandReplay(read_commands(self.file))]


class CommandReplay(Onlooker):
    """A link without a peer. Orders come between the same two events as in the first flight."""

    name = "commands"

    def __init__(self, commands: list[CommandRow]) -> None:
        self._left = deque(commands)
        self._ended = False
        self.done = 0
        self._was_ended = any(command.order == END for command in commands)

    @property
    def lasts(self) -> bool:
        """A person ended the first flight: this one ends at the same instant, not when a pilot is done."""
        return self._was_ended

    @property
    def over(self) -> bool | None:
        return self._ended or None

    def attach(self, port: SimulationPort, folder: Path | None, link_gate: LinkGate) -> None:
        self._port = port
        self._orders = Orders(port)

    def poll(self) -> None:
        now = self._port.now_ns
        while self._left and self._left[0].t_ns <= now:
            command = self._left.popleft()
            if command.t_ns < now:
                raise LinkError(
                    f"an order was given at {command.t_ns} ns, between two events of this flight; "
                    "repeat orders with the scenario.yaml of their own run folder"
                )
            self.done += 1
            if command.order == END:
                self._ended = True
                continue
            self._orders.carry_out(command.vehicle, command.order, command.arguments)

    def finish(self, why: str) -> None:
        self._left.clear()

    def summary(self) -> Fields:
        return {"orders": self.done}
