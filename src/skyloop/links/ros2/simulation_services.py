"""simulation_interfaces: the services by which Gazebo and Isaac Sim are stepped, paused and furnished too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from skyloop.core.frames import quat_from_yaw
from skyloop.links.ros2.entities import BOX, FAILED, INCORRECT_STATE, OK, UNSUPPORTED, Entities, Wrong, entity_state
from skyloop.links.ros2.participant import Participant
from skyloop.links.ros2.services import Fields, Reply, Services
from skyloop.links.ros2.time_control import Pauses
from skyloop.recording.ros2.tf_frames import stamp, vector
from skyloop.recording.ros2.types import (
    RosMessage,
    action_msgs,
    encode,
    step_action,
    unique_identifier_msgs,
)
from skyloop.recording.ros2.types import simulation_interfaces as si
from skyloop.sim.simulation_port import SimulationPort
from skyloop_client.errors import SkyloopError
from skyloop_client.streams import NS_PER_S

KIND = "simulation_interfaces/action/SimulateSteps"
EXECUTING, SUCCEEDED, CANCELED, ABORTED = 2, 4, 5, 6
CANCEL_OK, CANCEL_REJECTED = 0, 1
DONE = si.Result(OK, "")
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
            feedback = step_action.SimulateSteps_Feedback(goal.done, goal.steps - goal.done)
            self._feedback.send(encode(step_action.SimulateSteps_FeedbackMessage(_uuid(goal), feedback)))
        if goal.done >= goal.steps:
            self._finish(goal, SUCCEEDED, DONE)
        elif not self._pauses.paused:
            self._finish(goal, ABORTED, si.Result(INCORRECT_STATE, "the simulation was continued"))
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
            reply(_reply(0, si.Result(INCORRECT_STATE, "no such goal")))
        elif goal.status != EXECUTING:
            reply(_reply(goal.status, goal.result))
        elif len(goal.waiting) < MOST_GOALS:
            goal.waiting.append(reply)

    def _cancel(self, asked: RosMessage) -> Fields:
        """All zero means every goal, as in ROS."""
        wanted = bytes(asked.goal_info.goal_id.uuid)
        stopped: list[RosMessage] = []
        for goal in self._goals.values():
            if goal.status == EXECUTING and wanted in (goal.name, bytes(16)):
                self._pauses.cancel()
                self._finish(goal, CANCELED, si.Result(OK, f"cancelled after {goal.done} steps"))
                stopped.append(_info(goal))
        return CANCEL_OK if stopped else CANCEL_REJECTED, stopped

    def _tell_status(self) -> None:
        statuses = [action_msgs.GoalStatus(_info(goal), goal.status) for goal in self._goals.values()]
        self._status.send(encode(action_msgs.GoalStatusArray(statuses)))


def _reply(status: int, result: RosMessage) -> Fields:
    return status, step_action.SimulateSteps_Result(result)


def _uuid(goal: StepGoal) -> RosMessage:
    return unique_identifier_msgs.UUID(np.frombuffer(goal.name, np.uint8))


def _info(goal: StepGoal) -> RosMessage:
    return action_msgs.GoalInfo(_uuid(goal), stamp(goal.accepted_ns))


# ---- the services


SI = "simulation_interfaces/srv"
STOPPED, PLAYING, PAUSED, QUITTING = range(4)
ALREADY_THERE, INCORRECT_TRANSITION = 101, 103
SCOPE_TIME, SCOPE_STATE, SCOPE_SPAWNED = 1, 2, 4
ENTITIES_FAILED = 150
FEATURES = {
    "spawning": 0, "deleting": 1, "entity bounds": 5, "box filter": 6, "categories": 8, "state getting": 10,
    "state setting": 11, "info getting": 12, "spawnables": 14, "reset": 20, "reset of states": 22,
    "reset of spawned": 23, "simulation state getting": 24, "simulation state setting": 25, "pause": 26,
    "single step": 31, "many steps": 32, "step action": 33, "current world": 44, "available worlds": 45,
    "spawning several": 50,
}  # fmt: skip
FEATURE_NUMBERS = np.array(list(FEATURES.values()), np.uint16)
MOST_STEPS = 10_000_000
NO_BOUNDS = si.Bounds(0, [])
NO_INFO = si.EntityInfo(si.EntityCategory(0), "", [])
NO_WORLD = si.WorldResource("", si.Resource("", ""), "", [])
NO_STATE = entity_state(0, np.zeros(3), quat_from_yaw(0.0))


@dataclass(frozen=True, slots=True)
class WorldFacts:
    """What links do not know themselves."""

    current: str = ""
    available: tuple[tuple[str, str], ...] = ()
    """Names and descriptions."""


class SimulationServices:
    def __init__(
        self, port: SimulationPort, services: Services, participant: Participant, pauses: Pauses, world: WorldFacts
    ) -> None:
        self._port, self._pauses, self._world = port, pauses, world
        self.entities = Entities(port)
        self.is_quitting = False
        self._is_stopped = False
        self._step_ns = round(port.flight_memory().period_s * NS_PER_S)
        self._open(services)
        self.action = StepAction(services, participant, pauses, lambda: port.now_ns, lambda: self._step_ns)

    def _open(self, services: Services) -> None:
        answers: dict[str, tuple[str, Callable[[RosMessage], Fields], Fields]] = {
            "get_simulator_features": ("GetSimulatorFeatures", self._features, ()),
            "get_simulation_state": ("GetSimulationState", self._get_state, ()),
            "set_simulation_state": ("SetSimulationState", self._set_state, ()),
            "reset_simulation": ("ResetSimulation", self._reset, ()),
            "get_entities": ("GetEntities", self._get_entities, ([],)),
            "get_entities_states": ("GetEntitiesStates", self._get_states, ([], [])),
            "get_entity_state": ("GetEntityState", self._get_entity, (NO_STATE,)),
            "get_entity_info": ("GetEntityInfo", self._get_info, (NO_INFO,)),
            "get_entity_bounds": ("GetEntityBounds", self._get_bounds, (NO_BOUNDS,)),
            "set_entity_state": ("SetEntityState", self._set_entity, ()),
            "set_entity_info": ("SetEntityInfo", self._unsupported, ()),
            "spawn_entity": ("SpawnEntity", self._spawn, ("",)),
            "spawn_entities": ("SpawnEntities", self._spawn_many, ([],)),
            "delete_entity": ("DeleteEntity", self._delete, ()),
            "get_spawnables": ("GetSpawnables", self._spawnables, ([],)),
            "get_named_poses": ("GetNamedPoses", self._unsupported, ([],)),
            "get_named_pose_bounds": ("GetNamedPoseBounds", self._unsupported, (NO_BOUNDS,)),
            "get_available_worlds": ("GetAvailableWorlds", self._worlds, ([],)),
            "get_current_world": ("GetCurrentWorld", self._current_world, (NO_WORLD,)),
            "load_world": ("LoadWorld", self._unsupported, (NO_WORLD,)),
            "unload_world": ("UnloadWorld", self._unsupported, ()),
        }
        for name, (kind, answer, nothing) in answers.items():
            services.simple(f"/{name}", f"{SI}/{kind}", _guarded(answer, nothing))
        services.serve("/step_simulation", f"{SI}/StepSimulation", self._step)

    # ---- time

    def _features(self, asked: RosMessage) -> Fields:
        return (si.SimulatorFeatures(FEATURE_NUMBERS, [], "skyloop: time does not go back, and a run has one world"),)

    @property
    def state(self) -> int:
        if self._is_stopped:
            return STOPPED
        return PAUSED if self._pauses.paused else PLAYING

    def _get_state(self, asked: RosMessage) -> Fields:
        return si.SimulationState(self.state), DONE

    def _set_state(self, asked: RosMessage) -> Fields:
        wanted = asked.state.state
        if wanted not in (STOPPED, PLAYING, PAUSED, QUITTING):
            raise Wrong(INCORRECT_TRANSITION, f"state {wanted} cannot be asked for")
        if wanted == self.state:
            raise Wrong(ALREADY_THERE, "it is in that state")
        if self._pauses.is_stepping:
            raise Wrong(INCORRECT_TRANSITION, "steps are being simulated; wait for them, or cancel them")
        if wanted == STOPPED:
            self._begin_again(SCOPE_STATE | SCOPE_SPAWNED)
        self.is_quitting = wanted == QUITTING
        self._is_stopped = wanted == STOPPED
        self._pauses.paused = wanted in (STOPPED, PAUSED)
        return (DONE,)

    def _reset(self, asked: RosMessage) -> Fields:
        scope = asked.scope
        if scope == 0 or scope & SCOPE_TIME:
            raise Wrong(UNSUPPORTED, "time does not go back; give the scope STATE, SPAWNED or both")
        self._begin_again(scope)
        return (DONE,)

    def _begin_again(self, scope: int) -> None:
        if scope & SCOPE_SPAWNED:
            self.entities.delete_spawned()
        if scope & SCOPE_STATE:
            self.entities.begin_again()

    def _step(self, asked: RosMessage, reply: Reply) -> None:
        steps = int(asked.steps)
        if not self._pauses.paused or self._pauses.is_stepping:
            reply((si.Result(INCORRECT_STATE, "pause the simulation first"),))
        elif not 0 < steps <= MOST_STEPS:
            reply((si.Result(FAILED, f"give 1 to {MOST_STEPS} steps, not {steps}"),))
        else:
            self._is_stopped = False
            self._pauses.run_to(self._port.now_ns + steps * self._step_ns, lambda t_ns: reply((DONE,)))

    # ---- entities

    def _get_entities(self, asked: RosMessage) -> Fields:
        return DONE, self.entities.names(asked.filters)

    def _get_states(self, asked: RosMessage) -> Fields:
        names = self.entities.names(asked.filters)
        return DONE, names, [self.entities.state(name) for name in names]

    def _get_entity(self, asked: RosMessage) -> Fields:
        return DONE, self.entities.state(asked.entity)

    def _get_info(self, asked: RosMessage) -> Fields:
        category = self.entities.category(asked.entity)
        return DONE, si.EntityInfo(si.EntityCategory(category), "", [])

    def _get_bounds(self, asked: RosMessage) -> Fields:
        low, high = self.entities.box(asked.entity)
        where = self.entities.state(asked.entity).pose.position
        position = np.array([where.x, where.y, where.z])
        return DONE, si.Bounds(BOX, [vector(high - position), vector(low - position)])

    def _set_entity(self, asked: RosMessage) -> Fields:
        self.entities.set_state(asked.entity, asked.state, pose=asked.set_pose, twist=asked.set_twist)
        return (DONE,)

    def _spawn(self, asked: RosMessage) -> Fields:
        return DONE, self.entities.spawn(asked)

    def _spawn_many(self, asked: RosMessage) -> Fields:
        results = []
        for one in asked.spawn_requests:
            try:
                results.append(si.SpawnResult(DONE, self.entities.spawn(one)))
            except Wrong as wrong:
                results.append(si.SpawnResult(wrong.result, ""))
        failed = any(one.result.result != OK for one in results)
        return si.Result(ENTITIES_FAILED, "see the results") if failed else DONE, results

    def _delete(self, asked: RosMessage) -> Fields:
        self.entities.delete(asked.entity)
        return (DONE,)

    def _spawnables(self, asked: RosMessage) -> Fields:
        shapes = sorted(set(self._port.editor.shapes()))
        return DONE, [si.Spawnable(si.Resource(shape, ""), "an object of this world", NO_BOUNDS) for shape in shapes]

    # ---- worlds

    def _worlds(self, asked: RosMessage) -> Fields:
        if asked.filter.tags:
            raise Wrong(UNSUPPORTED, "worlds have no tags")
        return DONE, [_world(name, text) for name, text in self._world.available]

    def _current_world(self, asked: RosMessage) -> Fields:
        name = self._world.current
        return DONE, _world(name, dict(self._world.available).get(name, ""))

    def _unsupported(self, asked: RosMessage) -> Fields:
        raise Wrong(UNSUPPORTED, "GetSimulatorFeatures does not list this")


def _world(name: str, text: str) -> RosMessage:
    return si.WorldResource(name, si.Resource(name, ""), text, [])


def _guarded(answer: Callable[[RosMessage], Fields], nothing: Fields) -> Callable[[RosMessage], Fields]:
    """With the result code of what goes wrong, and empty fields after it."""

    def guarded(asked: RosMessage) -> Fields:
        try:
            return answer(asked)
        except Wrong as wrong:
            return wrong.result, *nothing
        except (SkyloopError, ValueError) as error:
            return si.Result(FAILED, " ".join(str(error).split())), *nothing

    return guarded
