"""Synchronises simulated time (ST) with the execution time (ET) of every pilot, and answers their questions.

It is a link behind the link gate. In mode `sync` time advances to the smallest known ET and no further. A question
takes effect when ST reaches the ET at which it was sent. It is answered when the samples it waits for exist. This is
conservative barrier synchronisation (synchronised-hil II). In `none` and `realtime` questions are answered as they
come."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path

from skyloop.links.link_gate import POLL_S, Link, LinkGate, Summary
from skyloop.links.loop.client_sessions import COMMANDER, PATIENCE_S, ClientSessions, SessionOptions
from skyloop.links.loop.listener import MOST_WHY, Listener
from skyloop.links.loop.peer import Peer, integer_of, taken
from skyloop.links.loop.program_tables import table_by_vehicle, table_of_programs
from skyloop.links.loop.remote_pilot import ClientSession, Question
from skyloop.links.loop.targets import Target
from skyloop.links.loop.timeline import Interaction, Timeline
from skyloop.links.pace import Pace
from skyloop.sim.simulation_port import SimulationPort
from skyloop_client.errors import LinkError, SetpointError
from skyloop_client.messages import Message
from skyloop_client.streams import NS_PER_S
from skyloop_client.wire import LinkMessage

TABLE_I = {"RangeSample": 0.0977, "CameraImage": 0.0374}
"""s that the acquisition of a sample took with the real sensors (synchronised-hil, Table I)."""
LEAP_NS = 3600 * NS_PER_S
"""The most by which execution time can be ahead of simulated time."""


class Coordinator(Link):
    """Connects the listener and the simulation, in the simulation's thread."""

    name = "loop"

    def __init__(self, listener: Listener, options: SessionOptions | None = None, target: Target | None = None) -> None:
        self.options = options or SessionOptions()
        self.listener = listener
        self.target = target
        """Started when the simulation is ready."""
        self.timeline = Timeline()
        listener.taker = self.receive
        self._sync = self.options.mode == "sync"
        listener.stay_awake(self._sync)
        self._pace = Pace(None)
        self._began = time.perf_counter()
        self._looked = self._began
        self._awaits_first = True
        """A session that the flight needs has not connected yet."""

    def attach(self, port: SimulationPort, folder: Path | None, link_gate: LinkGate) -> None:
        self._port = port
        self._pace = link_gate.pace
        self._began = time.perf_counter()
        if folder is not None:
            self.timeline = Timeline(folder / "timeline.csv")
        if self.target is not None:
            self.target.start(f"{self.listener.host}:{self.listener.ports[0]}", folder)
        self.client_sessions = ClientSessions(port, self.listener, self.options)
        port.bus.on_every(self._on_message)

    @property
    def over(self) -> bool:
        """Every pilot has said goodbye, or is gone for good and its vehicle is on the ground."""
        if self._awaits_first or self.options.pilots_inside or any(self.client_sessions.flying):
            return False
        if self.client_sessions.others_fly:
            return False
        last = self.client_sessions.last.values()
        if all(pilot.said_bye for _, pilot in last):
            return True
        may_come_back = self.target is None or self.target.ended() is None
        if may_come_back and self._now < max(left for left, _ in last) + self.options.hover_s * NS_PER_S:
            return False
        return not any(vehicle.status.armed for vehicle in self._port.vehicles.values())

    def finish(self, why: str) -> None:
        for pilot in self.client_sessions.pilots.values():
            pilot.peer.send({"type": "end", "why": why, "t_ns": self._now}, patience_s=PATIENCE_S)
            pilot.take_back_memory(None)
        self.listener.close()
        self.timeline.close()

    # ---- called by the link gate

    @property
    def allows_realtime(self) -> bool:
        return not self.options.pilots_inside and not any(self.client_sessions.flying)

    def blocks_time(self, t_ns: int) -> bool:
        """ST may not pass the ET of a computing session, nor start before all needed sessions are connected."""
        if self._awaits() or not self._sync:
            return self._awaits_first
        computing = [pilot for pilot in self.client_sessions.computing if pilot.blocks_time]
        return any(pilot.bound_ns < t_ns for pilot in computing) or self.client_sessions.others_go_first(t_ns)

    def _awaits(self) -> bool:
        """True until there is a pilot, or one of each vehicle, and a session for each external estimator."""
        if self._awaits_first:
            self._awaits_first = bool(self.client_sessions.waited_for)
        return self._awaits_first

    def poll(self) -> None:
        if self._awaits():
            self._give_up_waiting()
        self._give_up_hung()

    @property
    def began(self) -> float:
        """When the link was attached, by `time.perf_counter`."""
        return self._began

    def stop_at(self, t_ns: int) -> int:
        """`t_ns`, or an earlier instant at which a question takes effect."""
        for pilot in self.client_sessions.pilots.values():
            if pilot.question is not None and pilot.question.acted_ns is None:
                t_ns = min(t_ns, pilot.question.due_ns)
        return t_ns

    def _give_up_waiting(self) -> None:
        how = None if self.target is None else self.target.ended()
        if how is not None:
            raise LinkError(f"the SUT ended before it connected, {how}")
        waited = time.perf_counter() - self._began
        if waited > self.options.wait_s:
            ports, who = ", ".join(map(str, self.listener.ports)), self.client_sessions.waited_for
            raise LinkError(
                f"no {who} came to port {ports} within {self.options.wait_s:g} s; start one, or wait longer "
                "with --wait SECONDS"
            )

    def _give_up_hung(self) -> None:
        """Called from time to time, when all incoming messages are handled."""
        now = time.perf_counter()
        if now - self._looked < POLL_S:
            return
        self._looked = now
        for pilot in list(self.client_sessions.pilots.values()):
            if pilot.blocks_time and now - pilot.heard > self.options.hang_s:
                last = "none" if pilot.asked_ns is None else f"at ET {pilot.asked_ns / NS_PER_S:.3f} s"
                why = f"hung: nothing heard for {now - pilot.heard:.0f} s of wall time, last question {last}"
                self._dismiss(pilot.peer, why)

    # ---- incoming

    def receive(self, peer: Peer, message: LinkMessage | str) -> None:
        """Handle a message, or the reason why a peer has gone."""
        if isinstance(message, str):
            if not peer.dismissed:
                peer.dismissed = True
                self.client_sessions.leave(peer, message)
            return
        peer.taken += 1
        if peer.dismissed:
            return
        try:
            self._receive(peer, message)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            kind = message["type"][:20]
            self._dismiss(peer, f"a '{kind}' lacks or misstates {error}; see docs/reference/protocol.md")
        except LinkError as error:
            self._dismiss(peer, str(error))

    def _dismiss(self, peer: Peer, why: str, *, says_why: bool = True) -> None:
        """Final and immediate, because the next message may be from a pilot of the same vehicle."""
        peer.dismissed = True
        self.listener.drop(peer, why, refusal=why if says_why else "")
        self.client_sessions.leave(peer, why[:MOST_WHY])

    def _receive(self, peer: Peer, message: LinkMessage) -> None:
        kind = message["type"]
        pilot = self.client_sessions.at(peer)
        if kind == "hello":
            self.client_sessions.greet(peer, message)
        elif kind == "bye":
            if pilot is not None:
                pilot.said_bye = True
                self.client_sessions.note_tasks(pilot, message.get("tasks"), self._now)
            self._dismiss(peer, "said goodbye", says_why=False)
        elif pilot is None:
            raise LinkError(f"'{kind[:20]}' before a hello, or not on a session's first connection")
        elif kind == "ask":
            self._ask(pilot, message)
        elif kind == "progress":
            pilot.heard = time.perf_counter()
            pilot.bound_ns = max(pilot.bound_ns, self._et(message))
        # other types may belong to a newer protocol

    def _et(self, message: LinkMessage) -> int:
        et_ns = integer_of(message, "et_ns")
        if self._sync and et_ns - self._now > LEAP_NS:
            raise LinkError(f"execution time leapt by more than an hour, to {et_ns} ns; the clock's unit is ns")
        return et_ns

    # ---- questions and answers

    def _ask(self, pilot: ClientSession, message: LinkMessage) -> None:
        if pilot.question is not None:
            raise LinkError("a question before the last one was answered")
        pilot.take_back_memory(message.get("free"))
        now = self._now
        et_ns = self._et(message)
        if self._sync and et_ns < pilot.bound_ns and not pilot.watch:
            raise LinkError(f"execution time went back: {et_ns} ns after {pilot.bound_ns} ns")
        want = message.get("want", ())
        known = self.client_sessions.stream
        names = [known(pilot, name) for name in want or ()]
        fresh = {known(pilot, name) for name in message.get("fresh", ())}
        any_of = {known(pilot, name) for name in message.get("any") or ()}
        pilot.held.streams.update(known(pilot, name) for name in message.get("every") or ())
        until = message.get("until_ns")
        if pilot.role != "pilot" and message.get("send"):
            raise LinkError(f"a {pilot.role} may not send setpoints or requests")
        if self._sync:
            due_ns = now if pilot.watch else max(et_ns, now)
        else:
            due_ns = self._pace.now(now, self._port.next_ns)
        pilot.question = Question(
            number=integer_of(message, "number"),
            et_ns=et_ns,
            send=list(message.get("send", ())),
            want=list(dict.fromkeys([*names, *fresh])),
            wants_all=want is None,
            fresh=fresh,
            any_of=any_of,
            takes_held=bool(message.get("every")),
            publish=list(message.get("publish") or ()),
            until_ns=0 if until is None else integer_of(message, "until_ns"),
            slept_ns=integer_of(message, "slept_ns", 0),
            due_ns=due_ns,
            st_asked_ns=now,
            wall_asked_ns=self._wall_ns(),
        )
        self.client_sessions.note_times(pilot, pilot.question, message.get("tasks"))
        self._port.at(due_ns, self._act_on_all_due)

    @property
    def answers_at_once(self) -> bool:
        """In this mode commands need not wait for the end of the instant, because their order is not guaranteed."""
        return not self._sync

    answers_beside = answers_at_once
    """Nothing that a pilot sends changes the world, so that it can be measured meanwhile."""

    def answer_at_once(self) -> None:
        """In the middle of an instant. Requests for samples wait for its end, to get all of them."""
        for pilot in list(self.client_sessions.pilots.values()):
            if pilot.question is not None and not pilot.question.want:
                self._act(pilot)

    def _act_on_all_due(self) -> None:
        """The order does not depend on the order of arrival."""
        due = [pilot for pilot in self.client_sessions.pilots.values() if pilot.is_due(self._now)]
        for pilot in sorted(due, key=lambda pilot: pilot.order):
            self._act(pilot)

    def _act(self, pilot: ClientSession) -> None:
        """ST has reached the ET of a question: its commands take effect, and its wait begins."""
        question = pilot.question
        if question is None or question.acted_ns is not None:  # it has left, or was answered meanwhile
            return
        port, now = self._port, self._now
        question.acted_ns, question.wall_acted_ns = now, self._wall_ns()
        question.refused += self.client_sessions.publish(pilot, question.publish)
        question.publish = []
        if question.wants_all:
            question.want = list(dict.fromkeys([*self._own_streams(pilot), *question.want]))
        send, question.send = question.send, []
        question.commands = len(send)
        for item in send:
            try:
                port.vehicles[pilot.vehicle].send(taken(item), by=COMMANDER)
            except (SetpointError, TypeError, ValueError) as error:
                question.refused.append(str(error)[:MOST_WHY])
        delay = max(map(self._delay, question.want), default=0)
        question.until_ns = max(question.until_ns, now + delay)
        question.fresh = {name for name in question.fresh if not self._is_new(pilot, name, port.bus.newest(name))}
        if any(self._has_news(pilot, name) for name in question.any_of):
            question.any_of = set()
        if question.until_ns > now:
            port.at(question.until_ns, partial(self._answer_if_ready, pilot, question))
        else:
            self._answer_if_ready(pilot, question)
        if pilot.question is question:
            self.client_sessions.draw_power(pilot)

    def _on_message(self, message: Message) -> None:
        for pilot in self.client_sessions.pilots.values():
            if message.stream in pilot.held.streams:
                pilot.held.put(message)
            question = pilot.question
            if question is None or question.acted_ns is None:
                continue
            if message.stream not in question.fresh and message.stream not in question.any_of:
                continue
            question.fresh.discard(message.stream)
            if message.stream in question.any_of:
                question.any_of = set()
            if not question.fresh and not question.any_of:
                self._port.at(self._now, partial(self._answer_if_ready, pilot, question))

    def _answer_if_ready(self, pilot: ClientSession, question: Question) -> None:
        """Called when all events of an instant are done."""
        now, port = self._now, self._port
        if pilot.question is not question or question.fresh or question.any_of or now < question.until_ns:
            return
        ready_ns = self._wall_ns()
        messages: LinkMessage = {}
        elsewhere: dict[str, int] = {}
        for name in question.want:
            newest = port.bus.newest(name)
            if newest is None or not self._is_new(pilot, name, newest):
                continue
            pilot.given[name] = newest.index
            if name in pilot.parts:
                elsewhere[name] = newest.index
            else:
                messages[name] = [newest.index, newest.t_ns, newest.arrival_ns, newest.data]
        events = list(pilot.events)
        pilot.events.clear()
        vehicle = port.vehicles[pilot.vehicle]
        reply = {
            "type": "reply", "number": question.number, "t_ns": now, "state": vehicle.belief,
            "status": vehicle.status, "messages": messages, "elsewhere": elsewhere,
            "refused": question.refused, "events": events,
            "arrived": self.client_sessions.arrived(pilot) if question.takes_held else [],
            "streams": self.client_sessions.new_streams(pilot), **self.client_sessions.energy_fields(pilot),
        }  # fmt: skip
        size = pilot.peer.send(reply, patience_s=PATIENCE_S)
        for name in elsewhere:
            size += self._send_part(pilot, question.number, port.bus.newest(name))
        pilot.question, pilot.heard = None, time.perf_counter()
        pilot.bound_ns = pilot.went_on_ns = now
        if pilot.watch:
            return
        self.client_sessions.draw_power(pilot)
        assert question.acted_ns is not None
        row = Interaction(
            pilot.vehicle, question.number, question.et_ns, question.st_asked_ns, question.acted_ns, now,
            question.wall_asked_ns, self._wall_ns(), question.commands, size, question.wall_acted_ns, ready_ns,
            pilot.shown_role,
        )  # fmt: skip
        self.timeline.add(row)

    def _send_part(self, pilot: ClientSession, number: int, message: Message | None) -> int:
        assert message is not None
        part = {
            "type": "message", "number": number, "stream": message.stream, "index": message.index,
            "t_ns": message.t_ns, "arrival_ns": message.arrival_ns, "data": message.data,
        }  # fmt: skip
        return pilot.parts[message.stream].send(part, patience_s=PATIENCE_S)

    # ---- small answers

    @property
    def _now(self) -> int:
        return self._port.now_ns

    def _wall_ns(self) -> int:
        return round((time.perf_counter() - self._began) * NS_PER_S)

    def _own_streams(self, pilot: ClientSession) -> list[str]:
        """All streams of a vehicle except its truth."""
        return [name for name in self.client_sessions.infos if name.startswith(f"{pilot.vehicle}/")]

    def _delay(self, stream: str) -> int:
        delays = self.options.delays
        return round(delays.get(self._port.bus.infos[stream].message, 0.0) * NS_PER_S) if delays else 0

    def _has_news(self, pilot: ClientSession, stream: str) -> bool:
        if stream in pilot.held.streams:
            return pilot.held.has(stream)
        return self._is_new(pilot, stream, self._port.bus.newest(stream))

    @staticmethod
    def _is_new(pilot: ClientSession, stream: str, message: Message | None) -> bool:
        return message is not None and message.index > pilot.given.get(stream, -1)

    def execution_times(self) -> dict[str, float]:
        """s, by vehicle and role: how far the ET of each session is known. Only mode `sync` knows any."""
        times = {}
        for pilot in list(self.client_sessions.pilots.values()) if self._sync else ():
            asked = pilot.question
            times[f"{pilot.vehicle} {pilot.shown_role}"] = (pilot.bound_ns if asked is None else asked.et_ns) / NS_PER_S
        return times

    def summary(self) -> Summary:
        return {
            "mode": self.options.mode,
            "interactions": self.timeline.count,
            "violations": self.timeline.violations,
            "refused_connections": self.listener.refused,
            "pilots": table_of_programs(self.client_sessions.computers, self._now),
            "vehicles": table_by_vehicle(self.client_sessions.computers),
            "news": self.client_sessions.news,
        }
