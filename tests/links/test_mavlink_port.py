"""What MAVLink's clients change goes through the vehicle's port: it is in snapshots, and who commands is one word."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from pymavlink.dialects.v20 import common as mavlink
from test_mavlink_flight import ARM, TAKEOFF, Flight, flight

from skyloop_client.messages import Event, EventKind, Goal, GoHome, Hover, Velocity

NAN = math.nan
TERMINATE = 185
CHANGED = {
    "MPC_XY_CRUISE": 2.0, "MPC_XY_VEL_MAX": 2.5, "MPC_Z_VEL_MAX_UP": 1.0, "MPC_Z_VEL_MAX_DN": 0.8, "MPC_ACC_HOR": 2.0,
    "MPC_TILTMAX_AIR": 15.0, "MPC_LAND_SPEED": 0.4, "RTL_RETURN_ALT": 8.0, "SKY_OBL_LAND_T": 2.0,
}  # fmt: skip


def put(flown: Flight, name: str, value: float) -> None:
    flown.desk.say(flown.vehicle, mavlink.MAVLink_param_set_message(1, 1, name.encode(), value, 9))
    assert flown.desk.latest["PARAM_VALUE"].param_value == pytest.approx(value)


def take_off(flown: Flight, height: float = 5.0) -> None:
    put(flown, "MIS_TAKEOFF_ALT", height)
    flown.command(ARM, 1)
    flown.command(TAKEOFF, 0, 0, 0, NAN, NAN, NAN, NAN)
    flown.until(lambda: flown.mode == "hold")


def states(flown: Flight, seconds: float) -> list[bytes]:
    """The truth from now on, with no tick of the link in between."""
    seen: list[bytes] = []
    flown.simulation.bus.on(
        "truth/drone", lambda m: seen.append(np.concatenate([m.data.position, m.data.quat_wxyz]).tobytes())
    )
    flown.simulation.run_for(seconds)
    return list(seen)


def test_limits_failsafes_and_home_are_in_a_snapshot() -> None:
    with flight() as flown, flight() as other:
        take_off(flown)
        for name, value in CHANGED.items():
            put(flown, name, value)
        flown.command(179, 0, 0, 0, NAN, 47.6415, -122.1400, 122.0)
        flown.system.port.send(Goal(np.array([9.0, 4.0, 6.0])), by="mavlink")
        flown.simulation.run_for(2.0)
        flown.system.port.send(GoHome(), by="mavlink")
        saved = flown.simulation.snapshot()
        expected = states(flown, 12.0)

        # in the same simulation, with everything changed since
        for name, value in {"MPC_XY_CRUISE": 9.0, "MPC_TILTMAX_AIR": 50.0, "RTL_RETURN_ALT": 2.0}.items():
            put(flown, name, value)
        flown.command(179, 1)
        flown.simulation.restore(saved)
        flown.vehicle.restart()
        for name, value in CHANGED.items():
            assert flown.vehicle.parameters.table[name].get() == pytest.approx(value), name
        assert states(flown, 12.0) == expected

        # and in another build of the same scenario
        other.simulation.restore(saved)
        assert states(other, 12.0) == expected
        assert len(expected) > 100


def test_a_hard_crash_reaches_ground_stations_as_an_alert() -> None:
    with flight() as flown:
        severities: dict[str, int] = {}
        reported = flown.desk.send

        def send(message: Any, component: int = 1) -> None:
            reported(message, component)
            if message.get_type() == "STATUSTEXT":
                severities[flown.texts[-1].split(":")[0]] = message.severity

        flown.desk.send = send  # type: ignore[method-assign]
        take_off(flown)
        flown.command(TERMINATE, 1)
        # on its back: legs would carry it
        upside_down = np.array([0.0, 1.0, 0.0, 0.0])
        flown.simulation.port.editor.put(flown.system.port.index, np.array([0.0, 0.0, 8.0]), upside_down)
        flown.until(lambda: "crash" in severities)
        assert severities["crash"] == mavlink.MAV_SEVERITY_ALERT
        assert severities["armed"] == mavlink.MAV_SEVERITY_INFO
        # the autopilot's own word for lying on its side is the same
        flown.vehicle.system._tell(Event(0, EventKind.CRASH, "lies on its side, motors off"))
        assert severities["crash"] == mavlink.MAV_SEVERITY_ALERT


def test_offboard_that_ceases_releases_the_vehicle() -> None:
    with flight() as flown:
        port = flown.system.port
        take_off(flown)
        flown.vehicle.modes.follow(Velocity(np.array([1.0, 0.0, 0.0])))
        flown.vehicle.modes.choose("offboard")
        assert port.commander == "mavlink"
        flown.until(lambda: port.commander == "")
        assert flown.mode == "hold" and port.status.mode == "hover"
        assert flown.until(lambda: flown.mode == "land") == pytest.approx(port.failsafes.setpoint_land_after, abs=0.1)
        flown.until(lambda: not port.status.armed)


def test_who_chooses_a_mode_in_time_keeps_it_in_the_air() -> None:
    with flight() as flown:
        port = flown.system.port
        take_off(flown)
        flown.vehicle.modes.follow(Velocity(np.array([1.0, 0.0, 0.0])))
        flown.vehicle.modes.choose("offboard")
        flown.until(lambda: port.commander == "")
        flown.vehicle.modes.choose("hold")
        began = flown.simulation.now
        flown.until(lambda: flown.simulation.now > began + 8.0)
        assert flown.mode == "hold" and port.commander == "mavlink" and not port.status.failsafe


def test_a_client_that_comes_back_finds_it_hovering_under_its_command() -> None:
    with flight() as flown:
        port = flown.system.port
        take_off(flown)
        channels = list(flown.vehicle.channels)
        flown.vehicle.channels.clear()
        flown.until(lambda: port.commander == "")
        flown.until(lambda: any("no client commands" in text for text in flown.texts) or port.status.mode == "hover")
        flown.vehicle.channels.extend(channels)
        flown.until(lambda: port.commander == "mavlink", longest=1.0)
        began = flown.simulation.now
        flown.until(lambda: flown.simulation.now > began + 15.0)
        assert flown.mode == "hold" and port.is_flying


def test_another_commander_relieves_it_and_no_client_is_missed() -> None:
    with flight() as flown:
        port = flown.system.port
        take_off(flown)
        port.send(Hover(), by="airsim")
        flown.vehicle.channels.clear()
        began = flown.simulation.now
        flown.until(lambda: flown.simulation.now > began + 15.0)
        assert port.commander == "airsim" and port.is_flying


def test_a_goal_has_a_speed_of_its_own_and_limits_stay() -> None:
    with flight() as flown:
        port = flown.system.port
        take_off(flown)
        flown.system.go(np.array([30.0, 0.0, 5.0]), None, 1.5)
        flown.until(lambda: port.truth.position[0] > 8.0)
        assert port.truth.velocity_world[0] == pytest.approx(1.5, abs=0.1)
        assert port.limits.cruise_speed == 5.0
        flown.system.go(np.array([60.0, 0.0, 5.0]), None)
        flown.until(lambda: port.truth.position[0] > 30.0)
        assert port.truth.velocity_world[0] == pytest.approx(5.0, abs=0.3)


def test_home_stays_where_it_was_chosen_and_does_not_creep() -> None:
    with flight() as flown:
        port = flown.system.port
        take_off(flown)
        first = port.home
        assert first is not None
        flown.vehicle.modes.choose("rtl")
        flown.until(lambda: not port.status.armed)
        flown.command(ARM, 1)
        np.testing.assert_array_equal(port.home, first)  # it stands beside it
        flown.command(TAKEOFF, 0, 0, 0, NAN, NAN, NAN, NAN)
        flown.until(lambda: flown.mode == "hold")
        flown.system.go(first + np.array([10.0, 0.0, 5.0]), None)
        flown.until(lambda: port.status.mode == "hover")
        flown.vehicle.modes.choose("land")
        flown.until(lambda: not port.status.armed)
        flown.command(ARM, 1)
        assert port.home is not None and port.home[0] == pytest.approx(10.0, abs=0.6)  # far from the first
        chosen = np.array([3.0, 4.0, 0.0])
        flown.command(ARM, 0)
        port.set_home(chosen)
        flown.command(ARM, 1)
        np.testing.assert_array_equal(port.home, chosen)
