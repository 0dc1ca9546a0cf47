"""The cockpit's HTTP and WebSocket calls. Everything that the page does goes through these; `/api/docs` lists them."""

from __future__ import annotations

import asyncio
import html
import json
import logging
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, get_args

import uvicorn
from fastapi import FastAPI, Header, HTTPException, Request, Response, WebSocket, WebSocketDisconnect
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse

from skyloop.cockpit.access_guard import NAME, Guard, Guarded
from skyloop.cockpit.call_bodies import (
    FlightStart,
    JobStart,
    Order,
    OrderArguments,
    PlayerStart,
    Root,
    ScenarioChange,
    ScenarioText,
    SnapshotChoice,
    TimeChange,
    WaypointList,
)
from skyloop.cockpit.hub import MOST_WANTED, Hub, NotCarried, SeatTaken, Viewer
from skyloop.cockpit.run_files import RunFiles
from skyloop.cockpit.wire import Fields, frame, received
from skyloop.core.plugins import plugins
from skyloop_client.errors import LinkError, SkyloopError


async def attend(peer: WebSocket, hub: Hub) -> None:
    """Until the viewer goes."""
    await peer.accept()
    try:
        viewer = hub.join()
    except LinkError as error:
        with suppress(RuntimeError, WebSocketDisconnect):
            await peer.close(1008, str(error)[:120])
        return
    sending = asyncio.create_task(_send_frames(peer, viewer))
    try:
        await _listen(peer, viewer, hub)
    except WebSocketDisconnect:
        pass
    finally:
        sending.cancel()
        hub.part(viewer)
        with suppress(RuntimeError, WebSocketDisconnect):
            await peer.close()


async def _send_frames(peer: WebSocket, viewer: Viewer) -> None:
    with suppress(RuntimeError, WebSocketDisconnect):
        while True:
            await peer.send_bytes(await viewer.next())


async def _listen(peer: WebSocket, viewer: Viewer, hub: Hub) -> None:
    """{"want": [stream, ...]}, or {"order": name, "vehicle": name, "arguments": {...}, "id": any}."""
    while True:
        message = await peer.receive()
        if message["type"] == "websocket.disconnect":
            return
        request = _parsed(message.get("text"))
        if request is None:
            viewer.put_each(frame({"k": "refused", "why": "a message is one JSON object; see /api/docs"}))
        elif "want" in request:
            names = request["want"]
            if isinstance(names, list) and len(names) <= MOST_WANTED and all(isinstance(name, str) for name in names):
                hub.want(viewer, frozenset(names))
            else:
                viewer.put_each(frame({"k": "refused", "why": f"want is a list of up to {MOST_WANTED} streams"}))
        elif "order" in request:
            await _order_over_socket(request, viewer, hub)
        else:
            viewer.put_each(frame({"k": "refused", "why": "a message has 'want' or 'order'; see /api/docs"}))


def _parsed(text: str | None) -> dict[str, object] | None:
    try:
        request = json.loads(text or "")
        # half a surrogate pair is JSON, but no text
        json.dumps(request, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None
    return request if isinstance(request, dict) else None


async def _order_over_socket(request: Fields, viewer: Viewer, hub: Hub) -> None:
    answer: Fields = {"k": "answer", "ok": True}
    if isinstance(request.get("id"), int | str):
        answer["id"] = request["id"]
    try:
        if request["order"] not in get_args(Order):
            raise LinkError("there is no such order; /api/docs lists them")
        arguments = OrderArguments.model_validate(request.get("arguments", {})).model_dump(exclude_none=True)
        await hub.order(viewer.id, str(request.get("vehicle", "")), request["order"], arguments)
    except SkyloopError as error:
        answer |= {"ok": False, "why": str(error)}
    except ValueError:
        answer |= {"ok": False, "why": "these arguments are not those of the order; see /api/docs"}
    viewer.put_each(frame(answer))


PAGE = Path(__file__).parent / "page"
ViewerId = Annotated[str, Header(alias="X-Viewer", description="The id that /api/live says in its first frame.")]


STATUS: dict[type, int] = {SeatTaken: 409, NotCarried: 422}
MOST_TOLD = 500
"""Characters of the answer to a request that is none."""


def make_app(hub: Hub, files: RunFiles) -> FastAPI:
    app = FastAPI(title="skyloop cockpit", docs_url=None, redoc_url=None, openapi_url="/api/openapi.json")
    _add_view(app, hub)
    _add_orders(app, hub)
    _add_studio(app, hub)
    _add_folders(app, hub, files)
    _add_page(app)

    @app.exception_handler(SkyloopError)
    async def refused(request: Request, error: SkyloopError) -> JSONResponse:
        return JSONResponse({"detail": str(error)}, STATUS.get(type(error), 400))

    @app.exception_handler(RequestValidationError)
    async def misread(request: Request, error: RequestValidationError) -> JSONResponse:
        """One line. FastAPI's own answer repeats what was sent, which may be no text that can be sent back."""
        fault = error.errors()[0]
        where = ".".join(str(step) for step in fault["loc"])
        told = f"{where}: {fault['msg']}; see /api/docs".encode("ascii", "backslashreplace").decode()
        return JSONResponse({"detail": told[:MOST_TOLD]}, 422)

    return app


# ---- looking on


def _add_view(app: FastAPI, hub: Hub) -> None:
    @app.get("/api/about", tags=["view"])
    async def about() -> Fields:
        """What is shown: the flight or recording, its vehicles and its streams."""
        return {**hub.about, "clock": hub.clock, "viewers": len(hub.viewers), "encoded": hub.encoded}

    @app.get("/api/world", tags=["view"], responses={200: {"content": {"application/octet-stream": {}}}})
    async def world() -> Response:
        """The shapes, colours and positions of the world, as one frame."""
        headers = {"Content-Encoding": "gzip", "Cache-Control": "no-store"}
        return Response(hub.world, media_type="application/octet-stream", headers=headers)

    @app.websocket("/api/live")
    async def live(peer: WebSocket) -> None:
        await attend(peer, hub)


# ---- steering


def _add_orders(app: FastAPI, hub: Hub) -> None:
    @app.post("/api/vehicles/{vehicle}/orders/{order}", tags=["steer"])
    async def order(
        vehicle: str, order: Order, arguments: OrderArguments, x_viewer: ViewerId = ""
    ) -> dict[str, object]:
        """Order a vehicle to do something. The first viewer who orders steers; others get status 409."""
        await hub.order(x_viewer, vehicle, order, arguments.model_dump(exclude_none=True))
        return {"ok": True}

    @app.post("/api/vehicles/{vehicle}/waypoints", tags=["steer"])
    async def waypoints(vehicle: str, wanted: WaypointList, x_viewer: ViewerId = "") -> object:
        """Replace the list of waypoints, and fly along it if `fly` is true."""
        return await hub.order(x_viewer, vehicle, "waypoints", wanted.model_dump(exclude_none=True))

    @app.post("/api/seat/leave", tags=["steer"])
    async def leave(x_viewer: ViewerId = "") -> dict[str, object]:
        """Stop steering: the scenario's pilot flies again, or the vehicle hovers and lands."""
        for vehicle in hub.about.get("vehicles", {}) if hub.seat.pilot == x_viewer else ():
            await hub.order(x_viewer, vehicle, "give_back", {})
        return {"ok": hub.seat.leave(x_viewer)}

    @app.post("/api/time", tags=["steer"])
    async def time(change: TimeChange, x_viewer: ViewerId = "") -> Fields:
        """Pause, go on, step, or set the speed. In a flight, only for the viewer who steers, once there is one."""
        given = {key: value for key, value in change.model_dump().items() if key in change.model_fields_set}
        if given.get("speed") == "unlimited":
            given["speed"] = None
        if hub.seat.pilot not in ("", x_viewer):
            raise SeatTaken("another page steers; time is in its hands")
        await hub.ask("order" if hub.about.get("live") else "play", "time", given)
        return {"ok": True}

    @app.post("/api/snapshots", tags=["steer"])
    async def keep(x_viewer: ViewerId = "") -> object:
        """Keep the present instant of the flight, to come back to it. The clock's frames list those that are kept."""
        _check_seat(hub, x_viewer)
        return await hub.ask("order", "snapshot", {})

    @app.post("/api/snapshots/back", tags=["steer"])
    async def back(given: SnapshotChoice, x_viewer: ViewerId = "") -> object:
        """Go back to a kept instant. The run folder ends; the flight goes on from there in a new one, paused."""
        _check_seat(hub, x_viewer)
        return await hub.ask("order", "back", given.model_dump())


# ---- scenarios, runs, jobs


def _add_studio(app: FastAPI, hub: Hub) -> None:
    def asking(path: str, name: str, tag: str = "studio") -> Callable[[Callable[..., object]], Callable[..., object]]:
        return app.post(path, tags=[tag], name=name)

    @app.get("/api/catalogue", tags=["studio"])
    async def catalogue() -> object:
        """Scenarios, worlds, airframes, reproductions and benches by name."""
        return await hub.ask("studio", "catalogue", {})

    @app.get("/api/scenarios/{name}", tags=["studio"])
    async def scenario(name: str) -> object:
        """The text of a shipped scenario."""
        return await hub.ask("studio", "scenario", {"name": name})

    @asking("/api/scenario/check", "check")
    async def check(given: ScenarioText) -> object:
        """Whether a scenario is right; if not, what is wrong and in which line."""
        return await hub.ask("studio", "check", given.model_dump())

    @asking("/api/scenario/change", "change")
    async def change(given: ScenarioChange) -> object:
        """The text of a scenario with other values; its comments stay."""
        return await hub.ask("studio", "change", given.model_dump())

    @asking("/api/flight/start", "start")
    async def start(given: FlightStart, x_viewer: ViewerId = "") -> object:
        """Start a flight; one that runs ends first."""
        _check_seat(hub, x_viewer)
        return await hub.ask("studio", "start", given.model_dump())

    @asking("/api/flight/stop", "stop")
    async def stop(x_viewer: ViewerId = "") -> object:
        """End the flight; its run folder is complete then."""
        _check_seat(hub, x_viewer)
        return await hub.ask("studio", "stop", {})

    @asking("/api/player/start", "play")
    async def play(given: PlayerStart, x_viewer: ViewerId = "") -> object:
        """Show a run folder or a recording."""
        _check_seat(hub, x_viewer)
        return await hub.ask("studio", "play", given.model_dump())


def _add_folders(app: FastAPI, hub: Hub, files: RunFiles) -> None:
    @app.post("/api/jobs", tags=["studio"])
    async def job(given: JobStart) -> object:
        """Start a recording, a reproduction or a bench."""
        return await hub.ask("studio", "job", given.model_dump())

    @app.get("/api/jobs", tags=["studio"])
    async def jobs() -> object:
        """Jobs so far, with the last lines of what they said."""
        return await hub.ask("studio", "jobs", {})

    @app.get("/api/runs", tags=["studio"])
    async def list_runs() -> object:
        """Run folders, datasets, reproductions and benches, newest first, with what is in them."""
        return await asyncio.to_thread(files.listed)

    @app.get("/api/runs/{run}/files/{name}", tags=["studio"])
    async def run_file(run: str, name: str, root: Root = "runs") -> FileResponse:
        """A file of one of these folders."""
        return await asyncio.to_thread(files.response, root, run, name)


def _check_seat(hub: Hub, viewer: str) -> None:
    if viewer not in hub.viewers:
        raise LinkError("this comes from a viewer: open /api/live and send its id as X-Viewer")
    if hub.seat.pilot not in ("", viewer):
        raise SeatTaken("another page steers; it decides what is flown")


# ---- the page itself


def _add_page(app: FastAPI) -> None:
    names = {path.name for path in PAGE.iterdir() if path.is_file()} if PAGE.is_dir() else set()

    @app.get("/", include_in_schema=False)
    async def index() -> FileResponse:
        return FileResponse(PAGE / "index.html")

    brought = {each.name: each.plugin.cockpit for each in plugins() if each.plugin is not None and each.plugin.cockpit}

    @app.get("/api/plugins", tags=["view"])
    async def layers() -> list[str]:
        """The addresses of the modules in which plugins bring layers and tabs of the page."""
        return [f"/plugins/{plugin}/layers.js" for plugin in brought]

    @app.get("/plugins/{plugin}/{name}", include_in_schema=False)
    async def plugin_asset(plugin: str, name: str) -> FileResponse:
        path = brought.get(plugin, PAGE) / name
        if plugin not in brought or not NAME.fullmatch(name) or not path.is_file():
            raise HTTPException(404, "there is no such file of a plugin")
        return FileResponse(path)

    @app.get("/api/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        return HTMLResponse(calls_page(app.openapi()))

    @app.get("/{name}", include_in_schema=False)
    async def asset(name: str) -> FileResponse:
        if name not in names:
            raise HTTPException(404, "there is no such page")
        return FileResponse(PAGE / name)


def calls_page(schema: Fields) -> str:
    """The calls as a plain page, without scripts from elsewhere."""
    rows = []
    for path, methods in schema["paths"].items():
        for method, call in methods.items():
            body = call.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
            taken = body.get("$ref", "").rpartition("/")[2]
            fields = schema.get("components", {}).get("schemas", {}).get(taken, {}).get("properties", {})
            about = html.escape(call.get("description", ""))
            names = html.escape(", ".join(fields))
            rows.append(
                f"<tr><td>{method.upper()}</td><td><code>{html.escape(path)}</code></td><td>{about}</td>"
                f"<td>{names}</td></tr>"
            )
    return (
        "<!doctype html><html lang=en><meta charset=utf-8><title>skyloop cockpit: calls</title>"
        "<meta name=viewport content='width=device-width'><style>body{font:16px/1.5 system-ui;max-width:70rem;"
        "margin:2rem auto;padding:0 1rem}td,th{padding:.4rem .8rem;text-align:left;vertical-align:top;"
        "border-bottom:1px solid #8886}table{border-collapse:collapse}:root{color-scheme:light dark}</style>"
        "<h1>The cockpit's calls</h1><p>Everything that the page does is one of these. "
        "<a href=/api/openapi.json>openapi.json</a> has all details. The socket <code>/api/live</code> sends binary "
        "frames (4 bytes little-endian: length of a JSON header; the header; a payload) and takes "
        '<code>{"want": ["truth/drone", ...]}</code> and '
        '<code>{"order": "hover", "vehicle": "drone", "arguments": {}, "id": 1}</code>.</p>'
        f"<table><tr><th>method<th>path<th>what it does<th>fields</tr>{''.join(rows)}</table></html>"
    )


PING_S, PONG_S = 5.0, 15.0
"""Wall s between two pings, and until an unanswered one ends a connection: a page whose machine vanished is noticed in
20 s. A page that is closed is noticed at once; one on a busy machine may take seconds to answer."""
MOST_MESSAGE = 65_536
"""Bytes of one message of a page."""
GOODBYE_S = 1


async def serve(peer: socket.socket, listener: socket.socket) -> None:
    options = next(received(peer), None)
    if options is None:
        return
    hub = Hub(peer)
    guard = Guard(options["token"], options["port"], options["is_local"])
    app = make_app(hub, RunFiles({name: Path(path) for name, path in options["roots"].items()}))
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
    logging.basicConfig(level=logging.WARNING, format="cockpit: %(message)s")
    asyncio.run(serve(*(socket.socket(fileno=int(number)) for number in sys.argv[1:])))


if __name__ == "__main__":
    main()
