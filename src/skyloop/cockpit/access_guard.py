"""Who may speak to the cockpit's server: whoever knows the token that was printed, from this server's own pages."""

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
from urllib.parse import parse_qs

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
OPENED = ("/", "/api/docs")
"""Pages that a person opens by an address."""
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
    port: int
    is_local: bool = True
    """Only this machine can reach the server."""

    def refusal(self, headers: dict[bytes, bytes], query: bytes = b"") -> tuple[int, str] | None:
        """A status and one line, or None. Calls, sockets and pages are all asked for the token."""
        host = headers.get(b"host", b"").decode("latin-1")
        if self.is_local and host not in {f"{name}:{self.port}" for name in LOOPBACK}:
            # another site whose name was pointed at this machine
            return 403, f"host '{host[:80]}' is not this machine; open the address that skyloop printed"
        origin = headers.get(b"origin")
        if origin is not None and origin.decode("latin-1") not in (f"http://{host}", f"https://{host}"):
            return 403, "a page of another site may not speak to the cockpit"
        if self.is_asked_for(query) or self._knows(_bearer(headers)) or self._knows(self._cookie(headers)):
            return None
        return 401, "this needs the token: open the address that skyloop printed, or send Authorization: Bearer TOKEN"

    def is_asked_for(self, query: bytes) -> bool:
        """Whether the token is in the address, as in the one that is printed."""
        return self._knows(parse_qs(query.decode("latin-1")).get("token", [""])[0])

    @property
    def cookie_name(self) -> str:
        """Browsers send the cookies of all ports of a machine to each of them."""
        return f"skyloop-{self.port}"

    def _knows(self, token: str) -> bool:
        """In constant time."""
        return hmac.compare_digest(token.encode(errors="replace"), self.token.encode())

    def _cookie(self, headers: dict[bytes, bytes]) -> str:
        held = headers.get(b"cookie", b"").decode("latin-1").split(";")
        pairs = (each.strip().partition("=") for each in held)
        return next((value for name, _, value in pairs if name == self.cookie_name), "")


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
        refused = self._guard.refusal(headers, scope["query_string"])
        if refused is not None:
            await _refuse(scope, receive, send, *refused)
            return
        if scope["type"] == "websocket":
            await self._app(scope, receive, send)
            return
        if scope["method"] == "GET" and scope["path"] in OPENED and self._guard.is_asked_for(scope["query_string"]):
            await self._let_in(scope["path"], send)
            return
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length) > MOST_BODY or b"transfer-encoding" in headers:
            await _refuse(scope, receive, send, 413, f"a request has at most {MOST_BODY} bytes and says how many")
            return
        await self._app(scope, receive, _with_headers(send))

    async def _let_in(self, path: str, send: Send) -> None:
        """From now on the browser has a cookie, and the token is no longer in the address, where others may see it."""
        cookie = f"{self._guard.cookie_name}={self._guard.token}; Path=/; HttpOnly; SameSite=Lax"
        headers = [(b"location", path.encode()), (b"set-cookie", cookie.encode()), *SAFE_HEADERS]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})


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
