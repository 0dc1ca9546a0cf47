"""A second connection to ArduPilot, over MAVLink: its JSON interface takes no estimates."""

from __future__ import annotations

import socket
from contextlib import suppress

from skyloop.core.frames import GeoPoint
from skyloop.links.autopilots.odometry import OdometryFeed
from skyloop.links.autopilots.px4_wire import Origin, Wire
from skyloop_client.streams import NS_PER_S

RETRY_NS = NS_PER_S
"""Simulated time between two tries to connect, and between two messages with the origin."""
CONNECT_S = 1.0
"""Wall s for a try to connect."""


class VisionLine:
    """Sends ODOMETRY, and SET_GPS_GLOBAL_ORIGIN until ArduPilot's EKF has an origin."""

    def __init__(self, home: GeoPoint, port: int) -> None:
        self.port = port
        self._home = home
        self._wire = Wire()
        self._line: socket.socket | None = None
        self._has_origin = False
        self._next_ns = 0

    def send(self, host: str, t_ns: int, feed: OdometryFeed, *, set_back: bool) -> None:
        estimate = feed.take(t_ns, set_back=set_back)
        if set_back:
            self._next_ns = t_ns
        if self._line is None and t_ns >= self._next_ns:
            self._connect(host, t_ns)
        if self._line is None:
            return
        self._read()
        data = b"" if estimate is None else self._wire.odometry(estimate.t_ns // 1000, estimate, feed.axes, feed.resets)
        if not self._has_origin and t_ns >= self._next_ns:
            self._next_ns = t_ns + RETRY_NS
            # it speaks to those only that it has heard a heartbeat from
            data += self._wire.heartbeat() + self._wire.origin(t_ns // 1000, self._home)
        try:
            self._line.sendall(data)
        except OSError:
            self.close()

    def _connect(self, host: str, t_ns: int) -> None:
        self._next_ns = t_ns + RETRY_NS
        with suppress(OSError):
            self._line = socket.create_connection((host, self.port), timeout=CONNECT_S)
            self._line.setblocking(False)
            self._next_ns, self._has_origin = t_ns, False

    def _read(self) -> None:
        """All that it says, because it waits with a full buffer."""
        assert self._line is not None
        with suppress(OSError):
            while data := self._line.recv(65536):
                self._has_origin |= any(isinstance(item, Origin) for item in self._wire.read(data))

    def close(self) -> None:
        """It may be called twice."""
        if self._line is not None:
            self._line.close()
            self._line = None
