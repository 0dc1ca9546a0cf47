"""The client for software under test, on its own machine: `connect`, sessions, execution time.

It needs only numpy and msgpack. The simulator depends on this package; this package never imports the simulator."""

from skyloop_client.bundle import Bundle
from skyloop_client.pipe import DEFAULT_PORT
from skyloop_client.session import Session, connect, fly
from skyloop_client.user_code import part
from skyloop_client.version import __version__

__all__ = ["DEFAULT_PORT", "Bundle", "Session", "__version__", "connect", "fly", "part"]
