"""An AirSim client watches while a pilot of another link flies the vehicle."""

from __future__ import annotations

import json
import queue
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from airsim_rpc import Rpc, running, xyz

from skyloop.links.airsim.link import AirSimConfig
from skyloop.links.airsim.settings import read_settings
from skyloop.links.link_gate import LinkGate, Onlooker
from skyloop.run import run_scenario
from skyloop.sim.scenario import make_scenario
from skyloop.sim.simulation_port import SimulationPort

pytestmark = pytest.mark.renders

SETTINGS = '{"DefaultSensors": {"imu": {"SensorType": 2}}}'


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
