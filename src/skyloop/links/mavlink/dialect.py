"""MAVLink 2 from pymavlink: the common messages, and those of the development dialect that clients already use."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from skyloop_client.errors import SetupError

try:
    from pymavlink.dialects.v20 import development as mavlink
except ModuleNotFoundError:
    raise SetupError("MAVLink needs the package pymavlink; install it with: pip install 'skyloop[mavlink]'") from None

__all__ = ["MavMessage", "Send", "field_of", "mavlink", "sender_of"]

MavMessage: TypeAlias = mavlink.MAVLink_message
"""Any message. pymavlink gives each one the fields of its kind."""
Send = Callable[[MavMessage], None]
"""Answers the client that a message came from."""


def sender_of(message: MavMessage) -> tuple[int, int]:
    """Its system and component."""
    return message.get_srcSystem(), message.get_srcComponent()


def field_of(message: MavMessage, name: str, default: int = 0) -> int:
    """A field that only some kinds of messages have."""
    return int(getattr(message, name, default))
