"""What programs computed and which of their deadlines they kept: a row per program, and one per vehicle."""

from __future__ import annotations

from collections.abc import Iterable

from skyloop.links.link_gate import Summary
from skyloop.links.loop.remote_pilot import ClientSession, CycleTimes, Deadlines
from skyloop.links.loop.task_deadlines import TaskTimes


def table_of_programs(sessions: Iterable[ClientSession], t_ns: int) -> list[Summary]:
    return [
        {
            "vehicle": pilot.vehicle,
            "role": pilot.shown_role,
            "client": pilot.client,
            "computed_s": pilot.busy_ns / 1e9,
            "cycle_s": pilot.cycles.plain(),
            "computer_energy_j": pilot.meter.joules(t_ns),
            "slept_untold_s": pilot.slept_ns / 1e9,
            "deadlines_declared": pilot.deadlines.declared or pilot.tasks.declared,
            "deadlines_missed": pilot.deadlines.missed + pilot.tasks.missed,
            "worst_beyond_deadline_s": pilot.deadlines.worst_ns / 1e9,
            "tasks": pilot.tasks.plain(),
        }
        for pilot in sessions
    ]


def table_by_vehicle(sessions: Iterable[ClientSession]) -> dict[str, Summary]:
    """By vehicle. `late_s` is the most by which any deadline was missed."""
    own: dict[str, list[ClientSession]] = {}
    for session in sessions:
        own.setdefault(session.vehicle, []).append(session)
    return {vehicle: _row(programs) for vehicle, programs in sorted(own.items())}


def _row(programs: list[ClientSession]) -> Summary:
    cycles = CycleTimes()
    for program in programs:
        cycles.join(program.cycles)
    declared: list[Deadlines | TaskTimes] = [program.deadlines for program in programs]
    declared += [times for program in programs for times in program.tasks.by_name.values()]
    return {
        "programs": len(programs),
        "deadlines_met": sum(one.met for one in declared),
        "deadlines_missed": sum(one.missed for one in declared),
        "late_s": max(one.worst_ns for one in declared) / 1e9,
        "computed_s": sum(program.busy_ns for program in programs) / 1e9,
        "cycle_s": cycles.plain(),
    }
