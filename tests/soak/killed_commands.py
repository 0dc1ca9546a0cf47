"""Long commands killed at random instants. What is left opens at once; going on gives the bytes of a whole one."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pandas
import yaml
from drawn_people import write_both
from trials import Part, Result

from skyloop.campaigns.campaign import results
from skyloop.datasets.checking import check
from skyloop.recording.run_reader import read_run
from skyloop_client.errors import SkyloopError

SKYLOOP = Path(sys.executable).parent / "skyloop"
PATIENCE_S = 900.0
GONE_S = 30.0
"""Wall time after which children of a killed command must have ended by themselves."""
COSTS = ["processor_s", "wall_s", "attempts"]
PLAN = {
    "name": "soaked", "scenario": "hover", "space": {"wind.velocity.0": [0, 2, 4, 6, 8, 10]},
    "settings": {"duration": 3, "wind": {"kind": "constant", "velocity": [0, 0, 0]}},
    "metrics": ["flown_m", "highest_m"],
}  # fmt: skip
TRAIN = ("train", "people", "--data", "data/coco", "--epochs", "4", "--batch", "4", "--device", "cpu")
SMALL = ("--frames", "60", "--sensors", "rgb,imu,lidar", "--size", "80x60", "--formats", "asl,coco,mcap")


@dataclass(frozen=True, slots=True)
class LongCommand:
    """How it is called in a folder, and how what it left is looked at."""

    name: str
    words: Callable[[Path], list[str]]
    """Leaves `made` in the folder."""
    again: Callable[[Path], list[str]] | None
    """Goes on with `made`; None: nothing goes on."""
    opens: Callable[[Path], str]
    """What is wrong with `made` of a killed one, in words."""
    differs: Callable[[Path, Path], str]
    """How `made` of one that went on, or of a killed one where nothing does, is not that of a whole one."""


# ---- what is looked at


def _no_prefix(whole: Path, killed: Path) -> str:
    """Rows of a killed run are the first of the whole run's."""
    for path in sorted((killed / "streams").rglob("*.csv")):
        rows = path.read_bytes()
        wanted = whole / path.relative_to(killed)
        if not (wanted.exists() and wanted.read_bytes().startswith(rows)):
            return f"{path.relative_to(killed)} does not begin as that of a whole run"
    return ""


def _run_opens(made: Path) -> str:
    """It plays as far as it goes: every number in it is one of the whole run's."""
    if not any((made / "streams").rglob("*.csv")):
        return ""
    try:
        streams = read_run(made).streams.values()
    except SkyloopError as error:
        return "" if "has no rows" in str(error) else str(error)
    for stream in streams:
        cut = (made / "streams" / f"{stream.info.name}.csv").read_bytes().count(b"\n") - 1
        if len(stream.arrivals) > cut:
            return f"{stream.info.name}: a row that was cut off is read as a whole one"
        stream.at(len(stream.arrivals) - 1)
    return ""


def _record_opens(made: Path) -> str:
    """What `skyloop check` finds is that it is short, never that something in it is wrong."""
    if not (made / "recording.json").exists():
        return ""
    try:
        found = [str(one) for one in check(made) if one.severity == "error"]
    except SkyloopError as error:
        return "" if "no complete group" in str(error) else str(error)
    allowed = ("missing", "not complete", "unfinished", "resume", "no frames")
    return next((line for line in found if not any(word in line for word in allowed)), "")


def _other_bytes(whole: Path, made: Path) -> str:
    """Every file but those that hold wall time."""
    timed = ("summary.json", "report.html", "state.json", "measured.json")
    files = [
        {str(path.relative_to(root)): path for path in root.rglob("*") if path.is_file() and path.name not in timed}
        for root in (whole, made)
    ]
    if other := files[0].keys() ^ files[1].keys():
        return f"only one has {sorted(other)[0]}"
    differing = [name for name, path in files[0].items() if path.read_bytes() != files[1][name].read_bytes()]
    return f"{differing[0]} has other bytes" if differing else ""


def _other_rows(whole: Path, made: Path) -> str:
    frames = [results(folder).drop(columns=COSTS, errors="ignore") for folder in (whole, made)]
    try:
        pandas.testing.assert_frame_equal(*frames)
    except AssertionError as error:
        return f"results.parquet differs: {' '.join(str(error).split())[:200]}"
    return ""


def _other_weights(whole: Path, made: Path) -> str:
    names = sorted(path.name for path in whole.iterdir() if path.suffix in (".onnx", ".safetensors"))
    other = [name for name in names if (whole / name).read_bytes() != (made / name).read_bytes()]
    return f"{other[0]} has other bytes" if other else "" if names else "nothing was trained"


def _other_cells(whole: Path, made: Path) -> str:
    """Times of the computer aside."""
    cells = [json.loads((folder / "results.json").read_text(encoding="utf-8")) for folder in (whole, made)]
    for one, other in zip(*cells, strict=True):
        if one["unit"] not in ("ms", "µs", "1/s", "core-ms", "% of the time", "s") and one != other:
            return f"{one['table']}, {one['row']}: {one['ours']} and {other['ours']}"
    return ""


def _json_opens(made: Path) -> str:
    for path in made.rglob("*.json"):
        try:
            json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            return f"{path.name} is half written"
    return ""


# ---- the commands


def _campaign(folder: Path) -> list[str]:
    (folder / "plan.yaml").write_text(yaml.safe_dump(PLAN), encoding="utf-8")
    return ["campaign", "plan.yaml", "--workers", "1", "--out", "made"]


def _train(folder: Path) -> list[str]:
    write_both(folder / "data", 8)
    return [*TRAIN, "--out", "made"]


COMMANDS = {
    command.name: command
    for command in (
        LongCommand(
            "run", lambda folder: ["run", "first-flight", "--out", "made"], None, _run_opens, _no_prefix
        ),
        LongCommand(
            "record", lambda folder: ["record", "--world", "room", *SMALL, "--out", "made"],
            lambda folder: ["record", "--resume", "--out", "made"], _record_opens, _other_bytes,
        ),
        LongCommand("campaign", _campaign, _campaign, _json_opens, _other_rows),
        LongCommand(
            "train", _train, lambda folder: [*TRAIN, "--resume", "--out", "made"], _json_opens, _other_weights,
        ),
        LongCommand(
            "reproduce", lambda folder: ["reproduce", "fusion", "--quick", "--out", "made"],
            lambda folder: ["reproduce", "fusion", "--quick", "--out", "made"], _json_opens, _other_cells,
        ),
    )
}  # fmt: skip
TURNS = ("run", "record", "campaign", "run", "record", "train", "run", "record", "campaign", "reproduce")


class KilledCommands(Part):
    name = "kills"

    def __init__(self, folder: Path, seed: int) -> None:
        super().__init__(folder, seed)
        self._seconds: dict[str, float] = {}
        """Of a whole one, by command."""

    def trial(self, number: int) -> Iterable[Result]:
        chance, kind = self.chance(number), COMMANDS[TURNS[number % len(TURNS)]]
        if fault := self._whole(kind):
            return [Result(f"{kind.name}, whole", fault)]
        folder = self.folder / f"{number:04d}-{kind.name}"
        folder.mkdir()
        out = self._killed(kind, folder, chance)
        if not any(result.fault for result in out):
            shutil.rmtree(folder)
        return out

    def _whole(self, kind: LongCommand) -> str:
        """Made once, not killed."""
        if kind.name in self._seconds:
            return ""
        folder = self.folder / f"whole-{kind.name}"
        folder.mkdir(exist_ok=True)
        began = time.monotonic()
        code, said = _finished(kind.words(folder), folder)
        self._seconds[kind.name] = time.monotonic() - began
        print(f"kills: a whole {kind.name} takes {self._seconds[kind.name]:.1f} s", flush=True)
        return "" if code == 0 else f"exit code {code}: {said}"

    def _killed(self, kind: LongCommand, folder: Path, chance: Random) -> list[Result]:
        whole, made, out = self.folder / f"whole-{kind.name}" / "made", folder / "made", []
        kills = 1 if kind.again is None else chance.randint(1, 3)
        words = kind.words(folder)
        for _ in range(kills):
            how = chance.choice(("all", "all", "first"))
            killed_after = chance.uniform(0.05, 1.0) * self._seconds[kind.name]
            out.append(Result(f"{kind.name}, killed", _kill(words, folder, killed_after, all_=how == "all")))
            out.append(Result(f"{kind.name}, what is left opens", kind.opens(made)))
            words = _next(kind, folder, words)
        if kind.again is None:
            return [*out, Result(f"{kind.name}, what is left is a prefix", kind.differs(whole, made))]
        code, said = _finished(words, folder)
        fault = kind.differs(whole, made) if code == 0 else f"going on: exit code {code}: {said}"
        return [*out, Result(f"{kind.name}, goes on to the same bytes", fault)]


def _next(kind: LongCommand, folder: Path, words: list[str]) -> list[str]:
    """The command that goes on. One that had not begun yet is begun anew, as its one line says."""
    if kind.again is None:
        return words
    marks = {"record": "plan.json", "train": "state.json"}
    if kind.name in marks and not (folder / "made" / marks[kind.name]).exists():
        shutil.rmtree(folder / "made", ignore_errors=True)
        return kind.words(folder)
    return kind.again(folder)


def _started(words: list[str], folder: Path) -> subprocess.Popen[bytes]:
    with (folder / "said.txt").open("wb") as said:
        return subprocess.Popen(
            [SKYLOOP, *words], cwd=folder, stdin=subprocess.DEVNULL, stdout=said, stderr=said, start_new_session=True
        )


def _finished(words: list[str], folder: Path) -> tuple[int | None, str]:
    """The exit code, None after too long a time, and the last line."""
    process = _started(words, folder)
    code: int | None = None
    with suppress(subprocess.TimeoutExpired):
        code = process.wait(PATIENCE_S)
    _end(process.pid)
    process.wait()
    lines = (folder / "said.txt").read_text(encoding="utf-8", errors="replace").splitlines()
    return code, next((line for line in reversed(lines) if line.strip()), "")[:300]


def _kill(words: list[str], folder: Path, after: float, *, all_: bool) -> str:
    """Kill it and all its children, or itself only; then the children have to find out."""
    process = _started(words, folder)
    # an instant is what this is about: no event is waited for
    with suppress(subprocess.TimeoutExpired):
        process.wait(after)
    if all_:
        _end(process.pid)
    process.kill()
    code = process.wait()
    said = (folder / "said.txt").read_text(encoding="utf-8", errors="replace")
    if "Traceback (most recent call last)" in said:
        return f"a traceback: {said.splitlines()[-1][:300]}"
    if code not in (0, -signal.SIGKILL):
        return f"exit code {code}: {said[-300:]}"
    deadline = time.monotonic() + GONE_S
    while (left := _session(process.pid)) and time.monotonic() < deadline:
        time.sleep(0.1)
    _end(process.pid)
    return f"{len(left)} processes went on: {left[0][1]}" if left else ""


def _session(leader: int) -> list[tuple[int, str]]:
    """Processes of a session that still run, with their command lines."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            with suppress(OSError, IndexError):
                state, _, _, session = (folder / "stat").read_text().rpartition(")")[2].split()[:4]
                if int(session) == leader and state != "Z":
                    found.append((int(folder.name), (folder / "cmdline").read_text().replace("\0", " ")[:150]))
    return found


def _end(leader: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)
    for pid, _ in _session(leader):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
