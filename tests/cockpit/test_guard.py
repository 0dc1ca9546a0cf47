"""Who is let in: this machine, pages of this server, those who know the token; and nothing that leads elsewhere."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from cockpit_rig import CockpitRig
from skyloop.cockpit.access_guard import Guard, run_folder
from skyloop.cockpit.connections import MOST_CONNECTIONS
from skyloop_client.errors import LinkError

HERE = {b"host": b"127.0.0.1:8707"}


def status(refused: tuple[int, str] | None) -> int | None:
    return None if refused is None else refused[0]


def test_names_that_were_pointed_at_this_machine_are_refused() -> None:
    guard = Guard("", 8707)
    assert guard.refusal(HERE, "/api/about", is_socket=False) is None
    assert status(guard.refusal({b"host": b"evil.example:8707"}, "/", is_socket=False)) == 403
    assert status(guard.refusal({b"host": b"127.0.0.1:9"}, "/", is_socket=False)) == 403


def test_pages_of_other_sites_are_refused() -> None:
    guard = Guard("", 8707)
    assert guard.refusal({**HERE, b"origin": b"http://127.0.0.1:8707"}, "/api/live", is_socket=True) is None
    assert status(guard.refusal({**HERE, b"origin": b"http://evil.example"}, "/api/live", is_socket=True)) == 403
    assert status(guard.refusal({**HERE, b"origin": b"null"}, "/api/live", is_socket=True)) == 403


def test_beyond_this_machine_calls_need_the_token() -> None:
    guard = Guard("secret", 8707)
    there = {b"host": b"lab:8707"}
    assert guard.refusal(there, "/index.html", is_socket=False) is None
    assert status(guard.refusal(there, "/api/about", is_socket=False)) == 401
    assert status(guard.refusal({**there, b"authorization": b"Bearer secre"}, "/api/about", is_socket=False)) == 401
    assert guard.refusal({**there, b"authorization": b"Bearer secret"}, "/api/about", is_socket=False) is None


@pytest.mark.parametrize("name", ["..", "../x", "a/b", "", "/etc", ".hidden", "a\0b", "link"])
def test_no_name_leads_out_of_the_run_folders(tmp_path: Path, name: str) -> None:
    (tmp_path / "runs" / "a").mkdir(parents=True)
    (tmp_path / "runs" / "link").symlink_to(tmp_path)
    with pytest.raises(LinkError):
        run_folder(tmp_path / "runs", name)
    assert run_folder(tmp_path / "runs", "a").name == "a"


@pytest.mark.processes
def test_a_socket_without_the_token_gets_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with `--host` of another machine's network, where tests may not listen."""
    monkeypatch.setattr("skyloop.cockpit.server_start._is_loopback", lambda host: False)
    with CockpitRig(tmp_path) as rig:
        token = rig.cockpit.server.token
        assert len(token) >= 32 and rig.cockpit.server.url.endswith(f"#token={token}")
        assert rig.get("/api/about")["status"] == 401
        assert "status" not in rig.get("/api/about", Authorization=f"Bearer {token}")
        with connect(f"ws://127.0.0.1:{rig.port}/api/live") as peer:
            peer.send('{"token": "wrong"}')
            with pytest.raises(ConnectionClosed):
                peer.recv(timeout=20)
        with connect(f"ws://127.0.0.1:{rig.port}/api/live") as peer:
            peer.send(json.dumps({"token": token}))
            assert b"hello" in peer.recv(timeout=20)


@pytest.mark.processes
def test_a_crowd_of_sockets_is_turned_away(rig: CockpitRig) -> None:
    """Those that ask for nothing count, too; one that leaves makes room."""
    crowd = [socket.create_connection(("127.0.0.1", rig.port), timeout=20.0) for _ in range(MOST_CONNECTIONS + 40)]
    try:
        with pytest.raises(ConnectionResetError):
            crowd[-1].recv(1)
    finally:
        for one in crowd:
            one.close()
    assert "viewers" in rig.get("/api/about")


@pytest.mark.processes
def test_hostile_peers_disturb_nobody(rig: CockpitRig) -> None:
    """Rubbish on the port, on the socket and in calls: each is refused, and a viewer of a flight gets its answer."""
    rig.fly()
    with (
        pytest.raises(InvalidStatus),
        connect(f"ws://127.0.0.1:{rig.port}/api/live", origin=Origin("http://evil.example")),
    ):
        pass
    for _ in range(8):
        with socket.create_connection(("127.0.0.1", rig.port)) as peer:
            peer.sendall(os.urandom(3000))
    for size, path in ((12_000_000, "/api/scenario/check"), (10, "/api/nothing"), (10, "/../../etc/passwd")):
        assert rig.call(path, {"text": "x" * size})["status"] in (404, 405, 413, 422)
    for run, name in (("..", "passwd"), ("a", "..%2f..%2fx"), ("%2e%2e", "x.csv")):
        assert rig.get(f"/api/runs/{run}/files/{name}")["status"] in (400, 404)
    viewer = rig.viewer()
    for text in (
        "",
        "[]",
        "{",
        "null",
        "1e999",
        '{"want": 3}',
        '{"want": [1]}',
        '{"want": ["no/such", "..", "", "truth/"]}',
        '{"order": "fly"}',
        "{}",
        "[" * 5000,
    ):
        viewer.socket.send(text)
    viewer.socket.send(os.urandom(500))
    viewer.socket.send('{"order": "hand", "arguments": {"forward": "x"}, "id": 7}')
    assert "not those" in viewer.next("answer", id=7)["why"]
    with connect(f"ws://127.0.0.1:{rig.port}/api/live") as big:
        big.send("x" * 200_000)
        with pytest.raises(ConnectionClosed):
            while True:
                big.recv(timeout=20)
    assert rig.get("/api/about")["viewers"] >= 1
    viewer.close()
