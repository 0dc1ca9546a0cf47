"""How many connections the cockpit's server holds, and for how long one that says nothing."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS = 256
"""A page takes about ten. uvicorn's own limit counts requests, and no sockets that ask for none."""


class BoundedConnection(H11Protocol):
    """Refused beyond MOST_CONNECTIONS; closed if it does not ask for anything within the time of a kept one."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
            return
        # the first byte that comes cancels it, as between two requests
        wait = self.timeout_keep_alive
        self.timeout_keep_alive_task = self.loop.call_later(wait, self.timeout_keep_alive_handler)
