"""Three machines on one cable: network namespaces of this one. A user's rights are enough to make them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress

from skyloop_papers.two_machines import APART

NODES = ("10.78.0.1", "10.78.0.2", "10.78.0.3")


IN_THE_HEAD = """
import subprocess, sys, time
run = lambda *words: subprocess.run(words, check=True, capture_output=True, text=True)
run("ip", "link", "set", "lo", "up")
run("ip", "link", "add", "bridge", "type", "bridge")
run("ip", "address", "add", "{head}/24", "dev", "bridge")
run("ip", "link", "set", "bridge", "up")
print("ready", flush=True)
sys.stdin.readline()
"""


class Machines:
    """Three network namespaces on one bridge; the first has the bridge. All of it vanishes with its processes."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self._environment = {**os.environ, **(environment or {})}
        self.running: list[subprocess.Popen[str]] = []
        head = self.keep([*APART, sys.executable, "-c", IN_THE_HEAD.format(head=NODES[0])], inside=None)
        assert head.stdout is not None and head.stdout.readline().strip() == "ready"
        self.head = head.pid
        self.namespaces = [head.pid]
        for number, address in enumerate(NODES[1:], 1):
            # of the same user namespace, so that the head may lay the cable
            node = self.keep(["unshare", "--net", "sh", "-c", "echo ready; exec sleep 600"], inside=head.pid)
            assert node.stdout is not None and node.stdout.readline().strip() == "ready"
            pid = int(subprocess.run(["pgrep", "-P", str(node.pid)], capture_output=True, text=True).stdout or node.pid)
            self.namespaces.append(pid)
            for words in (
                ["link", "add", f"port{number}", "type", "veth", "peer", "name", "cable"],
                ["link", "set", "cable", "netns", str(pid)],
                ["link", "set", f"port{number}", "master", "bridge"],
                ["link", "set", f"port{number}", "up"],
            ):
                self.call(0, ["ip", *words])
            for words in (
                ["link", "set", "lo", "up"],
                ["address", "add", f"{address}/24", "dev", "cable"],
                ["link", "set", "cable", "up"],
            ):
                self.call(number, ["ip", *words])

    def inside(self, pid: int) -> list[str]:
        return ["nsenter", "--target", str(pid), "--user", "--preserve-credentials", "--net"]

    def keep(self, words: list[str], inside: int | None) -> subprocess.Popen[str]:
        prefix = [] if inside is None else self.inside(inside)
        started = subprocess.Popen(
            [*prefix, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True,
            env=self._environment,
        )  # fmt: skip
        self.running.append(started)
        return started

    def call(self, number: int, words: list[str]) -> None:
        done = subprocess.run(
            [*self.inside(self.namespaces[number]), *words], capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, (words, done.stderr)

    def close(self) -> None:
        for process in reversed(self.running):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            for pipe in (process.stdin, process.stdout):
                with suppress(OSError):
                    pipe.close()
