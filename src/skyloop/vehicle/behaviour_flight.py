"""Flies a behaviour on an autopilot, for software that commands it in Python; it is in the autopilot's memory."""

from __future__ import annotations

from skyloop.vehicle.autopilot import Autopilot
from skyloop.vehicle.behaviours import Situation
from skyloop_client.messages import Hover
from skyloop_client.user_code import call_user_code


def situation_of(autopilot: Autopilot, t_ns: int) -> Situation:
    limits = autopilot.limits
    return Situation(
        t_ns, autopilot.state(t_ns), autopilot.status(t_ns), autopilot.touches(), autopilot.memory.home,
        limits.cruise_speed, limits.speed, limits.acceleration,
    )  # fmt: skip


def fly_behaviour(autopilot: Autopilot, t_ns: int) -> None:
    """Give its next order. It fails if somebody else commands or an order is refused; after its end it hovers."""
    memory = autopilot.memory
    behaviour, by = memory.behaviour, memory.behaviour_by
    if behaviour is None or behaviour.done:
        return
    if memory.commander != by:
        behaviour.done = behaviour.failed = True
        return
    name = f"behaviour {type(behaviour).__name__}"
    order = call_user_code(name, t_ns, behaviour.update, situation_of(autopilot, t_ns))
    if order is not None:
        autopilot.send(order, t_ns, by)
        if autopilot.refusal:
            behaviour.done = behaviour.failed = True
    if behaviour.done and memory.mode == "setpoint":
        autopilot.send(Hover(), t_ns, by)
