"""Who may speak to the cockpit's server: this machine only, or whoever knows the token; pages of this server only."""

from __future__ import annotations

import asyncio
import hmac
import json
import re
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skyloop_client.errors import LinkError

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,150}")


def run_folder(root: Path, name: str) -> Path:
    path = root / name
    if not NAME.fullmatch(name) or path.is_symlink() or not path.is_dir():
        raise LinkError("there is no such run folder")
    return path


Scope = MutableMapping[str, Any]
AsgiMessage = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[AsgiMessage]]
Send = Callable[[AsgiMessage], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MOST_BODY = 1_000_000
"""Bytes of a request."""
MOST_UNREAD = 16_000_000
UNREAD_S = 10.0
"""Bytes and wall s of a refused request that are read and thrown away, so that its sender can read why."""
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
SAFE_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (
        b"content-security-policy",
        b"default-src 'self'; img-src 'self' blob: data:; style-src 'self' 'unsafe-inline'; object-src 'none'; "
        b"base-uri 'none'; frame-ancestors 'none'",
    ),
]
REPORT_POLICY = b"sandbox; default-src 'none'; img-src 'self' data:; style-src 'unsafe-inline'"
"""Of files of run folders: whatever is in them must not act for the person who looks at them."""


@dataclass(frozen=True, slots=True)
class Guard:
    """Checks a request before anything else sees it."""

    token: str
    """Empty: only this machine can reach the server, and no token is asked for."""
    port: int

    def refusal(self, headers: dict[bytes, bytes], path: str, *, is_socket: bool) -> tuple[int, str] | None:
        """A status and one line, or None. A socket shows its token in its first message."""
        host = headers.get(b"host", b"").decode("latin-1")
        if not self.token and not self._is_here(host):
            # another site whose name was pointed at this machine
            return 403, f"host '{host[:80]}' is not this machine; open the address that skyloop printed"
        origin = headers.get(b"origin")
        if origin is not None and origin.decode("latin-1") not in (f"http://{host}", f"https://{host}"):
            return 403, "a page of another site may not speak to the cockpit"
        if is_socket or not path.startswith("/api/") or self.knows(_bearer(headers)):
            return None
        return 401, "this needs the token that skyloop printed: Authorization: Bearer TOKEN"

    def knows(self, token: str) -> bool:
        """In constant time."""
        return not self.token or hmac.compare_digest(token.encode(), self.token.encode())

    def _is_here(self, host: str) -> bool:
        return host in {f"{name}:{self.port}" for name in LOOPBACK}


def _bearer(headers: dict[bytes, bytes]) -> str:
    kind, _, token = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
    return token if kind.lower() == "bearer" else ""


class Guarded:
    """An ASGI application behind the guard: refuses, bounds bodies, adds headers."""

    def __init__(self, app: App, guard: Guard) -> None:
        self._app = app
        self._guard = guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = dict(scope["headers"])
        is_socket = scope["type"] == "websocket"
        refused = self._guard.refusal(headers, scope["path"], is_socket=is_socket)
        if refused is not None:
            await _refuse(scope, receive, send, *refused)
            return
        if is_socket:
            await self._app(scope, receive, send)
            return
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > MOST_BODY or b"transfer-encoding" in headers:
            await _refuse(scope, receive, send, 413, f"a request has at most {MOST_BODY} bytes and says how many")
            return
        await self._app(scope, receive, _with_headers(send))


def _with_headers(send: Send) -> Send:
    async def sent(message: AsgiMessage) -> None:
        if message["type"] == "http.response.start":
            given = list(message.get("headers", []))
            names = {name.lower() for name, _ in given}
            message["headers"] = given + [pair for pair in SAFE_HEADERS if pair[0] not in names]
        await send(message)

    return sent


async def _refuse(scope: Scope, receive: Receive, send: Send, status: int, why: str) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": why[:120]})
        return
    await _throw_away(receive)
    body = json.dumps({"detail": why}).encode()
    headers = [(b"content-type", b"application/json"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _throw_away(receive: Receive) -> None:
    """Most clients send all of a body before they read. If the connection were closed on what they still send, they
    would see a reset instead of the answer. Who sends more than the limit, or too slowly, gets that reset."""
    left = MOST_UNREAD
    with suppress(TimeoutError):
        async with asyncio.timeout(UNREAD_S):
            while left > 0:
                message = await receive()
                if not message.get("more_body", False):
                    return
                left -= len(message.get("body", b""))
