"""The client's side of the link: connect, ask, and keep execution time."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from skyloop_client.bundle import Bundle
from skyloop_client.clocks import ExecutionTime, Source, source_of
from skyloop_client.codec import encode, info_from
from skyloop_client.errors import CodecError, LinkEnded, LinkError
from skyloop_client.estimator import EstimatorSetup
from skyloop_client.lent_memory import opened
from skyloop_client.messages import Message
from skyloop_client.pipe import DEFAULT_PORT, Pipe, why_over
from skyloop_client.streams import NS_PER_S, Rate, StreamInfo
from skyloop_client.user_code import call_user_code
from skyloop_client.wire import MOST_FROM_CLIENT, LinkMessage

ONLY = "*"
"""Means the only external estimator of a vehicle."""
MOST_PUBLISHED = MOST_FROM_CLIENT - (1 << 20)
"""Most bytes of all records with one question. The rest is for the question itself."""


def connect(
    address: str = "",
    *,
    vehicle: str = "",
    watch: bool = False,
    role: str = "",
    estimator: str = "",
    clock: str | Source = "",
    speed: float | None = None,
    period: float | None = None,
    duration: float | None = None,
    spread: Sequence[str] = (),
    timeout: float | None = None,
) -> Session:
    """A session with the simulator at "host:port", or where SKYLOOP_ADDRESS says.

    `vehicle`: by default the one that SKYLOOP_VEHICLE names, or else the only one.
    `clock`: "wall", "cpu" with a `speed`, or a function that gives ns; by default what SKYLOOP_CLOCK and SKYLOOP_SPEED
    say, or else the wall clock. `period` and `duration` declare deadlines in s.
    `role`: pilot (the default) commands the vehicle; companion computes beside it and publishes; watcher only reads,
    as with `watch`. `estimator`: the one of the scenario whose estimates this session gives, as a companion unless told
    otherwise. `spread`: streams to get each on a connection and port of its own. `timeout`: s to wait for any answer.
    """
    where = address or os.environ.get("SKYLOOP_ADDRESS", f"127.0.0.1:{DEFAULT_PORT}")
    clock = clock or os.environ.get("SKYLOOP_CLOCK", "wall")
    speed = float(os.environ.get("SKYLOOP_SPEED", "1")) if speed is None else speed
    time = ExecutionTime(source_of(clock, speed) if isinstance(clock, str) else clock)
    hello = {
        "vehicle": vehicle or os.environ.get("SKYLOOP_VEHICLE", ""),
        "watch": watch or role == "watcher",
        "role": role or ("watcher" if watch else "companion" if estimator else "pilot"),
        "estimator": estimator,
        "clock": clock if isinstance(clock, str) else "own",
        "speed": speed,
        "period_ns": None if period is None else round(period * NS_PER_S),
        "duration_ns": None if duration is None else round(duration * NS_PER_S),
        "energy": True,
        "memory": os.environ.get("SKYLOOP_SHARED_MEMORY") != "0",
    }
    return Session(where, hello, time, spread, timeout)


class Session:
    """The connection of one program with the simulator."""

    def __init__(
        self, address: str, hello: LinkMessage, time: ExecutionTime, spread: Sequence[str], timeout: float | None
    ) -> None:
        self._time = time
        self._number = 0
        self._latest: dict[str, object] = {}
        self._unsent: list[tuple[str, object]] = []
        """Records published since the last question."""
        self._unsent_bytes = 0
        self._refused_here: list[str] = []
        """Records published since the last question that cannot be sent."""
        self._tasks: list[list[object]] = []
        """Begins and ends of tasks since the last question."""
        self._spread: dict[str, Pipe] = {}
        self._pipe = Pipe(address, timeout)
        try:
            answer = self._pipe.hello(hello)
            self._started_ns = int(answer["t_ns"])
            self._pipe.memory = opened(answer.get("memory"))
            self.session: str = answer["session"]
            self.vehicle: str = answer["vehicle"]
            self.vehicles: list[str] = answer["vehicles"]
            self.mode: str = answer["mode"]
            self._pipe.stays_awake = self.mode == "sync"
            self.classes: list[str] = answer["classes"]
            self.infos: dict[str, StreamInfo] = {name: info_from(info) for name, info in answer["streams"].items()}
            self.setup, self.options = setup_from(answer, self.infos)
            for stream, port in zip(spread, answer["ports"][1:], strict=False):
                name = self.full_name(stream)
                self._spread[name] = Pipe(f"{address.rpartition(':')[0]}:{port}", timeout)
                self._spread[name].hello({**hello, "session": self.session, "streams": [name], "memory": False})
        except (KeyError, TypeError, ValueError) as error:
            self.close(bye=False)
            raise LinkError(f"the hello of {address} lacks or misstates {error}; is it of another version?") from None
        except BaseException:
            self.close(bye=False)
            raise
        time.go(self._started_ns)

    def now(self) -> int:
        """Execution time, ns."""
        return self._time.now()

    def full_name(self, stream: str) -> str:
        own = f"{self.vehicle}/{stream}"
        return own if own in self.infos else stream

    def ask(
        self,
        *send: object,
        want: Sequence[str] | None = (),
        fresh: Sequence[str] = (),
        until_ns: int | None = None,
        every: Sequence[str] = (),
        any_of: Sequence[str] = (),
    ) -> Bundle:
        """Send setpoints and requests and what was published, get samples (None: of all streams), sleep until an
        instant (`until_ns`), until each of `fresh` has a new sample, or until one of `any_of` has.

        Of the streams in `every` all messages since the last answer come, as `arrived`, in the order of arrival.
        """
        et_ns, slept_ns = self._time.stop()
        self._number += 1
        question = {
            "type": "ask", "number": self._number, "et_ns": et_ns, "send": list(send),
            "want": None if want is None else list(want), "fresh": list(fresh), "until_ns": until_ns,
            "slept_ns": slept_ns, "publish": self._unsent, "every": list(every), "any": list(any_of),
        }  # fmt: skip
        if self._pipe.memory is not None:
            question["free"] = self._pipe.memory.unused()
        if self._tasks:
            question["tasks"], self._tasks = self._tasks, []
        refused_here, self._unsent, self._unsent_bytes, self._refused_here = self._refused_here, [], 0, []
        try:
            self._pipe.write(question)
        except CodecError:
            self._time.go(et_ns)  # nothing was asked: the software continues and learns what could not be sent
            raise
        answer = self._answer("reply")
        try:
            self.infos.update((name, info_from(info)) for name, info in answer.get("streams", {}).items())
            arrived = tuple(Message(*parts) for parts in answer.get("arrived", ()))
            self._latest.update((message.stream, message.data) for message in arrived)
            for name, (_, _, _, record) in answer["messages"].items():
                self._latest[name] = record
            for name in answer.get("elsewhere", ()):
                self._latest[name] = self._spread[name].read()["data"]
            bundle = Bundle(
                answer["t_ns"],
                self.vehicle,
                dict(self._latest),
                answer["state"],
                answer["status"],
                tuple(answer["events"]),
                (*refused_here, *answer["refused"]),
                dict(self.infos),
                arrived,
                self.publish,
                answer.get("battery"),
                float(answer.get("computer_energy_j", 0.0)),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise LinkError(f"the answer lacks or misstates {error}; is the simulator of another version?") from None
        self._time.go(bundle.t_ns)
        return bundle

    def _answer(self, kind: str) -> LinkMessage:
        """The answer to the last question. Older answers may come late, after a timeout."""
        while (answer := self._pipe.read())["type"] != kind or answer.get("number") != self._number:
            if why := why_over(answer):
                raise LinkEnded(why)
        return answer

    def send(self, *items: object) -> Bundle:
        return self.ask(*items)

    def publish(self, name: str, record: object) -> None:
        """Put a record (see `skyloop_client.messages.products`) on `<vehicle>/<name>`, with the next question and at
        its execution time; what cannot be taken is named in `refused` of the answer."""
        try:
            size = sum(map(len, encode(record)))
        except CodecError as error:
            self._refused_here.append(f"'{name}': {error}")
            return
        if self._unsent_bytes + size > MOST_PUBLISHED:
            self._refused_here.append(f"'{name}': more than {MOST_PUBLISHED >> 20} MiB published with one question")
            return
        self._unsent_bytes += size
        self._unsent.append((name, record))

    def begin_task(self, name: str, deadline: float | None = None) -> None:
        """Begin a task. `deadline` is in s of execution time; the simulator reports a miss.

        The time counts from the last answer to the first question after `end_task`."""
        self._tasks.append(["begin", name, None if deadline is None else round(deadline * NS_PER_S)])

    def end_task(self, name: str) -> None:
        self._tasks.append(["end", name])

    def forget_loading(self) -> None:
        """Before the first question: time so far, such as for loading libraries, does not count as execution time."""
        if not self._number:
            self._time.stop()
            self._time.go(self._started_ns)

    def sleep_until(self, t_ns: int) -> Bundle:
        """The only way to sleep that the simulator knows of."""
        return self.ask(until_ns=t_ns)

    def ping(self) -> None:
        """A round trip of the link alone, independent of the simulator's work."""
        self._number += 1
        self._pipe.write({"type": "ping", "number": self._number})
        self._answer("pong")

    def progress(self) -> None:
        """Report execution time, so that the simulator may follow during a long computation."""
        self._pipe.write({"type": "progress", "et_ns": self._time.now()})

    def close(self, bye: bool = True) -> None:
        """With a bye the simulator knows that the work is done; without one, that something went wrong."""
        self._pipe.close(bye, self._tasks)
        for pipe in self._spread.values():
            pipe.close(bye)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.close(bye=kind is None)


def setup_from(hello: LinkMessage, infos: dict[str, StreamInfo]) -> tuple[EstimatorSetup | None, dict[str, object]]:
    """The set-up of an estimator and the options of its class, from the answer to a hello. None for other sessions."""
    about = hello.get("estimator")
    if not about:
        return None, {}
    inputs = {short: infos[name] for short, name in about["inputs"].items()}
    return EstimatorSetup(hello["vehicle"], about["name"], inputs, about["start"]), dict(about["options"])


def fly(session: Session, pilot: Callable[[Bundle], object], rate_hz: float | str = 50.0) -> None:
    """Call a pilot at a rate until it is done or the flight is over.

    A pilot with an attribute `streams` gets the records of these only; images that it does not use are not sent."""
    rate = Rate.from_hz(rate_hz)
    bundle = session.ask(want=_wanted(session, pilot))
    while not is_done(pilot):
        reply = call_user_code("pilot", bundle.t_ns, pilot, bundle)
        items = items_of(reply)
        # a pilot that took longer than its period continues at the next instant of its rate, as a real one would
        later = max(bundle.t_ns + 1, session.now())
        due_ns = rate.due_ns(rate.count_until(later))
        try:
            bundle = session.ask(*items, want=_wanted(session, pilot), until_ns=due_ns)
        except LinkEnded:
            return


def is_done(pilot: object) -> bool:
    """A pilot may have an attribute `done`."""
    return bool(getattr(pilot, "done", False))


def items_of(reply: object) -> list[object]:
    """The setpoints and requests of a pilot's reply: one, several or None."""
    return [item for item in (reply if isinstance(reply, list | tuple) else [reply]) if item is not None]


def _wanted(session: Session, pilot: object) -> list[str] | None:
    """The streams of a pilot that exist by now; None: all."""
    names: Sequence[str] | None = getattr(pilot, "streams", None)
    return None if names is None else [name for name in map(session.full_name, names) if name in session.infos]
