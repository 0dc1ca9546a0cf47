"""Lands a scenario's vehicle with a landing board on a serial line. Behind `skyloop land`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from skyloop.apps.run import Progress, Watch, run_scenario, without_pilots
from skyloop.links.link_gate import LinkGate
from skyloop.links.pace import Pace
from skyloop.sim.scenario import Scenario
from skyloop_client.errors import ScenarioError
from skyloop_landing.board.choice import BoardOptions, make_board
from skyloop_landing.board.landing_link import LandingLink, LandingOptions
from skyloop_landing.board.pc_procedure import PcProcedureConfig
from skyloop_landing.board.video_out import VideoOut
from skyloop_landing.board.video_outputs import open_video
from skyloop_landing.pilot import LandingPilot, LandingPilotConfig

IN_REAL_TIME = ("arty:", "pty:", "tcp:")
"""Boards that live in wall time."""


def landing_pilot(scenario: Scenario) -> LandingPilotConfig:
    """What the scenario says of the landing; its pilot itself does not fly."""
    pilot = scenario.vehicles[0].pilot
    if not isinstance(pilot, LandingPilotConfig):
        raise ScenarioError(
            f"scenario '{scenario.name}' has no pilot 'landing' that says where to start; take the scenario landing"
        )
    return pilot.seeded(scenario.seed)


def start_of(pilot: LandingPilotConfig, ground: float = 0.0) -> tuple[tuple[float, float, float], float]:
    """m, world, and rad: where the landing begins."""
    goal = LandingPilot(**pilot.model_dump(exclude={"kind", "rate_hz"})).drawn_start()
    x, y, z = (float(value) for value in goal.position)
    assert goal.yaw is not None
    return (x, y, z + ground), goal.yaw


def _outcome(told: dict[str, Any], pilot: LandingPilotConfig) -> dict[str, Any]:
    """What the link tells, with the distance from the marker's middle."""
    x, y, _ = told["position"]
    return {**told, "error_x_m": x - pilot.marker_near[0], "error_y_m": y - pilot.marker_near[1]}


def run_landing(
    scenario: Scenario,
    folder: Path,
    board: str = "python",
    options: BoardOptions | None = None,
    *,
    video: str | None = None,
    pace: float | None = None,
    procedure: PcProcedureConfig | None = None,
    progress: Progress = lambda t: None,
    tell: Callable[[str], None] = lambda text: None,
    watch: Watch = lambda simulation: None,
) -> dict[str, Any]:
    """Fly to the start and let the board land. `options` replace what the scenario's pilot says of rules and gains."""
    pilot = landing_pilot(scenario)
    options = options or BoardOptions(rules=pilot.rules, control=pilot.control)
    start, yaw = start_of(pilot)
    flown = LandingOptions(
        start, yaw, pilot.camera, pilot.rangefinder, pilot.takeoff_altitude, procedure or PcProcedureConfig()
    )
    landing_board, fabric = make_board(board, options)
    shown: VideoOut | None = None
    try:
        shown = None if video is None else open_video(video)
        real = pace is None and (board.startswith(IN_REAL_TIME) or video == "window")
        link_gate = LinkGate(Pace(1.0 if real else pace))
        link = link_gate.links["landing"] = LandingLink(landing_board, fabric, flown, shown, tell)
        summary = run_scenario(without_pilots(scenario), folder, progress, link_gate, watch)
        return {**summary, "landing": _outcome(link.summary(), pilot)}
    finally:
        landing_board.close()
        if shown is not None:
            shown.close()
