"""The socket of one viewer: frames go out, wishes and orders come in."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from typing import Any

from fastapi import WebSocket, WebSocketDisconnect

from skyloop.cockpit.call_bodies import Order, OrderArguments
from skyloop.cockpit.guard import Guard
from skyloop.cockpit.hub import Hub
from skyloop.cockpit.viewers import MOST_WANTED, Viewer
from skyloop.cockpit.wire import frame
from skyloop_client.errors import LinkError, SkyloopError

TOKEN_S = 5.0
"""Wall s within which a socket must show its token."""


async def attend(peer: WebSocket, hub: Hub, guard: Guard) -> None:
    """Until the viewer goes."""
    await peer.accept()
    try:
        if guard.token and not guard.knows(await _shown_token(peer)):
            await peer.close(1008, "wrong token")
            return
        viewer = hub.join()
    except (LinkError, TimeoutError, WebSocketDisconnect) as error:
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


async def _shown_token(peer: WebSocket) -> str:
    text = await asyncio.wait_for(peer.receive_text(), TOKEN_S)
    with suppress(ValueError, AttributeError):
        return str(json.loads(text).get("token", ""))
    return ""


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
        told = _parsed(message.get("text"))
        if told is None:
            viewer.put_each(frame({"k": "refused", "why": "a message is one JSON object; see /api/docs"}))
        elif "want" in told:
            names = told["want"]
            if isinstance(names, list) and len(names) <= MOST_WANTED and all(isinstance(name, str) for name in names):
                hub.want(viewer, frozenset(names))
            else:
                viewer.put_each(frame({"k": "refused", "why": f"want is a list of up to {MOST_WANTED} streams"}))
        elif "order" in told:
            await _order_over_socket(told, viewer, hub)
        elif "token" not in told:
            viewer.put_each(frame({"k": "refused", "why": "a message has 'want' or 'order'; see /api/docs"}))


def _parsed(text: str | None) -> dict[str, Any] | None:
    try:
        told = json.loads(text or "")
    except (ValueError, RecursionError):
        return None
    return told if isinstance(told, dict) else None


async def _order_over_socket(told: dict[str, Any], viewer: Viewer, hub: Hub) -> None:
    answer: dict[str, Any] = {"k": "answer", "ok": True}
    if isinstance(told.get("id"), int | str):
        answer["id"] = told["id"]
    try:
        if told["order"] not in Order.__args__:  # type: ignore[attr-defined]
            raise LinkError("there is no such order; /api/docs lists them")
        arguments = OrderArguments.model_validate(told.get("arguments", {})).model_dump(exclude_none=True)
        await hub.order(viewer.id, str(told.get("vehicle", "")), told["order"], arguments)
    except SkyloopError as error:
        answer |= {"ok": False, "why": str(error)}
    except ValueError:
        answer |= {"ok": False, "why": "these arguments are not those of the order; see /api/docs"}
    viewer.put_each(frame(answer))
