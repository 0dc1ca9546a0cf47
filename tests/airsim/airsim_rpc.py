"""A small msgpack-RPC client of our own and a server in a thread, for tests that look at one method after the other."""

from __future__ import annotations

import math
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgpack
import numpy as np
from numpy.typing import NDArray

from skyloop.links.airsim.options import AirSimOptions
from skyloop.links.airsim.serve import serve
from skyloop.sim.scenario import Scenario, make_scenario

PATIENCE_S = 60.0


class RpcError(Exception):
    pass


class Rpc:
    """Answers come in any order, so those that came early are kept."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
        self._unpacker = msgpack.Unpacker(raw=False, max_buffer_size=1 << 28)
        self._early: dict[int, tuple[Any, Any]] = {}
        self._number = 0

    def send(self, method: str, *params: Any) -> int:
        self._number += 1
        self.socket.sendall(msgpack.packb([0, self._number, method, list(params)]))
        return self._number

    def wait(self, number: int) -> Any:
        while number not in self._early:
            data = self.socket.recv(1 << 20)
            assert data, "the server closed the connection"
            self._unpacker.feed(data)
            for _, answered, error, result in self._unpacker:
                self._early[answered] = (error, result)
        error, result = self._early.pop(number)
        if error is not None:
            raise RpcError(error)
        return result

    def __call__(self, method: str, *params: Any) -> Any:
        return self.wait(self.send(method, *params))

    def close(self) -> None:
        self.socket.close()


class Running:
    """A server in a thread of its own."""

    def __init__(self, scenario: Scenario, options: AirSimOptions, speed: float | None, **more: Any) -> None:
        self.port = 0
        self.summary: dict[str, Any] = {}
        self.lines: list[str] = []
        self.error: BaseException | None = None
        self._ready, self._stop = threading.Event(), threading.Event()
        self._more = more
        self._thread = threading.Thread(target=self._run, args=(scenario, options, speed), daemon=True)
        self._thread.start()
        assert self._ready.wait(120.0), "the server did not open"
        if self.error is not None:
            raise self.error

    def _run(self, scenario: Scenario, options: AirSimOptions, speed: float | None) -> None:
        def opened(address: str) -> None:
            self.port = int(address.rpartition(":")[2])
            self._ready.set()

        try:
            self.summary = serve(
                scenario, options, port=0, clock_speed=speed, opened=opened, say=self.lines.append,
                ends=self._stop.is_set, **self._more,
            )  # fmt: skip
        except BaseException as error:
            self.error = error
        self._ready.set()

    def stop(self) -> dict[str, Any]:
        self._stop.set()
        self._thread.join(timeout=20.0)
        assert not self._thread.is_alive()
        if self.error is not None:
            raise self.error
        return self.summary


@contextmanager
def running(data: dict[str, Any], options: AirSimOptions, speed: float | None = None, **more: Any) -> Iterator[Running]:
    server = Running(make_scenario(data), options, speed, **more)
    try:
        yield server
    finally:
        server.stop()


def vector(x: float, y: float, z: float) -> dict[str, float]:
    return {"x_val": x, "y_val": y, "z_val": z}


def pose(x: float, y: float, z: float, w: float = 1.0, i: float = 0.0, j: float = 0.0, k: float = 0.0) -> Any:
    return {"position": vector(x, y, z), "orientation": {"w_val": w, "x_val": i, "y_val": j, "z_val": k}}


def heading_deg(pose: Any) -> float:
    """Degrees clockwise from north."""
    w, x, y, z = pose["orientation"].values()
    return math.degrees(math.atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)))


def pixels(answer: Any) -> NDArray[np.uint8]:
    """(height, width, 3) of a raw image, blue first for AirSim's clients."""
    return np.frombuffer(answer["image_data_uint8"], np.uint8).reshape(answer["height"], answer["width"], 3)


def xyz(value: dict[str, float]) -> list[float]:
    return [value["x_val"], value["y_val"], value["z_val"]]
