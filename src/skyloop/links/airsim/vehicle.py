"""One vehicle as AirSim clients see it: its axes, who commands it, and its current move."""

from __future__ import annotations

import math

import numpy as np

from skyloop.core.frames import ned_from_enu
from skyloop.links.airsim.calls import Reply
from skyloop.links.airsim.options import VehicleOptions
from skyloop.links.airsim.structures import Axes, Map, shown_name, vector
from skyloop.sim.vehicle_port import VehiclePort
from skyloop.sim.world_editor import WorldEditor
from skyloop.vehicle.behaviours import Behaviour
from skyloop_client.errors import LinkError
from skyloop_client.messages import Arm, Contact, Disarm, Hover, Request, Setpoint, VehicleState
from skyloop_client.streams import NS_PER_S

COMMANDER = "airsim"
"""The name under which all AirSim clients together command a vehicle."""
LONGEST_S = 1e9
"""A time limit above this means forever."""


class AwaitedMove:
    """A move whose end a client waits for."""

    def __init__(self, behaviour: Behaviour, reply: Reply, lasts_s: float, *, ends_well: bool) -> None:
        """With `ends_well`, the time limit `lasts_s` means success; otherwise it means failure."""
        self.behaviour, self.reply, self.ends_well = behaviour, reply, ends_well
        self.lasts_ns = round(min(max(lasts_s, 0.0), LONGEST_S) * NS_PER_S)
        self.end_ns = 0


class VehicleSide:
    def __init__(self, name: str, options: VehicleOptions, port: VehiclePort, editor: WorldEditor) -> None:
        self.name, self.options = name, options
        self.port, self._editor = port, editor
        self._unflown = port.modes()
        self.start = port.truth
        self.axes = Axes(self.start.position)
        self.may_fly = False
        self.is_armed = options.is_armed
        """The state that the client asked for. Landing stops the rotors in any case."""
        self.task: AwaitedMove | None = None
        self.remote: Map = {}
        """The latest data of moveByRC."""
        self._contacts_read = port.n_contacts
        self._hit: Map | None = None
        self._has_hit = False

    # ---- state

    @property
    def index(self) -> int:
        return self.port.index

    @property
    def now_ns(self) -> int:
        return self.port.now_ns

    @property
    def truth(self) -> VehicleState:
        return self.port.truth

    def collision(self, *, forget: bool) -> Map:
        """The latest contact. `has_collided` is true only on the first read."""
        self._contacts_read, events = self.port.contacts(self._contacts_read)
        for event in events:
            if event.contact is not None:
                self._hit, self._has_hit = self._collision_info(event.t_ns, event.contact), True
        zero = vector(np.zeros(3))
        none = {
            "penetration_depth": 0.0, "time_stamp": 0, "normal": zero, "impact_point": zero, "position": zero,
            "object_name": "", "object_id": -1,
        }  # fmt: skip
        answer = {"has_collided": self._has_hit, **(self._hit or none)}
        self._has_hit = self._has_hit and not forget
        return answer

    def _collision_info(self, t_ns: int, contact: Contact) -> Map:
        return {
            "penetration_depth": 0.0,
            "time_stamp": t_ns,
            "normal": vector(ned_from_enu(contact.normal)),
            "impact_point": vector(self.axes.ned(contact.position)),
            "position": vector(self.axes.ned(self.truth.position)),
            "object_name": shown_name(contact.name),
            "object_id": contact.instance,
        }

    # ---- commands

    def send(self, item: Setpoint | Request) -> None:
        self.port.send(item, by=COMMANDER)

    @property
    def is_ours(self) -> bool:
        """Whether the latest command came from AirSim rather than from another link."""
        return self.port.commander == COMMANDER

    def refuse_if_foreign(self) -> None:
        if (pilot := self.options.external_autopilot) is not None:
            raise LinkError(
                f"'{self.name}' is flown by {pilot.name}, and AirSim's moves do not reach it from here; command it "
                "through its own MAVLink ports, e.g. with MAVSDK"
            )

    @property
    def needs_control(self) -> str:
        return f"API control of '{self.name}' is off; call enableApiControl(True) first"

    def make_ready(self) -> None:
        """Check that the client may command the vehicle and that the rotors turn."""
        if not self.options.flies:
            raise LinkError(f"'{self.name}' is a ComputerVision vehicle and does not fly; use simSetVehiclePose")
        self.refuse_if_foreign()
        if not self.may_fly:
            raise LinkError(self.needs_control)
        if not self.port.status.armed:
            if not self.is_armed:
                raise LinkError(f"'{self.name}' is disarmed; call armDisarm(True) first")
            self.send(Arm())

    def begin(self, task: AwaitedMove) -> None:
        """Replace the current move. The first step happens now."""
        self.make_ready()
        self.drop_task()
        task.end_ns = self.now_ns + task.lasts_ns
        self.task = task
        self.port.claim(COMMANDER)
        self.tick(self.now_ns)

    def tick(self, now_ns: int) -> None:
        task = self.task
        if task is None:
            return
        if not self.is_ours:
            # another link has taken over
            self.drop_task()
            return
        if not self.port.status.armed and now_ns > 0:
            self._end(task, self._has_landed(task))
            return
        behaviour = task.behaviour
        try:
            order = behaviour.update(self.port.situation)
            if order is not None:
                self.send(order)
            if behaviour.done or now_ns >= task.end_ns:
                self._end(task, not behaviour.failed if behaviour.done else task.ends_well)
                if behaviour.failed or not behaviour.done:
                    self.hover()
        except Exception as error:
            self.task = None
            self.hover()
            task.reply.fail(str(error))

    def _has_landed(self, task: AwaitedMove) -> bool:
        return task.reply.method in ("land", "goHome") and self.port.status.landed

    def _end(self, task: AwaitedMove, result: bool) -> None:
        self.task = None
        task.reply.give(result)

    def drop_task(self) -> None:
        """The caller gets False: the move did not reach its end."""
        if self.task is not None:
            self._end(self.task, False)

    def cancel(self) -> None:
        if self.task is not None:
            self.drop_task()
            if self.is_ours:
                self.hover()

    def hover(self) -> None:
        if self.port.is_flying:
            self.send(Hover())

    def disarm(self) -> None:
        self.drop_task()
        self.send(Disarm())

    def begin_again(self) -> None:
        """Back to the initial state, disarmed and without a commander."""
        self.disarm()
        self._editor.begin_again(self.index)
        self.port.return_to_start(self._unflown)
        self.may_fly, self.is_armed, self.remote = False, self.options.is_armed, {}
        self.collision(forget=True)
        self._hit = None


def seconds(value: float) -> float:
    """A time limit as sent. Clients write 3e38 for never."""
    return value if math.isfinite(value) else LONGEST_S
