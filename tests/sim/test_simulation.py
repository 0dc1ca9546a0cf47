from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from core_flights import resting
from skyloop.sim.assembly import build
from skyloop.sim.scenario import make_scenario
from skyloop.sim.simulation import Simulation
from skyloop_client.errors import PartError, SetpointError, UnknownNameError
from skyloop_client.messages import (
    Arm,
    Disarm,
    Event,
    Goal,
    GoHome,
    Hover,
    Land,
    Motors,
    Position,
    TakeOff,
    Velocity,
)


def kinds(events: Any) -> list[str]:
    return [message.data.kind for message in events if message.data.kind != "contact"]


def in_the_air(**changes: Any) -> Simulation:
    simulation = resting(**changes)
    simulation.send(Arm(), TakeOff(2.0))
    simulation.run_until(5.0)
    return simulation


def test_it_stands_still_until_told_to_fly() -> None:
    simulation = resting()
    start = simulation.truth().position
    simulation.run_until(2.0)
    np.testing.assert_allclose(simulation.truth().position, start, atol=1e-4)
    assert simulation.latest("drone/status").mode == "disarmed"


def test_take_off_goal_hover_and_land() -> None:
    simulation = resting()
    events = simulation.subscribe("drone/events")
    start = simulation.truth().position
    simulation.send(Arm(), TakeOff(2.0))
    simulation.run_until(5.0)
    assert kinds(events) == ["armed", "took off"]
    np.testing.assert_allclose(simulation.truth().position, start + np.array([0.0, 0.0, 2.0]), atol=0.05)
    simulation.send(Goal(np.array([6.0, -3.0, 4.0]), yaw=1.0))
    simulation.run_until(12.0)
    assert kinds(events) == ["arrived"]
    np.testing.assert_allclose(simulation.truth().position, [6.0, -3.0, 4.0], atol=0.1)
    assert simulation.latest("drone/status").mode == "hover"
    simulation.send(Land())
    simulation.run_until(22.0)
    assert kinds(events) == ["landed", "disarmed"]
    status = simulation.latest("drone/status")
    assert (status.mode, status.armed, status.landed) == ("disarmed", False, True)
    np.testing.assert_allclose(simulation.truth().position, [6.0, -3.0, start[2]], atol=0.3)


def test_going_home_ends_on_the_ground_where_it_armed() -> None:
    simulation = in_the_air()
    home = simulation.truth().position[:2]
    simulation.send(Goal(np.array([8.0, 0.0, 2.0])))
    simulation.run_until(11.0)
    events = simulation.subscribe("drone/events")
    simulation.send(GoHome())
    simulation.run_until(13.0)
    assert simulation.latest("drone/status").mode == "home"
    simulation.run_until(30.0)
    assert kinds(events) == ["arrived", "landed", "disarmed"]
    np.testing.assert_allclose(simulation.truth().position[:2], home, atol=0.3)


def test_hover_stops_a_moving_vehicle() -> None:
    simulation = in_the_air()
    for k in range(10):
        simulation.send(Velocity(np.array([3.0, 0.0, 0.0])))
        simulation.run_until(5.0 + 0.2 * (k + 1))
    assert simulation.truth().velocity_world[0] > 1.5
    simulation.send(Hover())
    simulation.run_until(11.0)
    assert np.linalg.norm(simulation.truth().velocity_world) < 0.05


def test_a_setpoint_while_disarmed_is_refused_and_told_once() -> None:
    simulation = resting()
    events = simulation.subscribe("drone/events")
    for _ in range(3):
        simulation.send(Position(np.array([0.0, 0.0, 2.0])))
        simulation.run_for(0.1)
    refused: list[Event] = [message.data for message in events]
    assert [event.kind for event in refused] == ["refused"]
    assert "Position while disarmed" in refused[0].text
    assert simulation.truth().position[2] < 0.5
    simulation.send(Arm(), Disarm(), TakeOff())
    simulation.run_for(0.1)
    assert kinds(events) == ["armed", "disarmed", "refused"]


def test_arming_is_refused_with_an_empty_battery() -> None:
    simulation = resting(vehicles__drone__charge=0.05)
    events = simulation.subscribe("drone/events")
    simulation.send(Arm())
    simulation.run_for(0.1)
    assert kinds(events) == ["refused"]


@pytest.mark.parametrize(
    ("setpoint", "text"),
    [
        (Position(np.array([0.0, np.nan, 1.0])), "Position.position"),
        (Position(np.zeros(2)), "shape"),
        (Velocity(np.zeros(3), frame="wrld"), "Velocity.frame"),
        (Motors(np.zeros(3)), "Motors.throttle"),
        (TakeOff(-1.0), "altitude"),
        (Goal(np.zeros(3), yaw=np.inf), "Goal.yaw"),
    ],
)
def test_what_cannot_be_obeyed_is_an_error_that_names_the_field(setpoint: Any, text: str) -> None:
    simulation = resting()
    simulation.send(Arm())
    before = simulation.latest("drone/status")
    with pytest.raises(SetpointError, match=text):
        simulation.send(setpoint)
    assert simulation.latest("drone/status") is before


def test_unknown_names_suggest_the_nearest() -> None:
    simulation = resting()
    with pytest.raises(UnknownNameError, match="did you mean 'drone'"):
        simulation.truth("drome")
    with pytest.raises(UnknownNameError, match="did you mean 'drone'"):
        simulation.send(Arm(), vehicle="dron")
    with pytest.raises(UnknownNameError, match="did you mean 'drone/status'"):
        simulation.subscribe("drone/statu")
    with pytest.raises(UnknownNameError, match="did you mean 'truth/drone'"):
        simulation.latest("truth/dron")


def two_airframes() -> Simulation:
    vehicles = [
        {"name": "big", "airframe": "x500"},
        {"name": "small", "airframe": "crazyflie", "position": [3.0, 0.0]},
    ]
    return build(make_scenario({"vehicles": vehicles}))


def test_two_vehicles_with_different_airframes_obey_separately() -> None:
    simulation = two_airframes()
    simulation.send(Arm(), TakeOff(1.0), vehicle="small")
    simulation.run_until(4.0)
    assert simulation.truth("small").position[2] > 0.9
    assert simulation.truth("big").position[2] < 0.5
    simulation.send(Arm(), TakeOff(3.0), vehicle="big")
    simulation.run_until(9.0)
    assert simulation.truth("big").position[2] > 2.9
    np.testing.assert_allclose(simulation.truth("small").position[:2], [3.0, 0.0], atol=0.1)
    thrust = {name: simulation.truth(name).rotor_thrusts.sum() for name in ("big", "small")}
    assert thrust["big"] > 20 * thrust["small"]
    with pytest.raises(UnknownNameError):
        simulation.truth()


def test_truth_is_published_at_its_rate_and_is_the_truth() -> None:
    simulation = resting(truth_rate_hz=20)
    truth = simulation.subscribe("truth/drone")
    simulation.send(Arm(), TakeOff(2.0))
    simulation.run_until(1.0)
    messages = list(truth)
    assert [m.t_ns for m in messages] == [k * 50_000_000 for k in range(20)]
    simulation.step()
    (last,) = truth
    np.testing.assert_array_equal(last.data.position, simulation.truth().position)


def test_a_message_is_not_seen_before_it_arrives() -> None:
    sensor = {"kind": "barometer", "rate_hz": 10, "latency": 0.25}
    simulation = resting(vehicles__drone__sensors={"late": sensor})
    simulation.run_until(0.25)
    assert simulation.latest("drone/late") is None
    late = simulation.subscribe("drone/late")
    arrivals = []
    while simulation.clock.now_ns < 1_000_000_000:
        simulation.step()
        arrivals += [(m.t_ns, m.arrival_ns, simulation.clock.now_ns) for m in late]
    assert len(arrivals) == 8
    for t_ns, arrival_ns, seen_ns in arrivals:
        assert arrival_ns - t_ns == 250_000_000
        assert seen_ns == arrival_ns


def test_time_never_runs_backwards() -> None:
    simulation = resting()
    simulation.run_until(1.0)
    simulation.run_until(0.5)
    assert simulation.now == 1.0


def test_restore_brings_back_vehicle_mode_battery_and_time() -> None:
    simulation = in_the_air()
    saved = simulation.snapshot()
    there, charge = simulation.truth(), simulation.latest("drone/battery").state_of_charge
    simulation.send(Land())
    simulation.run_until(15.0)
    assert simulation.latest("drone/status").mode == "disarmed"
    simulation.restore(saved)
    assert simulation.now == 5.0
    assert simulation.latest("drone/status").mode == "hover"
    assert simulation.latest("drone/battery").state_of_charge == charge
    np.testing.assert_array_equal(simulation.truth().position, there.position)
    np.testing.assert_array_equal(simulation.truth().rotor_speeds, there.rotor_speeds)
    simulation.run_until(8.0)
    assert simulation.truth().position[2] > 1.9


def test_what_happened_before_going_back_is_not_read_after_it() -> None:
    simulation = in_the_air(truth_rate_hz=2)
    simulation.run_until(5.25)
    saved = simulation.snapshot()
    simulation.run_until(5.51)
    hovering = simulation.latest("truth/drone")
    simulation.restore(saved)
    simulation.send(Motors(np.zeros(4)))
    simulation.run_until(5.51)
    falling = simulation.latest("truth/drone")
    assert falling.t_ns == hovering.t_ns == 5_500_000_000
    assert falling.position[2] < hovering.position[2] - 0.05


def test_a_pilot_starts_again_from_where_it_was(tmp_path: Any) -> None:
    (tmp_path / "counting.py").write_text(
        "class Pilot:\n"
        "    def __call__(self, bundle):\n"
        "        if not hasattr(self, 'seen'):\n"
        "            self.seen = []\n"
        "        self.seen.append(bundle.t_ns)\n"
    )
    data = {"vehicles": [{"pilot": {"kind": "counting.py:Pilot", "rate_hz": 10}}]}
    simulation = build(make_scenario(data, folder=tmp_path))
    saved = simulation.snapshot()
    pilot = simulation.parts[-1].pilot  # type: ignore[attr-defined]
    simulation.run_until(1.0)
    assert len(pilot.seen) == 10
    simulation.restore(saved)
    assert not hasattr(pilot, "seen")
    simulation.run_until(0.5)
    assert len(pilot.seen) == 5


OWN_PARTS = """
import threading

class Slotted:
    __slots__ = ("_count", "__late")
    def __init__(self):
        self._count = 0
    def __call__(self, bundle):
        self._count += 1
        self.__late = [bundle.t_ns]
    def seen(self):
        return self._count, getattr(self, "_Slotted__late", None)

class Gusts:
    def __init__(self):
        self.asked = 0
    def velocity(self, position, t_s):
        self.asked += 1
        return [0.01 * self.asked, 0.0, 0.0]

class Locked:
    def __init__(self):
        self.lock = threading.Lock()
    def __call__(self, bundle):
        pass

class Full:
    def __init__(self, airframe, period_s):
        self.asked = 0
    def throttle(self, state, setpoint, t_ns):
        self.asked += 1
        return [0.0] * 4
"""


def with_own(tmp_path: Any, wind: Any = None, **vehicle: Any) -> Simulation:
    (tmp_path / "own.py").write_text(OWN_PARTS)
    data = {"vehicles": [{"name": "drone", **vehicle}], **({"wind": wind} if wind else {})}
    return build(make_scenario(data, folder=tmp_path))


def test_a_pilot_with_slots_and_a_wind_field_start_again_from_where_they_were(tmp_path: Any) -> None:
    wind = {"kind": "field", "source": "own.py:Gusts", "rate_hz": 10}
    simulation = with_own(tmp_path, wind, pilot={"kind": "own.py:Slotted", "rate_hz": 10})
    pilot = simulation.parts[-1].pilot  # type: ignore[attr-defined]
    start = simulation.snapshot()
    simulation.run_until(0.45)
    saved = simulation.snapshot()
    assert pilot.seen() == (5, [400_000_000])
    simulation.run_until(1.0)
    blown = simulation.truth().wind_world
    simulation.restore(saved)
    assert pilot.seen() == (5, [400_000_000])
    simulation.run_until(1.0)
    np.testing.assert_array_equal(simulation.truth().wind_world, blown)
    simulation.restore(start)
    assert pilot.seen() == (0, None)


def test_a_part_that_cannot_be_copied_is_named(tmp_path: Any) -> None:
    simulation = with_own(tmp_path, pilot="own.py:Locked")
    with pytest.raises(PartError, match=r"pilot of 'drone' cannot be copied into a snapshot: TypeError.*lock"):
        simulation.snapshot()


def test_a_controller_is_not_asked_while_the_motors_are_set_directly(tmp_path: Any) -> None:
    simulation = with_own(tmp_path, controller="own.py:Full")
    controller = simulation.parts[-1].controller  # type: ignore[attr-defined]
    simulation.send(Arm(), Motors(np.full(4, 0.3)))
    simulation.run_until(0.4)
    assert controller.asked == 0
    assert simulation.truth().rotor_speeds.min() > 100.0
    simulation.send(Position(np.array([0.0, 0.0, 1.0])))
    simulation.run_until(0.5)
    assert controller.asked > 0


def test_truth_cannot_be_written_to() -> None:
    simulation = resting()
    simulation.run_until(0.1)
    truth = simulation.truth()
    for field in ("position", "quat_wxyz", "rotor_speeds", "rotor_thrusts", "wind_world"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(truth, field)[0] += 100.0
        with pytest.raises(ValueError, match="WRITEABLE"):
            getattr(truth, field).flags.writeable = True


def test_an_event_arrives_at_the_tick_that_tells_it() -> None:
    simulation = resting()
    events = simulation.subscribe("drone/events")
    simulation.run_until(0.51)
    simulation.send(Arm())
    simulation.run_until(0.6)
    (armed,) = (m for m in events if m.data.kind == "armed")
    assert (armed.t_ns, armed.data.t_ns, armed.arrival_ns) == (510_000_000, 510_000_000, 520_000_000)


@pytest.mark.parametrize("duration", [float("nan"), float("inf"), -0.1])
def test_a_duration_must_be_a_number_of_seconds(duration: float) -> None:
    simulation = resting()
    with pytest.raises(SetpointError, match=f"cannot run for {duration} s"):
        simulation.run_for(duration)
    if not np.isfinite(duration):
        with pytest.raises(SetpointError, match="cannot run until"):
            simulation.run_until(duration)
    assert simulation.now == 0.0
