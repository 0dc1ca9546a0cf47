"""ROS 2 services: questions are decoded, replies encoded. Who is answered how is the server's matter (`rtps/`)."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from skyloop.links.ros2.dds_types import dds_name
from skyloop.links.ros2.rtps.server import Caller, ServiceServer, Taken
from skyloop.recording.ros2.types import STORE, RosMessage, decode, encode, type_hash
from skyloop_client.errors import SkyloopError

log = logging.getLogger(__name__)

Fields = tuple[Any, ...]
"""Of a reply, in their order."""
Reply = Callable[[Fields], None]
Answer = Callable[[RosMessage, Reply], None]
"""Gets a request and a function that sends the reply, now or later."""


class Services:
    def __init__(
        self, server: ServiceServer, queued: Callable[[Taken], Taken], full: Callable[[str], str] = str
    ) -> None:
        """`queued` makes a function for the reading thread of one for the simulation's. `full` adds the namespace."""
        self._server, self._queued, self._full = server, queued, full
        self.calls = self.failed = 0

    def serve(self, name: str, kind: str, answer: Answer) -> None:
        """A service such as /drone/arm of a kind such as std_srvs/srv/SetBool."""
        name, kinds = self._full(name), (f"{kind}_Request", f"{kind}_Response")
        built = STORE.types[kinds[1]]

        def asked(data: bytes, caller: Caller) -> None:
            self.calls += 1
            try:
                request = decode(kinds[0], data)
            except ValueError as error:
                self.failed += 1
                log.debug("ROS 2: %s: %s", name, error)
                return
            answer(request, lambda values: self._server.reply(name, caller, bytes(encode(built(*values)))))

        # Cyclone's clients find the two ends of one server by the same serviceid
        about = (f"serviceid={name};typehash={type_hash(one)};" for one in kinds)
        self._server.serve(name, (dds_name(kinds[0]), dds_name(kinds[1])), tuple(about), self._queued(asked))  # type: ignore[arg-type]

    def simple(self, name: str, kind: str, answer: Callable[[RosMessage], Fields]) -> None:
        """One that is answered at once."""
        self.serve(name, kind, lambda request, reply: reply(answer(request)))


def refusal(act: Callable[[], str]) -> str:
    """What `act` says, or the one line of its error. Empty: it worked."""
    try:
        return act()
    except SkyloopError as error:
        return " ".join(str(error).split())
