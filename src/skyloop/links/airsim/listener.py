"""Where AirSim clients come in: the listener of `listener.py` with msgpack-RPC instead of our own messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from skyloop.links.airsim.dialect import Dialect
from skyloop.links.airsim.wire import CallInlet, response
from skyloop.links.loop.listener import Listener, Parts, Peer
from skyloop_client.errors import SkyloopError


class RpcPeer(Peer):
    """A client; it may be silent for as long as it likes."""

    dialect: Dialect | None = None
    """Which of the two it has shown to be."""

    def made_inlet(self) -> CallInlet:
        return CallInlet()

    def parts_of(self, message: Any) -> Parts:
        return response(*message)

    @property
    def owes_hello(self) -> bool:
        return False


class RpcListener(Listener):
    """Its port is taken at once and opened by `open`: before, a client is refused, and tries again."""

    peer_class = RpcPeer
    opens_at_once = False
    port_option = "--port"

    def tell(self, peer: Peer, why: str) -> None:
        """The protocol has no words for this; the connection just ends."""

    def answer_here(self, peer: Peer, message: Any) -> bool:
        return False


LATER = object()
"""What a method gives that answers by itself."""


class Reply:
    """The answer a call waits for; given once, at once or later."""

    __slots__ = ("_answered", "_complain", "method", "number", "peer")

    def __init__(self, peer: Peer, number: int | None, method: str, complain: Callable[[str], None]) -> None:
        """`complain` is given a line when the call has failed: scripts that only wait for its end never see why."""
        self.peer, self.number, self.method = peer, number, method
        self._complain = complain
        self._answered = False

    def give(self, result: Any) -> None:
        self._send(None, result)

    def give_what(self, make: Callable[[], Any]) -> None:
        """Work it out and give it, or say why that cannot be."""
        try:
            result = make()
        except SkyloopError as error:
            self.fail(str(error))
        except Exception as error:
            # whatever a client has sent, the simulation goes on
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
