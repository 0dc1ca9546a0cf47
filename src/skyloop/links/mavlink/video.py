"""Camera images as motion JPEG over HTTP, for any browser, OpenCV or ffplay.

Images are encoded only for watching clients. Each client has its own thread, which takes the newest image when the
client is ready. A slow client gets fewer images and delays no other."""

from __future__ import annotations

import io
import secrets
import threading
from collections.abc import Iterable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from socketserver import TCPServer, ThreadingMixIn

from PIL import Image

from skyloop.core.bus import Bus
from skyloop.links.sockets import reason_of
from skyloop_client.errors import LinkError
from skyloop_client.messages import Message

MOST_WATCHERS = 8
QUALITY = 85
"""JPEG quality."""
BOUNDARY = "picture"
WAIT_S = 1.0
"""Wall s after which a thread that waits for an image checks whether the server still runs."""
SILENT_S = 10.0
"""Wall s that a client may take to send its request or to read."""


class _Newest:
    """The newest image of one camera."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._message: Message | None = None
        self.count = 0

    def put(self, message: Message) -> None:
        with self._changed:
            self._message = message
            self.count += 1
            self._changed.notify_all()

    def after(self, count: int) -> tuple[int, Message | None]:
        """The next image, or None if there was none for a while."""
        with self._changed:
            self._changed.wait_for(lambda: self.count > count, WAIT_S)
            return (self.count, self._message) if self.count > count else (count, None)


class _Server(ThreadingMixIn, TCPServer):
    """One thread per client. Unlike Python's HTTP server, it does not look up the name of this machine."""

    allow_reuse_address = True
    daemon_threads = True


class VideoServer:
    """All cameras of a simulation, each at /<its stream>."""

    def __init__(self, host: str, port: int, streams: Iterable[str], bus: Bus, shown: str = "") -> None:
        """`shown` is the address that clients get. The default is `host`."""
        self._newest = {name: _Newest() for name in streams}
        # pages of other sites, and whoever else reaches the port, do not know it
        self._token = secrets.token_urlsafe(24)
        self._watchers = threading.BoundedSemaphore(MOST_WATCHERS)
        self._ended = False
        server = self

        class Handler(BaseHTTPRequestHandler):
            timeout = SILENT_S

            def do_GET(self) -> None:
                server._serve(self)

            def log_message(self, *arguments: object) -> None:
                """Requests are not logged."""

        try:
            self._http = _Server((host, port), Handler)
        except (OSError, OverflowError) as error:
            raise LinkError(
                f"cannot open TCP port {port} on {host} for video: {reason_of(error)}; choose another --port-offset"
            ) from None
        self.port = int(self._http.server_address[1])
        self._host = shown or host
        self._thread = threading.Thread(target=self._http.serve_forever, name="skyloop video", daemon=True)
        self._thread.start()
        for name, newest in self._newest.items():
            bus.on(name, newest.put)

    def uri(self, stream: str) -> str:
        """With a token, for clients that only take an address."""
        return f"http://{self._host}:{self.port}/{stream}?token={self._token}"

    def close(self) -> None:
        """It may be called twice."""
        if self._ended:
            return
        self._ended = True
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(timeout=2.0)

    def _serve(self, request: BaseHTTPRequestHandler) -> None:
        path, _, query = request.path.partition("?")
        if not secrets.compare_digest(query.encode(), f"token={self._token}".encode()):
            request.send_error(401, "take the whole address, with its token")
            return
        newest = self._newest.get(path.strip("/"))
        if newest is None:
            request.send_error(404, f"cameras: {', '.join(self._newest)}")
            return
        if not self._watchers.acquire(blocking=False):
            request.send_error(503, "too many watchers")
            return
        try:
            with suppress(OSError):
                request.send_response(200)
                request.send_header("Content-Type", f"multipart/x-mixed-replace; boundary={BOUNDARY}")
                request.end_headers()
                count = newest.count
                while not self._ended:
                    count, message = newest.after(count)
                    if message is not None:
                        _write(request, message)
        finally:
            self._watchers.release()


def _write(request: BaseHTTPRequestHandler, message: Message) -> None:
    out = io.BytesIO()
    Image.fromarray(message.data.colour).save(out, "JPEG", quality=QUALITY)
    data = out.getvalue()
    head = (
        f"--{BOUNDARY}\r\nContent-Type: image/jpeg\r\nContent-Length: {len(data)}\r\nX-Time-Ns: {message.t_ns}\r\n\r\n"
    )
    request.wfile.write(head.encode() + data + b"\r\n")
