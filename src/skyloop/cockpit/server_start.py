"""Starts the cockpit's server in a process of its own."""

from __future__ import annotations

import importlib.util
import ipaddress
import secrets
import socket
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from skyloop.cockpit.server_bridge import Courier, Order
from skyloop.cockpit.wire import send
from skyloop.core.child_process import ChildProcess
from skyloop_client.errors import LinkError, SetupError

PORT = 8707
NEEDED = ("fastapi", "uvicorn", "websockets", "simplejpeg")
GOODBYE_S = 5.0


class CockpitServer:
    """The server and the line to it. The port is bound at once, so that one in use is known before a world is built."""

    def __init__(
        self, on_order: Order, host: str = "127.0.0.1", port: int = PORT, roots: Mapping[str, Path] | None = None
    ) -> None:
        """`roots`: folders with runs and datasets that pages may browse."""
        missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
        if missing:
            raise SetupError(f"the cockpit needs {', '.join(missing)}: pip install 'skyloop[cockpit]'")
        listener = _bound(host, port)
        self.host, self.port = host, int(listener.getsockname()[1])
        self.token = secrets.token_urlsafe(24)
        ours, theirs = socket.socketpair()
        options = {
            "token": self.token, "port": self.port, "is_local": _is_loopback(host),
            "roots": {name: str(path.absolute()) for name, path in (roots or {}).items()},
        }  # fmt: skip
        # over the line, because every user of the machine can read the arguments of a process
        send(ours, options)
        # its log is shown beside our own
        self._process = ChildProcess(
            [sys.executable, "-m", "skyloop.cockpit.server", str(theirs.fileno()), str(listener.fileno())],
            files=(theirs.fileno(), listener.fileno()), stdout=None, stderr=None,
        )  # fmt: skip
        theirs.close()
        listener.close()
        self.courier = Courier(ours, on_order)
        self.courier.start()

    @property
    def url(self) -> str:
        """With the token; the page that it opens gives the browser a cookie instead."""
        shown = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{shown}:{self.port}/?token={self.token}"

    @property
    def pid(self) -> int:
        return self._process.pid

    def close(self) -> None:
        """It may be called twice."""
        self.courier.close()
        self._process.end(GOODBYE_S)
        self._process.close()


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return False


def _bound(host: str, port: int) -> socket.socket:
    if not 0 <= port < 1 << 16:
        raise LinkError(f"cockpit: port {port}: port numbers are 0 to 65535")
    try:
        address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        made = socket.socket(address[0], socket.SOCK_STREAM)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind(address[4])
            made.listen(64)
        except OSError:
            made.close()
            raise
    except OSError as error:
        raise LinkError(f"cockpit: cannot listen on {host}:{port}: {error.strerror}; give another --port") from None
    return made
