"""Streams published over the link, and what hostile records come to; real sockets."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core_flights import Tape
from link_rig import TWO, Computer, Rig, Stranger, flying, said
from published_things import Teller, estimate, records
from skyloop.core.bus import record_bytes
from skyloop.links.loop import remote_pilot
from skyloop.links.loop.client_sessions import MOST_PUBLISHED
from skyloop.links.loop.in_process import InProcess
from skyloop.sim.assembly import build
from skyloop.sim.scenario import make_scenario
from skyloop_client import Session, fly
from skyloop_client.errors import LinkEnded, LinkError
from skyloop_client.messages import Arm, Image, Message, Number, Velocity
from skyloop_client.wire import PROTOCOL

MS, SECOND = 1_000_000, 1_000_000_000
THINGS = str(Path(__file__).parents[1] / "published_things.py")


class Everything:
    """All that came on the bus; callbacks run in the simulation's thread."""

    def __init__(self, rig: Rig) -> None:
        self.messages: list[Message] = []
        rig.simulation.bus.on_every(self.messages.append)

    def on(self, stream: str) -> list[Message]:
        return [message for message in list(self.messages) if message.stream == stream]


# ---- whoever is on the link publishes


def test_every_kind_arrives_at_the_senders_execution_time() -> None:
    with flying() as rig:
        heard, computer = Everything(rig), Computer()
        with rig.connect(clock=computer) as session, rig.connect(watch=True) as other:
            session.sleep_until(100 * MS)
            assert not {"drone/grid", "drone/cost"} & set(other.ask(want=None).known)
            expected = records(90 * MS)
            for name, record in expected.items():
                session.publish(name, record)
            computer.compute(7 * MS)
            bundle = session.ask(want=None)
            assert bundle.refused == () and bundle.t_ns == 107 * MS
            for name, record in expected.items():
                (message,) = heard.on(f"drone/{name}")
                # a goal has no stamp of its own and counts from when it is sent
                stamp_ns = getattr(record, "t_ns", 107 * MS)
                assert (message.index, message.t_ns, message.arrival_ns) == (0, stamp_ns, 107 * MS)
                assert record_bytes(message.data) == record_bytes(record)
                # the sender may read it back, and others are told of it
                assert record_bytes(bundle.get(name)) == record_bytes(record)
            seen = other.ask(want=["grid"])
            assert set(expected) <= {name.removeprefix("drone/") for name in seen.known}
            assert record_bytes(seen.get("grid")) == record_bytes(expected["grid"])
            assert other.infos["drone/grid"].message == "GridMap"


def test_the_same_pilot_publishes_the_same_in_the_process_and_over_the_link() -> None:
    pilot = {"name": "drone", "pilot": {"kind": f"{THINGS}:Teller", "rate_hz": 50}}
    with build(make_scenario({"vehicles": [pilot]})) as inside:
        taped = Tape(inside.bus)
        inside.run_until(1.0)
    with flying() as rig:
        tape = Tape(rig.simulation.bus)
        with rig.connect(clock=lambda: 0) as session:
            teller = Teller()

            def until_one_second(bundle: Any) -> Any:
                if bundle.t_ns >= SECOND:
                    until_one_second.done = True  # type: ignore[attr-defined]
                    return None
                return teller(bundle)

            fly(session, until_one_second)
    names = {f"drone/{name}" for name in records()}
    rows = [[row for row in t.cut() if row[0] in names and row[3] < SECOND] for t in (taped, tape)]
    assert rows[0] == rows[1] and len(rows[0]) == 2 * len(records())


def test_a_session_in_the_process_publishes_and_hears_everything() -> None:
    with build(
        make_scenario({"vehicles": [{"name": "drone", "sensors": {"imu": {"kind": "imu", "rate_hz": 100}}}]})
    ) as inside:
        session = InProcess(inside.port)
        session.publish("cost", Number(0, 1.0))
        session.publish("imu", Number(0, 1.0))
        bundle = session.ask(every=["imu"], until_ns=50 * MS)
        assert inside.latest("drone/cost").value == 1.0
        assert len(bundle.refused) == 1 and "the simulator's own stream" in bundle.refused[0]
        assert [message.index for message in bundle.arrived] == [0, 1, 2, 3, 4, 5]
        bundle.publish("cost", Number(50 * MS, 2.0))
        assert [message.index for message in session.ask(every=["imu"], any_of=["imu"]).arrived] == [6]
        assert inside.latest("drone/cost").value == 2.0


@contextmanager
def waiting(session: Session, until_ns: int) -> Iterator[None]:
    """A session that has asked, and sleeps until an instant while others go on."""
    thread = threading.Thread(target=lambda: suppressed(session, until_ns))
    thread.start()
    yield
    thread.join(20.0)


def suppressed(session: Session, until_ns: int) -> None:
    with suppress(LinkError):
        session.sleep_until(until_ns)


def test_roles() -> None:
    with flying() as rig, rig.connect(clock=lambda: 0) as pilot:
        with rig.connect(clock=lambda: 0, role="companion") as companion:
            companion.publish("cost", Number(0, 1.0))
            with waiting(companion, 20 * MS):
                # at one instant a companion goes first: what it has published is there when the pilot asks
                assert pilot.ask(want=None).get("cost").value == 1.0
                pilot.publish("cost", Number(0, 2.0))
                assert "'drone/cost' is published by the companion at 127.0.0.1:" in pilot.ask().refused[0]
                pilot.sleep_until(20 * MS)
            # a companion computes beside: it may not steer
            with pytest.raises(LinkEnded, match="a companion may not send setpoints"):
                companion.send(Velocity(np.zeros(3)))
        with rig.connect(watch=True) as watcher:
            watcher.publish("cost", Number(0, 1.0))
            assert watcher.ask().refused == ("a watcher may not publish; connect as a companion",)
        # the companion is gone: somebody else may go on with its stream
        pilot.publish("cost", Number(0, 2.0))
        assert pilot.ask().refused == ()
        assert rig.simulation.bus.counts["drone/cost"] == 2
        with pytest.raises(LinkError, match="no role named 'boss'"):
            rig.connect(role="boss")


def test_a_stream_of_another_vehicle_is_left_alone() -> None:
    with (
        flying(TWO) as rig,
        rig.connect(vehicle="a", clock=lambda: 0) as a,
        rig.connect(vehicle="b", clock=lambda: 0) as b,
    ):
        a.publish("map", records()["grid"])
        assert a.ask().refused == ()
        for name in ("a/map", "a/other"):
            b.publish(name, records()["grid"])
        b.publish("map", records()["grid"])
        assert b.ask().refused == (
            "'a/map' belongs to another vehicle; publish under your own, 'b'",
            "'a/other' belongs to another vehicle; publish under your own, 'b'",
        )
        assert (rig.simulation.bus.counts["a/map"], rig.simulation.bus.counts["b/map"]) == (1, 1)


# ---- hostile records


HOSTILE: dict[str, tuple[Any, str]] = {
    "no pair": (5, "a pair of a name and a record"),
    "three of them": (["a", Number(0, 1.0), 3], "a pair of a name and a record"),
    "no name": ([None, Number(0, 1.0)], "a stream's name is a text"),
    "a path": (["../../../etc/passwd", Number(0, 1.0)], "cannot name a stream"),
    "a sensor's name": (["status", Number(0, 1.0)], "the simulator's own stream of VehicleStatus"),
    "truth": (["truth/drone", estimate(0)], "streams under 'truth/' are the simulator's"),
    "no record": (["cost", {"value": 3}], "a dict cannot be published"),
    "a record of the simulator's": (["cost", Arm()], "a Arm cannot be published"),
    "a record nobody knows": (["cost", {"@": "Bomb", "x": 1}], "a record 'Bomb' cannot be published"),
    "NaN": (["cost", Number(0, float("nan"))], "Number.value is nan"),
    "text for a number": (["cost", {"@": "Number", "t_ns": 0, "value": "x" * 100_000}], "Number.value is 'xxx"),
    "lists for texts": (["cost", {"@": "Number", "t_ns": 0, "value": 1.0, "unit": [1, 2]}], "Number.unit is a tuple"),
    "a huge whole number": (["cost", {"@": "Number", "t_ns": 2**63, "value": 1.0}], "t_ns is 9223372036854775808"),
    "too large": (["picture", Image(0, np.zeros((2500, 2500), np.uint8))], "more than the 4194304 a record may have"),
    "a nest of lists": (["cost", {"@": "Markers", "t_ns": 0, "markers": [[[[[]]]]]}], "Markers.markers[0] is a list"),
}  # fmt: skip


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_record_is_one_line_and_disturbs_nobody(rig: Rig, what: str) -> None:
    item, words = HOSTILE[what]
    streams = set(rig.simulation.bus.infos)
    with Stranger(rig) as stranger:
        hello = stranger.hello()
        answer = stranger.ask(hello["t_ns"], publish=[item])
        assert answer["type"] == "reply", answer
        (line,) = answer["refused"]
        assert words in line and len(line) <= 300 and "\n" not in line
        assert stranger.ask(answer["t_ns"], 2, publish=[])["refused"] == []
    assert set(rig.simulation.bus.infos) == streams


def test_a_record_that_lacks_fields_is_sent_away_with_a_reason(rig: Rig) -> None:
    for wrong in ({"@": "Number"}, {"@": "GridMap", "t_ns": 0}):
        with Stranger(rig) as stranger:
            hello = stranger.hello()
            stranger.say(type="ask", number=1, et_ns=hello["t_ns"], publish=[["a", wrong]])
            assert "missing" in stranger.why()


def test_thousands_of_records_with_one_question_are_not_looked_at(rig: Rig) -> None:
    with Stranger(rig) as stranger:
        hello = stranger.hello()
        many = [["flood", {"@": "Number", "t_ns": 0, "value": 1.0}]] * 5000
        answer = stranger.ask(hello["t_ns"], publish=many)
        assert answer["refused"] == [f"5000 records with one question; only the first {MOST_PUBLISHED} were looked at"]
        assert rig.simulation.bus.counts["drone/flood"] == MOST_PUBLISHED


def test_what_cannot_be_sent_is_told_without_sending_it() -> None:
    with flying() as rig, rig.connect(clock=lambda: 0) as session:
        session.publish("cost", object())
        session.publish("big", Image(0, np.zeros((3000, 3000), np.uint8)))
        session.publish("good", Number(0, 1.0))
        refused = session.ask().refused
        assert (
            len(refused) == 2 and "cannot be encoded" in refused[0] and "MiB published with one question" in refused[1]
        )
        assert rig.simulation.bus.counts["drone/good"] == 1
        assert session.ask().refused == ()


# ---- every message


def test_every_message_comes_once_and_in_order() -> None:
    sensors = {"imu": {"kind": "imu", "rate_hz": 200}, "baro": {"kind": "barometer", "rate_hz": 50, "latency": 0.013}}
    with flying({"vehicles": [{"name": "drone", "sensors": sensors}]}) as rig:
        heard, computer = Everything(rig), Computer()
        with rig.connect(clock=computer) as session:
            got: list[Message] = list(session.ask(every=["imu", "baro"]).arrived)
            assert len(got) <= 1, "at most the sample of the very first instant"
            for step in (0, 3, 50, 7, 120, 0, 0, 1):
                computer.compute(step * MS)
                got += session.ask(every=["imu", "baro"], any_of=["imu", "baro"]).arrived
            last = got[-1].arrival_ns
            expected = [m for m in heard.messages if m.stream in ("drone/imu", "drone/baro") and m.arrival_ns <= last]
            assert [(m.stream, m.index, m.arrival_ns) for m in got] == [
                (m.stream, m.index, m.arrival_ns) for m in expected[-len(got) :]
            ]
            assert len(got) > 30 and record_bytes(got[3].data) == record_bytes(expected[-len(got) :][3].data)


def test_who_falls_behind_loses_the_oldest_and_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_pilot, "MOST_HELD", 20)
    with flying({"vehicles": [{"name": "drone", "sensors": {"imu": {"kind": "imu", "rate_hz": 200}}}]}) as rig:
        computer = Computer()
        with rig.connect(clock=computer) as session:
            session.ask(every=["imu"])
            computer.compute(SECOND)
            arrived = session.ask(every=["imu"]).arrived
            assert [message.index for message in arrived] == list(range(181, 201))
        rig.news_of("fell behind", "180 messages were dropped")


# ---- older clients, and records that carry less


def test_a_protocol_that_knows_nothing_of_this_still_works(rig: Rig) -> None:
    """A client of the first version sends no role, publishes nothing and ignores what is new."""
    with Stranger(rig) as stranger:
        hello = stranger.say(type="hello", protocol=PROTOCOL, vehicle="", watch=False).hear()
        assert hello["role"] == "pilot" and hello["estimator"] is None
        assert stranger.ask(hello["t_ns"])["arrived"] == []
        assert said(type="bye")


def test_estimates_may_carry_less() -> None:
    bare = replace(estimate(0), covariance=None, gyro_bias=None, accel_bias=None)
    with flying() as rig, rig.connect(clock=lambda: 0) as session:
        session.publish("vio", bare)
        assert session.ask(want=None).get("vio").covariance is None
