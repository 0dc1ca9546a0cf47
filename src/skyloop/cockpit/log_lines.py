"""Lines of the log for the page."""

from __future__ import annotations

import logging

from skyloop.cockpit.courier import Courier

TREES = ("skyloop", "skyloop_client")
LONGEST = 1000


class LogLines(logging.Handler):
    """What the command line prints as log lines, a page sees too."""

    def __init__(self, courier: Courier) -> None:
        super().__init__(logging.INFO)
        self._courier = courier
        for name in TREES:
            logging.getLogger(name).addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        self._courier.put_line(record.levelname.lower(), " ".join(record.getMessage().split())[:LONGEST])

    def close(self) -> None:
        """It may be called twice."""
        for name in TREES:
            logging.getLogger(name).removeHandler(self)
        super().close()
