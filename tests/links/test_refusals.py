"""Peers who speak the protocol, but wrongly: each is told why, and the simulator flies on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from link_rig import Rig, Stranger, eventually, said
from skyloop_client.errors import LinkEnded, LinkError
from skyloop_client.messages import Arm, Attitude, Disarm, Goal, Motors, Position, Rates, TakeOff, Velocity
from skyloop_client.wire import PROTOCOL

SECOND = 1_000_000_000
NAN, INF = float("nan"), float("inf")


def test_two_clients_claim_one_vehicle(rig: Rig) -> None:
    with rig.connect(clock=lambda: 0) as first:
        with pytest.raises(LinkError, match=r"refused by .*'drone' is flown by 127\.0\.0\.1:\d+ already"):
            rig.connect()
        with rig.connect(watch=True) as watcher:
            assert watcher.vehicle == "drone"
        t_ns = first.ask().t_ns
        assert first.ask(until_ns=t_ns + SECOND // 10).t_ns == t_ns + SECOND // 10
    rig.news_of("refused", "is flown by")


@pytest.mark.parametrize(
    ("hello", "words"),
    [
        ({"protocol": 2}, "protocol 2 is not spoken here; this simulator speaks 1"),
        ({"protocol": "1"}, "'protocol' must be an integer"),
        ({"protocol": None}, "'protocol' must be an integer"),
        ({"vehicle": "drown"}, "no vehicle named 'drown'; there are drone"),
        ({"vehicle": "x" * 60_000}, "no vehicle named 'xxx"),
        ({"vehicle": ["drone"]}, "no vehicle"),
        ({"vehicle": np.ones(3)}, "hello"),
        ({"session": "0123456789abcdef"}, "there is no such session"),
        ({"session": np.ones(2)}, "hello"),
        ({"period_ns": "soon"}, "'period_ns' must be an integer"),
        ({"duration_ns": 1 << 63}, "'duration_ns' must be an integer"),
    ],
)
def test_wrong_hellos(rig: Rig, hello: dict[str, Any], words: str) -> None:
    with Stranger(rig) as stranger:
        why = stranger.say(**{"type": "hello", "protocol": PROTOCOL, **hello}).why()
        assert words in why
        assert len(why) <= 300
    assert len(rig.news_of("refused", words)) < 400


def test_hello_is_missing(rig: Rig) -> None:
    for message in (
        {"type": "ask", "number": 1, "et_ns": 0},
        {"type": "progress", "et_ns": 0},
        {"type": "t" * 1000},
        {"type": "hello"},
    ):
        with Stranger(rig) as stranger:
            why = stranger.say(**message).why()
            assert "before a hello" in why or "lacks or misstates 'protocol'" in why


def test_a_hello_after_a_mistake_is_not_listened_to(rig: Rig) -> None:
    """It would leave a pilot whom nobody can hear, and who holds time."""
    with Stranger(rig) as stranger:
        stranger.raw(said(type="ask", number=1, et_ns=0) + said(type="hello", protocol=PROTOCOL))
        assert "before a hello" in stranger.why()
    assert eventually(lambda: rig.news)
    assert not any("connected" in line for line in rig.news)


def with_session(rig: Rig, message: dict[str, Any]) -> str:
    with Stranger(rig) as stranger:
        t_ns = stranger.hello()["t_ns"]
        for key in ("et_ns", "until_ns"):
            if isinstance(message.get(key), str) and message[key].startswith("+"):
                message = {**message, key: t_ns + int(message[key][1:])}
        return stranger.say(**{"type": "ask", "number": 1, "et_ns": t_ns, **message}).why()


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({"type": "hello", "protocol": PROTOCOL}, "hello was said twice"),
        ({"et_ns": "+-1"}, "execution time went back"),
        ({"et_ns": -5}, "execution time went back"),
        ({"et_ns": "+4000000000000"}, "leapt by more than an hour"),
        ({"type": "progress", "et_ns": "+4000000000000"}, "leapt by more than an hour"),
        ({"et_ns": 1.5}, "'et_ns' must be an integer"),
        ({"et_ns": NAN}, "'et_ns' must be an integer"),
        ({"et_ns": None}, "'et_ns' must be an integer"),
        ({"et_ns": np.zeros(1, np.int64)}, "'et_ns' must be an integer"),
        ({"number": (1 << 64) - 1}, "'number' must be an integer"),
        ({"number": 1e300}, "'number' must be an integer"),
        ({"number": "one"}, "'number' must be an integer"),
        ({"until_ns": INF}, "'until_ns' must be an integer"),
        ({"slept_ns": [1]}, "'slept_ns' must be an integer"),
        ({"want": ["smell"]}, "no stream named 'smell'"),
        ({"fresh": ["smell"]}, "no stream named 'smell'"),
        ({"want": "status"}, "no stream named 's'"),
        ({"want": ["x" * 900_000]}, "no stream named 'xxx"),
        ({"want": [["status"]]}, "lacks or misstates"),
        ({"want": [np.ones(3)]}, "lacks or misstates"),
        ({"want": 5}, "lacks or misstates"),
        ({"send": 5}, "lacks or misstates"),
        ({"send": None}, "lacks or misstates"),
    ],
)
def test_wrong_questions(rig: Rig, message: dict[str, Any], words: str) -> None:
    assert words in with_session(rig, message)
    rig.news_of("left", words)


def test_a_question_before_the_last_one_was_answered(rig: Rig) -> None:
    with Stranger(rig) as stranger:
        t_ns = stranger.hello()["t_ns"]
        first = said(type="ask", number=1, et_ns=t_ns, until_ns=t_ns + 3000 * SECOND)
        assert "before the last one was answered" in stranger.raw(first + first).why()
    rig.news_of("left", "before the last one")


def test_messages_of_a_newer_protocol_are_ignored(rig: Rig) -> None:
    with Stranger(rig) as stranger:
        t_ns = stranger.hello(flavour="new")["t_ns"]
        stranger.say(type="weather", wind=np.ones(3))
        reply = stranger.ask(t_ns, colour=3, send=[{"@": "Somersault", "turns": 2}, {"@": "Arm", "gently": True}, 5])
        assert reply["refused"] == [
            "Somersault is neither a setpoint nor a request",
            "int is neither a setpoint nor a request",
        ]
        assert reply["status"].armed
        assert not stranger.ask(reply["t_ns"], 2, send=[Disarm()])["status"].armed


BAD_COMMANDS = [
    Velocity(np.array([NAN, 0.0, 0.0])),
    Velocity(np.array([0.0, INF, 0.0])),
    Velocity(np.zeros(2)),
    Velocity(np.zeros((3, 1))),
    Velocity(np.zeros((0, 3))),
    Velocity(np.zeros(100_000)),
    Velocity(np.zeros(3, complex)),
    Velocity(np.full(3, 1e300)),
    Velocity([1, 2]),  # type: ignore[arg-type]
    Velocity([[1], [2, 3]]),  # type: ignore[arg-type]
    Velocity("fast"),  # type: ignore[arg-type]
    Velocity({"x": 1.0}),  # type: ignore[arg-type]
    Velocity(None),  # type: ignore[arg-type]
    Velocity(np.zeros(3), frame="ship"),
    Velocity(np.zeros(3), frame=[1, 2]),  # type: ignore[arg-type]
    Velocity(np.zeros(3), yaw=NAN),
    Velocity(np.zeros(3), yaw_rate="left"),  # type: ignore[arg-type]
    Velocity(np.zeros(3), yaw=Arm()),  # type: ignore[arg-type]
    Position(np.zeros(4)),
    Position(np.zeros(3), jerk=np.full(3, -1e200)),
    Attitude(np.zeros(4), 1.0),
    Attitude(np.full(4, 1e300), 1.0),
    Attitude(np.array([1.0, 0.0, 0.0, 0.0]), -INF),
    Rates(np.zeros(3), np.zeros(3)),  # type: ignore[arg-type]
    Motors(np.zeros(3)),
    Goal(np.array([1e30, 0.0, 0.0])),
    TakeOff(NAN),
    TakeOff(-1.0),
    TakeOff(1e300),
    TakeOff("high"),  # type: ignore[arg-type]
    TakeOff([2.0]),  # type: ignore[arg-type]
]


def test_commands_that_cannot_be_obeyed_are_refused_one_by_one(rig: Rig) -> None:
    with rig.connect(clock=lambda: 0) as session:
        session.send(Arm())
        for command in BAD_COMMANDS:
            bundle = session.send(command)
            assert len(bundle.refused) == 1, command
            assert type(command).__name__ in bundle.refused[0]
        assert len(session.send(*BAD_COMMANDS).refused) == len(BAD_COMMANDS)
        bundle = session.sleep_until(session.now() + SECOND // 2)
        assert bundle.status.armed
        assert np.isfinite(bundle.state.position).all()
        session.send(Disarm())


def test_further_connections(rig: Rig) -> None:
    with Stranger(rig) as first, Stranger(rig, 1) as second, Stranger(rig, 1) as third:
        hello = first.hello()
        token = hello["session"]
        assert second.hello(session=token, streams=["drone/status"])["session"] == token
        assert (
            "is carried by another connection"
            in third.say(type="hello", protocol=PROTOCOL, session=token, streams=["status"]).why()
        )
        reply = first.ask(hello["t_ns"] + SECOND // 10, want=["status"])
        assert reply["messages"] == {}
        assert reply["elsewhere"] == {"drone/status": second.hear()["index"]}
        with Stranger(rig, 1) as unknown:
            why = unknown.say(type="hello", protocol=PROTOCOL, session=token, streams=["smell"]).why()
            assert "no stream named 'smell'" in why
        with Stranger(rig, 1) as idle:
            assert idle.hello(session=token, streams=[])["type"] == "hello"
            assert "hello was said twice" in idle.hello()["why"]
        assert "not on a session's first connection" in second.say(type="ask", number=1, et_ns=0).why()
        # what the second carried comes with the answer again
        reply = first.ask(reply["t_ns"] + SECOND // 10, 2, want=["status"])
        assert list(reply["messages"]) == ["drone/status"]
        with Stranger(rig, 1) as again:
            again.hello(session=token, streams=["status", "events"])
            first.say(type="bye")
            assert first.hear() == again.hear() == {}
    assert sum("refused" in line for line in rig.news) == 2


def test_a_pilot_who_is_sent_away_hears_why(rig: Rig) -> None:
    times = iter([1000, *[0] * 10])
    with rig.connect(clock=lambda: next(times)) as session:
        with pytest.raises(LinkEnded, match="execution time went back"):
            session.ask()
        with pytest.raises(LinkEnded):
            session.ask()
