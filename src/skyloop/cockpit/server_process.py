"""The process of the cockpit's server: uvicorn on a socket that the simulation has bound, and a line to the simulation.

Started as `python -m skyloop.cockpit.server_process OPTIONS` with two open files; `server_start.py` does so."""

from __future__ import annotations

import asyncio
import json
import logging
import signal
import socket
import sys
from pathlib import Path

import uvicorn

from skyloop.cockpit.guard import Guard, Guarded
from skyloop.cockpit.hub import Hub
from skyloop.cockpit.run_files import RunFiles
from skyloop.cockpit.server import make_app

PING_S, PONG_S = 5.0, 15.0
"""Wall s between two pings, and until an unanswered one ends a connection: a page whose machine vanished is noticed in
20 s. A page that is closed is noticed at once; one on a busy machine may take seconds to answer."""
MOST_MESSAGE = 65_536
"""Bytes of one message of a page."""
GOODBYE_S = 1


async def serve(options: dict[str, object]) -> None:
    peer = socket.socket(fileno=int(str(options["peer"])))
    listener = socket.socket(fileno=int(str(options["listener"])))
    hub = Hub(peer)
    guard = Guard(str(options["token"]), int(str(options["port"])))
    roots = options["roots"]
    assert isinstance(roots, dict)
    app = make_app(hub, guard, RunFiles({str(name): Path(str(place)) for name, place in roots.items()}))
    config = uvicorn.Config(
        Guarded(app, guard), log_level="error", access_log=False, lifespan="off", ws_max_size=MOST_MESSAGE,
        ws_ping_interval=PING_S, ws_ping_timeout=PONG_S, ws_per_message_deflate=False, limit_concurrency=200,
        timeout_graceful_shutdown=GOODBYE_S, server_header=False, h11_max_incomplete_event_size=MOST_MESSAGE,
    )  # fmt: skip
    server = uvicorn.Server(config)
    hub.start()
    running = asyncio.create_task(server.serve(sockets=[listener]))
    await hub.closed.wait()
    server.should_exit = True
    await running


def main() -> None:
    # Ctrl-C ends the simulation, which then closes the line; the server goes when the line is closed
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.basicConfig(level=logging.WARNING, format="cockpit: %(message)s")
    asyncio.run(serve(json.loads(sys.argv[1])))


if __name__ == "__main__":
    main()
