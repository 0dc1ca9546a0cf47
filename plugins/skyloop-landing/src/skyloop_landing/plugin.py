"""What this plugin brings."""

from pathlib import Path

from skyloop.core.plugins import Plugin

PLUGIN = Plugin(
    pilots={"landing": "skyloop_landing.pilot:LandingPilot"},
    scenarios=Path(__file__).parent / "scenarios",
    verbs={"land": "skyloop_landing.cli:app"},
    reports={"landing": "skyloop_landing.report:LandingReport"},
)
