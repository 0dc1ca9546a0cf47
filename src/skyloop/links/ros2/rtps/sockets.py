"""The sockets of an RTPS participant. Those of this machine are bound to loopback: nothing of theirs can leave it."""

from __future__ import annotations

import errno
import socket
from contextlib import suppress

from skyloop.links.ros2.rtps.parameters import Address
from skyloop.links.ros2.settings import GROUP, LOOPBACK_ADDRESS, MOST_PARTICIPANTS, Ros2Settings, own_address
from skyloop_client.errors import LinkError

MULTICAST_ALL = 49
"""Linux's option: off, a socket hears the groups that it joined itself, not those of others on this machine."""
LONGEST = 65535
PROBED = 32
"""Participants on one machine that are asked by their ports. ROS 2's own limit."""


def port_of(domain: int, index: int | None, *, user: bool = False) -> int:
    """RTPS's formula. Without an index: that of multicast discovery."""
    return 7400 + 250 * domain + (0 if index is None else 10 + 2 * index + user)


class Sockets:
    def __init__(self, settings: Ros2Settings) -> None:
        hosts = () if settings.reach == "OFF" else (LOOPBACK_ADDRESS, *settings.peers)
        mine = {LOOPBACK_ADDRESS} if settings.stays_here else {own_address(), LOOPBACK_ADDRESS}
        self._interfaces = tuple(socket.inet_aton(host) for host in mine)
        """Where multicast is spoken. Loopback is always among them: nodes on this machine may hear nothing else."""
        self._listen = LOOPBACK_ADDRESS if settings.stays_here else ""
        self.meta, self.user, index = self._unicast(settings.domain)
        self.meta_addresses = tuple((host, port_of(settings.domain, index)) for host in mine)
        self.user_addresses = tuple((host, port_of(settings.domain, index, user=True)) for host in mine)
        self._group = (GROUP, port_of(settings.domain, None))
        hears = settings.reach != "OFF" and (settings.stays_here or settings.reach != "LOCALHOST")
        self.group = self._multicast() if hears else None
        self._probed = [(host, port_of(settings.domain, k)) for host in hosts for k in range(PROBED)]

    def _unicast(self, domain: int) -> tuple[socket.socket, socket.socket, int]:
        """The first pair of ports that is free."""
        for index in range(MOST_PARTICIPANTS):
            pair = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
            try:
                for user, one in enumerate(pair):
                    one.bind((self._listen, port_of(domain, index, user=bool(user))))
            except OSError as error:
                for one in pair:
                    one.close()
                if error.errno != errno.EADDRINUSE:
                    raise LinkError(f"ROS 2: no port for services in domain {domain}: {error.strerror}") from None
                continue
            for one in pair:
                one.setblocking(False)
            return pair[0], pair[1], index
        raise LinkError(f"ROS 2: {MOST_PARTICIPANTS} participants run in domain {domain}; take another ROS_DOMAIN_ID")

    def _multicast(self) -> socket.socket | None:
        """None: this machine has no multicast. Then others are found by their ports."""
        built = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            built.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with suppress(OSError, AttributeError):
                built.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            built.bind(self._group)
            with suppress(OSError):
                built.setsockopt(socket.IPPROTO_IP, MULTICAST_ALL, 0)
            for interface in self._interfaces:
                built.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton(GROUP) + interface)
            built.setblocking(False)
        except OSError:
            built.close()
            return None
        return built

    def announce(self, datagram: bytes, *, probing: bool) -> None:
        """To whoever listens to multicast; `probing`: to the ports of this machine and of the given peers too."""
        for interface in self._interfaces if self.group is not None else ():
            self.user.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, interface)
            self.send((self._group,), datagram)
        if probing:
            self.send(tuple(self._probed), datagram)

    def send(self, addresses: tuple[Address, ...], datagram: bytes) -> None:
        """What cannot be sent is lost, as on any network: an address that loopback does not reach, a full buffer."""
        for address in addresses:
            with suppress(OSError):
                self.user.sendto(datagram, address)

    def all(self) -> list[socket.socket]:
        return [one for one in (self.meta, self.user, self.group) if one is not None]

    def close(self) -> None:
        for one in self.all():
            one.close()
