"""`--cockpit` beside every verb that flies or plays: a viewer sees what that verb shows."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import connect

from cockpit_rig import PATIENCE_S, live_of, until
from free_ports import free_port
from shown_recording import write_recording
from skyloop.cockpit.wire import unframed
from skyloop.links.mavlink.link import OWN_GROUND_STATION

pytestmark = pytest.mark.processes

RUN = "import sys; from skyloop.cli import main; sys.exit(main())"
PILOT = """from skyloop_client.messages import Arm, TakeOff

def pilot(bundle):
    return [Arm(), TakeOff(1.0)] if bundle.t_ns == 0 else None
"""
VERBS = {
    "run": ["run", "hover"],
    "loop": ["loop", "hover", "--pilot", "mine.py:pilot"],
    "serve": ["serve", "--port", "0"],
    "mavlink": ["mavlink", "hover", "--port-offset", "0"],
    "fly": ["fly", "hover", "--keyboard"],
    "replay": ["replay", "shown"],
}


def seen(url: str, streams: list[str]) -> dict[str, Any]:
    """The first clock and the first record that a viewer of this address gets."""
    with connect(live_of(url), max_size=None, open_timeout=5, ping_interval=None) as peer:
        peer.send(json.dumps({"want": streams}))
        found: dict[str, Any] = {}
        while not {"clock", "rec"} <= set(found) or ("truth/drone" in streams and not found["clock"]["t_ns"]):
            header, _ = unframed(peer.recv(timeout=PATIENCE_S))  # type: ignore[arg-type]
            if header["k"] != "rec" or header["s"] in streams:
                found[header["k"]] = header
        return found


@pytest.mark.slow("starts each verb with a cockpit in processes of their own")
@pytest.mark.parametrize("verb", VERBS)
def test_the_cockpit_beside(verb: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(PILOT)
    if verb == "replay":
        write_recording(tmp_path / "shown")
    stream = "truth/SimpleFlight" if verb == "serve" else "truth/drone"
    words = [*VERBS[verb], "--cockpit", "0"]
    if verb == "mavlink":
        words[3] = str(free_port() - OWN_GROUND_STATION)
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", RUN, *words], cwd=tmp_path, stdin=theirs, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    os.close(theirs)
    found: dict[str, Any] = {}
    try:
        assert process.stderr is not None
        said = []
        for line in process.stderr:
            said.append(line)
            if "the cockpit is at " in line:
                break
        url = said[-1].rpartition(" ")[2].strip()
        assert url.startswith("http://127.0.0.1:"), said

        def look() -> bool:
            with suppress(OSError, TimeoutError):
                found.update(seen(url, [stream]))
            return bool(found)

        until(look, 2 * PATIENCE_S)
        assert found["rec"]["s"] == stream and "position" in found["rec"]["n"]
        if verb == "loop":
            # in mode `sync` the program's own time is told beside the simulated one
            until(lambda: seen(url, [stream])["clock"]["execution"].get("drone pilot", 0.0) > 0.0)
    finally:
        process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=PATIENCE_S)
        process.kill()
        process.wait()
        os.close(ours)
