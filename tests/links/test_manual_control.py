"""Keys and sticks as velocities, without a terminal: E2ES's keys and speeds, and what becomes of the vehicle."""

from __future__ import annotations

import os
import pty
import struct
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import skyloop
from link_rig import eventually
from skyloop.core.frames import yaw_from_quat
from skyloop.links.link_gate import LinkGate
from skyloop.links.manual_control import CLIMB, SPEED, TURN, ByHand, Pad, reading_gamepad, reading_keys, stick
from skyloop.links.pace import Pace
from skyloop.sim.simulation import Simulation
from skyloop_client.errors import LinkError, SetupError

SCENARIO = {"world": "flat", "vehicles": [{"name": "drone", "airframe": "x500", "yaw_deg": 90}]}


class Wall:
    """A wall clock that goes with simulated time."""

    simulation: Simulation

    def __call__(self) -> float:
        return self.simulation.now


@pytest.fixture
def flown() -> Iterator[tuple[ByHand, Simulation, list[str]]]:
    said: list[str] = []
    link_gate, wall = LinkGate(Pace(1000.0)), Wall()
    link = link_gate.links["by_hand"] = ByHand(link_gate.inbox, said.append, now=wall)
    with skyloop.build(skyloop.make_scenario(SCENARIO), gates=(link_gate,)) as simulation:
        wall.simulation = simulation
        link_gate.attach(simulation.port)
        yield link, simulation, said
        link_gate.finish("over")


def hold(link: ByHand, simulation: Simulation, key: str, seconds: float) -> None:
    """As a terminal repeats a key."""
    for _ in range(round(seconds / 0.1)):
        link.put("key", key)
        simulation.run_for(0.1)


def test_the_keys_of_e2es_fly_it(flown: tuple[ByHand, Simulation, list[str]]) -> None:
    link, simulation, said = flown
    hold(link, simulation, "y", 0.5)
    assert simulation.truth().position[2] < 0.5  # on the ground keys do nothing
    link.put("key", "1")
    simulation.run_for(6.0)
    start = simulation.truth().position
    assert start[2] == pytest.approx(1.7, abs=0.3)
    # it looks north: forward is north, left is west
    hold(link, simulation, "y", 4.0)
    moved = simulation.truth().position - start
    assert moved[1] == pytest.approx(4.0 * SPEED, abs=1.0) and abs(moved[0]) < 0.3
    simulation.run_for(3.0)
    assert np.linalg.norm(simulation.truth().velocity_world) < 0.1  # let go of
    before = simulation.truth().position
    hold(link, simulation, "g", 3.0)
    assert simulation.truth().position[0] - before[0] == pytest.approx(-3.0 * SPEED, abs=1.0)
    simulation.run_for(2.0)
    before = simulation.truth().position
    hold(link, simulation, "w", 3.0)
    assert simulation.truth().position[2] - before[2] == pytest.approx(3.0 * CLIMB, abs=0.5)
    link.put("key", "2")
    simulation.run_for(12.0)
    assert not simulation.port.vehicle("drone").status.armed
    assert any("landed" in line for line in said)
    assert not link.over
    link.put("key", "q")
    simulation.run_for(0.1)
    assert link.over


def test_several_keys_add_up(flown: tuple[ByHand, Simulation, list[str]]) -> None:
    link, simulation, _ = flown
    for key in ("h", "j", "s", "d"):
        link.taker("key", key)
    np.testing.assert_allclose(link.wanted(), [-SPEED, -SPEED, -CLIMB, -TURN])
    simulation.run_for(1.0)
    np.testing.assert_allclose(link.wanted(), np.zeros(4))


def test_sticks_have_a_dead_middle() -> None:
    assert stick(0) == stick(3000) == stick(-3000) == 0.0
    assert stick(32767) == 1.0 and stick(-32768) == -1.0
    assert stick(18022) == pytest.approx(0.5, abs=0.01)


def test_a_gamepad_speaks_the_kernels_language(flown: tuple[ByHand, Simulation, list[str]], tmp_path: Path) -> None:
    link, simulation, _ = flown
    pad = Pad(link)
    pad.event(struct.pack("<IhBB", 5, -32767, 2, 4))  # right stick forward
    pad.event(struct.pack("<IhBB", 5, -32767, 0x82, 3))  # and to the left, at the beginning
    simulation.run_for(0.1)
    np.testing.assert_allclose(link.wanted(), [2 * SPEED, 2 * SPEED, 0, 0])
    pad.event(struct.pack("<IhBB", 9, 1, 1, 7))
    simulation.run_for(0.1)
    assert link.over
    with pytest.raises(SetupError, match="no gamepad"), reading_gamepad(link, tmp_path / "js0"):
        pass


def test_keys_come_from_the_terminal(
    flown: tuple[ByHand, Simulation, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    link, simulation, _ = flown
    outside, inside = pty.openpty()
    with os.fdopen(inside, "r") as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        read: list[str] = []
        put = link.put

        def put_and_note(kind: Any, key: str) -> None:
            put(kind, key)
            read.append(key)

        monkeypatch.setattr(link, "put", put_and_note)
        with reading_keys(link):

            def has_more_than(count: int) -> bool:
                return len(read) > count

            def press(keys: bytes, seconds: float) -> None:
                """As a terminal repeats them; simulated time waits until they were read."""
                for _ in range(round(seconds / 0.1)):
                    before = len(read)
                    os.write(outside, keys)
                    assert eventually(partial(has_more_than, before))
                    simulation.run_for(0.1)

            press(b"1", 0.1)
            simulation.run_for(5.0)
            start, heading = simulation.truth().position, simulation.truth().quat_wxyz
            press(b"\x1b[A\x1b[D\x1bOB ", 1.0)  # arrows, and space, which hovers
            np.testing.assert_allclose(simulation.truth().quat_wxyz, heading, atol=1e-3)
            press(b"y", 3.0)
            simulation.run_for(3.0)
            # it looks north
            assert (simulation.truth().position - start)[1] == pytest.approx(3.6, abs=0.8)
            press(b"aw", 1.0)
            simulation.run_for(2.0)
            assert yaw_from_quat(simulation.truth().quat_wxyz) == pytest.approx(np.pi / 2 + 1.6 * TURN, abs=0.12)
            assert (simulation.truth().position - start)[2] == pytest.approx(1.6 * CLIMB, abs=0.25)
            os.write(outside, b"q")
            for _ in range(200):
                simulation.run_for(0.1)
                if link.over:
                    break
        assert link.over
    os.close(outside)
    with Path(os.devnull).open() as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        with pytest.raises(LinkError, match="terminal"), reading_keys(link):
            pass
