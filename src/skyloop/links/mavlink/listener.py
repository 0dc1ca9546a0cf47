"""Sockets of the MAVLink vehicles: UDP to ground stations and companions, a TCP server, one reading thread.

Clients are not trusted. Queues are bounded, a client that does not read loses messages, and no socket can block the
simulation."""

from __future__ import annotations

import selectors
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from skyloop.links.inbox import Inbox
from skyloop.links.mavlink.dialect import MavMessage, mavlink
from skyloop.links.mavlink.wire import Inlet
from skyloop.links.sockets import SocketLine, bound, reason_of
from skyloop_client.errors import LinkError

MOST_WAITING = 1000
"""Waiting messages of one channel. More are dropped."""
MOST_ADDRESSES = 8
"""Most UDP clients per port that are answered."""
MOST_CONNECTIONS = 16
"""Most TCP clients per vehicle."""
FORGET_S = 10.0
"""Wall s of silence after which a UDP client counts as gone."""
STUCK_S = 10.0
"""Wall s without reading after which a TCP client is disconnected."""
GRACE_S = 1.0
"""Wall s for which a new TCP client may be silent, even when other clients wait for a slot."""
STRANGER_S = 30.0
"""Wall s after which a silent TCP client is disconnected while more than half of the slots are taken."""
Address = tuple[Any, ...]


class ClientChannel:
    """A connection to clients: one of our UDP ports, or a TCP connection."""

    def __init__(
        self, own: socket.socket, vehicle: int, system_id: int, remote: Address | None, *, is_tcp: bool
    ) -> None:
        self.vehicle = vehicle
        """Number of its vehicle."""
        self.is_tcp = is_tcp
        self.socket = own
        self.inlet = Inlet()
        self.given = self.taken = self.dropped = 0
        self.open = True
        self.intervals: dict[int, int] = {}
        """Telemetry intervals in ns by message id."""
        self.due: dict[int, int] = {}
        self._remote = remote
        self._heard: dict[Address, float] = {}
        self._system_id = system_id
        self._packers: dict[int, mavlink.MAVLink] = {}
        """By component, because each component counts its own messages."""
        self._pending = b""
        self._stuck_since = 0.0
        self.opened_at = time.monotonic()
        self.is_stranger = True
        """It has not sent a complete message yet."""

    def heard(self, address: Address) -> bool:
        """A client sent something. False if there are too many already. Called by the listener's thread."""
        now = time.monotonic()
        if address not in self._heard:
            self._heard = {known: t for known, t in self._heard.items() if now - t < FORGET_S}
            if len(self._heard) >= MOST_ADDRESSES:
                return False
        self._heard[address] = now
        return True

    def send(self, message: MavMessage, component: int = mavlink.MAV_COMP_ID_AUTOPILOT1) -> None:
        if component not in self._packers:
            self._packers[component] = mavlink.MAVLink(None, srcSystem=self._system_id, srcComponent=component)
        packer = self._packers[component]
        data = bytes(message.pack(packer))
        packer.seq = (packer.seq + 1) % 256
        self._send_bytes(data)

    def pass_on(self, message: MavMessage) -> None:
        """Send a received message as it came, from its own sender."""
        self._send_bytes(bytes(message.get_msgbuf()))

    def _send_bytes(self, data: bytes) -> None:
        if self.is_tcp:
            self._send_stream(data)
            return
        now = time.monotonic()
        addresses = {address for address, t in list(self._heard.items()) if now - t < FORGET_S}
        if self._remote is not None:
            addresses.add(self._remote)
        for address in addresses:
            with suppress(OSError):
                self.socket.sendto(data, address)

    def _send_stream(self, data: bytes) -> None:
        if not self.open:
            return
        try:
            if self._pending:
                self._pending = self._pending[self.socket.send(self._pending) :]
            if self._pending:
                raise BlockingIOError
            self._pending = data[self.socket.send(data) :]
            self._stuck_since = 0.0
        except BlockingIOError:
            self._stuck_since = self._stuck_since or time.monotonic()
            if time.monotonic() - self._stuck_since > STUCK_S:
                self.shut()
        except OSError:
            self.shut()

    def shut(self) -> None:
        """May be called from any thread. The listener's thread frees the socket."""
        self.open = False
        with suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)


class MavlinkListener(SocketLine):
    """All sockets, from construction until `close`, and the thread that reads them."""

    taker: Callable[[ClientChannel, MavMessage], None]
    """Set by the link. Called with a channel and a message, or with None when the channel is closed."""

    def __init__(self, inbox: Inbox, host: str = "127.0.0.1") -> None:
        super().__init__(inbox, "mavlink")
        self.host = host
        self.refused = 0
        self._sockets: list[socket.socket] = []
        self._servers: list[socket.socket] = []
        self._connections: dict[int, ClientChannel] = {}

    def udp(self, vehicle: int, system_id: int, port: int, remote: Address | None) -> ClientChannel:
        """Bind one of our ports. `remote` gets all messages without having to ask."""
        if remote is not None:
            remote = self._reachable(*remote)
        own = self._bound(socket.SOCK_DGRAM, port)
        channel = ClientChannel(own, vehicle, system_id, remote, is_tcp=False)
        self._selector.register(own, selectors.EVENT_READ, channel)
        return channel

    def _reachable(self, host: str, port: int) -> Address:
        """The address of a host to announce to, looked up once."""
        try:
            address: Address = socket.getaddrinfo(host, port, socket.AF_INET, socket.SOCK_DGRAM)[0][4]
        except (OSError, OverflowError) as error:
            self.close()
            raise LinkError(f"cannot tell {host}:{port} of the vehicle: {error}") from None
        if self.host.startswith("127.") and not address[0].startswith("127."):
            self.close()
            raise LinkError(f"{host} cannot be reached from {self.host}; give --listen 0.0.0.0 as well")
        return address

    def tcp(self, vehicle: int, system_id: int, port: int) -> int:
        """Bind a port, which `start` opens. Returns its number."""
        own = self._bound(socket.SOCK_STREAM, port)
        self._selector.register(own, selectors.EVENT_READ, (own, vehicle, system_id))
        self._servers.append(own)
        return int(own.getsockname()[1])

    def _bound(self, kind: socket.SocketKind, port: int) -> socket.socket:
        try:
            own = bound(kind, self.host, port)
        except (OSError, OverflowError) as error:
            self.close()
            name = "TCP" if kind == socket.SOCK_STREAM else "UDP"
            raise LinkError(
                f"cannot open {name} port {port} on {self.host} for MAVLink: {reason_of(error)}; "
                "choose another --port-offset"
            ) from None
        self._sockets.append(own)
        return own

    def start(self) -> None:
        """Accept clients and start reading. Until then TCP clients are refused and datagrams wait."""
        for server in self._servers:
            try:
                server.listen(16)
            except OSError as error:
                port = server.getsockname()[1]
                self.close()
                raise LinkError(f"cannot open TCP port {port} on {self.host} for MAVLink: {error.strerror}") from None
        self._thread.start()

    def _free(self) -> None:
        for channel in self._connections.values():
            channel.shut()
            channel.socket.close()
        for own in self._sockets:
            own.close()

    # ---- the thread

    def _attend(self, ready: selectors.SelectorKey) -> None:
        if isinstance(ready.data, ClientChannel):
            self._read(ready.data)
        else:
            self._accept(*ready.data)

    def _accept(self, listener: socket.socket, vehicle: int, system_id: int) -> None:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        if not self._has_room(vehicle):
            self.refused += 1
            connection.close()
            return
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        channel = ClientChannel(connection, vehicle, system_id, None, is_tcp=True)
        self._connections[connection.fileno()] = channel
        self._selector.register(connection, selectors.EVENT_READ, channel)
        self._inbox.put((self, channel, "opened"))

    def _has_room(self, vehicle: int) -> bool:
        """Silent clients are disconnected to make room, so that they cannot lock out others."""
        now = time.monotonic()
        own = [channel for channel in self._connections.values() if channel.vehicle == vehicle]
        strangers = sorted((each for each in own if each.is_stranger), key=lambda each: each.opened_at)
        crowded = 2 * len(own) > MOST_CONNECTIONS
        for channel in strangers:
            silent = now - channel.opened_at
            if (crowded and silent > STRANGER_S) or (len(own) >= MOST_CONNECTIONS and silent > GRACE_S):
                own.remove(channel)
                self.refused += 1
                self._leave(channel)
        return len(own) < MOST_CONNECTIONS

    def _read(self, channel: ClientChannel) -> None:
        address: Address = ()
        try:
            if channel.is_tcp:
                data = channel.socket.recv(1 << 16)
                if not data:
                    raise EOFError
            else:
                data, address = channel.socket.recvfrom(1 << 16)
                channel.inlet.clear()  # a message never continues in the next datagram
        except BlockingIOError:
            return
        except (EOFError, OSError):
            if channel.is_tcp:
                self._leave(channel)
            return
        messages = list(channel.inlet.feed(data))
        if messages and channel.is_tcp:
            channel.is_stranger = False
        elif messages and not channel.heard(address):
            self.refused += 1
            return
        for message in messages:
            if channel.given - channel.taken >= MOST_WAITING:
                channel.dropped += 1
                continue
            channel.given += 1
            self._inbox.put((self, channel, message))

    def _leave(self, channel: ClientChannel) -> None:
        number = channel.socket.fileno()
        channel.shut()
        self._selector.unregister(channel.socket)
        self._connections.pop(number, None)
        channel.socket.close()
        self._inbox.put((self, channel, None))
