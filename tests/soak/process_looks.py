"""What the system tells about a command while it runs: its processes, their memory, files and sockets."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

LISTENING, UDP = "0A", "07"
LOOPBACK = ("0100007F", "00000000000000000000000001000000", "0100FFEF")
"""As /proc/net writes them; the last is the group of DDS's discovery."""


def tree(pid: int) -> list[int]:
    """A process and its children, such as a renderer."""
    found = [pid]
    for each in found:
        with suppress(OSError):
            found += [int(word) for word in Path(f"/proc/{each}/task/{each}/children").read_text().split()]
    return found


def processor_s(pid: int) -> float:
    """That a process and its children have used."""
    total = 0
    for each in tree(pid):
        with suppress(OSError, IndexError):
            words = Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split()
            total += sum(map(int, words[11:15]))
    return total / os.sysconf("SC_CLK_TCK")


def memory_mb(pid: int) -> float:
    """Of a process and its children together, without files: how many others have those open is chance."""
    total = 0
    for each in tree(pid):
        with suppress(OSError):
            lines = Path(f"/proc/{each}/smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith(("Pss_Anon:", "Pss_Shmem:")))
    return total / 1024


def open_files(pid: int) -> int:
    return sum(len(os.listdir(f"/proc/{each}/fd")) for each in tree(pid))  # noqa: PTH208


def sockets(pid: int) -> list[tuple[str, int, str]]:
    """Local address, port and state."""
    inodes = set()
    for each in tree(pid):
        with suppress(OSError):
            for file in Path(f"/proc/{each}/fd").iterdir():
                with suppress(OSError):
                    inodes.add(str(file.readlink()))
    found = []
    for kind in ("tcp", "tcp6", "udp", "udp6"):
        for line in Path(f"/proc/net/{kind}").read_text().splitlines()[1:]:
            words = line.split()
            if f"socket:[{words[9]}]" in inodes:
                address, port = words[1].split(":")
                found.append((address, int(port, 16), words[3]))
    return found


def beyond_loopback(pid: int, *, but_datagrams: bool = False) -> list[str]:
    """Addresses at which other machines could reach it."""
    states = (LISTENING,) if but_datagrams else (LISTENING, UDP)
    return [
        f"{address}:{port}" for address, port, state in sockets(pid)
        if address not in LOOPBACK and port and state in states
    ]  # fmt: skip


def simulated_s(run: Path) -> float:
    """How far a run folder's rows of truth go; 0 before the first."""
    with suppress(OSError, IndexError, ValueError, StopIteration):
        path = next((run / "streams" / "truth").glob("*.csv"))
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - 4000))
            return int(file.read().rsplit(b"\n", 2)[-2].split(b",")[2]) / 1e9
    return 0.0
