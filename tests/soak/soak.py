"""The soak: an hour in which skyloop is treated badly in every way we know, and a table of what held.

    .venv/bin/python tests/soak/soak.py                                all parts, an hour, on two cores
    .venv/bin/python tests/soak/soak.py kills --minutes 5 --seed 7     one part
    .venv/bin/python tests/soak/soak.py kills --seed 7 --only 12       one trial of it, with the folder it was made in

Everything tried follows from the seed, which is printed first. Exit code 1 if anything broke.
"""

from __future__ import annotations

import argparse
import importlib
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from trials import SOAK, Part, Table, run_part

TESTS = Path(__file__).resolve().parents[1]
PARTS = {
    "scenarios": ("random_scenarios:RandomScenarios", 3.0),
    "memory": ("long_flights:LongFlights", 0.1),
    "kills": ("killed_commands:KilledCommands", 1.5),
    "clients": ("crowds:Crowds", 1.0),
    "frames": ("hostile_frames:HostileFrames", 1.0),
    "files": ("damaged_files:DamagedFiles", 1.5),
}
"""By name: the class, and its share of the time when several are run one after the other. `memory` has one trial, which
takes as long as it takes."""
LANES = (("scenarios",), ("memory", "kills", "clients", "frames", "files"))
"""Parts that run one after the other, beside those of the other lane."""


def main() -> int:
    given = _arguments()
    os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
    sys.path[1:1] = [str(TESTS / place) for place in (".", "links", "plugins/detect")]
    print(f"seed {given.seed}, {given.minutes:g} minutes, in {given.out}", flush=True)
    table = Table()
    if not given.parts:
        _run_lanes(given, table)
    else:
        shares = sum(PARTS[name][1] for name in given.parts)
        for name in given.parts:
            part = _part(name)(given.out / name, given.seed)
            run_part(part, given.minutes * PARTS[name][1] / shares, given.only, table)
            table.write(given.out / f"{'-'.join(given.parts)}.json")
    print(table.text())
    return 1 if table.faults else 0


def _part(name: str) -> type[Part]:
    """Loaded when it is its turn: two of the parts copy this process, which must have no threads then."""
    module, _, made = PARTS[name][0].partition(":")
    part: type[Part] = getattr(importlib.import_module(module), made)
    return part


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"some of {', '.join(PARTS)}; all if none is given")
    parser.add_argument("--minutes", type=float, default=60.0, help="wall time of all parts together; default: 60")
    parser.add_argument("--seed", type=int, default=None, help="a whole number; default: drawn anew")
    parser.add_argument("--only", type=int, help="the number of one trial")
    parser.add_argument("--out", type=Path, help="a new folder for what is written; default: a temporary one")
    given = parser.parse_args()
    if unknown := set(given.parts) - set(PARTS):
        parser.error(f"no part {', '.join(unknown)}; give some of {', '.join(PARTS)}")
    if given.only is not None and len(given.parts) != 1:
        parser.error("--only goes with one part")
    given.seed = int.from_bytes(os.urandom(3)) if given.seed is None else given.seed
    given.out = Path(tempfile.mkdtemp(prefix="soak-")) if given.out is None else given.out.resolve()
    given.out.mkdir(parents=True, exist_ok=True)
    return given


def _run_lanes(given: argparse.Namespace, table: Table) -> None:
    words = ["--minutes", str(given.minutes), "--seed", str(given.seed), "--out", str(given.out)]
    lanes = [subprocess.Popen([sys.executable, str(SOAK), *lane, *words]) for lane in LANES]
    try:
        for lane, process in zip(LANES, lanes, strict=True):
            process.wait()
            table.read(given.out / f"{'-'.join(lane)}.json")
    finally:
        for process in lanes:
            process.terminate()
            process.wait()


if __name__ == "__main__":
    began = time.monotonic()
    code = main()
    print(f"{(time.monotonic() - began) / 60.0:.1f} minutes")
    sys.exit(code)
