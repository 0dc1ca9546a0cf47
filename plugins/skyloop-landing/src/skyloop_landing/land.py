"""Lands a scenario's vehicle with a landing board on a serial line. Behind `skyloop land`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from skyloop import Scenario
from skyloop.links.inbox import Inbox
from skyloop.links.link_gate import Link, LinkConfig, all_vehicles
from skyloop.run import Progress, run_scenario
from skyloop.sim.survey import survey_of
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Event
from skyloop_landing.board.choice import BoardOptions, make_board
from skyloop_landing.board.landing_link import LandingLink, LandingOptions
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
    return pilot.drawn(survey_of(scenario, scenario.vehicles[0]))


def start_of(pilot: LandingPilotConfig) -> tuple[tuple[float, float, float], float]:
    """m, world, and rad: where the landing begins."""
    goal = LandingPilot(**pilot.model_dump(exclude={"kind", "rate_hz"})).drawn_start()
    x, y, z = (float(value) for value in goal.position)
    assert goal.yaw is not None
    return (x, y, z), goal.yaw


def _outcome(found: dict[str, Any], pilot: LandingPilotConfig) -> dict[str, Any]:
    """What the link found, with the distance from the marker's middle."""
    x, y, _ = found["position"]
    return {**found, "error_x_m": x - pilot.marker_near[0], "error_y_m": y - pilot.marker_near[1]}


def run_landing(
    scenario: Scenario,
    folder: Path,
    board: str = "python",
    options: BoardOptions | None = None,
    *,
    video: str | None = None,
    pace: float | None = None,
    progress: Progress = lambda t: None,
    report: Callable[[str], None] = lambda text: None,
    links: Sequence[LinkConfig] = (),
    tell: Callable[[str, Event], None] = lambda vehicle, event: None,
) -> dict[str, Any]:
    """Fly to the start and let the board land. `options` replace what the scenario's pilot says of rules and gains."""
    pilot = landing_pilot(scenario)
    options = options or BoardOptions(rules=pilot.rules, control=pilot.control)
    start, yaw = start_of(pilot)
    flown = LandingOptions(start, yaw, pilot.camera, pilot.rangefinder, pilot.takeoff_altitude)
    real = pace is None and (board.startswith(IN_REAL_TIME) or video == "window")
    landing = BoardConfig(
        pace=1.0 if real else pace, board=board, board_options=options, landing=flown, video=video, report=report
    )
    summary = run_scenario(scenario, folder, progress, [landing, *links], tell=tell)
    return {**summary, "landing": _outcome(summary["links"]["landing"], pilot)}


class BoardConfig(LinkConfig):
    """A board lands the first vehicle."""

    kind: ClassVar[str] = "landing"

    board: str
    board_options: BoardOptions
    landing: LandingOptions
    video: str | None
    report: Callable[[str], None]

    def flown(self, scenario: Scenario) -> frozenset[str]:
        return all_vehicles(scenario)

    def open(self, scenario: Scenario, inbox: Inbox) -> Sequence[Link]:
        board, fabric = make_board(self.board, self.board_options)
        try:
            shown = None if self.video is None else open_video(self.video)
        except BaseException:
            board.close()
            raise
        return [LandingLink(board, fabric, self.landing, shown, self.report)]
