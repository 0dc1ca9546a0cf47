"""A simulator's side of the link that says what a test has it say, at once or after a while."""

from __future__ import annotations

import queue
import socket
import struct
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from skyloop_client.wire import framed, unframed

LENGTH = struct.Struct("<I")


class ScriptedSimulator:
    """`answer(question)` gives the instant of the answer; it may take its time, or return None for none at all."""

    def __init__(self, answer: Callable[[dict[str, Any]], int | None], mode: str = "sync") -> None:
        self.questions: queue.Queue[dict[str, Any]] = queue.Queue()
        self.hellos: list[dict[str, Any]] = []
        self.progress: list[int] = []
        self.ballast: Any = None
        """Travels with every answer."""
        self._answer, self._mode = answer, mode
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._open: list[socket.socket] = []
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def question(self, timeout: float = 20.0) -> dict[str, Any]:
        return self.questions.get(timeout=timeout)

    def close(self) -> None:
        for each in (self._listener, *self._open):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._open.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            while (message := _read(connection)) is not None:
                if message["type"] == "hello":
                    self.hellos.append(message)
                    connection.sendall(b"".join(framed(self._hello())))
                elif message["type"] == "progress":
                    self.progress.append(message["et_ns"])
                elif message["type"] == "ask":
                    message["came"] = time.perf_counter()
                    self.questions.put(message)
                    t_ns = self._answer(message)
                    if t_ns is not None:
                        connection.sendall(
                            b"".join(framed({**_reply(message["number"], t_ns), "ballast": self.ballast}))
                        )
        except OSError:
            return

    def _hello(self) -> dict[str, Any]:
        port = int(self.address.rpartition(":")[2])
        return {
            "type": "hello", "protocol": 1, "server": "test", "session": "one", "vehicle": "drone",
            "vehicles": ["drone"], "mode": self._mode, "t_ns": 0, "streams": {}, "classes": [], "ports": [port],
        }  # fmt: skip


def _read(connection: socket.socket) -> dict[str, Any] | None:
    head = connection.recv(LENGTH.size, socket.MSG_WAITALL)
    if len(head) < LENGTH.size:
        return None
    (length,) = LENGTH.unpack(head)
    return unframed(connection.recv(length, socket.MSG_WAITALL))


def _reply(number: int, t_ns: int) -> dict[str, Any]:
    return {
        "type": "reply", "number": number, "t_ns": t_ns, "state": None, "status": None, "messages": {},
        "elsewhere": {}, "refused": [], "events": [],
    }  # fmt: skip
