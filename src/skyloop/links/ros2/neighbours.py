"""Says once, in one line, what other nodes do that cannot work beside this one."""

from __future__ import annotations

import logging

from skyloop.links.ros2.dds_types import dds_name
from skyloop.links.ros2.participant import Participant

log = logging.getLogger(__name__)

MOST_TOLD = 20
"""Lines of one run."""
SIMULATORS_OWN = "/set_simulation_state"
"""A service that only simulators have."""


class Neighbours:
    def __init__(self, participant: Participant) -> None:
        self._participant = participant
        self._told: set[str] = set()

    def look(self) -> None:
        """Called now and then."""
        settings = self._participant.settings
        own, service = self._participant.kinds_read, settings.full(SIMULATORS_OWN)
        for what, about in self._participant.others():
            if what == "readers" and about.topic == f"rq{service}Request":
                self._tell(
                    f"another simulator in domain {settings.domain} answers {service} too, and nodes cannot tell the "
                    "two apart; give one of them another ROS_DOMAIN_ID, or --link ros2:namespace=NAME"
                )
            kinds = own.get(about.topic.removeprefix("rt"), ()) if what == "writers" else ()
            if kinds and about.kind not in map(dds_name, kinds):
                taken, given = " or ".join(kinds), _ros_name(about.kind)
                self._tell(f"{about.topic[2:]} takes {taken}; somebody publishes {given} there, which is not heard")

    def _tell(self, line: str) -> None:
        if line not in self._told and len(self._told) < MOST_TOLD:
            self._told.add(line)
            log.warning("ROS 2: %s", line)


def _ros_name(kind: str) -> str:
    """Of a type on the wire, which a stranger has named."""
    plain = kind.replace("dds_::", "").rstrip("_").replace("::", "/")
    return "".join(letter if letter.isprintable() else "?" for letter in plain)[:80]
