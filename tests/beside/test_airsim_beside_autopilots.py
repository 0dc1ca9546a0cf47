"""PX4Multirotor and ArduCopter of settings.json: scripted autopilots fly them while AirSim's clients look."""

from __future__ import annotations

import json
import re
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from airsim_rpc import Rpc, RpcError, Running, running, xyz
from px4_peer import SENSORS, Peer, hovering
from test_ardupilot import Sitl

from skyloop.links.airsim.options import ForeignAutopilot
from skyloop.links.airsim.serve import serve
from skyloop.links.airsim.settings import Read, read_settings
from skyloop.links.airsim.settings_reader import VEHICLE
from skyloop.sim.scenario import make_scenario
from skyloop_client.errors import LinkError, ScenarioError

PX4 = {"VehicleType": "PX4Multirotor", "UseSerial": False, "UseTcp": True, "TcpPort": 0, "LockStep": True}
ARDUPILOT = {"VehicleType": "ArduCopter", "ControlPort": 0, "LocalHostIp": "127.0.0.1"}
PATIENCE_S = 30.0


def read(vehicles: dict[str, Any], **more: Any) -> Read:
    data = {"DefaultSensors": {"imu": {"SensorType": 2}}, "Vehicles": vehicles}
    return read_settings(json.dumps(data), world="flat", **more)


def port_of(server: Running, vehicle: str) -> int:
    (port,) = re.findall(rf"^'{vehicle}' waits on the ground for \w+ at [\d.]+:(\d+)$", "\n".join(server.lines), re.M)
    return int(port)


def until(test: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not test():
        assert time.monotonic() < end
        time.sleep(0.01)


def place(rpc: Rpc, name: str) -> list[float]:
    return xyz(rpc("simGetVehiclePose", name)["position"])


@pytest.mark.slow("two vehicles with two links")
@pytest.mark.renders
def test_px4_flies_its_own_and_airsim_the_other() -> None:
    found = read({"Theirs": PX4, "Ours": {"Y": 6}}, airframe="iris")
    assert not found.warnings
    found.scenario["vehicles"][0]["sensors"] = SENSORS
    with running(found.scenario, replace(found.options, quality="low")) as server:
        rpc = Rpc(server.port)
        # nobody has come: it stands, its moves say why, and the other flies
        for method, *params in (("takeoff", 20.0), ("armDisarm", True), ("armDisarm", False), ("land", 60.0)):
            rpc("enableApiControl", True, "Theirs")
            with pytest.raises(RpcError, match=rf"^{method}: 'Theirs' is flown by PX4, .* MAVLink ports"):
                rpc(method, *params, "Theirs")
        rpc("enableApiControl", True, "Ours")
        assert rpc("takeoff", 20.0, "Ours") is True
        assert place(rpc, "Theirs")[2] == pytest.approx(0.0, abs=0.05)
        rpc("simPause", True)
        peer = Peer(port_of(server, "Theirs"), hovering())
        until(lambda: any("connected" in line for line in server.lines))
        rpc("simContinueForTime", 6.0)
        assert place(rpc, "Theirs") == pytest.approx([2.0, -1.0, -2.0], abs=0.2)
        assert place(rpc, "Ours") == pytest.approx([0.0, 0.0, -2.0], abs=0.3)
        # time is AirSim's and PX4's: exactly 25 steps of 4 ms, and none while it stands still
        # (the pause fell anywhere between two of them)
        now_us = rpc("getMultirotorState", "Theirs")["timestamp"] // 4_000_000 * 4000
        rpc("simContinueForTime", 0.1)
        until(lambda: peer.sensors()[-1].time_usec == now_us + 100_000)
        stamps = [message.time_usec for message in peer.sensors()[-26:]]
        assert stamps[0] == now_us and set(np.diff(stamps)) == {4000}
        rpc("ping")
        assert peer.sensors()[-1].time_usec == now_us + 100_000
        # it is gone: the built-in controller hovers, then lands
        peer.close()
        until(lambda: any(line.startswith("Theirs left: PX4") for line in server.lines))
        rpc("simContinueForTime", 4.5)
        assert place(rpc, "Theirs")[2] == pytest.approx(-2.0, abs=0.3)
        rpc("simContinueForTime", 5.0)
        assert place(rpc, "Theirs")[2] == pytest.approx(0.0, abs=0.1)
        # another one comes and flies; put back, the vehicle stays there, as PX4 has not disarmed
        peer = Peer(port_of(server, "Theirs"), hovering())
        until(lambda: sum("connected" in line for line in server.lines) == 2)
        rpc("simContinueForTime", 3.0)
        assert place(rpc, "Theirs")[2] < -1.0
        rpc("reset")
        rpc("simContinueForTime", 1.0)
        assert place(rpc, "Theirs") == pytest.approx([0.0, 0.0, 0.0], abs=0.05)
        peer.close()
        rpc.close()
    assert server.summary["px4 Theirs"]["missed_deadlines"] == 0


@pytest.mark.renders
def test_ardupilot_lifts_its_own_only() -> None:
    found = read({"Ours": {"Y": 6}, "Theirs": ARDUPILOT})
    with running(found.scenario, replace(found.options, quality="low")) as server:
        rpc = Rpc(server.port)
        # nobody waits for one that does not come
        then = rpc("getMultirotorState", "Theirs")["timestamp"]
        until(lambda: rpc("getMultirotorState", "Theirs")["timestamp"] > then + 100_000_000)
        with pytest.raises(RpcError, match=r"^hover: 'Theirs' is flown by ArduPilot"):
            rpc("enableApiControl", True, "Theirs")
            rpc("hover", "Theirs")
        rpc("simPause", True)
        with socket.socket(type=socket.SOCK_DGRAM) as old:
            old.sendto(bytes(22), ("127.0.0.1", port_of(server, "Theirs")))
            until(lambda: any("use --model JSON" in line for line in server.lines))
        sitl = Sitl(port_of(server, "Theirs"), lambda line: [0.8] * 4)
        until(lambda: any("connected" in line for line in server.lines))
        rpc("simContinueForTime", 1.5)
        assert place(rpc, "Theirs")[2] < -1.0 and place(rpc, "Ours")[2] == pytest.approx(0.0, abs=0.05)
        assert len(sitl.got) >= 1499 and not sitl.faults
        sitl.close()
        rpc.close()


def test_the_page_s_settings() -> None:
    page = (Path(__file__).parents[2] / "docs" / "how-to" / "airsim.md").read_text(encoding="utf-8")
    (settings,) = (block for block in re.findall(r"```json\n(.*?)```", page, re.S) if "PX4Multirotor" in block)
    found = read_settings(settings)
    assert not found.warnings
    first, second = (vehicle.external_autopilot for vehicle in found.options.vehicles.values())
    assert first == ForeignAutopilot("px4", port=4560) and second == ForeignAutopilot("ardupilot", port=9002)
    table = page[page.index("| key | here") :].split("\n\n")[0]
    keys = {key for row in table.splitlines()[2:] for key in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert {"TcpPort", "Parameters"} < keys <= set(VEHICLE.effective)


def test_settings_say_where_they_connect() -> None:
    px4 = {"VehicleType": "PX4Multirotor"}
    vehicles: dict[str, dict[str, Any]] = {
        "A": px4, "B": {**px4, "LockStep": False, "LocalHostIp": "0.0.0.0"}, "C": {**px4, "TcpPort": 4600},
        "D": {**px4, "UseSerial": True, "SerialPort": "/dev/ttyACM0", "SerialBaudRate": 115200},
        "E": {"VehicleType": "ArduCopter"}, "F": {"VehicleType": "ArduCopter", "LockStep": False}, "G": {},
    }  # fmt: skip
    found = read({name: {**settings, "Y": 4 * k} for k, (name, settings) in enumerate(vehicles.items())})
    assert not found.warnings
    assert [vehicle.external_autopilot for vehicle in found.options.vehicles.values()] == [
        ForeignAutopilot("px4", port=4560),
        ForeignAutopilot("px4", "0.0.0.0", 4561, lockstep=False),
        ForeignAutopilot("px4", port=4600),
        ForeignAutopilot("px4-serial", device="/dev/ttyACM0", baud=115200, lockstep=False),
        ForeignAutopilot("ardupilot", port=9002),
        ForeignAutopilot("ardupilot", port=9012, lockstep=False),
        None,
    ]


@pytest.mark.parametrize(
    ("key", "value", "reported"),
    [("UseTcp", False, "on TCP all the same"), ("Parameters", {"NAV_RCL_ACT": 0}, "PX4_PARAM_")],
)
def test_settings_that_px4_must_see_to_are_told(key: str, value: Any, reported: str) -> None:
    (warning,) = read({"D": {**PX4, key: value}}).warnings
    assert f"Vehicles.D.{key}" in warning and reported in warning


@pytest.mark.parametrize(
    ("more", "reported"), [({"TcpPort": 70000}, "D.TcpPort is 70000"), ({"UseSerial": True}, "D.SerialPort")]
)
def test_settings_that_cannot_be(more: dict[str, Any], reported: str) -> None:
    with pytest.raises(ScenarioError, match=reported):
        read({"D": {**PX4, **more}})


def test_a_port_in_use_says_whose_it_is() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        found = read({"D": {**PX4, "TcpPort": other.getsockname()[1]}})
        with pytest.raises(LinkError, match=rf"^PX4: cannot listen on 127.0.0.1:{other.getsockname()[1]}"):
            serve(make_scenario(found.scenario), found.options, port=0)
