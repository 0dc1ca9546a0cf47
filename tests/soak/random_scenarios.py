"""Scenarios drawn from the tables of `skyloop show`, right ones and wrong ones, and flown by `skyloop run`."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import yaml
from flight_sense import nonsense
from forked_commands import Ended, command, run_forked
from option_values import places, random_scenario
from trials import Part, Result

from skyloop.sim.assembly import build
from skyloop.sim.scenario import Scenario
from skyloop.sim.simulation import Simulation
from skyloop.world.ground import Ground

SECONDS = 120.0
"""Processor time of a run, after which it is said to hang."""
MEMORY = 12 << 30
"""Bytes of addresses; libraries that are never touched take the first three."""
OWN = """
from skyloop.api import Sensor, ImuSample

class Own:
    message, latency = "ImuSample", 0.0

    def __init__(self, **options):
        self.options = options

    def initial_state(self, rng):
        return None

    def measure(self, kinematics, scene, state, rng):
        return ImuSample(kinematics.t_ns, kinematics.angular_velocity, kinematics.acceleration_world), state


def fly(bundle):
    return None
"""
CUBE = "\n".join(
    [f"v {x} {y} {z}" for x in (4, 5) for y in (0, 1) for z in (0, 1)]
    + [f"f {face}" for face in ("1 2 4 3", "5 7 8 6", "1 5 6 2", "3 4 8 7", "1 3 7 5", "2 6 8 4")]
)
NONSENSE = "nonsense.txt"


class RandomScenarios(Part):
    name = "scenarios"

    def __init__(self, folder: Path, seed: int) -> None:
        super().__init__(folder, seed)
        _load_everything()
        print(f"scenarios: {len(places())} options, each in its turn", flush=True)

    def trial(self, number: int) -> Iterable[Result]:
        folder = self.folder / f"{number:05d}"
        scenario, changed = random_scenario(number, self.chance(number))
        ended = fly(scenario, folder)
        fault = ended.fault or _read(folder / NONSENSE)
        if not fault:
            shutil.rmtree(folder)
        else:
            fault = f"{fault} [{'; '.join(changed)}; {folder / 'scenario.yaml'}]"
        yield Result({0: "success", 1: "one-line error", 3: "failed verdict"}.get(ended.code or 0, "other"), fault)


def fly(scenario: dict[str, Any], folder: Path) -> Ended:
    """`skyloop run`, and a look at what it left, both in one process; the latter's findings are in a file."""
    folder.mkdir(parents=True)
    (folder / "scenario.yaml").write_text(yaml.safe_dump(scenario, sort_keys=False), encoding="utf-8")
    (folder / "own.py").write_text(OWN, encoding="utf-8")
    (folder / "cube.obj").write_text(CUBE, encoding="utf-8")
    built: list[tuple[Scenario, Ground]] = []
    run = folder / "run"

    def flown() -> None:
        def kept(made: Scenario, **more: Any) -> Simulation:
            simulation = build(made, **more)
            built.append((made, simulation.fleet.ground))
            return simulation

        with patch("skyloop.run.build", kept):
            command(["run", "scenario.yaml", "--out", str(run), "--strict"])()

    def look(code: int) -> None:
        if (run / "summary.json").exists() and built:
            (folder / NONSENSE).write_text(nonsense(run, *built[0]), encoding="utf-8")
        elif code != 1:
            (folder / NONSENSE).write_text(f"exit code {code} and no summary", encoding="utf-8")

    return run_forked(flown, folder, seconds=SECONDS, memory=MEMORY, after=look)


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _load_everything() -> None:
    """What each run would import and compile again."""
    from compiled_kernels import import_kernels

    import_kernels()
    import matplotlib.pyplot  # noqa: F401

    import skyloop.cli.verbs
    import skyloop.recording.flight_plot
    import skyloop.run  # noqa: F401
