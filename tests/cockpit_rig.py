"""A cockpit that flies in a thread of the test, a viewer over its socket, and flags for a browser without a screen."""

from __future__ import annotations

import json
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

from websockets.sync.client import ClientConnection, connect

from skyloop.cli.catalogue import catalogue
from skyloop.cockpit.cockpit import Cockpit
from skyloop.cockpit.wire import unframed
from skyloop.sim.scenario import Scenario, make_scenario

# a viewer that waits for an answer reads nothing meanwhile; that must not look like a lost line
PING_S = None

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
]  # fmt: skip
HOVER = {"name": "small", "seed": 3, "duration": 60, "truth_rate_hz": 50, "vehicles": [{"name": "drone"}]}
PATIENCE_S = 60.0


def until(what: Callable[[], Any], patience_s: float = PATIENCE_S) -> Any:
    """The first value that is true; a test that waits in vain fails here."""
    end = time.monotonic() + patience_s
    while time.monotonic() < end:
        found = what()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("waited in vain")


def live_of(url: str) -> str:
    """The socket's address, of the printed one."""
    return url.replace("http://", "ws://").replace("/?", "/api/live?")


class CockpitRig:
    def __init__(self, folder: Path, host: str = "127.0.0.1", *, allow_code: bool = False) -> None:
        self.cockpit = Cockpit(catalogue(), host, 0, folder / "runs", folder / "datasets", allow_code=allow_code)
        self.folder = folder / "runs"
        self.port = self.cockpit.server.port
        self.url = self.cockpit.server.url
        """As it is printed, with the token."""
        self._viewers: list[Viewer] = []
        self._thread = threading.Thread(target=self.cockpit.run, daemon=True)
        self._thread.start()

    def __enter__(self) -> CockpitRig:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cockpit._stop()
        self.cockpit._gone = True
        self._thread.join(30.0)
        self.cockpit.close()

    @property
    def live(self) -> str:
        return live_of(self.url)

    def fly(self, scenario: dict[str, Any] | Scenario | None = None, patience_s: float = PATIENCE_S) -> None:
        """One flight after the other: what flies or plays now ends first."""
        # those of a test that failed would keep the seat
        self._close_viewers()
        before = self.get("/api/about").get("folder")
        self.cockpit._stop()
        given = scenario or HOVER
        self.cockpit.fly_next(make_scenario(given) if isinstance(given, dict) else given)
        until(lambda: self._flies_other_than(before), patience_s)

    def end(self) -> None:
        self._close_viewers()
        self.cockpit._stop()
        until(lambda: self.cockpit._link is None and self.cockpit._player is None)

    def _close_viewers(self) -> None:
        for viewer in self._viewers:
            viewer.close()
        self._viewers.clear()

    def _flies_other_than(self, before: str | None) -> bool:
        told = self.get("/api/about")
        return bool(told.get("live") and not told["ended"] and told["folder"] != before)

    @property
    def run(self) -> Path:
        """The run folder of the flight."""
        return self.folder / str(self.get("/api/about")["folder"])

    def get(self, path: str, **headers: str) -> Any:
        return self.call(path, None, **headers)

    def call(self, path: str, body: Any = None, **headers: str) -> Any:
        told = {key.replace("_", "-"): value for key, value in headers.items()}
        data = None if body is None else json.dumps(body).encode()
        known = {"Authorization": f"Bearer {self.url.rpartition('token=')[2]}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, {**known, **told})
        try:
            with urllib.request.urlopen(request, timeout=40) as answer:
                return json.loads(answer.read())
        except urllib.error.HTTPError as error:
            return {"status": error.code, **json.loads(error.read() or b"{}")}

    def viewer(self, *streams: str) -> Viewer:
        self._viewers.append(Viewer(self, streams))
        return self._viewers[-1]


class Viewer:
    """A page without a browser."""

    def __init__(self, rig: CockpitRig, streams: tuple[str, ...]) -> None:
        self.rig = rig
        self._opened = ExitStack()
        # with unread messages in its queue this client never reads the answer to its goodbye
        self.socket: ClientConnection = self._opened.enter_context(
            connect(rig.live, max_size=None, ping_interval=PING_S, close_timeout=0.2)
        )
        self.id = self.next("hello")["viewer"]
        self.socket.send(json.dumps({"want": list(streams)}))

    def next(self, kind: str, /, **having: Any) -> dict[str, Any]:
        """The next frame of a kind, with these values in its header."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            header, payload = unframed(self.socket.recv(timeout=PATIENCE_S))  # type: ignore[arg-type]
            if header["k"] == kind and all(header.get(key) == value for key, value in having.items()):
                return {**header, "payload": payload}
        raise AssertionError(f"no frame {kind} {having}")

    def order(self, order: str, vehicle: str = "drone", **arguments: Any) -> Any:
        return self.rig.call(f"/api/vehicles/{vehicle}/orders/{order}", arguments, X_Viewer=self.id)

    def call(self, path: str, body: Any) -> Any:
        return self.rig.call(path, body, X_Viewer=self.id)

    def close(self) -> None:
        self._opened.close()


def opened(browser: Any, rig: CockpitRig, width: int = 900, height: int = 560, **options: Any) -> Any:
    """A page in the browser that shows a world."""
    # half the pixels each way: without a GPU the processor draws them
    page = browser.new_page(viewport={"width": width, "height": height}, device_scale_factor=0.5, **options)
    page.set_default_timeout(1000 * PATIENCE_S)
    page.faults = []
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    page.goto(rig.url)
    until(lambda: page.evaluate("!!(window.cockpit && cockpit.seen.loaded && cockpit.seen.view.hasWorld())"))
    return page
