"""Two machines on one: network namespaces of an unprivileged user, joined by a virtual cable (veth).

All of it vanishes with its processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from shutil import which
from typing import Any

from skyloop_client.errors import LinkError

HERE, THERE = "10.77.0.1", "10.77.0.2"
APART = ["unshare", "--user", "--map-root-user", "--net"]
"""Prefix of a command that runs on a separate machine, connected only by `Cable`."""
PATIENCE_S = 10.0


def why_not_apart() -> str:
    """The reason why a second machine is not possible. Empty if it is."""
    for tool in ("unshare", "nsenter", "ip"):
        if which(tool) is None:
            return f"no `{tool}` here"
    try:
        run([*APART, "ip", "link", "add", "here", "type", "veth", "peer", "name", "there"])
    except (OSError, subprocess.SubprocessError) as error:
        said = getattr(error, "stderr", "") or str(error)
        return said.strip().splitlines()[-1]
    return ""


def run(command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE_S)


class Cable:
    """A cable from this process's machine to another. This process must run under `APART`."""

    def __init__(self) -> None:
        run(["ip", "link", "set", "lo", "up"])
        run(["ip", "link", "add", "here", "type", "veth", "peer", "name", "there"])
        run(["ip", "address", "add", f"{HERE}/24", "dev", "here"])
        run(["ip", "link", "set", "here", "up"])

    def plug_in(self, process: int) -> None:
        """Connect the other end to the machine of a process started by `unshare --net`."""
        inside = ["nsenter", "--target", str(process), "--net", "ip"]
        run(["ip", "link", "set", "there", "netns", str(process)])
        run([*inside, "link", "set", "lo", "up"])
        run([*inside, "address", "add", f"{THERE}/24", "dev", "there"])
        run([*inside, "link", "set", "there", "up"])


def run_engine(name: str, module: str, task: dict[str, Any], *, apart: bool, patience_s: float) -> Any:
    """What a module prints as JSON that is started with `task`, on a separate machine or here.

    The program under test and the renderer belong to its process group and end with it. name: for errors."""
    command = [*(APART if apart else ()), sys.executable, "-m", module, json.dumps(task)]
    engine = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        out, err = engine.communicate(timeout=patience_s)
    except subprocess.TimeoutExpired:
        raise LinkError(f"{name}: no end after {patience_s:.0f} s; the machine is too busy") from None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(engine.pid, signal.SIGKILL)
        engine.wait()
    if engine.returncode:
        raise LinkError(f"{name}: {(err.strip().splitlines() or ['no message'])[-1]}")
    return json.loads(out)
