"""The listener for AirSim clients: `links/loop/listener.py` with msgpack-RPC in place of our own messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from skyloop.links.airsim.dialect import Dialect
from skyloop.links.airsim.wire import CallInlet, response
from skyloop.links.loop.listener import Listener
from skyloop.links.loop.peer import Parts, Peer
from skyloop_client.errors import SkyloopError


class RpcPeer(Peer):
    """An AirSim client. It may be silent for any length of time."""

    dialect: Dialect | None = None
    """The dialect it has shown so far."""

    def made_inlet(self) -> CallInlet:
        return CallInlet()

    def parts_of(self, message: Any) -> Parts:
        return response(*message)

    @property
    def owes_hello(self) -> bool:
        return False


class RpcListener(Listener):
    """The port is reserved at once and opened by `open`. Until then a client is refused and can try again."""

    peer_class = RpcPeer
    opens_at_once = False
    port_option = "--port"

    def tell(self, peer: Peer, why: str) -> None:
        """The protocol has no message for this, so the connection just ends."""

    def answer_here(self, peer: Peer, message: Any) -> bool:
        return False


LATER = object()
"""Returned by a method that answers later through its Reply."""


class Reply:
    """The answer to one call. It is given once, now or later."""

    __slots__ = ("_answered", "_complain", "method", "number", "peer")

    def __init__(self, peer: Peer, number: int | None, method: str, complain: Callable[[str], None]) -> None:
        """`complain` gets a line when the call fails, because scripts that only wait for its end never see why."""
        self.peer, self.number, self.method = peer, number, method
        self._complain = complain
        self._answered = False

    def give(self, result: Any) -> None:
        self._send(None, result)

    def give_what(self, make: Callable[[], Any]) -> None:
        """Call `make` and give its result, or report why it failed."""
        try:
            result = make()
        except SkyloopError as error:
            self.fail(str(error))
        except Exception as error:
            # no input of a client may end the simulation
            self.fail(f"{type(error).__name__}: {error}")
        else:
            if result is not LATER:
                self.give(result)

    def fail(self, why: str) -> None:
        if not self._answered:
            self._complain(f"{self.method}: {why}")
        self._send(f"{self.method}: {why}", None)

    def _send(self, error: str | None, result: Any) -> None:
        if not self._answered and self.number is not None:
            self.peer.send((self.number, error, result))
        self._answered = True
