"""What this plugin brings; each is imported when it is first used."""

from skyloop.core.plugins import Plugin

PLUGIN = Plugin(
    sensors={"beacon": "skyloop_beacon.beacon:Beacon"},
    messages={"BeaconSample": "skyloop_beacon.beacon:BeaconSample"},
    worlds={"valley": "skyloop_beacon.valley:Valley"},
    verbs={"nearest": "skyloop_beacon.nearest:app"},
)
