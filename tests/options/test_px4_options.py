"""Each option under `px4` of a vehicle changes what PX4 gets."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest
from option_flights import fields_of
from pymavlink.dialects.v20 import common

from skyloop.links.autopilots.configs import Px4Config
from skyloop.links.link_gate import LinkGate
from skyloop.sim.assembly import build
from skyloop.sim.scenario import Px4Choice, make_scenario

THINGS = str(Path(__file__).parents[1] / "published_things.py")


def received(**px4: Any) -> list[Any]:
    """The ODOMETRY messages of 0.2 s, as a program that connects and is silent gets them."""
    estimator = {"kind": f"{THINGS}:FromTruth", "inputs": ["truth/drone"]}
    vehicle = {"position": [3.0, 7.0], "estimators": {"vio": estimator}, "px4": px4}
    gate = LinkGate()
    addresses: list[str] = []
    autopilot = Px4Config(port=0, opened=addresses.append)
    scenario = gate.open([autopilot], make_scenario({"truth_rate_hz": 250, "vehicles": [vehicle]}))
    host, _, port = addresses[0].rpartition(":")
    with build(scenario, gates=(gate,)) as simulation, socket.create_connection((host, int(port)), timeout=10) as line:
        gate.attach(simulation.port)
        simulation.run_until(0.2)
        gate.finish("done")
        data = b""
        while part := line.recv(65536):
            data += part
    return [message for message in common.MAVLink(None).parse_buffer(data) if message.get_type() == "ODOMETRY"]


EFFECTS: dict[str, Any] = {
    "odometry": lambda: (received(), received(odometry="vio")),
    "odometry_frame": lambda: (
        [(m.frame_id, round(m.x), round(m.y)) for m in received(odometry="vio", odometry_frame="ned")],
        [(m.frame_id, round(m.x), round(m.y)) for m in received(odometry="vio")],
    ),
    "odometry_rate_hz": lambda: (
        len(received(odometry="vio", odometry_rate_hz=250)),
        len(received(odometry="vio", odometry_rate_hz=25)),
    ),
}


def test_every_option_is_here() -> None:
    assert set(EFFECTS) == fields_of(Px4Choice)


def test_odometry_is_off_by_default() -> None:
    without, given = EFFECTS["odometry"]()
    assert without == [] and len(given) == pytest.approx(10, abs=2)


def test_frames() -> None:
    ned, frd = EFFECTS["odometry_frame"]()
    assert set(ned) == {(1, 7, 3)} and set(frd) == {(20, 0, 0)}


def test_rates() -> None:
    fast, slow = EFFECTS["odometry_rate_hz"]()
    assert fast > 40 and slow == pytest.approx(5, abs=1)
