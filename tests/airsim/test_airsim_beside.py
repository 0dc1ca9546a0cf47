"""An AirSim client watches while a pilot of another link flies the vehicle."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from airsim_rpc import Rpc, running, xyz

from skyloop.links.airsim.settings import read_settings
from skyloop.links.link_gate import LinkGate
from skyloop.links.loop.client_sessions import LinkOptions
from skyloop.links.loop.coordinator import Coordinator
from skyloop.links.loop.listener import Listener
from skyloop_client.messages import Arm, Goal, TakeOff
from skyloop_client.session import connect

pytestmark = pytest.mark.renders

SETTINGS = '{"DefaultSensors": {"imu": {"SensorType": 2}}}'


def test_two_links_at_once() -> None:
    read = read_settings(SETTINGS, world="flat")
    made: dict[str, Any] = {}
    go_on, here = threading.Event(), threading.Event()

    def others(link_gate: LinkGate) -> dict[str, Any]:
        listener = Listener(link_gate.inbox)
        made["pilot"] = threading.Thread(target=fly, args=(f"127.0.0.1:{listener.ports[0]}",), daemon=True)
        made["pilot"].start()
        return {"loop": Coordinator(listener, LinkOptions(mode="none"))}

    def fly(address: str) -> None:
        session = connect(address, timeout=60.0)
        session.ask(Arm(), TakeOff(3.0))
        here.set()
        go_on.wait(60.0)
        session.ask(Goal(np.array([4.0, 0.0, 3.0])))
        made["state"] = session.ask(until_ns=session.now() + 12_000_000_000).state
        session.close()

    with running(read.scenario, replace(read.options, quality="low", land_after_s=0.5), 20.0, others=others) as server:
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
