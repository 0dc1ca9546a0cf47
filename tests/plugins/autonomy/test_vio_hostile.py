"""Input that no sensor should give: never an exception, never NaN, and afterwards the way is found again.

Every trouble goes through the odometry itself and through the localiser that a scenario uses."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from painted_flights import (
    HEIGHT,
    SETTINGS,
    WAYS,
    WIDTH,
    Event,
    Pair,
    Sample,
    calibration,
    estimates_of,
    events,
    is_finite,
    off,
)

from skyloop_autonomy.vio import VisualInertialOdometry

pytestmark = pytest.mark.flights

FIRST_NS, SLOT_NS = 2_000_000_000, 450_000_000
"""The first trouble begins when the flight does; the next one comes a slot later."""
TROUBLE_NS = 200_000_000
"""ns that each lasts: so long may the IMU be silent without harm."""
SECONDS = 3.5
WRONG_SIZE = np.full((90, 160), 100, np.uint8)
rng = np.random.default_rng(7)
NOISE = [rng.integers(0, 256, (HEIGHT, WIDTH)).astype(np.uint8) for _ in range(6)]


def grey(value: int) -> np.ndarray:
    return np.full((HEIGHT, WIDTH), value, np.uint8)


IMAGES: dict[str, Callable[[Pair], list[Event]]] = {
    "wrong size": lambda pair: [pair._replace(left=WRONG_SIZE, right=WRONG_SIZE)],
    "only one of the wrong size": lambda pair: [pair._replace(right=WRONG_SIZE)],
    "numbers with fractions": lambda pair: [pair._replace(left=pair.left.astype(np.float64))],
    "no pixel": lambda pair: [pair._replace(left=np.zeros((0, 0), np.uint8))],
    "black": lambda pair: [pair._replace(left=grey(0), right=grey(0))],
    "white": lambda pair: [pair._replace(left=grey(255), right=grey(255))],
    "noise": lambda pair: [Pair(pair.t_ns, NOISE[pair.t_ns % 5], NOISE[1 + pair.t_ns % 3])],
    "both cameras show the same": lambda pair: [pair._replace(right=pair.left)],
    "left and right changed round": lambda pair: [Pair(pair.t_ns, pair.right, pair.left)],
    "stamps that go back": lambda pair: [pair, pair._replace(t_ns=pair.t_ns - 130_000_000)],
    "every stamp twice": lambda pair: [pair, Pair(pair.t_ns, grey(90), NOISE[0])],
    "a stamp of next year": lambda pair: [pair._replace(t_ns=pair.t_ns + 10**16), pair],
    "a stamp before all": lambda pair: [pair._replace(t_ns=-pair.t_ns), pair],
    "nothing": lambda pair: [],
}


def slot_of(event: Event) -> tuple[int, bool]:
    """The number of the trouble whose turn it is, and whether it is on."""
    number, since_ns = divmod(event.t_ns - FIRST_NS, SLOT_NS)
    return number, 0 < since_ns <= TROUBLE_NS


def troubled(kind: type, troubles: Sequence[Callable[[Any], list[Event]]]) -> Iterator[Event]:
    """One flight, with one trouble after the other."""
    for event in events(1e-9 * (FIRST_NS + SLOT_NS * len(troubles)) + 0.1)[1]:
        number, is_on = slot_of(event)
        if isinstance(event, kind) and is_on and 0 <= number < len(troubles):
            yield from troubles[number](event)
        else:
            yield event


HUGE = np.array([1e300, -1e300, 1e30])
SAMPLES: dict[str, Callable[[Sample], list[Event]]] = {
    "not a number": lambda one: [one._replace(gyro=np.full(3, math.nan))],
    "infinite": lambda one: [one._replace(force=np.array([0.0, -math.inf, math.inf]))],
    "huge": lambda one: [one._replace(gyro=HUGE, force=HUGE)],
    "huge beside usual ones": lambda one: [one, one._replace(t_ns=one.t_ns + 1, force=HUGE)],
    "two numbers in place of three": lambda one: [one._replace(gyro=one.gyro[:2])],
    "stamps that go back": lambda one: [one, one._replace(t_ns=one.t_ns - 70_000_000, gyro=one.gyro + 5.0)],
    "every stamp twice": lambda one: [one, one._replace(gyro=one.gyro + 5.0)],
    "nothing": lambda one: [],
}


# the localiser refuses some of what the odometry itself must bear, and pairs the images
DIRECTLY = pytest.mark.slow("the same again, given to the odometry itself")
BAD_IMAGES = ("wrong size", "only one of the wrong size", "numbers with fractions", "no pixel", "stamps that go back")
BAD_SAMPLES = ("not a number", "infinite", "huge", "two numbers in place of three", "stamps that go back")


@pytest.mark.parametrize(
    ("way", "kind", "troubles"),
    [
        ("localiser", Pair, IMAGES),
        ("localiser", Sample, SAMPLES),
        pytest.param("odometry", Pair, {name: IMAGES[name] for name in BAD_IMAGES}, marks=DIRECTLY),
        pytest.param("odometry", Sample, {name: SAMPLES[name] for name in BAD_SAMPLES}, marks=DIRECTLY),
    ],
)
def test_broken_images_and_samples(way: str, kind: type, troubles: Mapping[str, Callable[[Any], list[Event]]]) -> None:
    """Nothing breaks, and at the end of each slot the way is known again."""
    end = 1e-9 * (FIRST_NS + SLOT_NS * len(troubles)) + 0.1
    estimates = WAYS[way](list(troubled(kind, list(troubles.values()))))
    assert all(is_finite(one) for one in estimates)
    for number, name in enumerate(troubles):
        end_ns = FIRST_NS + (number + 1) * SLOT_NS - 10_000_000
        after = next(one for one in estimates if one.t_ns >= end_ns)
        assert after.valid, f"{name}: {after.reason}"
        assert off(events(end)[0], after) < 0.05, name


def test_five_seconds_of_nothing() -> None:
    """Hung software: for 5 s neither images nor samples come. Where it is then cannot be known: it says so."""
    given = [
        event if event.t_ns <= FIRST_NS else event._replace(t_ns=event.t_ns + 5_000_000_000)
        for event in events(SECONDS)[1]
    ]
    estimates = WAYS["localiser"](given)
    assert all(is_finite(one) for one in estimates)
    first = next(one for one in estimates if one.t_ns > FIRST_NS)
    assert not first.valid and first.reason == "no IMU sample for 5.0 s"
    assert estimates[-1].valid, estimates[-1].reason
    assert estimates[-1].position_sd.max() > 1.0, "it may have flown anywhere meanwhile"


def test_an_imu_that_gives_no_numbers_for_long_is_told_and_comes_back() -> None:
    broken = [
        event._replace(gyro=HUGE) if isinstance(event, Sample) and FIRST_NS < event.t_ns <= FIRST_NS + 10**9 else event
        for event in events(4.0)[1]
    ]
    estimates = WAYS["localiser"](broken)
    found = next(one for one in estimates if one.t_ns > FIRST_NS + 9 * 10**8)
    assert not found.valid and found.reason.startswith("no usable IMU sample for 0.9")
    assert all(is_finite(one) for one in estimates) and estimates[-1].valid


def test_a_clock_that_is_set_back_costs_a_new_start_from_the_last_place() -> None:
    flown, given = events(SECONDS)
    odometry = VisualInertialOdometry(calibration(), SETTINGS, start_yaw=0.3)
    half = next(k for k, event in enumerate(given) if event.t_ns > 2_500_000_000)
    estimates_of(odometry, given[:half])
    last = odometry.estimate
    again = estimates_of(odometry, (event._replace(t_ns=event.t_ns - 10**9) for event in given[half:]))
    assert all(is_finite(one) for one in again)
    reasons = {one.reason for one in again}
    assert "the clock of the IMU went back" in reasons
    assert 0 < again[-1].t_ns - 10**9 < SECONDS * 10**9
    forward = 2.0 * math.atan2(last.quat_wxyz[3], last.quat_wxyz[0])
    assert odometry._start_yaw == pytest.approx(forward, abs=0.05)
    assert odometry._start_position == pytest.approx(last.position, abs=1e-9) and len(flown.times)


def test_a_filter_that_breaks_down_starts_again_where_it_was() -> None:
    """Whatever makes a number infinite: the estimate never shows it, and it goes on from the last position."""
    _, given = events(SECONDS)
    odometry = VisualInertialOdometry(calibration(), SETTINGS)
    half = next(k for k, event in enumerate(given) if event.t_ns > 2_000_000_000)
    estimates_of(odometry, given[:half])
    last = odometry.estimate
    odometry.backend.filter.covariance[4, 4] = math.inf
    after = estimates_of(odometry, given[half:])
    assert all(is_finite(one) for one in after)
    assert any(one.reason == "the filter broke down and starts again" for one in after)
    assert odometry._start_position == pytest.approx(last.position, abs=0.05)
    assert after[-1].valid, "it has started again"


def test_the_same_troubles_give_the_same_bytes() -> None:
    chosen = [IMAGES[name] for name in ("noise", "every stamp twice")]
    first, second = (WAYS["localiser"](troubled(Pair, chosen)) for _ in range(2))
    assert len(first) == len(second)
    for one, other in zip(first, second, strict=True):
        assert one.position.tobytes() == other.position.tobytes() and one.valid == other.valid
        assert one.covariance is None or one.covariance.tobytes() == other.covariance.tobytes()
