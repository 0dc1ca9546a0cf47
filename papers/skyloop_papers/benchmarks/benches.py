"""The table of benches: where each is, and how little of it the short form measures."""

from __future__ import annotations

import importlib
import inspect
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from skyloop_papers.benchmarks.measurement import Bench


class Entry(NamedTuple):
    module: str
    """Beside this file. The function has the name of the bench."""
    short: dict[str, Any]
    """Arguments of the form for `--check`: fewer rounds of the same work, so that ratios are those of the full form."""


def _in(module: str, **short: Any) -> Entry:
    return Entry(module, short)


BENCHES = {
    "airsim": _in("airsim", rounds=2, requests=6),
    "batch": _in("gym", rounds=1, seconds=0.3, learning_steps=0),
    "camera": _in("camera", park_images=60, rigs=10, peer_images=4, ping_s=1.0, whole_world=False, starts=False),
    "campaign": _in("runs", runs_per_core=4, killed_runs_per_core=0),
    "cockpit": _in("cockpit", flight_s=4.0, rounds=2, viewers=0, screen=False),
    "detect": _in("perception", per_part=0, looks=30),
    "fabric": _in("perception", images=0),
    "flight": _in("flight", seeds=1),
    "gym": _in("gym", rounds=2, seconds=0.5),
    "landing": _in("perception", seeds=[5], altitudes=[7.0, 3.0], repeats=3),
    "lidar": _in("lidar", rounds=3, sweeps=5),
    "link": _in("link", bundles=60, rounds=3, trip_s=2.0),
    "maps": _in("maps", images=15, from_s=8.0),
    "physics": _in("physics", rounds=2, batch_calls=3, loop_s=5.0, peer_loop_s=1.0, later_starts=0),
    "plan": _in("plan", worlds=2, positions=5, optima=1),
    "radar": _in("radar", rounds=2, repeats=1, compared=1),
    "record": _in("runs", frames=60, rounds=1),
    "ros2": _in("ros2", seconds=2.0),
    "vio": _in("vio", room_seeds=[1], corridor_seeds=[], length=8.0),
    "vio-backends": _in("vio", worlds=["corridor"], length=8.0),
}


def load(name: str) -> Bench:
    module = importlib.import_module(f"skyloop_papers.benchmarks.{BENCHES[name].module}")
    function: Bench = getattr(module, name.replace("-", "_"))
    return function


def listed() -> dict[str, str]:
    """For `skyloop list`: names with one line each. All are imported, which takes a second."""
    return {name: (inspect.getdoc(load(name)) or "").splitlines()[0] for name in BENCHES}
