"""The built-in autopilot as PX4 looks like from a ground station: pymavlink's messages on plain sockets."""

from __future__ import annotations

import math
import socket
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from mavlink_setup import HOME, PLAIN, Client, Stage, staged
from pymavlink.dialects.v20 import common as mavlink

from skyloop.core.frames import LocalFrame
from skyloop.links.mavlink.wire import custom_mode

NAN = math.nan
ARM, TAKEOFF, LAND, RTL = 400, 22, 21, 20
ACCEPTED, DENIED, UNSUPPORTED = 0, 2, 3
START = np.array([0.0, 0.0, 0.0])


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    """One simulation for all tests here; each begins and ends on the ground."""
    with staged() as built:
        yield built


@pytest.fixture
def client(stage: Stage) -> Iterator[Client]:
    with socket.create_connection(("127.0.0.1", stage.ports[0]["tcp"])) as connection:
        built = Client(connection)
        built.until("HEARTBEAT")
        # simulated time runs ahead of a client that is held up
        put(built, b"COM_OF_LOSS_T", 4.0)
        yield built
        if built.until("HEARTBEAT").base_mode & 128:
            built.command(LAND)
            built.until_disarmed()


def put(client: Client, name: bytes, value: float, kind: int = 9) -> float:
    client.send(mavlink.MAVLink_param_set_message(1, 1, name, value, kind))
    return float(client.until(lambda m: m.get_type() == "PARAM_VALUE" and m.param_id == name.decode()).param_value)


def item(seq: int, command: int, place: Any = None, params: tuple[float, ...] = (0, 0, 0, NAN), kind: int = 0) -> Any:
    """`place` in the world's ENU axes; altitudes are above home."""
    x = y = 0
    z = 0.0
    if place is not None:
        geodetic = LocalFrame(HOME).geodetic_array_from_enu(place)
        x, y, z = round(geodetic[0] * 1e7), round(geodetic[1] * 1e7), float(place[2])
    return mavlink.MAVLink_mission_item_int_message(1, 1, seq, 6, command, 0, 1, *params, x, y, z, kind)


def upload(client: Client, items: list[Any], kind: int = 0) -> int:
    client.send(mavlink.MAVLink_mission_count_message(1, 1, len(items), kind))
    while True:
        answer = client.until(lambda m: m.get_type() in ("MISSION_REQUEST_INT", "MISSION_ACK"))
        if answer.get_type() == "MISSION_ACK":
            return int(answer.type)
        client.send(items[answer.seq])


def take_off(client: Client, height: float = 4.0) -> None:
    assert put(client, b"MIS_TAKEOFF_ALT", height) == height
    assert client.command(ARM, 1) == ACCEPTED
    assert client.command(TAKEOFF, 0, 0, 0, NAN, NAN, NAN, NAN) == ACCEPTED
    client.until_mode("takeoff")
    client.until_mode("hold")


def height_of(client: Client) -> float:
    return float(-client.until("LOCAL_POSITION_NED").z)


def test_it_announces_itself_as_px4(client: Client) -> None:
    beat = client.until("HEARTBEAT")
    assert (beat.autopilot, beat.type, beat.get_srcSystem()) == (mavlink.MAV_AUTOPILOT_PX4, 2, 1)
    assert beat.base_mode & mavlink.MAV_MODE_FLAG_CUSTOM_MODE_ENABLED
    assert client.command(mavlink.MAV_CMD_REQUEST_MESSAGE, mavlink.MAVLINK_MSG_ID_AUTOPILOT_VERSION) == ACCEPTED
    assert client.latest["AUTOPILOT_VERSION"].capabilities & mavlink.MAV_PROTOCOL_CAPABILITY_MISSION_INT


def test_arm_take_off_land(client: Client, stage: Stage) -> None:
    take_off(client, 4.0)
    assert client.command(TAKEOFF, 0, 0, 0, NAN, NAN, NAN, NAN) == DENIED  # it flies
    assert stage.position[2] - START[2] == pytest.approx(4.0, abs=0.5)
    assert client.command(ARM, 0) == DENIED  # in the air
    assert client.until("EXTENDED_SYS_STATE").landed_state == mavlink.MAV_LANDED_STATE_IN_AIR
    assert client.command(LAND, 0, 0, 0, NAN, NAN, NAN, NAN) == ACCEPTED
    client.until_mode("land")
    client.until_disarmed()
    assert stage.position[2] < 0.4
    assert any("landed" in text for text in client.texts)


def test_attitude_setpoints_move_it(client: Client) -> None:
    take_off(client, 6.0)
    client.send(mavlink.MAVLink_param_request_read_message(1, 1, b"MPC_THR_HOVER", -1))
    hover = client.until(lambda m: m.get_type() == "PARAM_VALUE" and m.param_id == "MPC_THR_HOVER").param_value
    # nose down by 6° and heading north: it must fly north and not sink much
    half = math.radians(-6.0) / 2
    tilted = mavlink.MAVLink_set_attitude_target_message(
        0, 1, 1, 7, [math.cos(half), 0.0, math.sin(half), 0.0], 0, 0, 0, hover / math.cos(math.radians(6.0))
    )
    client.send(tilted)
    assert client.mode(6) == ACCEPTED
    for _ in range(60):
        client.send(tilted)
        client.until("ATTITUDE")
    here = client.latest["LOCAL_POSITION_NED"]
    assert here.vx > 1.0 and abs(here.vy) < 0.5
    assert here.z < -4.0


def test_parameters(client: Client) -> None:
    client.send(mavlink.MAVLink_param_request_list_message(1, 1))
    seen: dict[str, Any] = {}
    while not seen or len(seen) < next(iter(seen.values())).param_count:
        value = client.until("PARAM_VALUE")
        seen[value.param_id] = value
    assert sorted(value.param_index for value in seen.values()) == list(range(len(seen)))
    assert seen["MPC_XY_CRUISE"].param_value == pytest.approx(5.0)

    assert put(client, b"MPC_LAND_SPEED", 1.25) == 1.25
    assert put(client, b"MPC_LAND_SPEED", -4.0) == 1.25  # out of range
    assert put(client, b"MPC_LAND_SPEED", NAN) == 1.25
    assert put(client, b"MPC_THR_HOVER", 0.1) != pytest.approx(0.1)  # fixed
    client.send(mavlink.MAVLink_param_set_message(1, 1, b"NO_SUCH", 1.0, 9))
    assert client.until("PARAM_ERROR").param_id == "NO_SUCH"
    client.send(mavlink.MAVLink_param_request_read_message(1, 1, b"", 0))
    assert client.until("PARAM_VALUE").param_index == 0


def test_messages_come_as_often_as_asked(client: Client, stage: Stage) -> None:
    def rate(kind: str) -> float:
        first = client.until(kind).time_boot_ms
        for _ in range(20):
            last = client.until(kind)
        return 20_000 / float(last.time_boot_ms - first)

    assert client.command(511, mavlink.MAVLINK_MSG_ID_LOCAL_POSITION_NED, 20_000) == ACCEPTED
    assert rate("LOCAL_POSITION_NED") == pytest.approx(50.0)
    assert client.command(510, mavlink.MAVLINK_MSG_ID_LOCAL_POSITION_NED) == ACCEPTED
    assert client.latest["MESSAGE_INTERVAL"].interval_us == 20_000
    assert client.command(511, mavlink.MAVLINK_MSG_ID_ATTITUDE, -1) == ACCEPTED
    before = client.counts["ATTITUDE"]
    client.until("SYS_STATUS")
    client.until("SYS_STATUS")
    assert client.counts["ATTITUDE"] - before <= 1
    assert client.command(511, mavlink.MAVLINK_MSG_ID_LOCAL_POSITION_NED, 0) == ACCEPTED
    assert rate("LOCAL_POSITION_NED") == pytest.approx(10.0)
    assert client.command(511, 12345, 1000) == UNSUPPORTED
    assert client.command(31000) == UNSUPPORTED


def test_a_new_mode_is_in_a_heartbeat_before_it_is_acknowledged(client: Client) -> None:
    """MAVSDK's `follow_me.start()` returns with the answer; what is called next needs the mode."""
    for main, name in ((3, "position"), (4, "hold"), (3, "position")):
        assert client.mode(main, 3 if main == 4 else 0) == ACCEPTED
        assert client.latest["HEARTBEAT"].custom_mode == custom_mode(name)


def test_missions_that_cannot_be_flown_are_refused(client: Client) -> None:
    assert upload(client, [item(0, 16, (0, 0, 5)), item(1, 84, (5, 0, 5))]) == mavlink.MAV_MISSION_UNSUPPORTED
    wrong = item(0, 16, (0, 0, 5))
    wrong.frame = mavlink.MAV_FRAME_LOCAL_NED
    assert upload(client, [wrong]) == mavlink.MAV_MISSION_UNSUPPORTED_FRAME
    assert upload(client, [item(0, 177, params=(9, 1, 0, 0))]) == mavlink.MAV_MISSION_INVALID_PARAM1
    assert upload(client, [item(0, 16, (0, 0, math.inf))]) == mavlink.MAV_MISSION_INVALID_PARAM7
    client.send(mavlink.MAVLink_mission_count_message(1, 1, 5000, 0))
    assert client.until("MISSION_ACK").type == mavlink.MAV_MISSION_NO_SPACE


def test_reposition_home_and_return(client: Client, stage: Stage) -> None:
    take_off(client, 4.0)
    place = (8.0, -4.0, 6.0)
    geodetic = LocalFrame(HOME).geodetic_array_from_enu(place)
    there = mavlink.MAVLink_command_int_message(
        1, 1, 0, 192, 0, 0, -1, 1, 0, NAN, round(geodetic[0] * 1e7), round(geodetic[1] * 1e7), float(geodetic[2])
    )
    client.send(there)
    assert client.until("COMMAND_ACK").result == ACCEPTED
    client.until(lambda m: m.get_type() == "STATUSTEXT" and "arrived" in m.text)
    np.testing.assert_allclose(stage.position, place, atol=0.8)
    assert client.command(179, 1) == ACCEPTED  # home is here now
    assert client.latest["HOME_POSITION"].x == pytest.approx(-4.0, abs=0.8)
    assert client.command(192, -1, 1, 0, NAN, HOME.latitude_deg, HOME.longitude_deg, 128.0) == ACCEPTED
    client.until(lambda m: m.get_type() == "LOCAL_POSITION_NED" and abs(m.y) < 2.0)
    assert client.command(RTL) == ACCEPTED
    client.until_mode("rtl")
    client.until_disarmed()
    np.testing.assert_allclose(stage.position[:2], place[:2], atol=1.2)


@pytest.mark.parametrize("kind", ["parameters", "circle"])
def test_the_geofence_sends_it_back(client: Client, stage: Stage, kind: str) -> None:
    put(client, b"GF_ACTION", 3.0)
    start = stage.position
    if kind == "parameters":
        put(client, b"GF_MAX_HOR_DIST", 8.0)
    else:
        assert upload(client, [item(0, 5003, start, (8.0, 0, 0, 0), kind=1)], 1) == mavlink.MAV_MISSION_ACCEPTED
    began = len(stage.track)
    take_off(client, 4.0)
    assert client.command(179, 1) == ACCEPTED
    east = LocalFrame(HOME).geodetic_array_from_enu(start + np.array([30.0, 0.0, 4.0]))
    # single floats of a COMMAND_LONG are good for a metre here
    assert client.command(192, 3.0, 1, 0, NAN, east[0], east[1], east[2]) == ACCEPTED
    client.until_mode("rtl")
    assert any("geofence" in text for text in client.texts)
    client.until_disarmed()
    track = np.array([position for _, position in stage.track[began:]]) - start
    assert 7.0 < track[:, 0].max() < 14.0
    assert abs(track[-1][0]) < 1.0
    put(client, b"GF_MAX_HOR_DIST", 0.0)
    client.send(mavlink.MAVLink_mission_clear_all_message(1, 1, 1))
    client.until("MISSION_ACK")


def test_udp_clients_are_answered_where_they_are(stage: Stage) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
        own.connect(("127.0.0.1", stage.ports[0]["companion"]))
        client = Client(own)
        client.send(mavlink.MAVLink_heartbeat_message(6, 8, 0, 0, 4, 3))
        client.until("HEARTBEAT")
        client.send(mavlink.MAVLink_timesync_message(0, 77))
        assert client.until(lambda m: m.get_type() == "TIMESYNC" and m.ts1 == 77).tc1 > 0


def test_armed_and_idle_it_disarms(client: Client) -> None:
    assert client.command(ARM, 1) == ACCEPTED
    client.until(lambda m: m.get_type() == "HEARTBEAT" and m.base_mode & 128)
    client.until_disarmed()
    assert any("no take-off" in text for text in client.texts)


def test_what_is_for_others_is_not_taken(client: Client) -> None:
    client.send(mavlink.MAVLink_command_long_message(2, 1, ARM, 0, 1, 0, 0, 0, 0, 0, 0))
    client.send(mavlink.MAVLink_command_long_message(1, 154, ARM, 0, 1, 0, 0, 0, 0, 0, 0))
    for _ in range(3):
        assert not client.until("HEARTBEAT").base_mode & 128
    assert "COMMAND_ACK" not in client.latest


def test_two_vehicles_are_two_systems() -> None:
    vehicles = [{"name": "a", "airframe": "x500"}, {"name": "b", "airframe": "iris", "position": [5, 0]}]
    with staged({**PLAIN, "vehicles": vehicles}) as stage:
        connection = socket.create_connection(("127.0.0.1", stage.ports[1]["tcp"]))
        with connection:
            client = Client(connection)
            assert client.until("HEARTBEAT").get_srcSystem() == 2
            client.send(mavlink.MAVLink_command_long_message(2, 1, 400, 0, 1, 0, 0, 0, 0, 0, 0))
            assert client.until("COMMAND_ACK").result == ACCEPTED
            # the other one has had time to hear of it, if it does
            client.until("HEARTBEAT")
            # its own origin is where it stood
            here = client.until("LOCAL_POSITION_NED")
            assert math.hypot(here.x, here.y) < 0.1
        assert not stage.simulation.port.vehicle("a").status.armed
