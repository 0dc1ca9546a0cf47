"""AirSim's and MAVLink's clients at the same vehicle: who was told last counts, in both directions."""

from __future__ import annotations

import json
import logging
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from airsim_rpc import Rpc, RpcError, Running, running, xyz
from mavlink_setup import Client
from pymavlink.dialects.v20 import common
from typer.testing import CliRunner

from free_ports import free_port
from skyloop.cli.serve import app
from skyloop.links.airsim.serve import serve
from skyloop.links.airsim.settings import read_settings
from skyloop.links.mavlink.link import OWN_GROUND_STATION, MavlinkConfig
from skyloop.sim.scenario import make_scenario
from skyloop_client.errors import LinkError

SETTINGS = '{"DefaultSensors": {"imu": {"SensorType": 2}}}'
STAY = {"is_rate": True, "yaw_or_rate": 0.0}
VELOCITY_ONLY = 0b0000_1101_1100_0111
"""Of a SET_POSITION_TARGET_LOCAL_NED: what it leaves out."""
OFFBOARD, AUTO, RTL = 6, 4, 5
"""PX4's main modes, and a sub mode."""


@contextmanager
def served(pace: float = 8.0) -> Iterator[tuple[Running, Rpc, Client]]:
    read = read_settings(SETTINGS, world="flat")
    options = replace(read.options, quality="low", land_after_s=0.5)
    addresses: list[str] = []
    with running(read.scenario, options, pace, links=[mavlink_on(addresses)]) as server:
        rpc = Rpc(server.port)
        with closing(rpc), socket.create_connection(("127.0.0.1", tcp_port(addresses)), timeout=20) as line:
            yield server, rpc, Client(line)


def mavlink_on(addresses: list[str]) -> MavlinkConfig:
    return MavlinkConfig(port_offset=None, opened=addresses.append)


def tcp_port(addresses: list[str]) -> int:
    (address,) = addresses
    return int(address.rpartition(":")[2])


def took_off(station: Client) -> None:
    assert station.command(common.MAV_CMD_COMPONENT_ARM_DISARM, 1) == 0
    assert station.command(common.MAV_CMD_NAV_TAKEOFF, 0, 0, 0, float("nan"), float("nan"), float("nan"), 125.0) == 0
    station.until_mode("hold")


def set_parameter(station: Client, name: bytes, value: float) -> None:
    station.send(common.MAVLink_param_set_message(1, 1, name, value, common.MAV_PARAM_TYPE_REAL32))
    assert station.until("PARAM_VALUE").param_value == value


def place(rpc: Rpc) -> list[float]:
    return xyz(rpc("simGetVehiclePose", "")["position"])


def until(test: Callable[[], bool]) -> None:
    end = time.monotonic() + 30.0
    while not test():
        assert time.monotonic() < end
        time.sleep(0.01)


def fresh(station: Client, kind: str) -> Any:
    """A message from now on, not one that waits to be read."""
    station.command(common.MAV_CMD_REQUEST_MESSAGE, common.MAVLINK_MSG_ID_AUTOPILOT_VERSION)
    return station.until(kind)


class Companion(threading.Thread):
    """Says "2 m/s northwards" all the time, whatever becomes of it."""

    def __init__(self, port: int) -> None:
        super().__init__(daemon=True)
        self.over = threading.Event()
        self.said = 0
        self.line = socket.create_connection(("127.0.0.1", port), timeout=20)
        # one with a timeout waits in spite of MSG_DONTWAIT
        self.line.settimeout(None)
        self.mav = common.MAVLink(None, 42, 1)
        self.start()

    def run(self) -> None:
        while not self.over.wait(0.01):
            message = common.MAVLink_set_position_target_local_ned_message(
                0, 1, 1, 1, VELOCITY_ONLY, 0, 0, 0, 2.0, 0, 0, 0, 0, 0, 0, 0
            )
            self.line.sendall(message.pack(self.mav))
            self.said += 1
            with suppress(BlockingIOError):
                self.line.recv(1 << 20, socket.MSG_DONTWAIT)

    def close(self) -> None:
        self.over.set()
        self.join()
        self.line.close()


@pytest.mark.renders
def test_who_was_told_last_counts() -> None:
    with served() as (_, rpc, station):
        took_off(station)
        # a busy machine may be late with setpoints
        set_parameter(station, b"COM_OF_LOSS_T", 5.0)
        companion = Companion(station.socket.getpeername()[1])
        try:
            while station.mode(OFFBOARD) != 0:  # until it has had a setpoint
                pass
            until(lambda: place(rpc)[0] > 2.0)
            # permission alone takes nothing over
            rpc("enableApiControl", True, "")
            north = place(rpc)[0]
            until(lambda: place(rpc)[0] > north + 2.0)
            # AirSim takes over, though the companion goes on talking, also while time stands still
            rpc("simPause", True)
            move = rpc.send("moveToPosition", 1.0, -4.0, -6.0, 4.0, 60.0, 0, STAY, -1.0, 1.0, "")
            said = companion.said
            while companion.said < said + 5:
                rpc("ping")
            rpc("simPause", False)
            assert rpc.wait(move) is True
            assert place(rpc) == pytest.approx([1.0, -4.0, -6.0], abs=0.6)
            assert fresh(station, "HEARTBEAT").custom_mode >> 16 & 255 == AUTO
            assert any("another link has taken over" in text for text in station.texts)
            # and MAVLink takes over from a move that would last
            move = rpc.send("moveByVelocity", 0.0, 1.0, 0.0, 3600.0, 0, STAY, "")
            until(lambda: place(rpc)[1] > -2.0)
            assert station.mode(OFFBOARD) == 0
            assert rpc.wait(move) is False
            north = place(rpc)[0]
            until(lambda: place(rpc)[0] > north + 3.0)
            # what was cancelled long ago is nobody's to cancel
            rpc("cancelLastTask", "")
            rpc("enableApiControl", False, "")
            assert fresh(station, "HEARTBEAT").custom_mode >> 16 & 255 == OFFBOARD
            # a reset ends anybody's flight, and another one may begin
            rpc("reset")
            assert not fresh(station, "HEARTBEAT").base_mode & common.MAV_MODE_FLAG_SAFETY_ARMED
            assert place(rpc) == pytest.approx([0.0, 0.0, 0.0], abs=0.05)
            took_off(station)
            assert place(rpc) == pytest.approx([0.0, 0.0, -3.0], abs=0.4)
        finally:
            companion.close()


@pytest.mark.slow("a minute of flight")
@pytest.mark.renders
def test_a_watcher_that_goes_lands_nobody_and_a_landing_station_ends_no_move() -> None:
    with served() as (server, rpc, station):
        took_off(station)
        before = len(server.lines)
        rpc("enableApiControl", True, "")
        rpc.close()
        # four times as long as a vehicle of AirSim's may be alone
        now = fresh(station, "LOCAL_POSITION_NED").time_boot_ms
        station.until(lambda m: m.get_type() == "LOCAL_POSITION_NED" and m.time_boot_ms > now + 2000)
        assert station.latest["LOCAL_POSITION_NED"].z < -2.0 and server.lines[before:] == []
        # now it is AirSim's; the station leaves, and after COM_DL_LOSS_T nothing happens
        set_parameter(station, b"COM_DL_LOSS_T", 2.0)
        pilot = Rpc(server.port)
        move = pilot.send("moveByVelocity", 1.0, 0.0, 0.0, 6.0, 0, STAY, "")
        station.socket.shutdown(socket.SHUT_RDWR)
        assert pilot.wait(move) is True
        assert place(pilot)[0] > 4.0 and place(pilot)[2] < -2.0
        pilot.close()


def test_ports_in_use_are_named() -> None:
    read = read_settings(SETTINGS, world="flat")
    scenario = make_scenario(read.scenario)
    with socket.socket() as other:
        offset = free_port() - OWN_GROUND_STATION
        taken = 5760 + offset
        other.bind(("127.0.0.1", taken))
        other.listen()
        with pytest.raises(LinkError, match=rf"127.0.0.1:{taken}"):
            serve(scenario, read.options, port=taken, links=[MavlinkConfig(port_offset=None)])
        with pytest.raises(LinkError, match=rf"TCP port {taken} on 127.0.0.1 for MAVLink"):
            serve(scenario, read.options, port=0, links=[MavlinkConfig(port_offset=offset)])


@pytest.mark.parametrize("page", ["airsim.md", "mavlink.md"])
@pytest.mark.renders
def test_the_pages_commands(page: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "skyloop")
    file = tmp_path / "settings.json"
    file.write_text(SETTINGS, encoding="utf-8")
    text = (Path(__file__).parents[2] / "docs" / "how-to" / page).read_text(encoding="utf-8")
    command = re.findall(r"^    skyloop serve (--mavlink.*?) *#", text, re.M)[-1].split()
    offset = free_port() - OWN_GROUND_STATION
    reported = CliRunner().invoke(
        app,
        [*command, "--settings", str(file), "--world", "flat", "--port", "0", "--lasts", "0.2", "--json",
         "--port-offset", str(offset)],
    )  # fmt: skip
    assert reported.exit_code == 0, reported.output
    assert f"TCP server on 127.0.0.1:{5760 + offset}" in caplog.text and "AirSim clients may connect" in caplog.text
    assert json.loads(reported.stdout)["mavlink"]["vehicles"][0]["system_id"] == 1


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"SimMode": "ComputerVision"}, "ComputerVision"),
        (
            {"Vehicles": {"D": {"VehicleType": "PX4Multirotor", "TcpPort": 0}}},
            "'D' is flown by px4 alone; leave out the link mavlink",
        ),
    ],
)
def test_mavlink_for_those_that_are_not_ours_is_refused(settings: dict[str, Any], why: str) -> None:
    read = read_settings(json.dumps(settings), world="flat")
    with pytest.raises(LinkError, match=why):
        serve(make_scenario(read.scenario), read.options, port=0, links=[MavlinkConfig(port_offset=None)])


@pytest.mark.renders
def test_errors_of_one_side_do_not_reach_the_other() -> None:
    with served() as (_, rpc, station):
        with pytest.raises(RpcError, match="API control"):
            rpc("takeoff", 20.0, "")
        assert station.mode(AUTO, RTL) == 0
        station.socket.sendall(b"\xfd" + bytes(300))
        assert rpc("ping") is True
        assert station.command(common.MAV_CMD_COMPONENT_ARM_DISARM, 1) == 0
        assert rpc("getMultirotorState", "")["landed_state"] == 0
