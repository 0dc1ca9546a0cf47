"""MAVSDK flies a mission while AirSim's own client watches, takes over for a while, and is killed."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from airsim_clients import client_python
from airsim_rpc import running
from test_airsim_beside_mavlink import mavlink_on, tcp_port

from skyloop.links.airsim.settings import read_settings

pytestmark = pytest.mark.renders

FOLDER = Path(__file__).parent
SETTINGS = {
    "CameraDefaults": {"CaptureSettings": [{"ImageType": kind, "Width": 64, "Height": 48} for kind in (0, 1)]},
    "DefaultSensors": {"imu": {"SensorType": 2}},
}
PATIENCE_S = 60.0


class Script:
    """A client in a process of its own that prints JSON and is told when to go on."""

    def __init__(self, *command: Any) -> None:
        self.process = subprocess.Popen(
            [str(word) for word in command], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put("")

    def reported(self) -> dict[str, Any]:
        """The next line of JSON; the real clients print others, too."""
        while line := self._lines.get(timeout=PATIENCE_S):
            if line.startswith("{"):
                return dict(json.loads(line))
        assert self.process.stderr is not None
        raise AssertionError(self.process.stderr.read()[-2000:])

    def go_on(self, line: str = "") -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def ask(self, line: str) -> dict[str, Any]:
        self.go_on(line)
        return self.reported()


@contextmanager
def started(*command: Any) -> Iterator[Script]:
    script = Script(*command)
    try:
        yield script
    finally:
        script.process.kill()
        script.process.communicate()


@pytest.mark.slow("two real clients and their servers")
def test_airsim_watches_while_mavsdk_flies() -> None:
    read = read_settings(json.dumps(SETTINGS), world="blocks")
    python = client_python("airsim")
    addresses: list[str] = []
    clients = mavlink_on(addresses)
    with running(read.scenario, replace(read.options, quality="low"), 8.0, links=[clients]) as server:
        address = f"tcpout://127.0.0.1:{tcp_port(addresses)}"
        with (
            started(python, "-W", "ignore", FOLDER / "airsim_beside.py", server.port) as watcher,
            started(sys.executable, FOLDER / "mavsdk_beside.py", address, FOLDER.parent / "links") as pilot,
        ):
            assert watcher.reported() == {"watching": True}
            hovers, seen = pilot.reported(), watcher.ask("look")
            assert hovers["at"] == pytest.approx([0.0, 0.0, -3.0], abs=0.4)
            assert seen["at"] == pytest.approx(hovers["at"], abs=0.1) and seen["landed"] == 1
            assert seen["scene"][:2] == [64, 48] and seen["scene"][2] > 20
            assert 0.0 < seen["depth"][0] < seen["depth"][1]
            pilot.go_on()
            assert pilot.reported() == {"mode": "MISSION"}
            # the watcher takes the vehicle out of the mission; the mission then goes on where it was
            moved = watcher.ask("move")
            assert moved["at"] == pytest.approx([2.0, 3.0, -6.0], abs=0.6)
            pilot.go_on()
            assert pilot.reported() == {"mode": "HOLD"}
            pilot.go_on()
            arrived, seen = pilot.reported(), watcher.ask("look")
            # 1e-4 degrees are 11.1 m northwards and 7.5 m along the parallel
            assert arrived["at"] == pytest.approx([11.1, -7.5, -5.0], abs=0.7)
            # it still sways, and the two look one after the other
            assert seen["at"] == pytest.approx(arrived["at"], abs=0.3)
            watcher.process.kill()
            pilot.go_on()
            assert pilot.reported()["at"] == pytest.approx([0.0, 0.0, 0.0], abs=0.7)
    assert not [line for line in server.lines if "no client commands" in line]
