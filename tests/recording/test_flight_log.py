"""What a summary and a picture need: exact sums, thinned curves, and memory that does not grow with the flight."""

from __future__ import annotations

import math
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from skyloop.core.bus import Bus
from skyloop.recording.flight_log import MOST_EVENTS, MOST_ROWS, Curve, FlightLog, ThinnedList
from skyloop.recording.flight_plot import OFF, plot_flight
from skyloop_client.messages import Estimate, Event, EventKind, Message, SetpointState, VehicleState
from skyloop_client.streams import Rate, StreamInfo

LEVEL, ZERO = np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(3)


def state(t_ns: int, place: np.ndarray) -> VehicleState:
    return VehicleState(t_ns, place, np.array([3.0, 4.0, 0.0]), LEVEL, ZERO, ZERO, ZERO, np.full(4, 500.0), ZERO, ZERO)


def bus_of(*vehicles: str) -> Bus:
    bus = Bus()
    for name in vehicles:
        bus.advertise(StreamInfo(f"truth/{name}", "VehicleState", Rate(50), name))
        bus.advertise(StreamInfo(f"{name}/events", "Event", None, name))
        bus.advertise(StreamInfo(f"{name}/setpoint", "SetpointState", Rate(50), name))
        bus.advertise(StreamInfo(f"{name}/ekf", "Estimate", Rate(50), name))
    return bus


def estimate(t_ns: int, place: np.ndarray, valid: bool = True) -> Estimate:
    return Estimate(t_ns, place, ZERO, LEVEL, ZERO, ZERO, ZERO, ZERO, valid)


def test_a_curve_keeps_its_spacing_and_its_ends() -> None:
    curve = Curve(2, most=10)
    for k in range(1, 1001):
        curve.add(float(k), float(k * k))
        rows = curve.rows
        assert rows[0, 0] == 1.0 and rows[-1, 0] == k
        assert len(rows) <= 11
        assert len(set(np.diff(rows[:-1, 0]))) <= 1
    assert (curve.rows[:, 1] == curve.rows[:, 0] ** 2).all()


def test_a_thinned_list_is_spread_over_all_that_came() -> None:
    thinned = ThinnedList[int](8)
    for k in range(100):
        thinned.add(k)
    assert thinned.items == list(range(0, 100, 16))


def test_sums_are_of_every_message_whichever_of_two_comes_first() -> None:
    bus = bus_of("a")
    log = FlightLog(bus, ["a"])
    places = np.cumsum(np.random.default_rng(1).normal(size=(500, 3)), axis=0)
    offsets = np.random.default_rng(2).normal(size=(500, 3))
    for k, place in enumerate(places):
        t_ns = k * 20_000_000
        truth = Message("truth/a", k, t_ns, t_ns, state(t_ns, place))
        believed = Message("a/ekf", k, t_ns, t_ns, estimate(t_ns, place + offsets[k], valid=k >= 100))
        for message in (truth, believed) if k % 2 else (believed, truth):
            bus.publish(message)
    vehicle = log.vehicles["a"]
    assert vehicle.flown == pytest.approx(np.linalg.norm(np.diff(places, axis=0), axis=1).sum())
    assert vehicle.highest == places[:, 2].max()
    assert vehicle.fastest == 5.0
    curve, distances = vehicle.estimates["a/ekf"]
    assert distances.count == 400
    assert distances.rms == pytest.approx(math.sqrt((offsets[100:] ** 2).sum(axis=1).mean()))
    assert np.isnan(curve.rows[:100, 1]).all() and np.isfinite(curve.rows[100:, 1]).all()


@pytest.mark.slow("logs an hour of flight")
def test_memory_does_not_grow_with_the_flight() -> None:
    """As much after 12 000 messages of each kind as after 6 000."""
    bus = bus_of("a")
    log = FlightLog(bus, ["a"])
    crash = Event(0, EventKind.CRASH, "hits a tree")
    sizes = []
    tracemalloc.start()
    try:
        for k in range(12_000):
            t_ns = k * 20_000_000
            bus.publish(Message("truth/a", k, t_ns, t_ns, state(t_ns, np.array([k * 0.1, 0.0, 2.0]))))
            # of no instant of the truth's, so that it waits for one in vain
            bus.publish(Message("a/ekf", k, t_ns + 1, t_ns + 1, estimate(t_ns + 1, ZERO)))
            bus.publish(Message("a/events", k, t_ns, t_ns, crash))
            if k in (6_000, 11_999):
                sizes.append(tracemalloc.get_traced_memory()[0])
    finally:
        tracemalloc.stop()
    vehicle = log.vehicles["a"]
    assert vehicle.flown == pytest.approx(0.1 * 11_999)
    assert len(vehicle.motion.rows) <= MOST_ROWS + 1
    assert (len(vehicle.events), vehicle.events_left_out, vehicle.crashed) == (MOST_EVENTS, 11_000, True)
    assert sizes[1] < 1.02 * sizes[0]


def setpoint(t_ns: int, place: np.ndarray | None) -> SetpointState:
    """A position, or a velocity if there is no place."""
    nowhere = np.full(3, math.nan)
    kind, where, velocity = ("velocity", nowhere, ZERO) if place is None else ("position", place, nowhere)
    return SetpointState(t_ns, "setpoint", kind, where, velocity, 0.0, 0.0, np.full(4, math.nan), nowhere, math.nan)


def test_no_line_is_drawn_where_there_is_no_position_to_compare_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pilot that sends velocities for two of four seconds, and an estimate that is not valid meanwhile."""
    bus = bus_of("a")
    log = FlightLog(bus, ["a"])
    for k in range(200):
        t_ns, place = k * 20_000_000, np.array([k * 0.1, 0.0, 2.0])
        known = not 50 <= k < 150
        bus.publish(Message("truth/a", k, t_ns, t_ns, state(t_ns, place)))
        bus.publish(Message("a/setpoint", k, t_ns, t_ns, setpoint(t_ns, place + 1.0 if known else None)))
        bus.publish(Message("a/ekf", k, t_ns, t_ns, estimate(t_ns, place + 2.0, valid=known)))
    lines: dict[str, np.ndarray] = {}
    monkeypatch.setattr(
        "skyloop.recording.flight_plot._finish",
        lambda axes, farthest: lines.update({line.get_label(): line.get_xydata() for line in axes.rows[OFF].lines}),
    )
    plot_flight(log, "gaps", tmp_path / "flight.png")
    for name, off in (("a from setpoint", math.sqrt(3.0)), ("a/ekf from truth", math.sqrt(12.0))):
        t, distance = lines[name].T
        within = (t > 0.99) & (t < 2.99)
        assert within.sum() == 100 and np.isnan(distance[within]).all(), name
        assert distance[~within] == pytest.approx(off), name


@pytest.mark.parametrize("count", [1, 64])
def test_a_picture_of_any_number_of_vehicles(count: int, tmp_path: Path) -> None:
    names = [f"d{k}" for k in range(count)]
    bus = bus_of(*names)
    log = FlightLog(bus, names)
    for number, name in enumerate(names):
        for k in range(200):
            t_ns = k * 20_000_000
            place = np.array([number + math.cos(k / 30), math.sin(k / 30), 2.0 + 0.01 * number])
            bus.publish(Message(f"truth/{name}", k, t_ns, t_ns, state(t_ns, place)))
        for at, kind in ((0, EventKind.ARMED), (0.1, EventKind.TOOK_OFF), (3.9, EventKind.LANDED)):
            t_ns = round(at * 1e9)
            bus.publish(Message(f"{name}/events", 0, t_ns, t_ns, Event(t_ns, kind, "")))
    plot_flight(log, "many", tmp_path / "flight.png")
    assert (tmp_path / "flight.png").read_bytes().startswith(b"\x89PNG")
