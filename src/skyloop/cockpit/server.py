"""The cockpit's HTTP and WebSocket calls. Everything that the page does goes through these; `/api/docs` lists them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from fastapi import FastAPI, Header, HTTPException, Request, Response, WebSocket
from fastapi.responses import FileResponse, HTMLResponse, JSONResponse

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
from skyloop.cockpit.calls_page import calls_page
from skyloop.cockpit.guard import Guard
from skyloop.cockpit.hub import Hub, SeatTaken
from skyloop.cockpit.live_socket import attend
from skyloop.cockpit.run_files import RunFiles
from skyloop_client.errors import LinkError, SkyloopError

PAGE = Path(__file__).parent / "page"
ViewerId = Annotated[str, Header(alias="X-Viewer", description="The id that /api/live says in its first frame.")]


def make_app(hub: Hub, guard: Guard, files: RunFiles) -> FastAPI:
    app = FastAPI(title="skyloop cockpit", docs_url=None, redoc_url=None, openapi_url="/api/openapi.json")
    _add_view(app, hub, guard)
    _add_orders(app, hub)
    _add_studio(app, hub)
    _add_folders(app, hub, files)
    _add_page(app)

    @app.exception_handler(SkyloopError)
    async def refused(request: Request, error: SkyloopError) -> JSONResponse:
        return JSONResponse({"detail": str(error)}, 409 if isinstance(error, SeatTaken) else 400)

    return app


# ---- looking on


def _add_view(app: FastAPI, hub: Hub, guard: Guard) -> None:
    @app.get("/api/about", tags=["view"])
    async def about() -> dict[str, Any]:
        """What is shown: the flight or recording, its vehicles and its streams."""
        return {**hub.about, "clock": hub.clock, "viewers": len(hub.viewers), "encoded": hub.encoded}

    @app.get("/api/world", tags=["view"], responses={200: {"content": {"application/octet-stream": {}}}})
    async def world() -> Response:
        """The shapes, colours and places of the world, as one frame."""
        headers = {"Content-Encoding": "gzip", "Cache-Control": "no-store"}
        return Response(hub.world, media_type="application/octet-stream", headers=headers)

    @app.websocket("/api/live")
    async def live(peer: WebSocket) -> None:
        await attend(peer, hub, guard)


# ---- steering


def _add_orders(app: FastAPI, hub: Hub) -> None:
    @app.post("/api/vehicles/{vehicle}/orders/{order}", tags=["steer"])
    async def order(vehicle: str, order: Order, arguments: OrderArguments, x_viewer: ViewerId = "") -> dict[str, Any]:
        """Order a vehicle to do something. The first viewer who orders steers; others get status 409."""
        await hub.order(x_viewer, vehicle, order, arguments.model_dump(exclude_none=True))
        return {"ok": True}

    @app.post("/api/vehicles/{vehicle}/waypoints", tags=["steer"])
    async def waypoints(vehicle: str, wanted: WaypointList, x_viewer: ViewerId = "") -> Any:
        """Replace the list of waypoints, and fly along it if `fly` is true."""
        return await hub.order(x_viewer, vehicle, "waypoints", wanted.model_dump(exclude_none=True))

    @app.post("/api/seat/leave", tags=["steer"])
    async def leave(x_viewer: ViewerId = "") -> dict[str, Any]:
        """Stop steering: the scenario's pilot flies again, or the vehicle hovers and lands."""
        for vehicle in hub.about.get("vehicles", {}) if hub.seat.pilot == x_viewer else ():
            await hub.order(x_viewer, vehicle, "give_back", {})
        return {"ok": hub.seat.leave(x_viewer)}

    @app.post("/api/time", tags=["steer"])
    async def time(change: TimeChange, x_viewer: ViewerId = "") -> dict[str, Any]:
        """Pause, go on, step, or set the speed. In a flight, only for the viewer who steers, once there is one."""
        given = {key: value for key, value in change.model_dump().items() if key in change.model_fields_set}
        if given.get("speed") == "unlimited":
            given["speed"] = None
        if hub.seat.pilot not in ("", x_viewer):
            raise SeatTaken("another page steers; time is in its hands")
        await hub.ask("order" if hub.about.get("live") else "play", "time", given)
        return {"ok": True}

    @app.post("/api/snapshots", tags=["steer"])
    async def keep(x_viewer: ViewerId = "") -> Any:
        """Keep the present instant of the flight, to come back to it. The clock's frames list those that are kept."""
        _check_seat(hub, x_viewer)
        return await hub.ask("order", "snapshot", {})

    @app.post("/api/snapshots/back", tags=["steer"])
    async def back(given: SnapshotChoice, x_viewer: ViewerId = "") -> Any:
        """Go back to a kept instant. The run folder ends; the flight goes on from there in a new one, paused."""
        _check_seat(hub, x_viewer)
        return await hub.ask("order", "back", given.model_dump())


# ---- scenarios, runs, jobs


def _add_studio(app: FastAPI, hub: Hub) -> None:
    def asking(path: str, name: str, tag: str = "studio") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        return app.post(path, tags=[tag], name=name)

    @app.get("/api/catalogue", tags=["studio"])
    async def catalogue() -> Any:
        """Scenarios, worlds, airframes, reproductions and benches by name."""
        return await hub.ask("studio", "catalogue", {})

    @app.get("/api/scenarios/{name}", tags=["studio"])
    async def scenario(name: str) -> Any:
        """The text of a shipped scenario."""
        return await hub.ask("studio", "scenario", {"name": name})

    @asking("/api/scenario/check", "check")
    async def check(given: ScenarioText) -> Any:
        """Whether a scenario is right; if not, what is wrong and in which line."""
        return await hub.ask("studio", "check", given.model_dump())

    @asking("/api/scenario/change", "change")
    async def change(given: ScenarioChange) -> Any:
        """The text of a scenario with other values; its comments stay."""
        return await hub.ask("studio", "change", given.model_dump())

    @asking("/api/flight/start", "start")
    async def start(given: FlightStart, x_viewer: ViewerId = "") -> Any:
        """Start a flight; one that runs ends first."""
        _check_seat(hub, x_viewer)
        return await hub.ask("studio", "start", given.model_dump())

    @asking("/api/flight/stop", "stop")
    async def stop(x_viewer: ViewerId = "") -> Any:
        """End the flight; its run folder is complete then."""
        _check_seat(hub, x_viewer)
        return await hub.ask("studio", "stop", {})

    @asking("/api/player/start", "play")
    async def play(given: PlayerStart, x_viewer: ViewerId = "") -> Any:
        """Show a run folder or a recording."""
        _check_seat(hub, x_viewer)
        return await hub.ask("studio", "play", given.model_dump())


def _add_folders(app: FastAPI, hub: Hub, files: RunFiles) -> None:
    @app.post("/api/jobs", tags=["studio"])
    async def job(given: JobStart) -> Any:
        """Start a recording, a reproduction or a bench."""
        return await hub.ask("studio", "job", given.model_dump())

    @app.get("/api/jobs", tags=["studio"])
    async def jobs() -> Any:
        """Jobs so far, with the last lines of what they said."""
        return await hub.ask("studio", "jobs", {})

    @app.get("/api/runs", tags=["studio"])
    async def list_runs() -> Any:
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

    @app.get("/api/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        return HTMLResponse(calls_page(app.openapi()))

    @app.get("/{name}", include_in_schema=False)
    async def asset(name: str) -> FileResponse:
        if name not in names:
            raise HTTPException(404, "there is no such page")
        return FileResponse(PAGE / name)
