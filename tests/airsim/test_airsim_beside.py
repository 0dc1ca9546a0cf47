"""An AirSim client watches while a pilot of another link flies the vehicle."""

from __future__ import annotations

import json
import queue
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from airsim_rpc import Rpc, running, xyz

from skyloop.links.airsim.link import AirSimConfig
from skyloop.links.airsim.settings import read_settings
from skyloop.links.link_gate import LinkGate, Onlooker
from skyloop.links.loop.loop_link import LoopConfig
from skyloop.run import run_scenario
from skyloop.sim.scenario import make_scenario
from skyloop.sim.simulation_port import SimulationPort
from skyloop_client.messages import Arm, Goal, TakeOff
from skyloop_client.session import connect

pytestmark = pytest.mark.renders

SETTINGS = '{"DefaultSensors": {"imu": {"SensorType": 2}}}'


def test_two_links_at_once() -> None:
    read = read_settings(SETTINGS, world="flat")
    made: dict[str, Any] = {}
    go_on, here = threading.Event(), threading.Event()

    def opened(address: str) -> None:
        made["pilot"] = threading.Thread(target=fly, args=(address,), daemon=True)
        made["pilot"].start()

    def fly(address: str) -> None:
        session = connect(address, timeout=60.0)
        session.ask(Arm(), TakeOff(3.0))
        here.set()
        go_on.wait(60.0)
        session.ask(Goal(np.array([4.0, 0.0, 3.0])))
        made["state"] = session.ask(until_ns=session.now() + 12_000_000_000).state
        session.close()

    loop = LoopConfig(mode="none", pace=20.0, opened=opened)
    with running(read.scenario, replace(read.options, quality="low", land_after_s=0.5), 20.0, links=[loop]) as server:
        watcher = Rpc(server.port)
        assert here.wait(60.0)
        go_on.set()
        made["pilot"].join(60.0)
        place = xyz(watcher("simGetVehiclePose", "")["position"])
        # 4 m east
        assert np.linalg.norm(np.subtract(place, [0.0, 4.0, -2.9])) < 1.5
        watcher.close()
    assert np.linalg.norm(made["state"].position - [4.0, 0.0, 3.0]) < 1.5
    assert not any("no client commands" in line for line in server.lines), "who watched has nothing to land"


class Stopper(Onlooker):
    def attach(self, port: SimulationPort, folder: Path | None, link_gate: LinkGate) -> None:
        self.gate = link_gate


def test_clients_fly_any_scenario(tmp_path: Path) -> None:
    """As `skyloop run my.yaml --link airsim` does."""
    ports: queue.SimpleQueue[str] = queue.SimpleQueue()
    sensors = {"imu": {"kind": "imu", "rate_hz": 100}, "gnss": {"kind": "gnss"}}
    scenario = make_scenario({"world": "flat", "duration": 600, "vehicles": [{"name": "mine", "sensors": sensors}]})
    airsim, stopper = AirSimConfig(address=("127.0.0.1", 0), quality="low", pace=20.0, opened=ports.put), Stopper()
    folder, links = tmp_path / "run", [airsim, stopper]
    flight = threading.Thread(target=run_scenario, args=(scenario, folder), kwargs={"links": links}, daemon=True)
    flight.start()
    rpc = Rpc(int(ports.get(timeout=120.0).rpartition(":")[2]))
    try:
        assert rpc("listVehicles") == ["mine"]
        rpc("enableApiControl", True, "mine")
        rpc("armDisarm", True, "mine")
        assert rpc("takeoff", 20.0, "mine")
        assert xyz(rpc("simGetVehiclePose", "mine")["position"])[2] < -1.0
        assert rpc("getImuData", "", "mine")["linear_acceleration"]["z_val"] == pytest.approx(-9.8, abs=2.0)
    finally:
        stopper.gate.stop()
        rpc.close()
        flight.join(60.0)
    assert json.loads((folder / "summary.json").read_text())["links"]["airsim"]["calls"] == 6


def flown_exactly() -> Any:
    read = read_settings(SETTINGS, world="flat")
    with running(read.scenario, replace(read.options, quality="low"), paused=True) as server:
        rpc = Rpc(server.port)
        rpc("enableApiControl", True, "")
        rpc.send("takeoff", 20.0, "")
        rpc("simContinueForTime", 3.0)
        rpc.send("moveByVelocity", 1.0, 0.5, 0.0, 5.0, 0, {"is_rate": True, "yaw_or_rate": 10.0}, "")
        rpc("simContinueForTime", 1.5)
        found = rpc("simGetGroundTruthKinematics", ""), rpc("getImuData", "", "")
        rpc.close()
    return found


def test_a_script_that_steps_time_gives_the_same_every_time() -> None:
    assert flown_exactly() == flown_exactly()
