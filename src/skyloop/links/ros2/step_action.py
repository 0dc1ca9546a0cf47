"""The SimulateSteps action: its three services and two topics, as rclpy's and rclcpp's clients speak them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skyloop.links.ros2.participant import Participant
from skyloop.links.ros2.services import Fields, Reply, Services
from skyloop.links.ros2.time_control import Pauses
from skyloop.recording.ros2.frames import stamp
from skyloop.recording.ros2.types import (
    RosMessage,
    action_msgs,
    encode,
    simulation_interfaces,
    step_action,
    unique_identifier_msgs,
)

KIND = "simulation_interfaces/action/SimulateSteps"
EXECUTING, SUCCEEDED, CANCELED, ABORTED = 2, 4, 5, 6
CANCEL_OK, CANCEL_REJECTED = 0, 1
Result = simulation_interfaces.Result
OK, INCORRECT_STATE = 1, 3
DONE = Result(OK, "")
MOST_GOALS = 64
"""Finished goals whose results are kept."""


@dataclass(slots=True)
class StepGoal:
    name: bytes
    steps: int
    accepted_ns: int
    done: int = 0
    status: int = EXECUTING
    result: RosMessage = field(default_factory=lambda: DONE)
    waiting: list[Reply] = field(default_factory=list)
    """Who asked for the result before there was one."""


class StepAction:
    def __init__(
        self,
        services: Services,
        participant: Participant,
        pauses: Pauses,
        now: Callable[[], int],
        step_ns: Callable[[], int],
    ) -> None:
        self._pauses, self._now, self._step_ns = pauses, now, step_ns
        self._goals: dict[bytes, StepGoal] = {}
        root = "/simulate_steps/_action"
        services.serve(f"{root}/send_goal", f"{KIND}_SendGoal", self._send_goal)
        services.serve(f"{root}/get_result", f"{KIND}_GetResult", self._get_result)
        services.simple(f"{root}/cancel_goal", "action_msgs/srv/CancelGoal", self._cancel)
        self._feedback = participant.writer(f"{root}/feedback", f"{KIND}_FeedbackMessage", "state")
        self._status = participant.writer(f"{root}/status", "action_msgs/msg/GoalStatusArray", "latched")

    def _send_goal(self, asked: RosMessage, reply: Reply) -> None:
        name, steps = bytes(asked.goal_id.uuid), int(asked.goal.steps)
        now = stamp(self._now())
        busy = any(goal.status == EXECUTING for goal in self._goals.values())
        if not self._pauses.paused or self._pauses.is_stepping or busy or not steps or name in self._goals:
            reply((False, now))
            return
        while len(self._goals) >= MOST_GOALS:
            del self._goals[next(iter(self._goals))]
        goal = self._goals[name] = StepGoal(name, steps, self._now())
        reply((True, now))
        self._tell_status()
        self._step(goal)

    def _step(self, goal: StepGoal) -> None:
        self._pauses.run_to(self._now() + self._step_ns(), lambda t_ns: self._stepped(goal))

    def _stepped(self, goal: StepGoal) -> None:
        goal.done += 1
        if self._feedback.is_wanted:
            told = step_action.SimulateSteps_Feedback(goal.done, goal.steps - goal.done)
            self._feedback.send(encode(step_action.SimulateSteps_FeedbackMessage(_uuid(goal), told)))
        if goal.done >= goal.steps:
            self._finish(goal, SUCCEEDED, DONE)
        elif not self._pauses.paused:
            self._finish(goal, ABORTED, Result(INCORRECT_STATE, "the simulation was continued"))
        else:
            self._step(goal)

    def _finish(self, goal: StepGoal, status: int, result: RosMessage) -> None:
        goal.status, goal.result = status, result
        for reply in goal.waiting:
            reply(_reply(status, result))
        goal.waiting.clear()
        self._tell_status()

    def _get_result(self, asked: RosMessage, reply: Reply) -> None:
        goal = self._goals.get(bytes(asked.goal_id.uuid))
        if goal is None:
            reply(_reply(0, Result(INCORRECT_STATE, "no such goal")))
        elif goal.status != EXECUTING:
            reply(_reply(goal.status, goal.result))
        elif len(goal.waiting) < MOST_GOALS:
            goal.waiting.append(reply)

    def _cancel(self, asked: RosMessage) -> Fields:
        """All zero means every goal, as in ROS."""
        wanted = bytes(asked.goal_info.goal_id.uuid)
        stopped: list[Any] = []
        for goal in self._goals.values():
            if goal.status == EXECUTING and wanted in (goal.name, bytes(16)):
                self._pauses.cancel()
                self._finish(goal, CANCELED, Result(OK, f"cancelled after {goal.done} steps"))
                stopped.append(_info(goal))
        return CANCEL_OK if stopped else CANCEL_REJECTED, stopped

    def _tell_status(self) -> None:
        told = [action_msgs.GoalStatus(_info(goal), goal.status) for goal in self._goals.values()]
        self._status.send(encode(action_msgs.GoalStatusArray(told)))


def _reply(status: int, result: RosMessage) -> Fields:
    return status, step_action.SimulateSteps_Result(result)


def _uuid(goal: StepGoal) -> RosMessage:
    return unique_identifier_msgs.UUID(np.frombuffer(goal.name, np.uint8))


def _info(goal: StepGoal) -> RosMessage:
    return action_msgs.GoalInfo(_uuid(goal), stamp(goal.accepted_ns))
