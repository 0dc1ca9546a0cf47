"""Peers and clients that benches call in processes of their own (`child`), with few imports of ours."""

from __future__ import annotations

import json
import os
import select
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

WORD = 16
"""Bytes of a ping."""
STREAM = b"s"
"""First byte of a plain question for a number of answers in a row."""
PEERS = Path(sys.prefix) / "bench-peers"
"""Where tools/set_up_peers.sh puts what must not be in the environment itself."""
WIDTH, HEIGHT = 320, 240
VERTICAL_FOV_DEG = float(np.degrees(2.0 * np.arctan(HEIGHT / WIDTH)))


def gym_pybullet_drones(physics_hz: int, control_hz: int, seconds: float) -> float:
    """Environment steps per second of one HoverAviary.

    Its rotors run at hover speed, so episodes last their full length and the costly resets are rare."""
    sys.path.insert(0, str(PEERS))
    from gym_pybullet_drones.envs.HoverAviary import HoverAviary
    from gym_pybullet_drones.utils.enums import ActionType, ObservationType

    env = HoverAviary(pyb_freq=physics_hz, ctrl_freq=control_hz, obs=ObservationType.KIN, act=ActionType.RPM)
    hovering = np.zeros(env.action_space.shape, np.float32)
    env.reset(seed=1)
    for _ in range(20):
        env.step(hovering)
    steps, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        _, _, terminated, truncated, _ = env.step(hovering)
        steps += 1
        if terminated or truncated:
            env.reset()
    return steps / (time.perf_counter() - began)


def pybullet(folder: str, n: int, position: list[float], rotation: list[list[float]], images: int) -> float:
    """Images per second, each of colour, depth and segmentation at 320x240, 90°, of the meshes 0.obj to n - 1.

    `rotation`: of the camera, whose axes are right, down, forward."""
    import pybullet as p

    p.connect(p.DIRECT)
    for number in range(n):
        p.createMultiBody(0, -1, p.createVisualShape(p.GEOM_MESH, fileName=f"{folder}/{number}.obj"))
    eye, axes = np.array(position), np.array(rotation)
    view = p.computeViewMatrix(eye, eye + axes[:, 2], -axes[:, 1])
    projection = p.computeProjectionMatrixFOV(VERTICAL_FOV_DEG, WIDTH / HEIGHT, 0.05, 1000.0)
    return _rate(
        lambda: p.getCameraImage(WIDTH, HEIGHT, view, projection, shadow=0, renderer=p.ER_TINY_RENDERER), images
    )


def mujoco(folder: str, n: int, position: list[float], rotation: list[list[float]], images: int) -> float:
    """The same as `pybullet`."""
    os.environ["MUJOCO_GL"] = "egl"
    import mujoco as m

    axes = np.array(rotation)
    xy_axes = " ".join(f"{value:.9f}" for value in (*axes[:, 0], *-axes[:, 1]))
    meshes = "".join(f'<mesh name="m{k}" file="{folder}/{k}.obj" inertia="shell"/>' for k in range(n))
    geoms = "".join(f'<geom type="mesh" mesh="m{k}" contype="0" conaffinity="0"/>' for k in range(n))
    model = m.MjModel.from_xml_string(
        f'<mujoco><visual><map znear="0.0005" zfar="10"/><quality shadowsize="0"/></visual><asset>{meshes}</asset>'
        f'<worldbody><light pos="0 0 50" castshadow="false"/>{geoms}'
        f'<camera name="c" pos="{" ".join(map(str, position))}" xyaxes="{xy_axes}" fovy="{VERTICAL_FOV_DEG}"/>'
        "</worldbody></mujoco>"
    )
    data = m.MjData(model)
    m.mj_forward(model, data)
    renderer = m.Renderer(model, HEIGHT, WIDTH, max_geom=n + 100)

    def take() -> None:
        renderer.update_scene(data, "c")
        renderer.render()
        renderer.enable_depth_rendering()
        renderer.render()
        renderer.disable_depth_rendering()
        renderer.enable_segmentation_rendering()
        renderer.render()
        renderer.disable_segmentation_rendering()

    return _rate(take, images)


def _rate(take: Callable[[], object], images: int) -> float:
    take()
    began = time.perf_counter()
    for _ in range(images):
        take()
    return images / (time.perf_counter() - began)


# ---- plain sockets


def connected(port: int) -> socket.socket:
    peer = socket.create_connection(("127.0.0.1", port), timeout=60.0)
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return peer


def take(peer: socket.socket, into: memoryview) -> None:
    """Read exactly as many bytes as fit."""
    while into:
        got = peer.recv_into(into, len(into), socket.MSG_WAITALL)
        if not got:
            raise EOFError
        into = into[got:]


def serve_echo(server: socket.socket) -> None:
    """Echo the pings of one peer, until it or the server is closed."""
    with suppress(OSError):
        peer, _ = server.accept()
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while data := peer.recv(WORD):
            peer.sendall(data)


def echo() -> None:
    """Print a port and echo there."""
    server = socket.create_server(("127.0.0.1", 0))
    print(server.getsockname()[1], flush=True)
    serve_echo(server)


def ping(port: int, seconds: float) -> list[float]:
    """µs of round trips."""
    word = memoryview(bytearray(WORD))
    delays = []
    with connected(port) as peer:
        end = time.perf_counter() + seconds
        while (began := time.perf_counter()) < end:
            peer.sendall(word)
            take(peer, word)
            delays.append(1e6 * (time.perf_counter() - began))
            time.sleep(0.002)
    return delays


# ---- clients of the link


def link_throughput(address: str, given: dict[str, Any]) -> dict[str, Any]:
    """By round, seconds of each bundle over the link, of each plain exchange, and of an answer in a plain stream."""
    from skyloop_client import connect

    into = memoryview(bytearray(given["answer_bytes"]))
    question = b"?" * given["question_bytes"]
    count = given["bundles"]
    seen: dict[str, list[Any]] = {"link": [], "plain": [], "stream": []}
    os.environ["SKYLOOP_SHARED_MEMORY"] = "1" if given["shared_memory"] else "0"
    # its execution time is zero, so that no simulated time passes
    with connect(address, clock=lambda: 0, timeout=60.0) as session, connected(given["port"]) as peer:
        for _ in range(1 + given["rounds"]):
            link, plain = [time.perf_counter()], []
            for _ in range(count):
                bundle = session.ask(want=given["streams"])
                link.append(time.perf_counter())
            assert all(bundle.get(name) is not None for name in given["streams"])
            plain.append(time.perf_counter())
            for _ in range(count):
                peer.sendall(question)
                take(peer, into)
                plain.append(time.perf_counter())
            peer.sendall((STREAM + count.to_bytes(4, "little")).ljust(len(question), b" "))
            for _ in range(count):
                take(peer, into)
            seen["stream"].append((time.perf_counter() - plain[-1]) / count)
            seen["link"].append(np.diff(link).tolist())
            seen["plain"].append(np.diff(plain).tolist())
    # the first round is a warm-up
    return {name: rounds[1:] for name, rounds in seen.items()}


def link_round_trips(address: str, port: int, seconds: float) -> dict[str, list[float]]:
    """Seconds of pings over the link, plain ping-pongs and commands, in turn for the given time."""
    from skyloop_client import connect
    from skyloop_client.messages import Velocity

    word = memoryview(bytearray(WORD))
    with connect(address, timeout=60.0) as session, connected(port) as peer:

        def plain() -> None:
            peer.sendall(word)
            take(peer, word)

        def ask() -> None:
            answer = session.ask(Velocity(np.zeros(3), yaw_rate=0.2))
            assert not answer.refused, answer.refused

        calls: dict[str, Callable[[], object]] = {"ping": session.ping, "plain": plain, "ask": ask}
        seen: dict[str, list[float]] = {name: [] for name in calls}
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            for name, call in calls.items():
                began = time.perf_counter()
                call()
                seen[name].append(time.perf_counter() - began)
                # so that it arrives at random points of the simulation's work
                time.sleep(0.0017)
    return seen


def view_cockpit(url: str, streams: list[str]) -> dict[str, Any]:
    """How often each stream came to a viewer without a browser, and how late 95 % of the poses were, in ms."""
    from websockets.sync.client import connect

    from skyloop.cockpit.wire import unframed

    counts, late, began = dict.fromkeys(streams, 0), [], 0.0
    with connect(url.replace("http://", "ws://").replace("/?", "/api/live?"), max_size=None) as peer:
        peer.send(json.dumps({"want": streams}))
        while True:
            try:
                header, _ = unframed(peer.recv(timeout=60, decode=False))
            except Exception:
                break
            if header["k"] == "ended":
                break
            if header["k"] != "rec" or header["s"] not in counts:
                continue
            began = began or time.monotonic()
            counts[header["s"]] += 1
            if header["m"] == "VehicleState":
                late.append(time.time_ns() / 1e6 - header["w"])
    late.sort()
    return {"counts": counts, "seconds": time.monotonic() - began, "p95": late[int(0.95 * len(late))]}


# ---- nodes of ROS 2 without any code of ours: Cyclone's package and types written by hand


def _dds(kinds: dict[str, str], domain: int, config: str) -> Any:
    """A participant, a topic and a type for each name, the reliable quality of service, and what must stay alive."""
    from cyclonedds.core import Policy, Qos
    from cyclonedds.domain import Domain, DomainParticipant
    from cyclonedds.idl import make_idl_struct
    from cyclonedds.idl import types as idl_types
    from cyclonedds.topic import Topic

    types: Any = idl_types

    def struct(named: str, **fields: Any) -> Any:
        package, short = named.split("/")
        return make_idl_struct(short, f"{package}::msg::dds_::{short}_", fields)

    u8, u32, i32, f64, many = types.uint8, types.uint32, types.int32, types.float64, types.sequence
    stamp = struct("builtin_interfaces/Time", sec=i32, nanosec=u32)
    header = struct("std_msgs/Header", stamp=stamp, frame_id=str)
    vector = struct("geometry_msgs/Vector3", x=f64, y=f64, z=f64)
    turn = struct("geometry_msgs/Quaternion", x=f64, y=f64, z=f64, w=f64)
    point = struct("sensor_msgs/PointField", name=str, offset=u32, datatype=u8, count=u32)
    nine = types.array[f64, 9]
    fields: dict[str, dict[str, Any]] = {
        "sensor_msgs/Image": {
            "header": header, "height": u32, "width": u32, "encoding": str, "is_bigendian": u8, "step": u32,
            "data": many[u8],
        },
        "sensor_msgs/CompressedImage": {"header": header, "format": str, "data": many[u8]},
        "sensor_msgs/PointCloud2": {
            "header": header, "height": u32, "width": u32, "fields": many[point], "is_bigendian": bool,
            "point_step": u32, "row_step": u32, "data": many[u8], "is_dense": bool,
        },
        "sensor_msgs/Imu": {
            "header": header, "orientation": turn, "orientation_covariance": nine, "angular_velocity": vector,
            "angular_velocity_covariance": nine, "linear_acceleration": vector, "linear_acceleration_covariance": nine,
        },
    }  # fmt: skip
    scope = Domain(domain, config)
    participant = DomainParticipant(domain)
    by_kind = {kind: struct(kind, **fields[kind]) for kind in dict.fromkeys(kinds.values())}
    structs = {topic: by_kind[kind] for topic, kind in kinds.items()}
    topics = {topic: Topic(participant, "rt" + topic, idl) for topic, idl in structs.items()}
    reliable = Qos(Policy.Reliability.Reliable(10**10), Policy.History.KeepAll)
    return participant, topics, reliable, header(stamp(0, 0), ""), structs, scope


def dds_subscriber(kinds: dict[str, str], domain: int, config: str) -> dict[str, Any]:
    """Until its input is closed: by topic, messages and ns from the first to the last; ns by which images were late."""
    from cyclonedds._clayer import ddspy_take
    from cyclonedds.core import InstanceState, Policy, Qos, SampleState, ViewState
    from cyclonedds.sub import DataReader

    participant, topics, reliable, *_alive = _dds(kinds, domain, config)
    best = Qos(Policy.Reliability.BestEffort, Policy.History.KeepLast(16))
    anything = int(SampleState.Any | ViewState.Any | InstanceState.Any)
    readers = {name: DataReader(participant, t, reliable if name == "/big" else best) for name, t in topics.items()}
    counts, late = dict.fromkeys(kinds, 0), []
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    print("ready", flush=True)
    while not select.select([sys.stdin], [], [], 0.0)[0]:
        for topic, reader in readers.items():
            found = ddspy_take(reader._ref, anything, 8)
            now = time.time_ns()
            for data, info in found if isinstance(found, list) else ():
                if info.valid_data:
                    counts[topic] += 1
                    first.setdefault(topic, now)
                    last[topic] = now
                    if topic.endswith("image_raw"):
                        sec, nanosec = (int.from_bytes(data[k : k + 4], "little") for k in (4, 8))
                        late.append(now - sec * 10**9 - nanosec)
        time.sleep(0.0005)
    return {"counts": counts, "late": late, "span": {topic: last[topic] - first[topic] for topic in first}}


def dds_writer(kinds: dict[str, str], domain: int, config: str, size: int, count: int) -> None:
    """Bytes made once and given to Cyclone as they are; until its input is closed."""
    from cyclonedds._clayer import ddspy_write
    from cyclonedds.pub import DataWriter

    [topic] = kinds
    participant, topics, reliable, header, structs, *_alive = _dds(kinds, domain, config)
    writer = DataWriter(participant, topics[topic], reliable)
    data = structs[topic](header, "jpeg", bytes(size)).serialize()
    print("ready", flush=True)
    while not writer.get_publication_matched_status().current_count:
        time.sleep(0.01)
    time.sleep(0.3)
    for _ in range(count):
        ddspy_write(writer._ref, data)
    print("sent", flush=True)
    sys.stdin.readline()
