"""Nobody's looking changes a flight, and what a person did can be repeated to the same bytes."""

from __future__ import annotations

import hashlib
import json
import threading
from contextlib import suppress
from pathlib import Path

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from cockpit_rig import CockpitRig, until
from skyloop.apps.cockpit_beside import Beside, links_for
from skyloop.apps.run import run_scenario
from skyloop.core.validation import read_yaml
from skyloop.sim.scenario import load_scenario, make_scenario
from skyloop.ui.wire import unframed

SENSORS = {"imu": {"kind": "imu"}, "gnss": {"kind": "gnss", "rate_hz": 5}, "barometer": {"kind": "barometer"}}
SCENARIO = {
    "name": "watched", "seed": 5, "duration": 100, "world": "blocks", "wind": {"kind": "dryden"},
    "vehicles": [{"name": "drone", "sensors": SENSORS, "state": "truth"}],
}  # fmt: skip


def hashes(folder: Path) -> dict[str, str]:
    streams = sorted((folder / "streams").rglob("*.csv"))
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in streams}


def test_orders_are_repeated_to_the_same_bytes(rig: CockpitRig, tmp_path: Path) -> None:
    rig.fly(SCENARIO)
    viewer = rig.viewer("truth/drone", "drone/status", "drone/imu")
    viewer.call("/api/time", {"speed": "unlimited"})
    viewer.order("take_off", height=2)
    until(lambda: viewer.next("rec", s="drone/status")["n"]["mode"] == "hover")
    viewer.order("goal", x=1.0, y=0.5, z=2.0)
    until(lambda: viewer.next("rec", v="event")["kind"] == "arrived")
    viewer.call("/api/flight/stop", {})
    viewer.next("ended")
    first = rig.folder / "watched-001"
    until(lambda: (first / "summary.json").exists())
    again = make_scenario(read_yaml(first / "scenario.yaml"))
    run_scenario(again, tmp_path / "again", links=links_for(first / "commands.csv"))
    assert len(hashes(first)) >= 5
    assert hashes(tmp_path / "again") == hashes(first)


def look_on(port: int, seen: list[str]) -> None:
    """A page without a browser that wants everything, until the server goes."""
    with suppress(ConnectionClosed), connect(f"ws://127.0.0.1:{port}/api/live", max_size=None) as peer:
        peer.send(json.dumps({"want": ["truth/drone", "drone/imu", "drone/ekf", "drone/status"]}))
        for data in peer:
            assert isinstance(data, bytes)
            header, _ = unframed(data)
            seen.append(header.get("s", header["k"]))


def test_a_flight_with_viewers_has_the_bytes_of_one_without(tmp_path: Path) -> None:
    scenario = load_scenario("first-flight", {"duration": 6.0})
    run_scenario(scenario, tmp_path / "alone")
    beside = Beside(port=0)
    seen: list[str] = []
    viewer = threading.Thread(target=look_on, args=(beside.server.port, seen))
    viewer.start()
    try:
        gate = links_for(None)
        run_scenario(scenario, tmp_path / "seen", links=gate, watch=lambda built: beside.watch(built, scenario))
        assert gate.summary()["cockpit"]["batches"] > 0
    finally:
        beside.close()
        viewer.join(30.0)
    assert {"truth/drone", "drone/imu", "movers", "clock"} <= set(seen)
    assert hashes(tmp_path / "seen") == hashes(tmp_path / "alone")
