"""Nobody's looking changes a flight."""

from __future__ import annotations

import hashlib
import json
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from cockpit_rig import PATIENCE_S, live_of
from skyloop.cockpit.cockpit_beside import CockpitBeside
from skyloop.cockpit.wire import unframed
from skyloop.run import run_scenario
from skyloop.sim.scenario import load_scenario

pytestmark = pytest.mark.processes


def hashes(folder: Path) -> dict[str, str]:
    streams = sorted((folder / "streams").rglob("*.csv"))
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in streams}


def look_on(peer: ClientConnection, seen: list[str]) -> None:
    """A page without a browser that wants everything, until the server goes."""
    with suppress(ConnectionClosed), peer:
        peer.send(json.dumps({"want": ["truth/drone", "drone/imu", "drone/ekf", "drone/status"]}))
        for data in peer:
            assert isinstance(data, bytes)
            header, _ = unframed(data)
            seen.append(str(header.get("s", header["k"])))


def test_a_flight_with_viewers_has_the_bytes_of_one_without(tmp_path: Path) -> None:
    scenario = load_scenario("first-flight", {"duration": 3.0})
    run_scenario(scenario, tmp_path / "alone")
    beside = CockpitBeside(scenario, port=0)
    seen: list[str] = []
    # a server that is still starting would miss the flight
    peer = connect(live_of(beside.server.url), max_size=None, open_timeout=PATIENCE_S)
    viewer = threading.Thread(target=look_on, args=(peer, seen))
    viewer.start()
    summary = run_scenario(scenario, tmp_path / "seen", links=[beside])
    assert summary["links"]["cockpit"]["batches"] > 0
    viewer.join(30.0)
    assert {"truth/drone", "drone/imu", "movers", "clock"} <= set(seen)
    assert hashes(tmp_path / "seen") == hashes(tmp_path / "alone")
