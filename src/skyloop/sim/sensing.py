"""Sensors at their due times: mount, latency, faults, random numbers and shared pictures around `measure`.

Sensing may happen in another process than the one that flies. A sample of an independent sensor is a function of the
exact states of all vehicles, of the instant, of its number, and of what never changes in a flight without links. Only
people who look where they go remember something else.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, is_dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop.core.keyed_random import KeyedRandom, stream_key
from skyloop.sensors.camera_effects import GimbalAim
from skyloop.sensors.external_camera import Observer
from skyloop.sensors.faults import Fault, apply_faults, check_faults
from skyloop.sensors.sensor import NoGimbal, Sensor, kinematics_at
from skyloop.sim.part import Memory, Part
from skyloop.sim.parts import Context, ScenePart
from skyloop.sim.simulation import Simulation
from skyloop.sim.watchful_people import WatchfulPeoplePart
from skyloop.world.views import ViewRequest
from skyloop_client.errors import PartError, ScenarioError
from skyloop_client.messages import CameraImage, VehicleState
from skyloop_client.streams import NS_PER_S, Rate, StreamInfo
from skyloop_client.user_code import call_user_code

Defer = Callable[[int, int], None]
"""Called with (t_ns, index) instead of measuring, where another process measures."""


class ObserverPart(Part):
    """A camera that belongs to no vehicle."""

    truth_name: str | None = None

    def __init__(self, observer: Observer, info: StreamInfo, watched: int | None, context: Context) -> None:
        self.name = info.name
        self.info = info
        self.independent = True
        self.defer: Defer | None = None
        self._observer, self._watched, self._context = observer, watched, context
        context.bus.advertise(info)
        context.lookers.append(self.expected)
        assert info.rate is not None
        context.schedule.every(info.rate, self._act)

    def expected(self, t_ns: int) -> list[ViewRequest]:
        if not is_due(self.info.rate, t_ns) or self._is_deferred:
            return []
        return [self._request(t_ns)]

    @property
    def _is_deferred(self) -> bool:
        return self.independent and self.defer is not None

    def _request(self, t_ns: int) -> ViewRequest:
        state = None if self._watched is None else self._context.fleet.state(self._watched, t_ns)
        return self._observer.request(state, t_ns)

    def _act(self, t_ns: int, index: int) -> None:
        if self._is_deferred:
            assert self.defer is not None
            self.defer(t_ns, index)
            return
        self._context.look(t_ns)
        self._context.publish(self.info.name, index, t_ns, self.sensed(t_ns, index)[0])

    def sensed(self, t_ns: int, index: int) -> tuple[CameraImage, None]:
        """The image of an instant."""
        return CameraImage(t_ns, self._context.scene.at(t_ns).view(self._request(t_ns)).colour), None


def is_due(rate: Rate | None, t_ns: int) -> bool:
    return rate is not None and rate.due_ns(rate.count_until(t_ns)) == t_ns


class SensorPart(Part):
    """One sensor of one vehicle."""

    def __init__(
        self,
        sensor: Sensor[Any],
        info: StreamInfo,
        vehicle_index: int,
        faults: Sequence[Fault],
        seed: int,
        context: Context,
    ) -> None:
        self.sensor = sensor
        self.info = info
        self._vehicle = vehicle_index
        self._faults = tuple(faults)
        self._injected: tuple[Fault, ...] = ()
        self._key = stream_key(seed, info.name)
        self._context = context
        self.name = info.name
        turn_on = KeyedRandom(stream_key(seed, f"{info.name}/turn-on"), 0)
        self._state = call_user_code(self.name, 0, sensor.initial_state, turn_on)
        self._held: Any = None
        self.truth_name = None if sensor.truth_message is None else f"truth/{info.name}"
        """The stream of ground-truth companion records, if it has one."""
        context.bus.advertise(info)
        context.instruments[info.name] = self
        if self.truth_name is not None and sensor.truth_message is not None:
            context.bus.advertise(
                StreamInfo(self.truth_name, sensor.truth_message, info.rate, info.vehicle, 0, info.mount, info.details)
            )
        self._looks = sensor.needs_views
        self.independent = sensor.independent and not self._faults
        """True if unwanted samples may be skipped. Assembly sets it to False where a later reader remembers samples."""
        self._is_costly = self._looks or sensor.independent
        self.defer: Defer | None = None
        if self._looks:
            context.lookers.append(self.expected)
        context.glances[info.name] = self.glance
        assert info.rate is not None
        context.schedule.every(info.rate, self._act)

    def glance(self, t_ns: int) -> object:
        """What it would measure now. Not published; later samples are unaffected."""
        scene, state = self._context.scene.at(t_ns, self._vehicle), copy.deepcopy(self._state)
        rng = KeyedRandom(self._key, 0)
        answer = call_user_code(self.name, t_ns, self.sensor.measure, self._kinematics(t_ns), scene, state, rng)
        return self._checked(answer, t_ns)[0]

    def expected(self, t_ns: int) -> list[ViewRequest]:
        """The views this sensor needs at `t_ns`; none if it has no sample then."""
        if not self._looks or not is_due(self.info.rate, t_ns) or self._is_spared(t_ns):
            return []
        requests = call_user_code(self.name, t_ns, self.sensor.requests, self._kinematics(t_ns), self._state)
        return self._context.scene.at(t_ns, self._vehicle).seen(requests)

    def _is_spared(self, t_ns: int) -> bool:
        """True if no reader wants this sample, or another process makes it, and no later sample depends on it."""
        if not self.independent or self._injected:
            return False
        if self.defer is not None:
            return True
        wanted = self._context.wanted
        if wanted is None or wanted(t_ns + self.info.latency_ns):
            return False
        # the truth has no latency
        return self.truth_name is None or not wanted(t_ns)

    def _kinematics(self, t_ns: int) -> object:
        return kinematics_at(self._context.fleet.state(self._vehicle, t_ns), self.info.mount)

    def _act(self, t_ns: int, index: int) -> None:
        if self._is_spared(t_ns):
            if self.defer is not None:
                self.defer(t_ns, index)
            return
        context = self._context
        if self._looks:
            context.look(t_ns)
        sample, rng = self._measured(t_ns, index)
        extra = 0.0
        faults = self.faults
        if faults:
            sample, extra, self._held = call_user_code(
                self.name, t_ns, apply_faults, faults, self.sensor, sample, self._held, rng
            )
        if self.truth_name is not None:
            context.publish(self.truth_name, index, t_ns, self._truth(t_ns))
        if sample is not None:
            latency = self.info.latency_ns + round(extra * NS_PER_S)
            context.publish(self.info.name, index, t_ns, sample, latency)

    def sensed(self, t_ns: int, index: int) -> tuple[object, object]:
        """An independent sensor's sample of an instant, and its ground-truth companion record, if it has one."""
        sample, _ = self._measured(t_ns, index)
        return sample, None if self.truth_name is None else self._truth(t_ns)

    def _measured(self, t_ns: int, index: int) -> tuple[object, KeyedRandom]:
        scene = self._context.scene.at(t_ns, self._vehicle)
        rng = KeyedRandom(self._key, index)
        given = (self._kinematics(t_ns), scene, self._state, rng)
        work = partial(call_user_code, self.name, t_ns, self.sensor.measure, *given)
        sample, self._state = self._checked(scene.measure(work) if self._is_costly else work(), t_ns)
        return sample, rng

    def _truth(self, t_ns: int) -> object:
        return call_user_code(self.name, t_ns, self.sensor.truth, self._state, t_ns)

    def _checked(self, answer: Any, t_ns: int) -> tuple[object, object]:
        fits = isinstance(answer, tuple) and len(answer) == 2
        if fits and answer[0] is not None:
            fits = is_dataclass(answer[0]) and isinstance(getattr(answer[0], "t_ns", None), int | np.integer)
        if not fits:
            shown = repr(answer) if len(repr(answer)) <= 60 else f"a {type(answer).__name__}"
            raise PartError(
                f"{self.name} at {t_ns / NS_PER_S:.3f} s: measure gives {shown}; return (sample, state), "
                "the sample a dataclass with an integer t_ns, or None"
            )
        return answer  # type: ignore[no-any-return]

    @property
    def faults(self) -> tuple[Fault, ...]:
        return self._faults + self._injected

    @property
    def outages(self) -> tuple[tuple[float, float | None], ...]:
        return self.sensor.outages

    @property
    def injected(self) -> Fault | None:
        """The fault given in flight."""
        return self._injected[0] if self._injected else None

    def inject(self, fault: Fault | None) -> None:
        """A fault beside those of the scenario from now on, instead of the one injected before; None: none."""
        if fault is not None:
            check_faults([fault], self.sensor, self.name)
        self._injected = () if fault is None else (fault,)
        if not self._faults:
            self._held = None

    def aim(self, aim: GimbalAim) -> None:
        """Turn what is on a gimbal; a ScenarioError where it is not."""
        try:
            self._state = self.sensor.aimed(self._state, aim)
        except NoGimbal:
            raise ScenarioError(f"{self.name} is on no gimbal") from None

    def present_aim(self) -> GimbalAim | None:
        """Where it is turned to; None where it is on no gimbal."""
        aim: GimbalAim | None = self.sensor.present_aim(self._state)
        return aim

    def memory(self) -> object:
        # a link may have moved the sensor on its vehicle
        return self._state, self._held, self._injected, self.info.mount

    def remember(self, memory: Memory) -> None:
        self._state, self._held, self._injected, mount = memory
        self.info.mount.position[:], self.info.mount.quat_wxyz[:] = mount.position, mount.quat_wxyz


BEFORE_S = 1.0
"""s before an instant of which a sensor may want to know, besides two of its own periods."""


@dataclass(frozen=True, slots=True, eq=False)
class SensingInstant:
    t_ns: int
    states: tuple[VehicleState, ...]
    """Of all vehicles."""
    n_looks: int
    """How often people had looked around; 0 where nobody does."""


@dataclass(frozen=True, slots=True, eq=False)
class Looks:
    """What people who look where they go remember of a stretch of time."""

    first: int
    """The number of the first look in `paces`."""
    paces: NDArray[np.float64]
    """(n_people, 2, n_looks): pace and own time after each look."""


class DeferredSensing:
    """The independent sensors of a simulation, for the process that flies and for those that only sense."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._scene = simulation.parts_of(ScenePart)[0].scene
        self._people = next(iter(simulation.parts_of(WatchfulPeoplePart)), None)
        self._shown: tuple[int, int] | None = None
        self.parts: dict[int, SensorPart | ObserverPart] = {
            number: part
            for number, part in enumerate(simulation.parts)
            if isinstance(part, SensorPart | ObserverPart) and part.independent
        }
        """By their place among all parts, which is the same in every build of a scenario."""
        periods = [part.info.rate.period_s for part in self.parts.values() if part.info.rate is not None]
        self._before_s = BEFORE_S + 2.0 * max(periods, default=0.0)

    # ---- where the flight is flown

    def present(self) -> SensingInstant:
        simulation = self._simulation
        t_ns, fleet = simulation.clock.now_ns, simulation.fleet
        states = tuple(fleet.state(i, t_ns) for i in range(len(fleet.params)))
        return SensingInstant(t_ns, states, 0 if self._people is None else self._people.n_looks)

    def looks_since(self, t_ns: int) -> Looks:
        """What people did from a while before an instant on."""
        if self._people is None:
            return Looks(0, np.zeros((0, 2, 0)))
        return Looks(*self._people.looks_since(t_ns / NS_PER_S - self._before_s))

    # ---- where the samples are made

    def show(self, instant: SensingInstant, looks: Looks) -> None:
        """Put vehicles and people where they were at an instant of the flight."""
        shown = instant.t_ns, instant.n_looks
        if shown == self._shown:
            return
        self._shown = shown
        self._simulation.clock.set(instant.t_ns)
        self._simulation.fleet.show(instant.states)
        if self._people is not None:
            self._people.show_looks(looks.first, looks.paces, instant.n_looks)

    def look(self, instant: SensingInstant, numbers: Sequence[int]) -> None:
        """Have the renderer draw what these parts need, together."""
        requests = [request for number in numbers for request in self.parts[number].expected(instant.t_ns)]
        if requests:
            self._scene.at(instant.t_ns).views(requests)

    def sensed(self, instant: SensingInstant, number: int, index: int) -> tuple[object, object]:
        """Sample `index` of a part, and its ground-truth companion record."""
        return self.parts[number].sensed(instant.t_ns, index)

    def warm_up(self) -> None:
        """Make the first sample of each part and drop it: the first image and the first rays take seconds."""
        instant = self.present()
        self.look(instant, list(self.parts))
        for number in self.parts:
            self.sensed(instant, number, 0)
        self._scene.forget()
