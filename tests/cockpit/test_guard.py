"""Who is let in: this machine, pages of this server, those who know the token; and nothing that leads elsewhere."""

from __future__ import annotations

import http.client
import json
import os
import socket
from contextlib import suppress
from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from cockpit_rig import CockpitRig, until
from skyloop.cockpit.access_guard import Guard, run_folder
from skyloop.cockpit.connections import MOST_CONNECTIONS
from skyloop_client.errors import LinkError

HERE = {b"host": b"127.0.0.1:8707"}


def status(refused: tuple[int, str] | None) -> int | None:
    return None if refused is None else refused[0]


KNOWN = {b"authorization": b"Bearer secret"}
GUARD = Guard("secret", 8707)


def test_names_that_were_pointed_at_this_machine_are_refused() -> None:
    assert GUARD.refusal({**HERE, **KNOWN}) is None
    for host in (b"evil.example:8707", b"127.0.0.1:9"):
        assert status(GUARD.refusal({**KNOWN, b"host": host}, b"token=secret")) == 403
    assert Guard("secret", 8707, is_local=False).refusal({**KNOWN, b"host": b"lab:8707"}) is None


def test_pages_of_other_sites_are_refused() -> None:
    assert GUARD.refusal({**HERE, **KNOWN, b"origin": b"http://127.0.0.1:8707"}) is None
    for origin in (b"http://evil.example", b"null"):
        assert status(GUARD.refusal({**HERE, **KNOWN, b"origin": origin})) == 403


@pytest.mark.parametrize(
    ("headers", "query", "expected"),
    [
        ({}, b"", 401),
        ({b"authorization": b"Bearer secre"}, b"", 401),
        ({b"authorization": b"Bearer \xff"}, b"", 401),
        ({}, b"token=", 401),
        ({}, b"token=secret", None),
        ({b"cookie": b"a=b; skyloop-8707=secret"}, b"", None),
        ({b"cookie": b"skyloop-8708=secret"}, b"", 401),
        ({b"cookie": b"skyloop-8707=; ="}, b"", 401),
    ],
)
def test_everything_needs_the_token(headers: dict[bytes, bytes], query: bytes, expected: int | None) -> None:
    assert status(GUARD.refusal({**HERE, **headers}, query)) == expected


@pytest.mark.parametrize("name", ["..", "../x", "a/b", "", "/etc", ".hidden", "a\0b", "link"])
def test_no_name_leads_out_of_the_run_folders(tmp_path: Path, name: str) -> None:
    (tmp_path / "runs" / "a").mkdir(parents=True)
    (tmp_path / "runs" / "link").symlink_to(tmp_path)
    with pytest.raises(LinkError):
        run_folder(tmp_path / "runs", name)
    assert run_folder(tmp_path / "runs", "a").name == "a"


@pytest.mark.processes
def test_who_does_not_know_the_token_gets_nothing(rig: CockpitRig) -> None:
    """Neither a page, nor a call, nor the socket; and the token is not among the arguments of the server's process."""
    token, server = rig.cockpit.server.token, rig.cockpit.server
    assert len(token) >= 32 and server.url == f"http://127.0.0.1:{rig.port}/?token={token}"
    for path in ("/", "/cockpit.js", "/api/docs", "/api/openapi.json", "/api/about", "/api/runs"):
        assert rig.get(path, Authorization="Bearer wrong")["status"] == 401
    with pytest.raises(InvalidStatus), connect(rig.live.partition("?")[0]):
        pass
    with connect(rig.live) as peer:
        assert b"hello" in peer.recv(timeout=20)
    assert token.encode() not in Path(f"/proc/{server.pid}/cmdline").read_bytes()


@pytest.mark.processes
def test_the_printed_address_gives_a_cookie(rig: CockpitRig) -> None:
    """The first page has the token in its address; all that follows has a cookie, the list of calls too."""
    for path in ("/", "/api/docs"):
        line = http.client.HTTPConnection("127.0.0.1", rig.port, timeout=20)
        line.request("GET", f"{path}?token={rig.cockpit.server.token}")
        answer = line.getresponse()
        answer.read()
        assert (answer.status, answer.getheader("Location")) == (303, path)
        told = str(answer.getheader("Set-Cookie"))
        assert "HttpOnly" in told and "SameSite" in told
        line.request("GET", path, headers={"Cookie": told.partition(";")[0]})
        page = line.getresponse()
        assert page.status == 200 and b"<html" in page.read()
        line.close()


@pytest.mark.processes
@pytest.mark.parametrize("kind", ["skyloop.core.machine_info:output_of", "os:system", "subprocess:Popen"])
def test_a_request_runs_no_code(kind: str, rig: CockpitRig, tmp_path: Path) -> None:
    """A sensor of this kind ran the command on this machine, for whoever reached the port."""
    made = tmp_path / "made"
    sensor = {"kind": kind, "rate_hz": 10, "options": {"command": ["touch", str(made)], "args": ["touch", str(made)]}}
    viewer = rig.viewer()
    text = json.dumps({"vehicles": [{"sensors": {"evil": sensor}}]})
    for body in ({"text": text}, {"scenario": "hover", "changes": {"sensors.evil": sensor}}):
        told = viewer.call("/api/flight/start", body)
        assert told["status"] == 400 and "not by a page" in told["detail"]
    assert not rig.call("/api/scenario/check", {"text": text})["ok"]
    viewer.close()
    assert not made.exists()


@pytest.mark.processes
def test_a_crowd_of_sockets_is_turned_away(rig: CockpitRig) -> None:
    """Those that never end their request count, too; one that leaves makes room."""
    crowd = [socket.create_connection(("127.0.0.1", rig.port), timeout=20.0) for _ in range(MOST_CONNECTIONS + 40)]
    try:
        for one in crowd:
            # who says nothing at all would be closed for that
            with suppress(OSError):
                one.sendall(b"GET / HTTP/1.1\r\n")
        with suppress(ConnectionResetError):
            assert crowd[-1].recv(1) == b""
        crowd[0].setblocking(False)
        with pytest.raises(BlockingIOError):
            crowd[0].recv(1)
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
        connect(rig.live, origin=Origin("http://evil.example")),
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
        '{"want": ["\\ud800"]}',
        '{"order": "hover", "vehicle": "\\ud800", "id": "\\udfff"}',
        '{"want": ["no/such", "..", "", "truth/"]}',
        '{"order": "fly"}',
        "{}",
        "[" * 5000,
    ):
        viewer.socket.send(text)
    viewer.socket.send(os.urandom(500))
    viewer.socket.send('{"order": "hand", "arguments": {"forward": "x"}, "id": 7}')
    assert "not those" in viewer.next("answer", id=7)["why"]
    with connect(rig.live) as big:
        big.send("x" * 200_000)
        with pytest.raises(ConnectionClosed):
            while True:
                big.recv(timeout=20)
    assert rig.get("/api/about")["viewers"] >= 1
    viewer.close()


@pytest.mark.processes
def test_a_page_may_name_code_where_that_was_allowed(tmp_path: Path) -> None:
    """The same request, with `skyloop cockpit --allow-code`."""
    (tmp_path / "mine.py").write_text("open(__file__ + '.ran', 'w').close()\ndef pilot(bundle):\n    return None\n")
    with CockpitRig(tmp_path, allow_code=True) as rig:
        viewer = rig.viewer()
        text = json.dumps({"vehicles": [{"pilot": {"kind": f"{tmp_path}/mine.py:pilot"}}]})
        assert viewer.call("/api/flight/start", {"text": text}) == {"scenario": "scenario"}
        until((tmp_path / "mine.py.ran").exists)
        viewer.close()
