from __future__ import annotations

from fractions import Fraction

from skyloop.core.clock import Schedule
from skyloop_client.messages import Message
from skyloop_client.streams import NS_PER_S, Rate


def late(what: str, arrival_ns: int) -> Message:
    return Message("stream", 0, 0, arrival_ns, what)


def happen_until(schedule: Schedule, t_ns: int) -> None:
    while schedule.next_ns() < t_ns:
        for happen in schedule.due(schedule.next_ns()):
            happen()


def test_events_come_in_order_of_time_then_of_entry() -> None:
    schedule, seen = Schedule(), []
    schedule.every(Rate(2), lambda t, k: seen.append((t, "a", k)))
    schedule.every(Rate(4), lambda t, k: seen.append((t, "b", k)))
    happen_until(schedule, NS_PER_S)
    half, quarter = NS_PER_S // 2, NS_PER_S // 4
    assert seen == [
        (0, "a", 0), (0, "b", 0), (quarter, "b", 1), (half, "a", 1), (half, "b", 2), (3 * quarter, "b", 3)
    ]  # fmt: skip


def test_a_delivery_comes_before_the_tickers_of_its_instant_whenever_it_was_entered() -> None:
    seen: list[str] = []
    schedule = Schedule(lambda message: seen.append(message.data))

    def tick(t_ns: int, index: int) -> None:
        seen.append(f"tick {index}")
        schedule.once(late(f"delivery of {index}", t_ns + NS_PER_S))

    schedule.every(Rate(1), tick)
    happen_until(schedule, 3 * NS_PER_S)
    assert seen == ["tick 0", "delivery of 0", "tick 1", "delivery of 1", "tick 2"]


def test_deliveries_of_one_instant_keep_their_order_and_may_add_others() -> None:
    seen: list[str] = []

    def deliver(message: Message) -> None:
        seen.append(message.data)
        if message.data == "first":
            schedule.once(late("added", message.arrival_ns))

    schedule = Schedule(deliver)
    schedule.once(late("first", 5))
    schedule.once(late("second", 5))
    for happen in schedule.due(5):
        happen()
    assert seen == ["first", "second", "added"]


def test_an_odd_rate_does_not_drift() -> None:
    schedule, times = Schedule(), []
    schedule.every(Rate(30000, 1001), lambda t, k: times.append(t))
    happen_until(schedule, 100 * NS_PER_S)
    assert times == [int(Fraction(k * NS_PER_S * 1001, 30000)) for k in range(len(times))]
    assert len(times) == 2998


def test_going_back_repeats_tickers_and_deliveries() -> None:
    seen: list[tuple[int, object]] = []
    schedule = Schedule(lambda message: seen.append((message.arrival_ns, message.data)))
    schedule.every(Rate(3), lambda t, k: seen.append((t, k)))
    schedule.once(late("once", NS_PER_S + 1))
    happen_until(schedule, NS_PER_S)
    saved = schedule.snapshot()
    seen.clear()
    happen_until(schedule, 2 * NS_PER_S)
    first = list(seen)
    for _ in range(2):
        schedule.restore(saved)
        seen.clear()
        happen_until(schedule, 2 * NS_PER_S)
        assert seen == first
    assert (NS_PER_S + 1, "once") in first
