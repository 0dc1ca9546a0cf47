from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from skyloop.core.bus import Bus, Fingerprint, LatestRecords, record_bytes
from skyloop_client.bundle import Bundle
from skyloop_client.errors import ScenarioError, UnknownNameError
from skyloop_client.messages import Contact, Estimate, Event, EventKind, ImuSample, Message
from skyloop_client.streams import StreamInfo


def imu(t_ns: int, x: float = 0.0) -> ImuSample:
    return ImuSample(t_ns, np.array([x, 0.0, 0.0]), np.zeros(3))


def message(index: int, x: float = 0.0, stream: str = "drone/imu") -> Message:
    return Message(stream, index, index * 10, index * 10 + 3, imu(index * 10, x))


@pytest.fixture
def bus() -> Bus:
    bus = Bus()
    bus.advertise(StreamInfo("drone/imu", "ImuSample"))
    bus.advertise(StreamInfo("drone/events", "Event"))
    return bus


def test_latest_is_the_newest_or_none(bus: Bus) -> None:
    assert bus.latest("drone/imu") is None
    for index in range(3):
        bus.publish(message(index))
    assert bus.latest("drone/imu").t_ns == 20
    assert bus.counts == {"drone/imu": 3, "drone/events": 0}


def test_a_subscription_gives_every_message_once(bus: Bus) -> None:
    subscription = bus.subscribe("drone/imu")
    bus.publish(message(0))
    bus.publish(message(1))
    assert len(subscription) == 2
    assert [m.index for m in subscription] == [0, 1]
    assert len(subscription) == 0
    bus.publish(message(2))
    assert [m.index for m in subscription] == [2]


def test_a_limit_keeps_the_newest(bus: Bus) -> None:
    subscription = bus.subscribe("drone/imu", limit=2)
    for index in range(5):
        bus.publish(message(index))
    assert [m.index for m in subscription] == [3, 4]


def test_callbacks_run_in_order_of_subscription(bus: Bus) -> None:
    seen: list[str] = []
    bus.on("drone/imu", lambda m: seen.append(f"first {m.index}"))
    bus.on("drone/imu", lambda m: seen.append(f"second {m.index}"))
    bus.publish(message(0))
    assert seen == ["first 0", "second 0"]


def test_unknown_streams_are_told_with_the_nearest_name(bus: Bus) -> None:
    for ask in (bus.latest, bus.subscribe, lambda name: bus.on(name, print)):
        with pytest.raises(UnknownNameError, match="did you mean 'drone/imu'"):
            ask("drone/imuu")


def test_two_streams_of_one_name_are_refused(bus: Bus) -> None:
    with pytest.raises(ScenarioError, match="drone/imu"):
        bus.advertise(StreamInfo("drone/imu", "GnssFix"))


def test_restore_brings_latest_and_counts_back(bus: Bus) -> None:
    bus.publish(message(0))
    saved = bus.snapshot()
    bus.publish(message(1))
    bus.restore(saved)
    assert bus.latest("drone/imu").t_ns == 0
    assert bus.counts["drone/imu"] == 1


def test_a_bundle_finds_own_streams_others_and_the_state(bus: Bus) -> None:
    bus.advertise(StreamInfo("other/imu", "ImuSample"))
    bus.publish(message(1))
    bus.publish(message(2, stream="other/imu"))
    state = Estimate.unknown(20)
    bundle = Bundle(20, "drone", LatestRecords(bus), state, known=bus.infos)
    assert bundle.get("imu").t_ns == 10
    assert bundle.get("other/imu").t_ns == 20
    assert bundle.get("state") is state
    assert bundle.get("events") is None
    for name in ("imuu", "drone/imuu", "nothing"):
        with pytest.raises(UnknownNameError, match=f"no stream named '{name}'"):
            bundle.get(name)
    with pytest.raises(UnknownNameError, match="did you mean 'imu'"):
        bundle.get("imuu")


@pytest.mark.parametrize(
    "changed",
    [
        replace(message(1), index=2),
        replace(message(1), t_ns=11),
        replace(message(1), arrival_ns=14),
        message(1, np.nextafter(0.0, 1.0)),
    ],
)
def test_a_fingerprint_sees_every_bit(changed: Message) -> None:
    def digest(second: Message) -> dict[str, str]:
        bus = Bus()
        bus.advertise(StreamInfo("drone/imu", "ImuSample"))
        fingerprint = Fingerprint(bus)
        bus.publish(message(0))
        bus.publish(second)
        return fingerprint.hexdigests()

    assert digest(message(1)) == digest(message(1))
    assert digest(message(1)) != digest(changed)


def test_record_bytes_hold_texts_and_values() -> None:
    touch = Contact("legs", 0, "ground", np.zeros(3), np.array([0.0, 0.0, 1.0]), 0.5, 0.5)
    event = Event(1, EventKind.CONTACT, "legs", touch)
    assert record_bytes(event) != record_bytes(replace(event, text="body"))
    assert record_bytes(event) != record_bytes(replace(event, contact=replace(touch, speed=0.25)))
    assert record_bytes(event) != record_bytes(replace(event, contact=replace(touch, position=np.full(3, 1e-15))))
