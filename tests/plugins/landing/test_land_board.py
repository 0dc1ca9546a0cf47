"""Landings with a board on the serial line, without a renderer: the object lists are computed from the truth."""

from __future__ import annotations

import csv
import math
import socket
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from landing_firmware import firmware, needs_board
from landing_lists import listed, marker_objects
from skyloop.core.frames import matrix_from_quat, yaw_from_quat
from skyloop.links.link_gate import LinkGate
from skyloop.run import fly
from skyloop.sim.assembly import build
from skyloop.sim.scenario import load_scenario, make_scenario
from skyloop_client.errors import LinkEnded, ScenarioError, UnknownNameError
from skyloop_landing.board.board_lines import SerialBoard, open_line
from skyloop_landing.board.choice import BoardOptions, make_board
from skyloop_landing.board.landing_link import LandingLink, LandingOptions
from skyloop_landing.board.pc_procedure import PcProcedureConfig
from skyloop_landing.board.simulated_uart import StampedBytes
from skyloop_landing.land import landing_pilot, run_landing, start_of

pytestmark = pytest.mark.flights

MARKER = np.array([6.0, 0.0, 0.03])
CAMERA = np.array([0.5, 0.0, -0.1])
MOUNT = {"position": CAMERA.tolist(), "rotation_deg": [0.0, 90.0, 0.0]}
QUICK = PcProcedureConfig(settle_every=0.1)


class TruthLink(LandingLink):
    """Its logic lists the marker where it really is."""

    frame = 0

    def _look(self, t_ns: int) -> Any:
        if self._phase != "land":
            return None
        self.frame += 1
        state = self._vehicle.truth
        turn = matrix_from_quat(state.quat_wxyz)
        camera = state.position + turn @ CAMERA

        def pixel(point):
            forward, left, up = turn.T @ (point - camera)
            return 639.5 - 640.0 * left / -up, 359.5 - 640.0 * forward / -up

        (x, y), (ahead_x, ahead_y) = pixel(MARKER), pixel(MARKER + np.array([0.26, 0.0, 0.0]))
        angle = math.atan2(ahead_x - x, -(ahead_y - y))
        if not (0.0 <= x < 1280.0 and 0.0 <= y < 720.0):
            return listed([], self.frame).words()
        return listed(marker_objects(x, y, angle, float(camera[2] - MARKER[2])), self.frame).words()


class Dumb:
    """A board that acknowledges, commands once, and says nothing more."""

    name, least_area, has_own_line = "dumb", 32, False

    def __init__(self) -> None:
        self.answers = [b"t:1\nv:0.5,0,0\n"]

    def advance(self, t_ns, received, words=None):
        triggered = any(part.data == b"T" for part in received)
        return [StampedBytes(t_ns, self.answers.pop())] if triggered and self.answers else []

    def summary(self):
        return {}

    def close(self) -> None:
        pass


def landing(
    folder: Path, board: Any = "python", options: BoardOptions | None = None, polls_per_step: int = 1,
    **procedure: float,
):  # fmt: skip
    """The link, the error in m, the heading in rad, and whether it has landed. board: a name or a board itself."""
    vehicle = {
        "name": "drone", "airframe": "airsim-quad",
        "sensors": {"range": {"kind": "rangefinder", "preset": "airsim", "rate_hz": 60, "mount": MOUNT}},
    }  # fmt: skip
    scenario = make_scenario({"name": "landing", "duration": 60, "world": "landing", "vehicles": [vehicle]})
    if isinstance(board, str):
        board, _ = make_board(board, options)
    how = PcProcedureConfig(**{**QUICK.model_dump(), **procedure})
    given = LandingOptions((5.2, 0.4, 3.5), 0.3, camera="range", procedure=how, polls_per_step=polls_per_step)
    link = TruthLink(board, None, given)
    gate = LinkGate()
    gate.links["landing"] = link
    folder.mkdir(exist_ok=True)
    with build(scenario, gates=(gate,)) as simulation:
        gate.attach(simulation.port, folder)
        try:
            fly(simulation, 60.0, links=gate)
        finally:
            gate.finish("over")
        port = simulation.port.vehicle("drone")
        error = port.truth.position[:2] - MARKER[:2]
        return link, float(np.hypot(*error)), float(yaw_from_quat(port.truth.quat_wxyz)), port.status.landed


def test_a_board_in_python_lands_on_the_marker(tmp_path):
    link, error, yaw, landed = landing(tmp_path)
    assert landed and error < 0.12 and abs(yaw) < 0.12
    summary = link.summary()
    assert summary["phase"] == "done" and not summary["gave_up"] and summary["images_missed"] == 0
    assert 2.0 < summary["start_to_landing_decision_s"] < 20.0
    assert summary["start_to_touchdown_s"] > summary["start_to_landing_decision_s"]
    # the serial line was used as written: settle, start, questions and answers, landing, stop
    rows = list(csv.reader((tmp_path / "serial.csv").read_text().splitlines()))
    ours, theirs = ("".join(row[2] for row in rows if row[1] == who) for who in ("pc", "board"))
    assert ours.startswith("Am03Ac") and ours.endswith("T000") and "T111" in ours
    assert theirs.startswith(r"t:1\n") and r"\ny:" in theirs and theirs.endswith(r"l:\nt:0\n")


@pytest.mark.slow("a landing")
def test_a_pc_that_answers_fifteen_times_a_second_lands_all_the_same(tmp_path):
    _, error, yaw, landed = landing(tmp_path, polls_per_step=16)
    assert landed and error < 0.3 and abs(yaw) < 0.12
    rows = list(csv.reader((tmp_path / "serial.csv").read_text().splitlines()))
    answers = [int(row[0]) for row in rows if row[1] == "pc" and "Am" in row[2]][7:]
    gaps = {round(1e-6 * (b - a)) for a, b in pairwise(answers)}
    assert len(answers) > 30 and gaps <= {66, 67, 133, 134}


@needs_board
@pytest.mark.slow("whole landings on the emulated board")
def test_firmware_under_qemu_lands_twice_with_the_same_bytes(tmp_path):
    options = BoardOptions(firmware=firmware(tmp_path))
    _, error, yaw, landed = landing(tmp_path / "a", "qemu", options)
    assert landed and error < 0.12 and abs(yaw) < 0.12
    landing(tmp_path / "b", "qemu", options)
    first, second = ((tmp_path / name / "serial.csv").read_bytes() for name in "ab")
    assert first == second and first.count(b"v:") > 100


@needs_board
@pytest.mark.slow("whole landings on the emulated board")
def test_how_slow_the_clock_may_be(tmp_path):
    """A thousandth of the clock costs milliseconds per image; a hundred thousandth misses nearly all of them."""
    slow = BoardOptions(clock_mhz=0.65, firmware=firmware(tmp_path))
    link, error, _, landed = landing(tmp_path / "slow", "qemu", slow)
    assert landed and error < 0.15
    assert link.summary()["execution_us_most"] > 1_000.0
    hopeless = BoardOptions(clock_mhz=0.0065, firmware=firmware(tmp_path))
    link, _, _, landed = landing(tmp_path / "hopeless", "qemu", hopeless, trigger_patience=60.0)
    summary = link.summary()
    assert summary["images_missed"] > 10 * summary["images"] and not landed


def test_a_board_that_falls_silent_makes_the_vehicle_hover(tmp_path):
    link, _, _, landed = landing(tmp_path, Dumb(), give_up_after=4.0)
    assert not landed and link.summary()["gave_up"]
    news = " ".join(link.summary()["news"])
    assert "no command of the landing board for 1 s" in news and "no landing within 4 s" in news


def test_a_board_that_goes_away_in_flight_ends_it_with_one_line(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        board = SerialBoard(open_line(f"tcp:127.0.0.1:{server.getsockname()[1]}"))
        server.accept()[0].close()
    with pytest.raises(LinkEnded, match=r"is gone \(the line was closed\); is it still plugged in"):
        landing(tmp_path, board)


# ---- the app


def test_scenarios_without_a_landing_are_refused(tmp_path):
    with pytest.raises(ScenarioError, match=r"scenario 'hover' has no pilot 'landing'"):
        run_landing(load_scenario("hover", {}), tmp_path / "x")
    with pytest.raises(UnknownNameError, match="no landing board named 'pyton'; did you mean 'python'"):
        run_landing(load_scenario("landing", {}), tmp_path / "x", "pyton")


def test_the_start_is_that_of_the_scenario_s_pilot():
    pilot = landing_pilot(load_scenario("landing", {"seed": 5}))
    (x, y, z), yaw = start_of(pilot)
    assert 5.0 <= z <= 10.0 and abs(x - 6.0) <= z / 3.0 and abs(y) <= z / 2.0 and abs(yaw) <= math.pi
    assert start_of(pilot) != start_of(landing_pilot(load_scenario("landing", {"seed": 6})))
