"""The parts of a running simulation that act at their own rates: truth, autopilots, pilots, controllers, wind.

`assembly.py` makes each part. The part enters itself into the schedule or subscribes to the bus, and is called from
then on. Everything that changes in a part is in its `memory()`, so a snapshot of the simulation holds it.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from skyloop.core.bus import Bus, LatestRecords
from skyloop.core.clock import Schedule
from skyloop.sensors.camera_effects import GimbalAim
from skyloop.sensors.faults import Fault
from skyloop.sim.fault_watch import FaultWatch, Faulty
from skyloop.sim.part import Memory, Part, attributes_of, give_attributes
from skyloop.sim.user_streams import UserStreams
from skyloop.vehicle.autopilot import Autopilot
from skyloop.vehicle.behaviour_flight import fly_behaviour
from skyloop.vehicle.fleet import Fleet
from skyloop.vehicle.setpoints import tracked
from skyloop.world.scene import WorldScene
from skyloop.world.views import ViewRequest
from skyloop_client.bundle import Bundle
from skyloop_client.errors import ScenarioError, SetpointError, StreamError
from skyloop_client.messages import (
    Array,
    Disarm,
    Estimate,
    Event,
    EventKind,
    Message,
    Motors,
    RadarScan,
    Request,
    Setpoint,
    SetpointState,
    VehicleState,
)
from skyloop_client.streams import NS_PER_S, Rate, StreamInfo
from skyloop_client.user_code import call_user_code


class Instrument(Faulty, Protocol):
    """What a port may do to a sensor."""

    @property
    def injected(self) -> Fault | None:
        """The fault given in flight."""

    def inject(self, fault: Fault | None) -> None:
        """A fault beside those of the scenario from now on, instead of the one injected before; None: none."""

    def aim(self, aim: GimbalAim) -> None:
        """Turn what is on a gimbal; a ScenarioError where it is not."""

    def present_aim(self) -> GimbalAim | None:
        """Where it is turned to; None where it is on no gimbal."""


class Context:
    """What parts share: the bus, the schedule, the fleet and the scene."""

    def __init__(self, bus: Bus, schedule: Schedule, fleet: Fleet, scene: WorldScene) -> None:
        self.bus = bus
        self.schedule = schedule
        self.fleet = fleet
        self.scene = scene
        self.instruments: dict[str, Instrument] = {}
        """Sensors by their streams, for what ports may do to them."""
        self._instruments_of: dict[str, list[tuple[str, Instrument]]] = {}
        self.lookers: list[Callable[[int], list[ViewRequest]]] = []
        """One function per sensor that needs pictures: it returns the views needed at an instant."""
        self.wanted: Callable[[int], bool] | None = None
        """Says whether costly samples that arrive at an instant are wanted. None: always."""
        self.glances: dict[str, Callable[[int], object]] = {}
        """By stream, a function that measures at an instant and remembers nothing of it."""
        self.user_streams = UserStreams(bus, schedule)
        """What pilots, estimators and links publish."""
        self._looked_ns = -1
        schedule.deliver = bus.publish

    def instruments_of(self, vehicle: str) -> list[tuple[str, Instrument]]:
        """A vehicle's sensors with their streams."""
        if vehicle not in self._instruments_of:
            own = [item for item in self.instruments.items() if self.bus.infos[item[0]].vehicle == vehicle]
            self._instruments_of[vehicle] = own
        return self._instruments_of[vehicle]

    def look(self, t_ns: int) -> None:
        """Have the renderer draw all pictures of this instant together, once."""
        if t_ns != self._looked_ns:
            self._looked_ns = t_ns
            requests = [request for expected in self.lookers for request in expected(t_ns)]
            self.scene.measure(lambda: self.scene.views(requests))

    def publish(self, stream: str, index: int, t_ns: int, data: object, latency_ns: int = 0) -> None:
        message = Message(stream, index, t_ns, t_ns + latency_ns, data)
        if latency_ns:
            self.schedule.once(message)
        else:
            self.bus.publish(message)


class ScenePart(Part):
    """Closes the renderer with the simulation, and clears the scene's cached pictures when a snapshot is restored."""

    def __init__(self, context: Context) -> None:
        self.scene = context.scene

    def remember(self, memory: Memory) -> None:
        self.scene.forget()

    def close(self) -> None:
        self.scene.close()


class TruthPart(Part):
    """Publishes the exact state, the battery and the actuators of one vehicle."""

    def __init__(self, vehicle: int, infos: dict[str, StreamInfo], context: Context) -> None:
        self._vehicle = vehicle
        self._infos = infos
        self._context = context
        for info in infos.values():
            context.bus.advertise(info)
        rate = infos["state"].rate
        assert rate is not None
        context.schedule.every(rate, self._act)

    def _act(self, t_ns: int, index: int) -> None:
        context, i = self._context, self._vehicle
        context.publish(self._infos["state"].name, index, t_ns, context.fleet.state(i, t_ns))
        context.publish(self._infos["battery"].name, index, t_ns, context.fleet.battery(i, t_ns))
        context.publish(self._infos["actuators"].name, index, t_ns, context.fleet.actuators(i, t_ns))


class UserPart(Part):
    """A part around an object that may be the user's own. A snapshot holds the object's attributes."""

    def __init__(self, name: str, own: Any, context: Context) -> None:
        self.name = name
        self._own = own
        self._context = context

    def memory(self) -> object:
        return attributes_of(self._own)

    def remember(self, memory: Memory) -> None:
        give_attributes(self._own, memory)


class Processor(Protocol):
    """What turns each sample of a sensor into other records, such as a radar's scan into an image and detections."""

    def process(self, scan: RadarScan) -> tuple[object, object]: ...


class ProcessingPart(UserPart):
    """Processes each message of a stream and publishes each of the results on a stream of its own."""

    def __init__(self, processor: Processor, source: str, infos: Sequence[StreamInfo], context: Context) -> None:
        super().__init__(f"processing of '{source}'", processor, context)
        self._infos = infos
        for info in infos:
            context.bus.advertise(info)
        context.bus.on(source, self._on_message)

    def _on_message(self, message: Message) -> None:
        answers = call_user_code(self.name, message.t_ns, self._own.process, message.data)
        for info, data in zip(self._infos, answers, strict=True):
            self._context.bus.publish(Message(info.name, message.index, message.t_ns, message.arrival_ns, data))

    def memory(self) -> object:
        return copy.deepcopy(attributes_of(self._own))

    def remember(self, memory: Memory) -> None:
        give_attributes(self._own, copy.deepcopy(memory))


class AutopilotPart(Part):
    """Runs the flight modes at their rate, and publishes status, setpoint, events and contacts."""

    def __init__(self, autopilot: Autopilot, vehicle: str, rate: Rate, context: Context) -> None:
        self.name = f"{vehicle}/status"
        self._autopilot = autopilot
        self._setpoint = f"{vehicle}/setpoint"
        self._events = f"{vehicle}/events"
        self._context = context
        self._faults = FaultWatch(vehicle, autopilot.index, context.fleet, lambda: context.instruments_of(vehicle))
        self._count = self._n_reported = 0
        context.bus.advertise(StreamInfo(self.name, "VehicleStatus", rate, vehicle))
        context.bus.advertise(StreamInfo(self._setpoint, "SetpointState", rate, vehicle))
        context.bus.advertise(StreamInfo(self._events, "Event", None, vehicle))
        context.schedule.every(rate, self._act)

    def _act(self, t_ns: int, index: int) -> None:
        for event in self._faults.events(t_ns):
            self._publish(event, t_ns)
        self._n_reported, touches = self._context.fleet.touches(self._autopilot.index, self._n_reported)
        for event in touches:
            self._publish(event, t_ns)
            if event.kind == EventKind.CRASH:
                self._autopilot.send(Disarm(), t_ns)
        for event in self._autopilot.tick(t_ns):
            self._publish(event, t_ns)
        fly_behaviour(self._autopilot, t_ns)
        self._context.publish(self.name, index, t_ns, self._autopilot.status(t_ns))
        self._context.publish(self._setpoint, index, t_ns, self._tracked(t_ns))

    def _tracked(self, t_ns: int) -> SetpointState:
        memory, row = self._autopilot.memory, self._context.fleet.inputs[self._autopilot.index]
        return tracked(row, memory.mode, memory.armed, lambda: self._autopilot.state(t_ns).quat_wxyz, t_ns)

    def _publish(self, event: Event, now_ns: int) -> None:
        # an event between two ticks is published at the second one
        self._context.bus.publish(Message(self._events, self._count, event.t_ns, now_ns, event))
        self._count += 1

    def memory(self) -> object:
        return self._count, self._n_reported, self._faults.memory

    def remember(self, memory: Memory) -> None:
        self._count, self._n_reported, self._faults.memory = memory


class PilotPart(UserPart):
    """Calls a pilot at its rate, and passes on its setpoints and published records."""

    def __init__(
        self, pilot: Callable[[Bundle], object], info: StreamInfo, autopilot: Autopilot, context: Context
    ) -> None:
        super().__init__(f"pilot of '{info.vehicle}'", pilot, context)
        self.pilot = pilot
        self._info = info
        self._autopilot = autopilot
        self._latest = LatestRecords(context.bus)
        self._now_ns = 0
        self._events: list[Event] = []
        """Not reported yet."""
        self._refused: list[str] = []
        """Since the last call."""
        self._reported_ns: dict[str, int] = {}
        """By stream: when a refusal became an event last."""
        context.bus.on(f"{info.vehicle}/events", lambda message: self._events.append(message.data))
        assert info.rate is not None
        context.schedule.every(info.rate, self._act)

    @property
    def done(self) -> bool:
        """True once the pilot says that it is finished. A plain function never says so."""
        return bool(getattr(self.pilot, "done", False))

    @property
    def vehicle(self) -> str:
        return self._info.vehicle

    @property
    def lands(self) -> bool:
        """Whether it says that its flight ends on the ground."""
        return bool(getattr(self.pilot, "lands", False))

    def _act(self, t_ns: int, index: int) -> None:
        self._now_ns = t_ns
        if self._autopilot.memory.is_pilot_relieved:
            return
        vehicle, known = self._info.vehicle, self._context.bus.infos
        events, refused, self._events, self._refused = tuple(self._events), tuple(self._refused), [], []
        state, status = self._autopilot.state(t_ns), self._latest.get(f"{vehicle}/status")
        bundle = Bundle(t_ns, vehicle, self._latest, state, status, events, refused, known, (), self._publish)
        reply = call_user_code(self.name, t_ns, self.pilot, bundle)
        for item in reply if isinstance(reply, list | tuple) else [reply]:
            if item is not None:
                try:
                    self._send(item, t_ns)
                except (SetpointError, TypeError, ValueError) as error:
                    raise SetpointError(f"{self.name} at {t_ns / NS_PER_S:.3f} s: {error}") from error

    def _send(self, item: object, t_ns: int) -> None:
        if not isinstance(item, Setpoint | Request):
            raise SetpointError(f"answers with {item!r}; give setpoints and requests of skyloop_client.messages")
        self._autopilot.send(item, t_ns)

    def _publish(self, name: str, record: object) -> None:
        try:
            self._context.user_streams.publish(self._info.vehicle, name, record, self._now_ns, sender=self.name)
        except StreamError as error:
            self._refused.append(str(error))
            # somebody who goes on like that must not flood the events
            if self._now_ns >= self._reported_ns.get(str(name), -NS_PER_S) + NS_PER_S:
                self._reported_ns[str(name)] = self._now_ns
                self._autopilot.refuse(self._now_ns, str(error))

    def memory(self) -> object:
        return super().memory(), self._events, self._refused, self._reported_ns

    def remember(self, memory: Memory) -> None:
        own, self._events, self._refused, self._reported_ns = memory
        super().remember(own)


class Controller(Protocol):
    """A user's controller, constructed as Class(airframe, period_s, **options)."""

    def throttle(self, state: VehicleState | Estimate, setpoint: Setpoint, t_ns: int) -> Array:
        """(n_rotors,) 0..1."""


class ControllerPart(UserPart):
    """Runs a user's controller at its rate. Its throttles hold until the next call."""

    def __init__(self, controller: Controller, rate: Rate, autopilot: Autopilot, context: Context) -> None:
        super().__init__(f"controller {type(controller).__name__}", controller, context)
        self.controller = controller
        self._autopilot = autopilot
        context.schedule.every(rate, self._act)

    def _act(self, t_ns: int, index: int) -> None:
        setpoint = self._autopilot.present_setpoint(t_ns)
        if setpoint is None or isinstance(setpoint, Motors):
            return  # rotors stand still, or the kernel gives them their speeds
        fleet, i = self._context.fleet, self._autopilot.index
        n = int(fleet.params[i]["n_rotors"])
        answer = call_user_code(self.name, t_ns, self.controller.throttle, self._autopilot.state(t_ns), setpoint, t_ns)
        throttle = call_user_code(self.name, t_ns, np.asarray, answer, np.float64)
        if throttle.shape != (n,) or not np.isfinite(throttle).all():
            raise SetpointError(
                f"{self.name} at {t_ns / NS_PER_S:.3f} s: throttle must be {n} finite numbers, got {throttle}"
            )
        share = np.clip(throttle, 0.0, 1.0)
        if fleet.params[i]["throttle_is_thrust"]:
            share = np.sqrt(share)
        command = share * fleet.params[i]["max_speed"]
        fleet.states[i]["command"][:n] = command
        # touching down is felt as thrust the controller has taken away
        wanted = fleet.params[i]["thrust_per_speed_squared"] * np.sum(command**2)
        fleet.states[i]["thrust_wanted"] = wanted


class WindField(Protocol):
    """A user's wind."""

    def velocity(self, position: Array, t: float) -> Array:
        """m/s, world axes, at a position (m) and a time (s)."""


class WindFieldPart(UserPart):
    """Samples a user's wind field at each vehicle."""

    def __init__(self, field: WindField, rate: Rate, context: Context) -> None:
        super().__init__(f"wind field {type(field).__name__}", field, context)
        context.schedule.every(rate, self._act)

    def _act(self, t_ns: int, index: int) -> None:
        fleet = self._context.fleet
        for i in range(len(fleet.params)):
            position = self._context.fleet.state(i, t_ns).position
            answer = call_user_code(self.name, t_ns, self._own.velocity, position, t_ns / NS_PER_S)
            wind = call_user_code(self.name, t_ns, np.asarray, answer, np.float64)
            if wind.shape != (3,) or not np.isfinite(wind).all():
                raise ScenarioError(f"{self.name} at {position} gives {wind}; it must give three finite numbers")
            fleet.inputs[i]["wind_mean"] = wind
