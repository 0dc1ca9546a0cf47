"""What the programs of each vehicle computed, and which of their deadlines they kept: one row per vehicle."""

from __future__ import annotations

from collections.abc import Iterable

from skyloop.links.link_gate import Summary
from skyloop.links.loop.remote_pilot import ClientSession, CycleTimes


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
    tasks = [times for program in programs for times in program.tasks.by_name.values()]
    declared = [program.deadlines for program in programs]
    worst_ns = max(one.worst_ns for one in [*declared, *tasks])
    return {
        "programs": len(programs),
        "deadlines_met": sum(one.met for one in [*declared, *tasks]),
        "deadlines_missed": sum(one.missed for one in [*declared, *tasks]),
        "late_s": worst_ns / 1e9,
        "computed_s": sum(program.busy_ns for program in programs) / 1e9,
        "cycle_s": cycles.plain(),
    }
