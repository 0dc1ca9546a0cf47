"""The server as a whole: hostile bytes, ports in use, other modes, the method table of the docs."""

from __future__ import annotations

import json
import logging
import math
import random
import re
import socket
import struct
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest
from airsim_rpc import Rpc, RpcError, Running, pose, xyz
from typer.testing import CliRunner

from skyloop.cli.serve import app
from skyloop.links.airsim.calls import UNSUPPORTED
from skyloop.links.airsim.serve import serve
from skyloop.links.airsim.settings import read_settings
from skyloop.sim.scenario import make_scenario
from skyloop_client.errors import LinkError

DOCS = Path(__file__).parents[2] / "docs" / "how-to" / "airsim.md"
SETTINGS = {
    "SimMode": "ComputerVision",
    "CameraDefaults": {"CaptureSettings": [{"ImageType": 0, "Width": 32, "Height": 24}]},
    "Vehicles": {
        "Eye": {
            "Cameras": {"steady": {"Gimbal": {"Stabilization": 1, "Pitch": -30, "Roll": 0}}, "loose": {}},
            "X": 1, "Y": 2, "Z": -3,
        }
    },
}  # fmt: skip


@pytest.mark.renders
def test_an_eye_stays_where_it_is_put(rpc: Rpc) -> None:
    tilted = pose(4.0, 5.0, -6.0, math.cos(0.2), math.sin(0.2), 0.0, 0.0)
    rpc("simSetVehiclePose", tilted, True, "Eye")
    rpc("simContinueForTime", 3.0)
    now = rpc("simGetVehiclePose", "Eye")
    assert xyz(now["position"]) == pytest.approx([4.0, 5.0, -6.0], abs=1e-6)
    assert now["orientation"]["x_val"] == pytest.approx(math.sin(0.2))
    with pytest.raises(RpcError, match="ComputerVision"):
        rpc("takeoff", 20.0, "Eye")
    loose = rpc("simGetCameraInfo", "loose", "Eye", False)["pose"]["orientation"]
    assert loose["x_val"] == pytest.approx(math.sin(0.2))
    steady = rpc("simGetCameraInfo", "steady", "Eye", False)["pose"]["orientation"]
    # level, and 30 degrees down
    assert list(steady.values()) == pytest.approx([math.cos(math.pi / 12), 0.0, -math.sin(math.pi / 12), 0.0], abs=1e-9)


@pytest.mark.renders
def test_hostile_bytes_leave_the_others_alone(rpc: Rpc, server: Running, known_methods: set[str]) -> None:
    chance = random.Random(7)
    values: list[Any] = [None, True, -1, 1e300, math.nan, "x" * 300, b"\xff\x00", [], {}, [[[]]], {"x_val": "?"}, 2**63]
    for round_ in range(12):
        with socket.create_connection(("127.0.0.1", server.port), timeout=5.0) as hostile:
            if round_ % 3 == 0:
                hostile.sendall(chance.randbytes(2000))
            elif round_ % 3 == 1:
                hostile.sendall(b"\xdd" + struct.pack(">I", 2**31) + chance.randbytes(100))
            else:
                hostile.sendall(msgpack.packb([0, 1, "ping", []])[:-1])
    fuzzed = Rpc(server.port)
    spared = {"simPause", "simContinueForTime", "simContinueForFrames", "startRecording", "reset", "moveByRC"}
    for method in sorted(known_methods - spared):
        for _ in range(3):
            params = [chance.choice(values) for _ in range(chance.randrange(7))]
            number = fuzzed.send(method, *params)
            try:
                fuzzed.wait(number)
            except RpcError as error:
                assert str(error).startswith(f"{method}: ")
    fuzzed.close()
    assert rpc("ping") is True
    rpc("simContinueForTime", 0.5)
    assert np.isfinite(xyz(rpc("simGetVehiclePose", "Eye")["position"])).all()


@pytest.mark.renders
def test_what_is_not_here_says_so_by_name(rpc: Rpc) -> None:
    for method, why in UNSUPPORTED.items():
        with pytest.raises(RpcError, match=f"^{method}: this method {re.escape(why)}$"):
            rpc(method)


@pytest.mark.renders
def test_a_port_in_use_is_one_clear_line(server: Running) -> None:
    read = read_settings()
    with pytest.raises(
        LinkError, match=rf"cannot listen on 127.0.0.1:{server.port}: Address already in use; choose another --port"
    ):
        serve(make_scenario(read.scenario), read.options, port=server.port)


@pytest.mark.renders
def test_the_verb(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "skyloop")
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({"ClokSpeed": 1, "DefaultSensors": {"imu": {"SensorType": 2}}}), encoding="utf-8")
    reported = CliRunner().invoke(
        app, ["--settings", str(file), "--world", "flat", "--port", "0", "--lasts", "0.2", "--json"]
    )
    assert reported.exit_code == 0, reported.output
    assert "did you mean 'ClockSpeed'" in caplog.text and "may connect to 127.0.0.1:" in caplog.text
    assert json.loads(reported.stdout)["simulated_s"] >= 0.2


def test_the_page_lists_every_method_and_its_state(known_methods: set[str]) -> None:
    page = DOCS.read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \| (works|error) \|", page, flags=re.MULTILINE))
    assert {name for name, state in rows.items() if state == "works"} == known_methods
    assert {name for name, state in rows.items() if state == "error"} == set(UNSUPPORTED)
