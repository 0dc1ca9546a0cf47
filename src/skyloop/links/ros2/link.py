"""A simulation as a ROS 2 node: it publishes streams, takes commands and answers services. Behind `--ros2`."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Literal

from skyloop.core.plugins import Registry
from skyloop.links.inbox import Inbox
from skyloop.links.link_gate import Link, LinkConfig, LinkGate, Summary
from skyloop.links.ros2.dds_types import Quality
from skyloop.links.ros2.neighbours import Neighbours
from skyloop.links.ros2.orders import VehicleOrders
from skyloop.links.ros2.parameters import Parameters, Value
from skyloop.links.ros2.participant import Participant
from skyloop.links.ros2.publications import Publications
from skyloop.links.ros2.rtps.server import Taken
from skyloop.links.ros2.services import Services
from skyloop.links.ros2.settings import Ros2Settings, settings_from
from skyloop.links.ros2.simulation_services import SimulationServices, WorldFacts
from skyloop.links.ros2.time_control import Lockstep, Pauses, parsed, stamp_of
from skyloop.recording.ros2.tf_frames import topic_of
from skyloop.sim.scenario import Scenario
from skyloop.sim.simulation_port import SimulationPort
from skyloop_client.errors import LinkError
from skyloop_client.messages import EventKind
from skyloop_client.streams import Rate

log = logging.getLogger(__name__)

MOST_WAITING = 1000
"""Messages from outside that wait for the simulation. What comes beyond is dropped: only a flood is so fast."""
AGAIN_S = 0.2
"""Wall s between two messages on /clock while time stands still."""


WORLDS: Registry[type] = Registry("worlds", "world")


class Ros2Config(LinkConfig):
    """The flight is a ROS 2 node: it publishes the sensors, takes commands and answers services."""

    kind: ClassVar[str] = "ros2"
    bare: ClassVar[str] = "lockstep"
    feeds_estimators: ClassVar[bool] = True

    lockstep: str | None = None
    """TOPIC or TOPIC@HZ: simulated time waits for a message on this topic, so many per second. Default: 50."""
    namespace: str = ""
    """A name before all topics and services, and of the node: two simulators then share a domain."""
    sensor_qos: Literal["reliable", "best_effort"] = "reliable"
    """reliable: what a subscriber lost is sent again, if it is still among the newest; best_effort: it is not."""

    def open(self, scenario: Scenario, inbox: Inbox) -> Sequence[Link]:
        """The environment's variables of ROS 2 say who may hear it."""
        worlds = tuple(
            (name, (world.__doc__ or "").strip().split("\n")[0]) for name, world in WORLDS.loadable().items()
        )
        world = WorldFacts(scenario.world.name, worlds)
        facts: dict[str, Value] = {
            "scenario": scenario.name, "seed": scenario.seed, "duration": scenario.duration,
            "world": scenario.world.name,
        }  # fmt: skip
        if scenario.wind.kind == "field":
            facts["wind"] = "computed by a class of the scenario"
        settings = settings_from(os.environ, self.namespace)
        lossy = self.sensor_qos == "best_effort"
        return [Ros2Link(inbox, settings, lockstep=self.lockstep, world=world, facts=facts, lossy=lossy)]


class Ros2Link(Link):
    """Built before the world, so that a bad setting is reported at once."""

    name = "ros2"

    def __init__(
        self,
        inbox: Inbox,
        settings: Ros2Settings,
        *,
        lockstep: str | None = None,
        world: WorldFacts | None = None,
        facts: Mapping[str, Value] | None = None,
        lossy: bool = False,
    ) -> None:
        """`lockstep`: TOPIC or TOPIC@HZ. `facts`: parameters that can only be read. `lossy`: best-effort sensors."""
        self._world, self._facts, self._lossy = world or WorldFacts(), facts or {}, lossy
        self._wanted = None if lockstep is None else parsed(lockstep)
        self.lockstep: Lockstep | None = None
        self._inbox = inbox
        self.participant = Participant(settings)
        self.pauses = Pauses()
        self.publications: Publications
        self.dropped = 0
        self._told = 0.0
        self._is_open = True

    # ---- as a link

    @property
    def over(self) -> bool | None:
        """Nodes may come and go: the scenario says when the flight ends, or a node that asks for it."""
        return self.control.is_quitting or None

    @property
    def allows_realtime(self) -> bool:
        """Time passes as fast as real time, unless a node steps it."""
        return not self.pauses.paused and self.lockstep is None

    def attach(self, port: SimulationPort, folder: Path | None, link_gate: LinkGate) -> None:
        self._port, self._gate = port, link_gate
        self.participant.wait_ready()
        self.publications = Publications(self.participant, port, set(port.user_streams.outside), lossy=self._lossy)
        self.services = Services(self.participant.server, self._queued, self.participant.settings.full)
        if self._wanted is not None:
            self.lockstep = self._lockstep(*self._wanted)
        alone = len(port.vehicles) == 1
        for name, vehicle in port.vehicles.items():
            vehicle.announce_link()
            orders = VehicleOrders(port, name, self.services, self._read)
            orders.open([topic_of(name), *([""] if alone else [])], topic_of(self.publications.mavros(name)[1:]))
        self.control = SimulationServices(port, self.services, self.participant, self.pauses, self._world)
        Parameters(port, link_gate, self.services, self.participant, self._facts)
        if self.lockstep is not None and self.lockstep.topic not in self.participant.kinds_read:
            known = ", ".join(sorted(self.participant.kinds_read))
            raise LinkError(f"--ros2-lockstep {self.lockstep.topic}: commands come on {known}")
        self.neighbours = Neighbours(self.participant)
        self.participant.tell_graph()

    def _lockstep(self, topic: str, rate: Rate) -> Lockstep:
        def lost() -> None:
            log.warning("ROS 2: nobody answers on %s; time goes on without", topic)
            for vehicle in self._port.vehicles.values():
                vehicle.tell(EventKind.LOST, f"nobody answers on {topic}")

        return Lockstep(topic, rate, lambda: self.participant.is_heard(topic), lost)

    def _read(self, topic: str, kind: str, quality: Quality, taken: Taken) -> None:
        """Messages on the topic that time waits for are obeyed one at each of its instants."""
        keep = self.lockstep
        if keep is not None and keep.topic == self.participant.settings.full(topic):
            obey = taken

            def taken(data: bytes, sender: object) -> None:
                keep.answer(stamp_of(kind, data), lambda: obey(data, sender))

            quality = "answers"
        self.participant.reader(topic, kind, quality, self._queued(taken))

    def stop_at(self, t_ns: int) -> int:
        stop = self.publications.next_tick(self.pauses.stop_at(t_ns))
        return stop if self.lockstep is None else self.lockstep.stop_at(stop, self._port.now_ns)

    def blocks_time(self, t_ns: int) -> bool:
        if self.pauses.blocks_time(t_ns):
            return True
        return self.lockstep is not None and self.lockstep.blocks_time(t_ns)

    @property
    def is_waiting(self) -> bool:
        """So that an answer is looked for often."""
        return self.lockstep is not None

    def poll(self) -> None:
        now = time.perf_counter()
        again = now - self._told > AGAIN_S
        if again:
            self._told = now
            self.participant.tell_graph()
            self.neighbours.look()
        self.publications.tell_time(again=again and (self.pauses.paused or self.lockstep is not None))
        if self.pauses.is_stepping:
            self.publications.tell_clock(self._port.now_ns)
        self.pauses.look(self._port.now_ns)
        if self.control.is_quitting:
            self._gate.stop()

    def finish(self, why: str) -> None:
        self.close()

    def close(self) -> None:
        self._is_open = False
        self.participant.close()

    def summary(self) -> Summary:
        found: Summary = {
            "sent": self.participant.sent, "lost": self.participant.lost, "dropped": self.dropped,
            "calls": self.services.calls,
        }  # fmt: skip
        if self.lockstep is not None:
            found["lockstep"] = {
                "answers": self.lockstep.answers, "surplus": self.lockstep.surplus, "waited_s": self.lockstep.waited_s,
            }  # fmt: skip
        return found

    # ---- what comes in

    def taker(self, handler: Taken, data: bytes, sender: object) -> None:
        """In the simulation's thread."""
        if self._is_open:
            handler(data, sender)

    def _queued(self, handler: Taken) -> Taken:
        """A function for the reading thread, which hands messages to the simulation's thread."""

        def put(data: bytes, sender: object) -> None:
            if self._inbox.qsize() >= MOST_WAITING:
                self.dropped += 1
            else:
                self._inbox.put((self, handler, data, sender))

        return put
