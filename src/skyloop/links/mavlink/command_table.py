"""All supported commands by number. Others are answered with UNSUPPORTED."""

from __future__ import annotations

from skyloop.links.mavlink.command_context import Handler
from skyloop.links.mavlink.failures import FAILURE_COMMANDS
from skyloop.links.mavlink.flight_commands import FLIGHT_COMMANDS
from skyloop.links.mavlink.message_commands import MESSAGE_COMMANDS
from skyloop.links.mavlink.payload_commands import PAYLOAD_COMMANDS

COMMANDS: dict[int, Handler] = {**FLIGHT_COMMANDS, **MESSAGE_COMMANDS, **FAILURE_COMMANDS, **PAYLOAD_COMMANDS}
