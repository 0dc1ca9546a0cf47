"""What runs beside the software under test, on its own machine: `connect`, sessions, execution time.

Needs numpy and msgpack only; `clients/python` makes a small distribution of it.
"""

from skyloop.client.bundle import Bundle
from skyloop.client.session import DEFAULT_PORT, Session, connect, fly

__all__ = ["DEFAULT_PORT", "Bundle", "Session", "connect", "fly"]
