"""The cockpit as a link: shows what the bus carries and carries out what a person orders, between two events."""

from __future__ import annotations

import time
from pathlib import Path

from skyloop.cockpit.commands import COMMANDER, END, CommandRow, CommandsFile, Orders
from skyloop.cockpit.server_bridge import Courier
from skyloop.cockpit.snapshots import Kept, Snapshots
from skyloop.cockpit.waypoints import Waypoints
from skyloop.cockpit.wire import Fields
from skyloop.cockpit.world_frame import looks, world_frame
from skyloop.links.inbox import Inbox
from skyloop.links.link_gate import Link, LinkGate
from skyloop.links.pace import Pace
from skyloop.sim.simulation_port import SimulationPort
from skyloop_client.errors import LinkError, SkyloopError
from skyloop_client.messages import Event, Message
from skyloop_client.streams import StreamInfo

HAND_TICK_NS = 50_000_000
"""Simulated time between two setpoints of keys or sticks, as in E2ES."""
DEAD_MAN_S = 0.5
"""Wall s without news of held keys after which the vehicle stops."""
MOVERS_S = 0.08
"""Wall s between two sets of poses of people and cars."""
RATE_OVER_S = 1.0
SPEEDS = (0.01, 100.0)
LONGEST_STEP_S = 60.0


class CockpitLink(Link):
    """One flight as the page sees and steers it."""

    name = "cockpit"
    answers_at_once = True
    """Orders wait for `poll` all the same: one must not come in the middle of an event."""

    def __init__(
        self,
        courier: Courier,
        *,
        about: dict[str, object],
        planned: frozenset[str] = frozenset(),
        snapshots: Snapshots | None = None,
    ) -> None:
        """`about`: what the page tells of the flight; `planned`: vehicles with a pilot that plans;
        `snapshots`: a person chose this flight, so that it goes on when the scenario's pilots are done, and that the
        person can go back in it. If it holds any, the flight begins with the newest."""
        self.back_to: list[Kept] = []
        """What the person went back to: the last of these, when the flight has ended."""
        self._snapshots = snapshots
        self._done: list[CommandRow] = []
        self._courier = courier
        self._about = about
        self._planned = planned
        self._inbox: Inbox | None = None
        self._pending: list[Fields] = []
        self._paused = False
        self._granted_ns = -1
        """While paused: time may pass until then."""
        self._unlimited = False
        self._stopping = False
        self._commands: CommandsFile | None = None
        self._hand: dict[str, dict[str, float]] = {}
        self._hand_s: dict[str, float] = {}
        self._hand_ns: dict[str, int] = {}
        self._movers_s = 0.0
        self._marks: list[tuple[float, int]] = []
        self._began_s: float | None = None
        """Simulated s of the snapshot that the flight began with."""
        self.orders_done = self.orders_refused = 0

    def run_unlimited(self) -> None:
        """As fast as the machine can, from the start."""
        self._unlimited = True

    # ---- called by the link gate

    def attach(self, port: SimulationPort, folder: Path | None, link_gate: LinkGate) -> None:
        self._port, self._gate = port, link_gate
        if self._snapshots is not None and self._snapshots.kept:
            port.restore(self._snapshots.kept[-1].saved)
        self._inbox = link_gate.inbox
        if folder is not None:
            self._commands = CommandsFile(folder)
        self._orders = Orders(port, self._record)
        self._waypoints = {name: Waypoints(name, name in self._planned) for name in port.vehicles}
        if self._snapshots is not None and self._snapshots.kept:
            self._go_on_from(self._snapshots.kept[-1])
        vehicles = {name: looks(vehicle, name in self._planned) for name, vehicle in port.vehicles.items()}
        about = {**self._about, "vehicles": vehicles, "live": True, "folder": "" if folder is None else folder.name}
        self._courier.connect(about, dict(port.bus.infos), world_frame(port.editor.appearance()), self.clock)
        port.bus.on_new(self._on_new)
        port.bus.on_every(self._on_message)

    def _go_on_from(self, kept: Kept) -> None:
        """The orders before are part of this flight, too."""
        for command in kept.commands:
            self._record(command)
        for name, saved in kept.waypoints.items():
            self._waypoints[name].points, self._waypoints[name].is_flying = saved["points"], saved["flying"]
        self._began_s = kept.t_ns / 1e9
        # a person goes back to look at something
        self._paused = True

    @property
    def lasts(self) -> bool:
        return self._snapshots is not None

    @property
    def over(self) -> bool | None:
        return self._stopping or None

    @property
    def allows_realtime(self) -> bool:
        return not self._unlimited

    def blocks_time(self, t_ns: int) -> bool:
        if not self._paused or self._stopping:
            return False
        return t_ns > self._granted_ns

    def poll(self) -> None:
        """Carry out what came in; between two events, so that it can be repeated exactly."""
        pending, self._pending = self._pending, []
        for order in pending:
            self._answer(order)
        for name, points in self._waypoints.items():
            point = points.due(self._port.vehicle(name).situation) if points.is_flying else None
            if point is not None:
                self._try(name, "goal", self._on_the_way(name, point))
        for name in list(self._hand):
            self._fly_by_hand(name)
        if self._snapshots is not None and self._snapshots.is_due(self._port.now_ns) and not self._stopping:
            try:
                self._keep(self._snapshots, asked_for=False)
            except SkyloopError as error:
                self._snapshots.give_up()
                self._courier.put_line("warning", f"no snapshots of this flight: {error}")
        for stream in self._courier.newly_wanted():
            # a page may want what does not exist
            last = self._port.bus.newest(stream) if stream in self._port.bus.infos else None
            if last is not None and not isinstance(last.data, Event):
                self._courier.put(last)
        now = time.monotonic()
        if now - self._movers_s >= MOVERS_S:
            self._movers_s = now
            self._courier.put_extra("movers", self._port.editor.moving_poses())

    def finish(self, why: str) -> None:
        self._courier.disconnect()
        self._courier.tell({"kind": "ended", "why": why, "goes_on": bool(self.back_to)})
        if self._commands is not None:
            self._commands.close()

    def summary(self) -> Fields:
        counts = {"orders": self.orders_done, "refused": self.orders_refused, "batches": self._courier.batches}
        return counts if self._began_s is None else {**counts, "began_s": self._began_s}

    # ---- from the page

    def deliver(self, order: dict[str, object]) -> None:
        """May be called from any thread."""
        if self._inbox is not None:
            self._inbox.put((self, order))

    def taker(self, order: dict[str, object]) -> None:
        self._pending.append(order)

    def _answer(self, order: Fields) -> None:
        if self._courier.reply(order, lambda: self._do(str(order.get("name", "")), order.get("arguments", {}))):
            self.orders_done += 1
        else:
            self.orders_refused += 1

    def _do(self, name: str, given: Fields) -> object:
        if name == "time":
            self._set_time(given)
            return None
        if name == "stop":
            self._end()
            return None
        if name in ("snapshot", "back"):
            return self._snapshot_or_back(name, given)
        vehicle = self._port.vehicle(str(given.pop("vehicle", ""))).name
        if name == "hand":
            self._hand[vehicle] = {axis: float(given.get(axis, 0.0)) for axis in ("forward", "left", "up", "turn")}
            self._hand_s[vehicle] = time.monotonic()
            return None
        if name == "waypoints":
            return self._fly_waypoints(vehicle, given)
        if name != "goal":
            # any other order ends the flight along waypoints; the list stays for the person to go on with
            self._waypoints[vehicle].is_flying = False
        if name in ("release", "kill", "land", "home"):
            self._hand.pop(vehicle, None)
        if name == "goal":
            given = self._on_the_way(vehicle, given)
        self._orders.carry_out(vehicle, name, given)
        return None

    def _end(self) -> None:
        self._record(CommandRow(self._port.now_ns, "", END, {}))
        self._stopping = True
        self._gate.stop()

    def _snapshot_or_back(self, name: str, given: Fields) -> object:
        if self._snapshots is None:
            raise LinkError("this flight was started from the command line; snapshots are for `skyloop cockpit`")
        if name == "snapshot":
            kept = self._keep(self._snapshots, asked_for=True)
            return {"number": kept.number, "t": kept.t_ns / 1e9}
        self.back_to = self._snapshots.until(int(given.get("number", 0)))
        self._end()
        return {"t": self.back_to[-1].t_ns / 1e9}

    def _keep(self, snapshots: Snapshots, *, asked_for: bool) -> Kept:
        began = time.monotonic()
        waypoints = {name: points.plain() for name, points in self._waypoints.items()}
        saved = self._port.snapshot()
        kept = Kept(snapshots.next_number, self._port.now_ns, asked_for, saved, tuple(self._done), waypoints)
        snapshots.add(kept, time.monotonic() - began)
        return kept

    def _on_the_way(self, vehicle: str, goal: Fields) -> Fields:
        """Through the planner where one runs, straight otherwise or if the person says so."""
        straight = bool(goal.get("straight", False)) or vehicle not in self._planned
        return {**{axis: goal.get(axis) for axis in "xyz"}, "planned": not straight}

    def _fly_waypoints(self, vehicle: str, given: Fields) -> object:
        points = self._waypoints[vehicle]
        if "points" in given:
            points.replace(given["points"])
        if given.get("fly"):
            first = points.start()
            if first is None:
                raise LinkError("there are no waypoints; click on the ground first")
            try:
                self._orders.carry_out(vehicle, "goal", self._on_the_way(vehicle, first))
            except SkyloopError:
                points.is_flying = False
                raise
        return points.plain()

    def _set_time(self, given: dict[str, object]) -> None:
        if "speed" in given:
            speed = given["speed"]
            self._unlimited = speed is None
            if speed is not None and not (isinstance(speed, int | float) and SPEEDS[0] <= speed <= SPEEDS[1]):
                raise LinkError(f"speed is {speed!r}; give {SPEEDS[0]:g} to {SPEEDS[1]:g}, or null for no limit")
            self._gate.pace = Pace(None if speed is None else float(speed))
        if "paused" in given:
            self._paused, self._granted_ns = bool(given["paused"]), -1
        if "step" in given:
            step = given["step"]
            if not isinstance(step, int | float) or not 0.0 <= step <= LONGEST_STEP_S:
                raise LinkError(f"step is {step!r}; give 0 (the next event) to {LONGEST_STEP_S:g} s")
            self._paused = True
            self._granted_ns = max(self._port.next_ns, self._port.now_ns + round(step * 1e9))
        self._gate.pace.restart()

    def _fly_by_hand(self, vehicle: str) -> None:
        """A setpoint every 50 ms of simulated time while keys are held, then one hover."""
        axes, now_ns = self._hand[vehicle], self._port.now_ns
        if time.monotonic() - self._hand_s[vehicle] > DEAD_MAN_S or not any(axes.values()):
            del self._hand[vehicle]
            self._hand_ns.pop(vehicle, None)
            if self._port.vehicle(vehicle).is_flying and self._port.vehicle(vehicle).status.mode == "setpoint":
                self._try(vehicle, "hover", {})
            return
        if now_ns < self._hand_ns.get(vehicle, -1) + HAND_TICK_NS:
            return
        port = self._port.vehicle(vehicle)
        if not port.is_flying or port.status.mode in ("takeoff", "land", "home"):
            return
        self._hand_ns[vehicle] = now_ns
        self._waypoints[vehicle].is_flying = False
        self._try(vehicle, "velocity", axes)

    def _try(self, vehicle: str, order: str, arguments: Fields) -> None:
        try:
            self._orders.carry_out(vehicle, order, arguments)
        except SkyloopError as error:
            self._waypoints[vehicle].is_flying = False
            self._courier.tell({"kind": "note", "text": f"{vehicle}: {error}"})

    def _record(self, command: CommandRow) -> None:
        self._done.append(command)
        if self._commands is not None:
            self._commands.add(command)

    # ---- to the page

    def _on_new(self, info: StreamInfo) -> None:
        self._courier.new_stream(info)

    def _on_message(self, message: Message) -> None:
        self._courier.put(message)
        for points in self._waypoints.values():
            if points.is_flying:
                points.on_message(message)

    def clock(self) -> Fields:
        """Runs in the courier's thread: reads plain values only."""
        now, t_ns = time.monotonic(), self._port.now_ns
        self._marks.append((now, t_ns))
        while len(self._marks) > 2 and now - self._marks[0][0] > RATE_OVER_S:
            self._marks.pop(0)
        then_ns, passed = self._marks[0][1], now - self._marks[0][0]
        vehicles = {}
        for name, vehicle in self._port.vehicles.items():
            vehicles[name] = {
                "by": vehicle.commander, "hand": vehicle.is_pilot_relieved, "waypoints": self._waypoints[name].plain(),
            }  # fmt: skip
        return {
            "t_ns": t_ns, "paused": self._paused, "factor": (t_ns - then_ns) / 1e9 / passed if passed > 0 else 0.0,
            "speed": None if self._unlimited else (self._gate.pace.factor or 1.0), "vehicles": vehicles,
            "commander": COMMANDER, "execution": self._execution(),
            "snapshots": [] if self._snapshots is None else self._snapshots.plain(),
        }  # fmt: skip

    def _execution(self) -> dict[str, float]:
        """s of execution time of each program that a link keeps in step with simulated time."""
        seconds: dict[str, float] = {}
        for link in list(self._gate.links.values()):
            seconds |= link.execution_times()
        return seconds
