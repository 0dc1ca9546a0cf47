"""A serial line to autopilot hardware."""

from __future__ import annotations

import importlib
import selectors
import threading
from contextlib import suppress
from typing import Any

from skyloop.links.inbox import Inbox
from skyloop.links.sockets import CHUNK, Line
from skyloop_client.errors import LinkError, SetupError

BAUD = 921_600
MOST_UNSENT = 4096
"""Bytes. If the line is too slow, whole messages are dropped."""


class SerialLine(Line):
    """Puts `("came", port)` at once, `("data", bytes)`, and `("gone", why)` when the line fails."""

    def __init__(self, inbox: Inbox, port: str, baud: int = BAUD) -> None:
        try:
            serial = importlib.import_module("serial")
        except ImportError:
            raise SetupError("a serial line needs pyserial; pip install 'skyloop[mavlink]'") from None
        try:
            self._serial: Any = serial.Serial(port, baud, timeout=0, write_timeout=0)
        except (OSError, ValueError) as error:
            raise LinkError(f"cannot open the serial line {port} at {baud} baud: {error}") from None
        super().__init__(inbox, "serial line")
        self.port = port
        self.dropped = 0
        """Messages dropped because the line was too slow."""
        self._unsent = bytearray()
        self._open = True
        self._lock = threading.Lock()
        self._selector.register(self._serial.fileno(), selectors.EVENT_READ)
        self.put("came", port)
        self._thread.start()

    def send(self, data: bytes) -> None:
        with self._lock:
            if not self._open:
                return
            if len(self._unsent) > MOST_UNSENT:
                self.dropped += 1
            else:
                self._unsent += data
            # the reading side will notice the failure as well
            with suppress(OSError):
                sent = self._serial.write(bytes(self._unsent))
                del self._unsent[: sent or 0]

    def _attend(self, ready: Any) -> None:
        try:
            data = self._serial.read(CHUNK)
        except OSError as error:
            data, why = b"", str(error)
        else:
            why = "the line was closed"
        if data:
            self.put("data", data)
            return
        with self._lock:
            self._open = False
            self._selector.unregister(ready)
        self.put("gone", why)

    def _free(self) -> None:
        self._open = False
        with suppress(OSError):
            self._serial.close()
