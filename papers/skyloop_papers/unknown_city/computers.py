"""The unknown city flown by a stack in the simulator's process, in another process, on another machine, on a slow one.

Section V-E2 of airloop has the client under test (CUT) on an on-board computer. Its times are t1 (data to the CUT), t2
(the CUT's own work) and t3 (the command back to the vehicle)."""

from __future__ import annotations

import time
from typing import Any

from skyloop_papers.two_machines import run_engine, why_not_apart
from skyloop_papers.unknown_city.flight import STACK, fly
from skyloop_papers.unknown_city.plan import COMPUTERS, Computer
from skyloop_papers.unknown_city.stack import STAMPS

ENGINE = "skyloop_papers.unknown_city.engine"
PATIENCE_S = 3600.0
OWN_STACK = {
    "vehicles.0.estimators.slam.kind": f"{STACK}:StampedLocaliser", "vehicles.0.pilot.kind": f"{STACK}:StampedPilot",
}  # fmt: skip


def fly_on(name: str, seed: int, duration: float, picture: str = "") -> dict[str, Any]:
    """One flight with the stack on one of `COMPUTERS`."""
    computer = COMPUTERS[name]
    if computer.linked:
        scored = _outside(name, computer, seed, duration, picture)
    else:
        scored = {**_inside(seed, duration, picture), "what": name}
    scored["computer"] = name
    return scored


def _inside(seed: int, duration: float, picture: str) -> dict[str, Any]:
    STAMPS.clear()
    began = time.perf_counter()
    scored = fly(seed, "gnss", duration, picture, OWN_STACK)
    times: dict[str, list[float]] = {"t1": [], "t2": []}
    for start, spent, end in STAMPS:
        times["t1"].append(1e3 * (start - began))
        times["t2"].append(1e3 * spent)
        began = end
    # before the first sweep the simulation was built
    return {**scored, "times": {stage: values[1:] for stage, values in times.items()}, "network": "none"}


def _outside(name: str, computer: Computer, seed: int, duration: float, picture: str) -> dict[str, Any]:
    why_not = why_not_apart() if computer.apart else ""
    apart = computer.apart and not why_not
    task = {
        "seed": seed, "duration": duration, "apart": apart, "speed": computer.speed, "picture": picture, "what": name,
    }  # fmt: skip
    scored: dict[str, Any] = run_engine(f"unknown-city, {name}", ENGINE, task, apart=apart, patience_s=PATIENCE_S)
    if not computer.apart:
        network = "loopback"
    else:
        network = "network namespaces joined by veth" if apart else f"loopback, for two machines: {why_not}"
    return {**scored, "network": network}
