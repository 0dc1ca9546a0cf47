"""Moves the vehicle of one environment: the flight kernels alone, or a whole simulation with cameras."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from skyloop.core.frames import rotate
from skyloop.gym.actions import ActionMeaning
from skyloop.gym.course import Course
from skyloop.sim.simulation import Simulation
from skyloop.vehicle.fleet_kernels import advance
from skyloop_client.messages import Array


class Flight(Protocol):
    """One vehicle. Time advances with each action."""

    states: np.ndarray[Any, Any]
    inputs: np.ndarray[Any, Any]
    params: np.ndarray[Any, Any]

    def restart(self) -> None:
        """Go back to the instant before the first action."""

    def begin(self) -> None:
        """Take the samples of the first instant, with the vehicle at the start of its episode."""

    def fly(self, meaning: ActionMeaning, numbers: Array, positions: Array) -> None:
        """Apply an action of (1, size) numbers for one control period. `positions` are the last observed ones."""

    def shown(self) -> Simulation:
        """A simulation with the vehicle at its current state, to render images."""

    def close(self) -> None: ...


class KernelFlight:
    """Calls the flight kernels on arrays of one record, as the vector environment does with many.

    There is no clock, no schedule, no bus and no autopilot. A `Simulation` flies the same way bit for bit, and takes
    ten times as long (tests/gym/test_gym_vector.py, `skyloop bench gym`).
    """

    def __init__(self, course: Course) -> None:
        self._simulation = course.simulation()
        memory = self._simulation.port.flight_memory()
        self.states, self.inputs, self.params = memory.states.copy(), memory.inputs.copy(), memory.params
        self._period, self._ground = memory.period_s, memory.ground
        self._start = self.states.copy()
        self._steps_per_action, self._step = course.steps_per_action, 0

    def restart(self) -> None:
        self.states[:] = self._start
        self._step = 0

    def begin(self) -> None:
        """There are no sensors."""

    def fly(self, meaning: ActionMeaning, numbers: Array, positions: Array) -> None:
        meaning.write(self.inputs, numbers, positions)
        self._step += self._steps_per_action
        advance(self.states, self.inputs, self.params, self._period, self._step, self._ground)

    def shown(self) -> Simulation:
        """Its clock stays at the start. Only the vehicle is moved."""
        motion = self.states["motion"][0]
        quat, rates = motion[6:10], motion[10:13]
        arm = rotate(quat, self.params["centre_of_mass"][0])
        velocity = motion[3:6] - np.cross(rotate(quat, rates), arm)
        self._simulation.port.editor.put(0, motion[0:3] - arm, quat.copy(), velocity, rates.copy())
        return self._simulation

    def close(self) -> None:
        self._simulation.close()


class SimulatedFlight:
    """Steps a `Simulation`, whose cameras take images at the control rate."""

    def __init__(self, course: Course) -> None:
        self.simulation = course.simulation()
        memory = self.simulation.port.flight_memory()
        self.states, self.inputs, self.params = memory.states, memory.inputs, memory.params
        self._control, self._actions = course.control, 0
        self._start = self.simulation.snapshot()

    def restart(self) -> None:
        self.simulation.restore(self._start)
        self._actions = 0

    def begin(self) -> None:
        self.simulation.run_through(0)

    def fly(self, meaning: ActionMeaning, numbers: Array, positions: Array) -> None:
        self.simulation.send(meaning.setpoint(numbers, positions))
        self._actions += 1
        # including the events of that instant, so that its images exist
        self.simulation.run_through(self._control.due_ns(self._actions))

    def shown(self) -> Simulation:
        return self.simulation

    def close(self) -> None:
        self.simulation.close()
