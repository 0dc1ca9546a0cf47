"""The programs of `skyloop loop` and `skyloop size`, from what the user gave: targets, addresses, power."""

from __future__ import annotations

import logging
import re
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from skyloop.cli.console import absolute
from skyloop.core.plugins import Registry
from skyloop_client.errors import LinkError, unknown_name

if TYPE_CHECKING:
    from skyloop.links.loop.loop_link import LoopConfig
    from skyloop.links.loop.targets import PowerModel, Target
    from skyloop.sim.scenario import Scenario

log = logging.getLogger(__name__)
BOARD_PROGRAMS: Registry[Callable[[Scenario, str, str], list[str]]] = Registry("board_programs", "program of the board")
DETECT = "detect"
"""The task that is an estimator of the scenario: it looks at images and publishes boxes."""
OWN_PILOT = "scenario"
"""In place of a pilot: the one of the scenario, in a process of its own."""


def power_from(text: str) -> PowerModel:
    from skyloop.links.loop.targets import PowerModel

    try:
        idle, busy = (float(part) for part in text.split(","))
    except ValueError:
        idle = busy = -1.0
    if not (0.0 <= idle <= 1e4 and 0.0 <= busy <= 1e4):
        raise LinkError(f"--power {text}: give the watts when idle and when busy, such as 2.7,6.4")
    return PowerModel(idle, busy)


def loop_config(**options: object) -> LoopConfig:
    """From options of the command line."""
    from skyloop.core.validation import validated
    from skyloop.links.loop.loop_link import LoopConfig

    return validated(LoopConfig, options, "skyloop loop")


@dataclass(frozen=True)
class Program:
    """One program outside, and the computer it runs on."""

    vehicle: str = ""
    """The one it is for; empty: the only one, or the one it asks for itself."""
    sut: str | None = None
    pilot: str | None = None
    task: str | None = None
    target: str = "local"
    speed: float = 1.0
    deadline: float | None = None

    def made(self, scenario: Scenario) -> Target | None:
        """Its target, or None if nothing is named that could be started."""
        made = target_from(
            self.target, self.sut, self.pilot, self.task, self.speed, deadline=self.deadline, scenario=scenario,
            vehicle=self.vehicle,
        )  # fmt: skip
        if made is None and self.vehicle:
            made = pilot_without_a_name(self.target, self.vehicle)
            if made is None:
                raise LinkError(f"nothing flies '{self.vehicle}': give --sut, --pilot or --task {self.vehicle}=...")
        return made


PROGRAM_OPTIONS = ("sut", "pilot", "task", "target", "speed", "deadline")


def programs_from(scenario: Scenario, **options: Sequence[str] | None) -> list[Program]:
    """One program, or one for each vehicle that the options name. `options` are lists of VALUE or VEHICLE=VALUE."""
    given = {option: _by_vehicle(option, options.get(option), scenario) for option in PROGRAM_OPTIONS}
    vehicles = list(dict.fromkeys(vehicle for values in given.values() for vehicle in values if vehicle))
    for option in ("sut", "pilot", "task", "deadline"):
        if vehicles and "" in given[option]:
            value = given[option][""]
            raise LinkError(f"--{option} {value}: for which vehicle? Write --{option} VEHICLE={value}")
    programs = []
    for vehicle in sorted(vehicles) or [""]:
        # a target or speed without a vehicle is that of all
        chosen = {option: values.get(vehicle, values.get("")) for option, values in given.items()}
        numbers = {option: _number(option, chosen.pop(option)) for option in ("speed", "deadline")}
        kept = {option: value for option, value in {**chosen, **numbers}.items() if value is not None}
        programs.append(Program(vehicle, **kept))  # type: ignore[arg-type]
    return programs


def _by_vehicle(option: str, texts: Sequence[str] | None, scenario: Scenario) -> dict[str, str]:
    names, found = [vehicle.name for vehicle in scenario.vehicles], dict[str, str]()
    for text in texts or ():
        vehicle, equals, value = text.partition("=")
        if not (equals and vehicle in names):
            if equals and len(names) > 1 and vehicle.isidentifier():
                raise unknown_name("vehicle", vehicle, names)
            vehicle, value = "", text
        if vehicle in found:
            twice = f" for '{vehicle}'" if vehicle else ""
            raise LinkError(f"--{option} is given twice{twice}; with several vehicles write VEHICLE=...")
        found[vehicle] = value
    return found


def _number(option: str, text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        raise LinkError(f"--{option} {text}: give a number") from None


def target_from(
    name: str,
    sut: str | None,
    pilot: str | None,
    task: str | None,
    speed: float,
    *,
    deadline: float | None = None,
    scenario: Scenario | None = None,
    vehicle: str = "",
) -> Target | None:
    """scenario: the one whose own pilot is meant by `--pilot scenario`. vehicle: the one it is for, of several."""
    from skyloop.links.loop.targets import make_target
    from skyloop.sim.outside_programs import pilot_outside

    if sum(what is not None for what in (sut, pilot, task)) > 1:
        raise LinkError("give one of --sut, --pilot and --task")
    if task is not None:
        _check_task(task)
        python = "python3" if name.startswith("remote") else sys.executable
        told = [] if deadline is None else [f"deadline={deadline:g}"]
        sut = shlex.join([python, "-m", "skyloop_client.tasks", task, *told])
    elif deadline is not None:
        raise LinkError("--deadline is for --task; other software declares its own, with begin_task")
    command = shlex.split(sut) if sut else []
    # those of skyloop's own programs; another program finds the address in its environment
    takes_connect = pilot is not None or task is not None
    arguments: list[str] = []
    if pilot == OWN_PILOT and scenario is not None:
        pilot, arguments = pilot_outside(scenario, vehicle)
    if pilot and name.startswith("remote"):
        command = ["skyloop-client", "pilot", pilot, *arguments]
    elif pilot and name == "board":
        raise LinkError("the board runs a C++ source or a program for aarch64; give it with --sut")
    elif pilot:
        command = [sys.executable, "-m", "skyloop_client", "pilot", absolute(pilot), *arguments]
    return make_target(name, command, speed=speed, tell=_tell_line, takes_connect=takes_connect, vehicle=vehicle)


def check_options(pilots: Sequence[str] | None, sets: list[str] | None) -> None:
    # the program outside does not read the scenario, so options for its pilot would be lost
    for text in pilots or ():
        vehicle, equals, pilot = text.rpartition("=")
        for item in sets or () if pilot != OWN_PILOT else ():
            if re.match(rf"vehicles\.{re.escape(vehicle) if equals else '[^.=]+'}\.pilot\b", item):
                raise LinkError(
                    f"--set {item} has no effect on --pilot {text} of loop; put the values into the pilot's file"
                )


def pilot_without_a_name(target: str, vehicle: str = "") -> Target | None:
    """With --target remote alone: the line to type on the other machine names no pilot, because none is known."""
    from skyloop.links.loop.targets import make_target

    if target.startswith("remote:"):
        raise LinkError(f"--target {target} starts a program there: give --pilot, --sut or --task")
    typed = ["skyloop-client", "pilot", "YOUR_PILOT.py:NAME"] if target == "remote" else []
    return make_target(target, typed, tell=_tell_line, takes_connect=True, vehicle=vehicle)


def _tell_line(line: str) -> None:
    log.info("%s", line)


def estimator_from(scenario: Scenario, told: str, target: str, speed: float) -> tuple[Scenario, Target, str]:
    """The scenario with an estimator outside, the target that runs it, and the estimator as vehicle/name."""
    from skyloop.links.loop.targets import LocalProcess, make_target
    from skyloop.sim.outside_programs import outside_estimator

    changed, kind, vehicle, name = outside_estimator(scenario, told)
    if target == "board":
        command = _on_board(scenario, vehicle, name)
    else:
        remote = target.startswith("remote")
        program = ["skyloop-client"] if remote else [sys.executable, "-m", "skyloop_client"]
        command = [*program, "estimator", kind if remote else absolute(kind), "--vehicle", vehicle, "--name", name]
    made = make_target(target, command, speed=speed, tell=_tell_line, takes_connect=True)
    assert isinstance(made, LocalProcess)
    made.printed = "estimator.txt"
    return changed, made, f"{vehicle}/{name}"


def _on_board(scenario: Scenario, vehicle: str, name: str) -> list[str]:
    estimators = next(each.estimators for each in scenario.vehicles if each.name == vehicle)
    kind = estimators[name].kind if name in estimators else ""
    if kind not in BOARD_PROGRAMS:
        raise LinkError("the board runs programs for aarch64; give another --target for --estimator")
    return BOARD_PROGRAMS[kind](scenario, vehicle, name)


def together(targets: Sequence[Target | None]) -> Target | None:
    from skyloop.links.loop.targets import Together

    some = [target for target in targets if target is not None]
    return Together(some) if len(some) > 1 else next(iter(some), None)


def task_or_estimator(scenario: Scenario, task: str | None, estimator: str | None) -> tuple[str | None, str | None]:
    """`--task detect` stands for `--estimator detect`."""
    if task != DETECT:
        return task, estimator
    if estimator is not None:
        raise LinkError(f"--task detect and --estimator {estimator}: give one of them")
    if not any(DETECT in vehicle.estimators for vehicle in scenario.vehicles):
        raise LinkError(f"scenario '{scenario.name}' has no estimator named detect; take park-people")
    return None, DETECT


def _check_task(name: str) -> None:
    from skyloop_client.tasks.sync_hil import TASKS

    if name not in TASKS:
        raise unknown_name("task", name, [*TASKS, DETECT])


def outside(
    scenario: Scenario, programs: list[Program], estimator: str | None, *, pilots_inside: bool
) -> tuple[Scenario, dict[str, object]]:
    """The scenario with its estimator outside, and the options of the link that starts all programs."""
    from skyloop.sim.outside_programs import awaited_programs

    task, estimator = task_or_estimator(scenario, programs[0].task, estimator)
    programs[0] = first = replace(programs[0], task=task)
    runs_on = together([one.made(scenario) for one in programs])
    beside, started = None, ""
    if estimator is not None:
        scenario, beside, started = estimator_from(scenario, estimator, first.target, first.speed)
        pilots_inside = pilots_inside or (runs_on is None and any(vehicle.pilot for vehicle in scenario.vehicles))
    if runs_on is None and not pilots_inside:
        runs_on = pilot_without_a_name(first.target)
    awaited = awaited_programs(scenario, needs_pilot=runs_on is None and not pilots_inside, started=started)
    return scenario, {
        "pilots_inside": pilots_inside,
        "target": together([runs_on, beside]),
        "vehicles": () if pilots_inside else tuple(one.vehicle for one in programs if one.vehicle),
        "opened": say_where(awaited, alone=runs_on is None and beside is None),
    }


def say_where(awaited: list[str], *, alone: bool) -> Callable[[str], None]:
    """Says which programs the user has to start. `alone`: no program is started here."""
    from skyloop.links.loop.targets import reachable

    def say(address: str) -> None:
        if awaited:
            log.info("waiting for %s at %s", " and ".join(awaited), reachable(address))
        elif alone:
            log.info("the scenario's pilots fly; companions may connect to %s", reachable(address))

    return say
