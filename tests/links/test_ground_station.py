"""How QGroundControl, old scripts and companions talk, in their order, with pymavlink's own connection as client."""

from __future__ import annotations

import math
import socket
import struct
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from mavlink_setup import HOME, Stage, staged
from pymavlink import mavutil
from pymavlink.dialects.v20 import common as mavlink

from skyloop.links.inbox import Inbox
from skyloop.links.mavlink.listener import MavlinkListener
from skyloop.links.mavlink.wire import Inlet

NAN = math.nan
ACCEPTED, DENIED, UNSUPPORTED = 0, 2, 3
FILE_NOT_FOUND = 10
"""Of the file transfer protocol."""
DOWN = {"kind": "rangefinder", "preset": "perfect", "rate_hz": 20, "mount": {"rotation_deg": [0, 90, 0]}}
SCENARIO = {
    "world": "flat",
    "duration": 4000,
    "vehicles": [{"name": "drone", "airframe": "x500", "yaw_deg": 30, "sensors": {"down": DOWN}}],
}


class Station:
    """One client: a mavutil connection, and what it says in which order."""

    def __init__(self, connection: Any) -> None:
        self.line = connection

    @property
    def mav(self) -> Any:
        """Another one once the line has heard MAVLink 2."""
        return self.line.mav

    def until(self, kind: str | list[str], test: Callable[[Any], bool] = lambda message: True) -> Any:
        end = time.monotonic() + 25.0
        while time.monotonic() < end:
            message = self.line.recv_match(type=kind, blocking=True, timeout=1.0)
            if message is not None and test(message):
                return message
        raise AssertionError(f"no {kind} of that kind")

    def ack(self, number: int) -> int:
        return int(self.until("COMMAND_ACK", lambda m: m.command == number).result)

    def command(self, number: int, *params: float) -> int:
        self.mav.command_long_send(1, 1, number, 0, *params, *[0.0] * (7 - len(params)))
        return self.ack(number)

    def reposition(self, north: float, east: float, altitude: float) -> int:
        """As "go to here": COMMAND_INT in the global frame."""
        metres = 6371000.0 * math.pi / 180
        x = HOME.latitude_deg + north / metres
        y = HOME.longitude_deg + east / metres / math.cos(math.radians(HOME.latitude_deg))
        number = mavlink.MAV_CMD_DO_REPOSITION
        self.mav.command_int_send(1, 1, 0, number, 0, 0, -1.0, 1, 0, NAN, round(x * 1e7), round(y * 1e7), altitude)
        return self.ack(number)


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with staged(SCENARIO) as built:
        yield built


@pytest.fixture
def station(stage: Stage) -> Iterator[Station]:
    """On UDP, as QGroundControl: it answers where the vehicle spoke from."""
    port = stage.ports[0]["ground_station"]
    line = mavutil.mavlink_connection(
        f"udpout:127.0.0.1:{port}", source_system=255, source_component=190, dialect="common"
    )
    built = Station(line)
    built.mav.heartbeat_send(6, 8, 192, 0, 4)
    built.until("HEARTBEAT")
    yield built
    line.close()


def test_connecting_as_qgroundcontrol_does(station: Station) -> None:
    request = mavlink.MAV_CMD_REQUEST_MESSAGE
    assert station.command(request, mavlink.MAVLINK_MSG_ID_AUTOPILOT_VERSION) == ACCEPTED
    # AVAILABLE_MODES
    assert station.command(request, 435) == ACCEPTED
    # COMPONENT_METADATA, COMPONENT_INFORMATION; CAMERA_ and GIMBAL_MANAGER_INFORMATION are not the autopilot's
    assert {station.command(request, number) for number in (397, 395, 259, 280)} == {UNSUPPORTED}
    station.mav.param_request_list_send(1, 1)
    first = station.until("PARAM_VALUE")
    names = {first.param_id} | {station.until("PARAM_VALUE").param_id for _ in range(first.param_count - 1)}
    assert len(names) == first.param_count and "SYS_AUTOSTART" in names
    for kind in (0, 1, 2):
        station.mav.mission_request_list_send(1, 1, kind)
        assert station.until("MISSION_COUNT", lambda m, kind=kind: m.mission_type == kind).count == 0  # type: ignore[misc]
    station.mav.log_request_list_send(1, 1, 0, 0xFFFF)
    assert station.until("LOG_ENTRY").num_logs == 0
    # open a file for reading: session 0, opcode 4
    asked = (struct.pack("<HBBBBBxI", 65535, 0, 4, 6, 0, 0, 0) + b"/fs/x\0").ljust(251, b"\0")
    station.mav.file_transfer_protocol_send(0, 1, 1, asked)
    refused = bytes(station.until("FILE_TRANSFER_PROTOCOL").payload)
    assert struct.unpack("<HBBBB", refused[:6]) == (0, 0, 129, 1, 4) and refused[12] == FILE_NOT_FOUND
    # calibration, reboot, camera information the old way, pictures of the autopilot itself: never silence
    for number in (241, 246, 521, 2000, 42424):
        assert station.command(number) == UNSUPPORTED


@pytest.mark.slow("a minute of flight")
def test_the_guided_actions_of_a_ground_station(station: Station, stage: Stage) -> None:
    station.command(mavlink.MAV_CMD_SET_MESSAGE_INTERVAL, mavlink.MAVLINK_MSG_ID_ALTITUDE, 50_000)
    ground = station.until("ALTITUDE").altitude_amsl
    # the slider: take-off first, while disarmed, and arming once that was accepted
    assert station.command(mavlink.MAV_CMD_NAV_TAKEOFF, -1, 0, 0, NAN, NAN, NAN, ground + 6.0) == ACCEPTED
    assert not station.until("HEARTBEAT", lambda m: m.custom_mode == 4 << 16 | 2 << 24).base_mode & 128
    assert station.command(mavlink.MAV_CMD_COMPONENT_ARM_DISARM, 1) == ACCEPTED
    high = station.until("ALTITUDE", lambda m: m.altitude_relative > 5.7)
    assert high.bottom_clearance == pytest.approx(high.altitude_relative, abs=0.3)
    station.until("HEARTBEAT", lambda m: m.custom_mode == 4 << 16 | 3 << 24)
    assert station.reposition(8.0, -3.0, ground + 6.0) == ACCEPTED
    station.until("LOCAL_POSITION_NED", lambda m: math.dist((m.x, m.y, m.z), (8.0, -3.0, -6.0)) < 0.4)
    # change altitude, then heading: only that is given
    assert station.command(192, -1, 1, 0, NAN, NAN, NAN, ground + 9.0) == ACCEPTED
    station.until("LOCAL_POSITION_NED", lambda m: math.dist((m.x, m.y, m.z), (8.0, -3.0, -9.0)) < 0.4)
    assert station.command(192, -1, 1, 0, math.radians(-70.0), NAN, NAN, NAN) == ACCEPTED
    station.until("ATTITUDE", lambda m: abs(math.degrees(m.yaw) + 70.0) < 3.0)
    # pause
    assert station.command(192, -1, 1, 0, NAN, NAN, NAN, NAN) == ACCEPTED
    # the old message with the mode as one number, then the command with it
    station.mav.set_mode_send(1, 1, 4 << 16 | 5 << 24)
    station.until("HEARTBEAT", lambda m: m.custom_mode == 4 << 16 | 5 << 24)
    assert station.command(mavlink.MAV_CMD_DO_SET_MODE, 1, 4 << 16 | 3 << 24) == ACCEPTED
    station.until("HEARTBEAT", lambda m: m.custom_mode == 4 << 16 | 3 << 24)
    assert station.command(mavlink.MAV_CMD_NAV_LOITER_UNLIM) == ACCEPTED
    assert station.command(mavlink.MAV_CMD_NAV_LAND, 0, 0, 0, NAN, NAN, NAN, NAN) == ACCEPTED
    station.until("HEARTBEAT", lambda m: not m.base_mode & 128)
    assert stage.position[2] < 0.4


def test_an_old_script_asks_for_streams_and_flies_in_body_axes(station: Station, stage: Stage) -> None:
    station.mav.request_data_stream_send(1, 1, mavlink.MAV_DATA_STREAM_EXTRA1, 50, 1)
    times = [station.until("ATTITUDE").time_boot_ms for _ in range(30)]
    assert (times[-1] - times[9]) / 20 == pytest.approx(20.0)
    station.mav.request_data_stream_send(1, 1, mavlink.MAV_DATA_STREAM_ALL, 4, 0)
    while station.line.recv_match(type="ATTITUDE", blocking=True, timeout=0.3) is not None:
        pass
    station.mav.request_data_stream_send(1, 1, mavlink.MAV_DATA_STREAM_ALL, 20, 1)
    station.until("VFR_HUD")
    heading = station.until("ATTITUDE").yaw
    station.command(mavlink.MAV_CMD_COMPONENT_ARM_DISARM, 1)
    station.command(mavlink.MAV_CMD_NAV_TAKEOFF, 0, 0, 0, NAN, NAN, NAN, NAN)
    station.until("HEARTBEAT", lambda m: m.custom_mode == 4 << 16 | 3 << 24)
    station.mav.param_set_send(1, 1, b"COM_OF_LOSS_T", 5.0, 9)
    before = station.until("LOCAL_POSITION_NED")
    for k in range(40):
        # 1.5 m/s forward, 0.5 m/s to the right, in BODY_OFFSET_NED
        station.mav.set_position_target_local_ned_send(0, 1, 1, 9, 0xDC7, 0, 0, 0, 1.5, 0.5, 0, 0, 0, 0, 0, 0)
        if k == 1:
            assert station.command(mavlink.MAV_CMD_DO_SET_MODE, 1, 6) == ACCEPTED
        station.until("LOCAL_POSITION_NED")
    after = station.until("LOCAL_POSITION_NED")
    way = math.atan2(after.y - before.y, after.x - before.x) - heading
    assert math.degrees(way) == pytest.approx(math.degrees(math.atan2(0.5, 1.5)), abs=4.0)
    assert station.command(mavlink.MAV_CMD_NAV_LAND) == ACCEPTED
    station.until("HEARTBEAT", lambda m: not m.base_mode & 128)


def test_take_off_as_scripts_write_it(station: Station, stage: Stage) -> None:
    station.command(mavlink.MAV_CMD_COMPONENT_ARM_DISARM, 1)
    # 10 m "above the ground" is far below it in metres above sea level, at the latitude and longitude of nowhere
    station.mav.command_long_send(1, 1, mavlink.MAV_CMD_NAV_TAKEOFF, 0, 0, 0, 0, 0, 0, 0, 10)
    assert "112 m below the ground" in station.until("STATUSTEXT", lambda m: "take-off" in m.text).text
    assert station.ack(mavlink.MAV_CMD_NAV_TAKEOFF) == ACCEPTED
    station.until("HEARTBEAT", lambda m: m.custom_mode == 4 << 16 | 3 << 24)
    assert stage.position[2] == pytest.approx(2.5, abs=0.5)
    station.command(mavlink.MAV_CMD_NAV_LAND)
    station.until("HEARTBEAT", lambda m: not m.base_mode & 128)
    # MAVProxy's: a COMMAND_INT in metres above home
    station.command(mavlink.MAV_CMD_COMPONENT_ARM_DISARM, 1)
    station.mav.command_int_send(1, 1, 3, mavlink.MAV_CMD_NAV_TAKEOFF, 0, 0, 0, 0, 0, 0, 0, 0, 4.0)
    assert station.ack(mavlink.MAV_CMD_NAV_TAKEOFF) == ACCEPTED
    station.until("HEARTBEAT", lambda m: m.custom_mode == 4 << 16 | 3 << 24)
    assert stage.position[2] == pytest.approx(4.0, abs=0.5)
    station.command(mavlink.MAV_CMD_NAV_LAND)
    station.until("HEARTBEAT", lambda m: not m.base_mode & 128)


def test_a_joystick_lifts_it_off_and_lands_it(station: Station, stage: Stage) -> None:
    assert station.command(mavlink.MAV_CMD_DO_SET_MODE, 1, 3) == ACCEPTED
    assert station.command(mavlink.MAV_CMD_COMPONENT_ARM_DISARM, 1) == ACCEPTED
    assert station.until("HEARTBEAT").custom_mode == 3 << 16
    station.mav.manual_control_send(1, 0, 0, 300, 0, 0)  # downwards on the ground: nothing
    assert station.until("EXTENDED_SYS_STATE").landed_state == mavlink.MAV_LANDED_STATE_ON_GROUND
    for _ in range(200):
        station.mav.manual_control_send(1, 0, 0, 900, 0, 0)
        if -station.until("LOCAL_POSITION_NED").z > 1.5:
            break
    assert stage.position[2] > 1.0
    station.command(mavlink.MAV_CMD_DO_SET_MODE, 1, 4, 3)
    station.until("LOCAL_POSITION_NED", lambda m: abs(m.vz) < 0.05)
    assert station.command(mavlink.MAV_CMD_DO_SET_MODE, 1, 3) == ACCEPTED
    station.mav.manual_control_send(1, 0, 0, 200, 0, 0)
    assert station.until("HEARTBEAT").custom_mode == 3 << 16  # it does not land at the first touch of the stick
    # and down again, until it stands: it disarms by itself
    for _ in range(2000):
        station.mav.manual_control_send(1, 0, 0, 200, 0, 0)
        message = station.until(["LOCAL_POSITION_NED", "HEARTBEAT"])
        if message.get_type() == "HEARTBEAT" and not message.base_mode & 128:
            break
    assert not station.until("HEARTBEAT").base_mode & 128
    assert stage.position[2] < 0.4


def test_a_companion_is_a_component_of_the_vehicles_own_system(stage: Stage) -> None:
    """MAVROS and MAVSDK's companions are system 1, component 191."""
    port = stage.ports[0]["companion"]
    line = mavutil.mavlink_connection(
        f"udpout:127.0.0.1:{port}", source_system=1, source_component=191, dialect="common"
    )
    companion = Station(line)
    companion.mav.heartbeat_send(18, 8, 0, 0, 4)
    assert companion.command(mavlink.MAV_CMD_REQUEST_MESSAGE, mavlink.MAVLINK_MSG_ID_AUTOPILOT_VERSION) == ACCEPTED
    # one that gives itself out for the vehicle is not heard
    line.mav.srcComponent = 1
    companion.mav.command_long_send(1, 1, mavlink.MAV_CMD_COMPONENT_ARM_DISARM, 0, 1, 0, 0, 0, 0, 0, 0)
    assert not any(companion.until("HEARTBEAT").base_mode & 128 for _ in range(3))
    line.close()


def test_an_upload_whose_last_answer_was_lost(station: Station) -> None:
    station.mav.mission_count_send(1, 1, 1, 0)
    station.until("MISSION_REQUEST_INT")
    last = (1, 1, 0, 3, 16, 0, 1, 0, 0, 0, NAN, round(HOME.latitude_deg * 1e7), round(HOME.longitude_deg * 1e7), 5.0, 0)
    for _ in range(2):
        station.mav.mission_item_int_send(*last)
        assert station.until("MISSION_ACK").type == mavlink.MAV_MISSION_ACCEPTED
    station.mav.mission_item_int_send(*last[:2], 7, *last[3:])
    assert station.until("MISSION_ACK").type == mavlink.MAV_MISSION_ERROR
    station.mav.mission_clear_all_send(1, 1, 0)
    station.until("MISSION_ACK")


def test_a_script_of_the_field(stage: Stage) -> None:
    vehicle = mavutil.mavlink_connection(f"tcp:127.0.0.1:{stage.ports[0]['tcp']}", dialect="common")
    assert vehicle.wait_heartbeat(timeout=10) is not None
    until = Station(vehicle).until
    assert vehicle.target_system == 1 and vehicle.flightmode == "LOITER"
    vehicle.param_set_send("MIS_TAKEOFF_ALT", 5.0)
    assert until("PARAM_VALUE").param_value == 5.0
    vehicle.arducopter_arm()
    vehicle.motors_armed_wait()
    vehicle.mav.command_long_send(1, 1, mavlink.MAV_CMD_NAV_TAKEOFF, 0, 0, 0, 0, math.nan, math.nan, math.nan, math.nan)
    until("GLOBAL_POSITION_INT", lambda m: m.relative_alt > 4600)
    # the old way to upload: items in degrees and single floats
    vehicle.mav.mission_count_send(1, 1, 1)
    until("MISSION_REQUEST_INT")
    vehicle.mav.mission_item_send(
        1, 1, 0, mavlink.MAV_FRAME_GLOBAL_RELATIVE_ALT, mavlink.MAV_CMD_NAV_WAYPOINT, 0, 1, 0, 1.0, 0, math.nan,
        HOME.latitude_deg + 2e-4, HOME.longitude_deg, 6.0,
    )  # fmt: skip
    assert until("MISSION_ACK").type == mavlink.MAV_MISSION_ACCEPTED
    vehicle.set_mode("MISSION")
    until("HEARTBEAT", lambda m: vehicle.flightmode == "MISSION")
    assert until("MISSION_ITEM_REACHED").seq == 0
    # single floats are good for 0.4 m of latitude here
    assert stage.position[1] == pytest.approx(22.2, abs=2.0)
    vehicle.set_mode("RTL")
    until("HEARTBEAT", lambda m: vehicle.flightmode == "RTL")
    until("HEARTBEAT", lambda m: not vehicle.motors_armed())
    home = stage.link.vehicles[0].system.home
    assert home is not None and abs(stage.position[1] - home[1]) < 0.8
    vehicle.close()


def test_whom_it_is_told_to_gets_everything_unasked() -> None:
    """As QGroundControl on 14550: it waits, and the vehicle comes."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as station:
        station.bind(("127.0.0.1", 0))
        station.settimeout(5.0)
        listener = MavlinkListener(Inbox())
        try:
            channel = listener.udp(0, 7, 0, station.getsockname())
            for _ in range(3):
                channel.send(mavlink.MAVLink_heartbeat_message(2, 12, 0, 0, 3, 3))
            inlet = Inlet()
            heard = [next(inlet.feed(station.recv(1000))) for _ in range(3)]
            assert [message.get_srcSystem() for message in heard] == [7, 7, 7]
            assert [message.get_seq() for message in heard] == [0, 1, 2]
        finally:
            listener.close()
