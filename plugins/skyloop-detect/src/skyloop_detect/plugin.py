"""What this plugin brings."""

from skyloop.core.plugins import Plugin

PLUGIN = Plugin(
    estimators={"people-detector": "skyloop_detect.image_detector:ImageDetector"},
    board_programs={"people-detector": "skyloop_detect.commands.board_detector:board_command"},
    verbs={"detection": "skyloop_detect.cli:app"},
)
