"""A flight in real time that serves one protocol in a process of its own, and what clients of each protocol say."""

from __future__ import annotations

import base64
import json
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any
from urllib.error import URLError

import msgpack
import yaml
from process_looks import beyond_loopback, memory_mb, open_files, simulated_s
from pymavlink.dialects.v20 import common as mavlink
from ros2_rig import Node
from websockets.sync.client import connect
from websockets.typing import Subprotocol

from free_ports import free_port
from skyloop.links.mavlink.link import OWN_COMPANION, OWN_GROUND_STATION, OWN_TCP
from skyloop_client.session import connect as connect_session
from skyloop_client.wire import PROTOCOL, framed

SKYLOOP = Path(sys.executable).parent / "skyloop"
PATIENCE_S = 60.0
MOST_MB = 150.0
"""That clients may cost."""
SCENARIO = {
    "name": "served", "world": "flat", "duration": 100_000, "truth_rate_hz": 20, "pacing": {"mode": "realtime"},
    "vehicles": [{
        "name": "drone", "sensors": {"imu": {"kind": "imu", "rate_hz": 50}, "lidar": {"kind": "lidar"}},
        "pilot": {"kind": "hover", "duration": 1e5}, "battery": False,
    }],
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Protocol:
    """One server: how a flight offers it, what its clients say first, and what an honest one gets."""

    name: str
    words: Callable[[int], list[str]]
    """Options of `skyloop run`, for a port."""
    greeting: Callable[[Served, Random], bytes]
    """What a client says first."""
    frames: Callable[[Served, Random], list[bytes]]
    """What clients say: right ones, to be damaged."""
    served: Callable[[Served], None]
    """An honest client is served; raises otherwise."""
    datagrams: Callable[[Served], list[tuple[str, int]]] | None = None
    """Where datagrams are sent to; None: its clients connect."""
    flies_alone: bool = True
    """Simulated time passes without any client."""
    datagrams_everywhere: bool = False
    """Its library takes datagrams at all addresses, as docs/explanations/security.md says."""


class Served:
    """`skyloop run` with a server, and its health as seen from outside."""

    def __init__(self, protocol: Protocol, folder: Path) -> None:
        folder.mkdir(parents=True)
        self.protocol, self.folder, self.port = protocol, folder, free_port()
        self.heard: list[bytes] = []
        """Announcements of DDS."""
        (folder / "served.yaml").write_text(yaml.safe_dump(SCENARIO), encoding="utf-8")
        self._said = folder / "said.txt"
        with self._said.open("wb") as said:
            self.process = subprocess.Popen(
                [SKYLOOP, "run", "served.yaml", "--out", "run", *protocol.words(self.port)], cwd=folder,
                stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True,
                env={**os.environ, "ROS_DOMAIN_ID": str(self.domain)},
            )  # fmt: skip
        try:
            self._until(lambda: not protocol.flies_alone or self.simulated_s() > 2.0, "it does not fly")
            self._until(self._serves, "an honest client is not served")
        except BaseException:
            self.close()
            raise

    def _serves(self) -> bool:
        """Some servers open a moment after the flight began."""
        with suppress(ConnectionError, URLError):
            self.protocol.served(self)
            return True
        return False

    @property
    def domain(self) -> int:
        """Of ROS 2."""
        return self.port % 100

    def _until(self, ready: Callable[[], bool], why: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{why}: {self.said()[-500:]}")
            time.sleep(0.05)

    def said(self) -> str:
        return self._said.read_text(encoding="utf-8", errors="replace")

    @property
    def token(self) -> str:
        """Of the address that it printed."""
        found = re.search(r"token=([\w-]+)", self.said())
        return found[1] if found else ""

    def simulated_s(self) -> float:
        return simulated_s(self.folder / "run")

    def health(self) -> dict[str, Any]:
        """As it is now, for `fault`."""
        return {"warm_mb": memory_mb(self.process.pid), "files": open_files(self.process.pid)}

    def fault(self, *, warm_mb: float, files: int, crowded: bool = False) -> str:
        """What is wrong with its health, in words. Where it is crowded, an honest client may be turned away."""
        if (code := self.process.poll()) is not None:
            return f"the flight ended with exit code {code}: {self.said()[-300:]}"
        if "Traceback (most recent call last)" in self.said():
            return f"a traceback: {self.said()[-300:]}"
        if (size := self._said.stat().st_size) > 100_000:
            return f"it said {size} bytes"
        before, deadline = self.simulated_s(), time.monotonic() + PATIENCE_S
        while self.protocol.flies_alone and self.simulated_s() < before + 0.5:
            if time.monotonic() > deadline:
                return "the flight does not go on"
            time.sleep(0.1)
        if (now := memory_mb(self.process.pid)) > warm_mb + MOST_MB:
            return f"its memory grew from {warm_mb:.0f} to {now:.0f} MB"
        if crowded:
            return ""
        if (open_ := open_files(self.process.pid)) > files + 40:
            return f"it has {open_} open files, {files} before"
        try:
            self.protocol.served(self)
        except Exception as error:
            return f"an honest client is not served: {type(error).__name__}: {error}"[:300]
        strange = beyond_loopback(self.process.pid, but_datagrams=self.protocol.datagrams_everywhere)
        return f"it listens beyond this machine: {', '.join(strange)}" if strange else ""

    def close(self) -> str:
        """Ctrl-C; what is wrong with how it ended."""
        if self.process.poll() is not None:
            return ""
        os.killpg(self.process.pid, signal.SIGINT)
        try:
            code = self.process.wait(PATIENCE_S)
        except subprocess.TimeoutExpired:
            return "Ctrl-C does not end it"
        finally:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        return "" if code in (0, 130) else f"exit code {code} after Ctrl-C: {self.said()[-300:]}"


# ---- what clients say


def upgrade(path: str, port: int, protocol: str = "") -> bytes:
    """The request that begins a WebSocket."""
    key = base64.b64encode(bytes(range(16))).decode()
    more = f"Sec-WebSocket-Protocol: {protocol}\r\n" if protocol else ""
    return (
        f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n{more}\r\n"
    ).encode()


def ws_frame(opcode: int, data: bytes) -> bytes:
    """Masked with zeros, as a client may."""
    size = bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + struct.pack(">H", len(data))
    return bytes([0x80 | opcode]) + size + bytes(4) + data


def _cockpit_greeting(served: Served, chance: Random) -> bytes:
    """With the token as often as not."""
    return upgrade("/api/live" + chance.choice(("", f"?token={served.token}")), served.port)


def _cockpit_frames(served: Served, chance: Random) -> list[bytes]:
    orders = [
        {"token": "x"}, {"want": ["truth/drone", "drone/imu"]},
        {"order": "hand", "arguments": {"forward": 1.0}, "id": 7},
        {"order": "pause", "arguments": {}, "id": 8}, {"order": "say", "arguments": {"request": "take off"}, "id": 9},
    ]  # fmt: skip
    frames = [ws_frame(1, json.dumps(order).encode()) for order in orders]
    head = f"HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nAuthorization: Bearer {served.token}\r\n"
    requests = [f"GET /api/about {head}\r\n".encode()]
    for path in ("/api/scenario/check", "/api/flight/start", "/api/runs"):
        body = json.dumps({"text": "name: x\nvehicles: [{name: drone}]\n"}).encode()
        requests.append(f"POST {path} {head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    return frames + requests + [ws_frame(9, b"ping"), ws_frame(8, b"\x03\xe8")]


def _foxglove_frames(served: Served, chance: Random) -> list[bytes]:
    texts = [
        {"op": "subscribe", "subscriptions": [{"id": k, "channelId": k} for k in range(1, 9)]},
        {"op": "unsubscribe", "subscriptionIds": [1, 2]}, {"op": "advertise", "channels": []},
        {"op": "getParameters", "parameterNames": []},
        {"op": "fetchAsset", "uri": "file:///etc/passwd", "requestId": 1},
    ]  # fmt: skip
    return [ws_frame(1, json.dumps(text).encode()) for text in texts] + [ws_frame(2, b"\x01" + bytes(8))]


def _mavlink_frames(served: Served, chance: Random) -> list[bytes]:
    pack = mavlink.MAVLink(None, srcSystem=255, srcComponent=190)
    messages = [
        mavlink.MAVLink_heartbeat_message(6, 8, 0, 0, 4, 3),
        mavlink.MAVLink_command_long_message(1, 1, 400, 0, 1.0, 0, 0, 0, 0, 0, 0),
        mavlink.MAVLink_mission_count_message(1, 1, chance.choice((1, 3, 65535)), 0),
        mavlink.MAVLink_mission_item_int_message(1, 1, 0, 3, 16, 0, 1, 0.0, 0.0, 0.0, 0.0, 0, 0, 5.0, 0),
        mavlink.MAVLink_param_set_message(1, 1, b"MPC_XY_VEL_MAX", 5.0, 9),
        mavlink.MAVLink_param_request_list_message(1, 1), mavlink.MAVLink_timesync_message(0, 77),
        mavlink.MAVLink_set_position_target_local_ned_message(0, 1, 1, 1, 3527, 0, 0, -3, 0, 0, 0, 0, 0, 0, 0, 0),
        mavlink.MAVLink_file_transfer_protocol_message(0, 1, 1, bytes(251)),
        mavlink.MAVLink_manual_control_message(1, 0, 0, 500, 0, 0),
    ]  # fmt: skip
    return [bytes(message.pack(pack)) for message in messages]


def _rpc_frames(served: Served, chance: Random) -> list[bytes]:
    pose = {"position": {"x_val": 1.0, "y_val": 2.0, "z_val": -3.0},
            "orientation": {"w_val": 1.0, "x_val": 0.0, "y_val": 0.0, "z_val": 0.0}}  # fmt: skip
    calls = [
        ("ping",), ("enableApiControl", True, "drone"), ("takeoff", 5.0, "drone"),
        ("simSetVehiclePose", pose, True, ""),
        ("getImuData", "", "drone"), ("getLidarData", "", "drone"), ("moveByVelocity", 1.0, 0.0, -1.0, 1.0, 0, {}, ""),
        ("simGetObjectPose", "drone"), ("simListSceneObjects", ".*"), ("getMultirotorState", "drone"),
    ]  # fmt: skip
    return [msgpack.packb([0, number, name, list(rest)]) for number, (name, *rest) in enumerate(calls)]


def _loop_frames(served: Served, chance: Random) -> list[bytes]:
    messages: list[dict[str, object]] = [
        {"type": "hello", "protocol": PROTOCOL}, {"type": "ask", "number": 1, "et_ns": 0},
        {"type": "send", "setpoint": None}, {"type": "ping"},
        {"type": "hello", "protocol": PROTOCOL, "vehicle": "drone"},
    ]  # fmt: skip
    return [b"".join(framed(message)) for message in messages]


# ---- honest clients


def _about(served: Served) -> None:
    headers = {"Authorization": f"Bearer {served.token}"}
    address = f"http://127.0.0.1:{served.port}/api/about"
    with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=PATIENCE_S) as answer:
        assert "viewers" in json.loads(answer.read())
    live = f"ws://127.0.0.1:{served.port}/api/live"
    with connect(live, additional_headers=headers, open_timeout=PATIENCE_S) as viewer:
        told = viewer.recv(timeout=PATIENCE_S)
        assert isinstance(told, bytes) and b"hello" in told


def _channels(served: Served) -> None:
    protocols = [Subprotocol("foxglove.sdk.v1")]
    with connect(f"ws://127.0.0.1:{served.port}", subprotocols=protocols, open_timeout=PATIENCE_S) as viewer:
        assert json.loads(viewer.recv(timeout=PATIENCE_S))["op"] == "serverInfo"


def _ping(served: Served) -> None:
    with socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE_S) as client:
        client.sendall(msgpack.packb([0, 4711, "ping", []]))
        unpacker = msgpack.Unpacker()
        while data := client.recv(65536):
            unpacker.feed(data)
            for answer in unpacker:
                assert answer == [1, 4711, None, True], answer
                return
        raise ConnectionError("closed without an answer")


def _timesync(served: Served) -> None:
    with socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE_S) as client:
        asked = mavlink.MAVLink_timesync_message(0, 4242)
        client.sendall(bytes(asked.pack(mavlink.MAVLink(None, srcSystem=255, srcComponent=190))))
        parser = mavlink.MAVLink(None)
        parser.robust_parsing = True
        while data := client.recv(65536):
            for message in parser.parse_buffer(data) or ():
                if message.get_type() == "TIMESYNC" and message.ts1 == 4242:
                    return
        raise ConnectionError("closed without an answer")


def _asked(served: Served) -> None:
    with connect_session(f"127.0.0.1:{served.port}", role="companion", timeout=PATIENCE_S) as session:
        for _ in range(5):
            session.ask(want=None, until_ns=session.now() + 20_000_000)


def _imu_heard(served: Served) -> None:
    node = Node(served.domain)
    try:
        node.read("/drone/imu", "sensor_msgs/msg/Imu")
        assert node.take("/drone/imu", 1, PATIENCE_S), "no message on /drone/imu"
    finally:
        node.close()


# ---- DDS


def _announcements(served: Served, chance: Random) -> list[bytes]:
    """What participants of the domain tell all others, as it is on the wire."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as ear:
        ear.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        ear.bind(("239.255.0.1", 7400 + 250 * served.domain))
        member = socket.inet_aton("239.255.0.1") + socket.inet_aton("127.0.0.1")
        ear.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, member)
        ear.settimeout(1.0)
        node = Node(served.domain)
        found: set[bytes] = set()
        deadline = time.monotonic() + 15.0
        try:
            while len(found) < 6 and time.monotonic() < deadline:
                with suppress(TimeoutError):
                    found.add(ear.recv(65536))
        finally:
            node.close()
    return sorted(found)


def _another_participant(served: Served, chance: Random) -> bytes:
    """One that never answers: a real announcement under another name."""
    if not served.heard:
        served.heard = _announcements(served, chance)
    real = chance.choice(served.heard)
    prefix = real[8:20]
    return real.replace(prefix, prefix[:4] + chance.randbytes(8))


def _dds_ports(served: Served) -> list[tuple[str, int]]:
    base = 7400 + 250 * served.domain
    return [("239.255.0.1", base), *(("127.0.0.1", base + k) for k in (10, 11, 12, 13))]


def _mavlink_port(served: Served, usual: int) -> tuple[str, int]:
    return "127.0.0.1", served.port + usual - OWN_TCP


PROTOCOLS = (
    Protocol("cockpit", lambda port: ["--cockpit", str(port)], _cockpit_greeting, _cockpit_frames, _about),
    Protocol("airsim", lambda port: ["--link", f"airsim:{port}"], lambda served, chance: _rpc_frames(served, chance)[0],
             _rpc_frames, _ping),
    Protocol("mavlink tcp", lambda port: ["--link", f"mavlink:{port - OWN_TCP}"],
             lambda served, chance: _mavlink_frames(served, chance)[0], _mavlink_frames, _timesync),
    Protocol("mavlink udp", lambda port: ["--link", f"mavlink:{port - OWN_TCP}"],
             lambda served, chance: _mavlink_frames(served, chance)[0], _mavlink_frames, _timesync,
             lambda served: [_mavlink_port(served, OWN_GROUND_STATION), _mavlink_port(served, OWN_COMPANION)]),
    Protocol("loop", lambda port: ["--link", f"loop:{port},pilots_inside=true,pace=1"],
             lambda served, chance: _loop_frames(served, chance)[0], _loop_frames, _asked),
    Protocol("foxglove", lambda port: ["--foxglove", str(port)],
             lambda served, chance: upgrade("/", served.port, "foxglove.sdk.v1"), _foxglove_frames, _channels),
    Protocol(
        "ros2", lambda port: ["--ros2"], _another_participant, _announcements, _imu_heard, _dds_ports,
        datagrams_everywhere=True,
    ),
)  # fmt: skip
