"""Flies a scenario with MAVLink clients. Behind `skyloop mavlink`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skyloop.apps.run import Progress, Watch, run_scenario, without_pilots
from skyloop.core.frames import GeoPoint
from skyloop.links.link_gate import LinkGate
from skyloop.links.pace import Pace
from skyloop.sim.scenario import Scenario

if TYPE_CHECKING:
    from skyloop.links.mavlink.link import MavlinkLink

HURRY_S = 0.2
"""Most simulated s that pass in a hurry after the computer was busy. Offboard setpoints may be missing for 0.5 s."""


def home_of(scenario: Scenario) -> GeoPoint:
    earth = scenario.earth
    return GeoPoint(earth.latitude_deg, earth.longitude_deg, earth.altitude)


def mavlink_link(scenario: Scenario, link_gate: LinkGate, options: Mapping[str, Any]) -> MavlinkLink:
    """A link for all vehicles of a scenario. Its ports are reserved now and open once the vehicles can answer."""
    from skyloop.links.mavlink.link import MavlinkLink, MavlinkOptions

    return MavlinkLink(link_gate.inbox, len(scenario.vehicles), home_of(scenario), MavlinkOptions(**options))


def where_to_connect(link: MavlinkLink) -> list[str]:
    """A line for each vehicle."""
    return [
        f"MAVLink system {number + 1}: UDP to {told[0]} (ground station) and {told[1]} (MAVSDK), "
        f"TCP server on {link.options.host}:{ports['tcp']}; Ctrl-C ends"
        for number, (ports, told) in enumerate(zip(link.ports, link.told, strict=True))
    ]


def run_mavlink(
    scenario: Scenario,
    folder: Path,
    options: Mapping[str, Any] | None = None,
    *,
    pace: float = 1.0,
    duration: float | None = None,
    progress: Progress = lambda t: None,
    opened: Callable[[Any], None] = lambda link: None,
    watch: Watch = lambda simulation: None,
) -> dict[str, Any]:
    """Open the ports and fly until the time is over, all vehicles have landed, or Ctrl-C.

    `options` are those of `MavlinkOptions`. `opened` gets the link once clients are answered."""
    scenario = without_pilots(scenario, duration)
    link_gate = LinkGate(Pace(pace, give_up_s=HURRY_S / max(pace, 1.0)))
    link = link_gate.links["mavlink"] = mavlink_link(scenario, link_gate, options or {})
    link.on_open = lambda: opened(link)
    try:
        return run_scenario(scenario, folder, progress, link_gate, watch)
    finally:
        link.listener.close()
