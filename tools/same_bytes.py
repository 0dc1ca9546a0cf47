"""Proves that a change of the code changes no byte: hashes of streams, datasets and exports, and the keys of benches.

    python tools/same_bytes.py write oracle.json            before the change
    python tools/same_bytes.py compare oracle.json          after each step; exit code 1 and a line for each difference
    python tools/same_bytes.py compare oracle.json --only streams

The hashes are those of this machine and of these versions of its packages, so write and compare on the same one.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

SECONDS = 20.0
SCENARIOS = (
    "hover", "square", "circle-wind", "gps-outage", "motor-failure", "hills", "two-drones", "first-flight",
    "park-square", "radar-walk", "park-people", "room-vio", "room-nav", "landing", "unknown-city",
)  # fmt: skip
DATASETS = {
    "park": ["--world", "park", "--frames", "40", "--seed", "3"],
    "room": ["--world", "room", "--frames", "40", "--size", "160x120", "--quality", "high"],
    "warehouse": ["--world", "warehouse", "--frames", "40", "--size", "160x120"],
}  # fmt: skip
FORMATS = ("asl", "coco", "csv", "kitti", "mcap", "tum", "voc", "yolo")
TIMED = ("summary.json", "report.html", "manifest.json", "log.txt")
"""Files of a dataset that hold wall times or versions."""
SKYLOOP = [sys.executable, "-m", "skyloop"]


def streams() -> dict[str, str]:
    import skyloop
    from skyloop.core.bus import Fingerprint

    found: dict[str, str] = {}
    for name in SCENARIOS:
        print(f"streams of {name} ...", file=sys.stderr)
        with skyloop.build(skyloop.load_scenario(name, {"duration": SECONDS})) as simulation:
            fingerprint = Fingerprint(simulation.bus)
            simulation.run_until(SECONDS)
            found |= {f"{name} {stream}": digest for stream, digest in fingerprint.hexdigests().items()}
    return found


def datasets() -> dict[str, str]:
    found: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, options in DATASETS.items():
            print(f"dataset {name} ...", file=sys.stderr)
            dataset = Path(folder) / name
            formats = ["--formats", ",".join(FORMATS)]
            subprocess.run([*SKYLOOP, "record", *options, *formats, "--out", str(dataset), "--quiet"], check=True)
            digests: dict[str, Any] = {}
            for path in sorted(dataset.rglob("*")):
                if path.is_file() and path.name not in TIMED:
                    inside = path.relative_to(dataset)
                    digest = digests.setdefault(f"{name} {inside.parts[0]}", hashlib.blake2b(digest_size=16))
                    digest.update(f"{inside} {path.stat().st_size};".encode() + path.read_bytes())
            found |= {part: digest.hexdigest() for part, digest in digests.items()}
    return found


def benches() -> dict[str, str]:
    """Their keys; takes a quarter of an hour."""
    from skyloop_papers.benchmarks.benches import BENCHES

    found: dict[str, str] = {}
    for name in BENCHES:
        print(f"bench {name} ...", file=sys.stderr)
        said = subprocess.run([*SKYLOOP, "bench", name, "--json", "--quiet"], capture_output=True, text=True)
        found[name] = " ".join(sorted(_keys(json.loads(said.stdout)))) if said.returncode == 0 else said.stderr.strip()
    return found


def _keys(value: object, where: str = "") -> set[str]:
    if isinstance(value, dict):
        return {f"{where}{key}" for key in value}.union(*(_keys(each, f"{where}{key}.") for key, each in value.items()))
    if isinstance(value, list) and all(isinstance(each, dict) and "key" in each for each in value):
        return {f"{where}{each['key']}" for each in value}.union(*(_keys(each, f"{where}*.") for each in value))
    return set()


PARTS: dict[str, Callable[[], dict[str, str]]] = {"streams": streams, "datasets": datasets, "benches": benches}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("verb", choices=("write", "compare"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--only", nargs="+", choices=tuple(PARTS), default=tuple(PARTS))
    told = parser.parse_args()
    now = {part: PARTS[part]() for part in told.only}
    if told.verb == "write":
        kept = json.loads(told.file.read_text()) if told.file.exists() else {}
        told.file.write_text(json.dumps({**kept, **now}, indent=1) + "\n", encoding="utf-8")
        return 0
    expected = json.loads(told.file.read_text(encoding="utf-8"))
    differences = [
        f"{part}: {name}: {expected[part].get(name, 'was not there')} -> {now[part].get(name, 'is gone')}"
        for part in told.only
        for name in sorted({*expected[part], *now[part]})
        if expected[part].get(name) != now[part].get(name)
    ]
    print("\n".join(differences) or f"the same: {', '.join(f'{len(now[part])} {part}' for part in told.only)}")
    return int(bool(differences))


if __name__ == "__main__":
    sys.exit(main())
