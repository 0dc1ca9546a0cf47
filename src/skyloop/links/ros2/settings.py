"""Where a ROS 2 participant may be heard: this machine only, unless the environment says otherwise.

DDS by itself speaks to the whole network. Here the interface, the domain and the peers are always given."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal
from xml.sax.saxutils import quoteattr

from skyloop_client.errors import LinkError

Reach = Literal["LOCALHOST", "SUBNET", "OFF", "SYSTEM_DEFAULT"]
REACHES: tuple[Reach, ...] = ("LOCALHOST", "SUBNET", "OFF", "SYSTEM_DEFAULT")
NAMESPACE = re.compile(r"(/[A-Za-z_][A-Za-z0-9_]*)+")
FOR_ALL_NODES = ("/parameter_events",)
"""Topics that have no namespace in any node."""
HIGHEST_DOMAIN = 232
"""The ports of a higher one do not exist."""
MOST_PARTICIPANTS = 99
"""On one machine and in one domain. Without multicast each is asked by its port."""
ANNOUNCE_S = 1
"""Between two announcements. Cyclone's own nodes with default settings find us by nothing else."""
LOOPBACK_BYTES = 65000
"""Of one datagram on loopback, which has no Ethernet frames: an image then takes 4 instead of 160."""


LOOPBACK_ADDRESS, GROUP = "127.0.0.1", "239.255.0.1"
"""The second one is where participants announce themselves."""
LOOPBACK = f'<NetworkInterface address="{LOOPBACK_ADDRESS}" multicast="true"/>'
NETWORK = '<NetworkInterface autodetermine="true"/>'


@dataclass(frozen=True, slots=True)
class Ros2Settings:
    domain: int = 0
    reach: Reach = "LOCALHOST"
    peers: tuple[str, ...] = ()
    """Addresses of further hosts to ask, of ROS_STATIC_PEERS."""
    namespace: str = ""
    """Before the names of topics, services and the node, such as `/one`; empty: none."""

    def full(self, name: str) -> str:
        """The name of a topic or a service that others use."""
        return name if name in FOR_ALL_NODES else f"{self.namespace}{name}"

    @property
    def stays_here(self) -> bool:
        """Whether nothing may leave this machine. Peers that are given are asked wherever they are."""
        return self.reach == "OFF" or (self.reach == "LOCALHOST" and not self.peers)

    def config(self) -> str | None:
        """Cyclone DDS's configuration. None: its own, of CYCLONEDDS_URI."""
        if self.reach == "SYSTEM_DEFAULT":
            return None
        general, discovery = self._general(), self._discovery()
        return (
            f'<CycloneDDS><Domain id="any"><General>{general}</General><Discovery>{discovery}</Discovery>'
            "</Domain></CycloneDDS>"
        )

    def _general(self) -> str:
        if self.reach == "SUBNET":
            # nodes on this machine may hear loopback only
            host = own_address()
            both = f'{LOOPBACK}<NetworkInterface address="{host}"/>'
            return f"<Interfaces>{NETWORK if host == LOOPBACK_ADDRESS else both}</Interfaces>"
        # Fast DDS announces itself on loopback's multicast too; packets that come by another interface are ignored
        heard = f"<AllowMulticast>{'false' if self.reach == 'OFF' else 'spdp'}</AllowMulticast>"
        if not self.stays_here:
            # the given peers are asked one by one
            quiet = NETWORK.replace("/>", ' multicast="false"/>')
            return f"<Interfaces>{LOOPBACK}{quiet}</Interfaces>{heard}"
        return (
            f"<Interfaces>{LOOPBACK}</Interfaces>{heard}<MaxMessageSize>{LOOPBACK_BYTES}B</MaxMessageSize>"
            f"<FragmentSize>{LOOPBACK_BYTES - 1000}B</FragmentSize>"
        )

    def _discovery(self) -> str:
        if self.reach == "OFF":
            # nobody else has this tag, so nobody is heard
            return f"<Tag>skyloop-alone-{os.getpid()}</Tag><ParticipantIndex>none</ParticipantIndex>"
        peers = "".join(f"<Peer address={quoteattr(host)}/>" for host in ("localhost", *self.peers))
        return (
            f"<ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>{MOST_PARTICIPANTS}"
            f"</MaxAutoParticipantIndex><SPDPInterval>{ANNOUNCE_S}s</SPDPInterval><Peers>{peers}</Peers>"
        )


def own_address() -> str:
    """Of the interface by which multicast leaves; loopback's, if there is no network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asker, suppress(OSError):
        asker.connect((GROUP, 7400))
        return str(asker.getsockname()[0])
    return LOOPBACK_ADDRESS


def settings_from(environment: Mapping[str, str], namespace: str = "") -> Ros2Settings:
    """From the variables that ROS 2 itself reads."""
    own = f"/{namespace.strip('/')}" if namespace else ""
    if own and NAMESPACE.fullmatch(own) is None:
        raise LinkError(f"ros2: namespace '{namespace[:80]}' is none; give letters, digits and _, such as left")
    return Ros2Settings(
        _domain(environment.get("ROS_DOMAIN_ID", "")),
        _reach(environment),
        tuple(_address(host.strip()) for host in environment.get("ROS_STATIC_PEERS", "").split(";") if host.strip()),
        own,
    )


def _domain(text: str) -> int:
    if not text:
        return 0
    if not (text.isascii() and text.isdecimal() and int(text) <= HIGHEST_DOMAIN):
        raise LinkError(f"ROS_DOMAIN_ID is '{text}'; give a number from 0 to {HIGHEST_DOMAIN}")
    return int(text)


def _address(host: str) -> str:
    """Cyclone ends the whole process if it does not know a host."""
    try:
        return socket.gethostbyname(host)
    except (OSError, UnicodeError):
        raise LinkError(f"ROS_STATIC_PEERS is '{host[:80]}'; give names or IPv4 addresses of known hosts") from None


def _reach(environment: Mapping[str, str]) -> Reach:
    """ROS_LOCALHOST_ONLY=1 counts more than the range, as in ROS. With neither, we stay on this machine."""
    only, wanted = environment.get("ROS_LOCALHOST_ONLY", ""), environment.get("ROS_AUTOMATIC_DISCOVERY_RANGE", "")
    if only not in ("", "0", "1"):
        raise LinkError(f"ROS_LOCALHOST_ONLY is '{only}'; give 0 or 1")
    if wanted.upper() not in ("", *REACHES):
        raise LinkError(f"ROS_AUTOMATIC_DISCOVERY_RANGE is '{wanted}'; give one of {', '.join(REACHES)}")
    if only == "1":
        return "LOCALHOST"
    for reach in REACHES:
        if wanted.upper() == reach:
            return reach
    return "SUBNET" if only == "0" else "LOCALHOST"
