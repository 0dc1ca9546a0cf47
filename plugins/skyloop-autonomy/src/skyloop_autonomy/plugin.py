"""What this plugin brings."""

from pathlib import Path

from skyloop.core.plugins import Plugin

PLUGIN = Plugin(
    estimators={
        "vio": "skyloop_autonomy.vio.visual_localiser:VisualLocaliser",
        "maps": "skyloop_autonomy.mapping.map_builder:MapBuilder",
        "grid-slam": "skyloop_autonomy.grid_slam.localiser:GridLocaliser",
        "kiss-icp": "skyloop_autonomy.grid_slam.kiss_localiser:KissLocaliser",
        "people-tracker": "skyloop_autonomy.people.people_tracker:PeopleTracker",
    },
    pilots={"navigate": "skyloop_autonomy.pilots.navigate:NavigatePilot"},
    scenarios=Path(__file__).parent / "scenarios",
    verbs={"localise": "skyloop_autonomy.cli:app"},
    reports={
        "navigation": "skyloop_autonomy.reports.navigation_report:NavigationReport",
        "people": "skyloop_autonomy.reports.people_report:PeopleReport",
    },
)
