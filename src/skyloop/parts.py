"""The parts of a running simulation that act at their own rates: sensors, estimators, autopilots, pilots.

A part is made by `assembly.py`, enters itself into the schedule or onto the bus, and from then on only answers.
All that changes in it is in `memory()`, so that a snapshot of the simulation holds it.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from skyloop.bus import Bundle, Bus
from skyloop.errors import PartError, ScenarioError, SetpointError, SkyloopError
from skyloop.keyed_random import KeyedRandom, stream_key
from skyloop.messages import Array, Disarm, Estimate, Event, Message, Motors, Request, Setpoint, VehicleState
from skyloop.schedule import Schedule
from skyloop.sensors.faults import Fault, apply_faults
from skyloop.sensors.sensor import Scene, kinematics_at
from skyloop.streams import NS_PER_S, StreamInfo
from skyloop.vehicle.autopilot import Autopilot
from skyloop.vehicle.fleet import Fleet

_OUR_FOLDER = Path(__file__).parent


def ask(place: str, t_ns: int, question: Callable[..., Any], *arguments: Any) -> Any:
    """What code that may be the user's own answers; whatever it raises is told in one line."""
    try:
        return question(*arguments)
    except SkyloopError:
        raise
    except Exception as error:
        what = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise PartError(f"{place} at {t_ns / NS_PER_S:.3f} s: {what}{_line_of(error)}") from error


def _line_of(error: Exception) -> str:
    """Where in the user's file it happened; empty when the call itself did not fit."""
    frames = traceback.extract_tb(error.__traceback__)[1:]
    theirs = [frame for frame in frames if not Path(frame.filename).is_relative_to(_OUR_FOLDER)]
    # libraries it calls are not where to look
    theirs = [frame for frame in theirs if frame.filename == theirs[0].filename]
    last = (theirs or frames)[-1:]
    return "".join(f" ({Path(frame.filename).name}, line {frame.lineno})" for frame in last)


def attributes_of(thing: Any) -> dict[str, Any]:
    """Of an object with `__dict__`, `__slots__` or both."""
    state = object.__getstate__(thing)
    own, slots = state if isinstance(state, tuple) else (state, None)
    return {**(own or {}), **(slots or {})}


def give_attributes(thing: Any, attributes: dict[str, Any]) -> None:
    """These and no others, even to a frozen dataclass."""
    for name in attributes_of(thing):
        object.__delattr__(thing, name)
    for name, value in attributes.items():
        object.__setattr__(thing, name, value)


class Part(Protocol):
    @property
    def name(self) -> str:
        """For messages: "drone/imu", "pilot of 'drone'"..."""

    def memory(self) -> Any: ...

    def remember(self, memory: Any) -> None: ...

    def close(self) -> None: ...


class Forgetful:
    """For parts that hold nothing worth keeping."""

    name = ""

    def memory(self) -> Any:
        return None

    def remember(self, memory: Any) -> None:
        pass

    def close(self) -> None:
        pass


class Context:
    """What parts share: the bus, the schedule, the fleet and the scene."""

    def __init__(self, bus: Bus, schedule: Schedule, fleet: Fleet, scene: Scene) -> None:
        self.bus = bus
        self.schedule = schedule
        self.fleet = fleet
        self.scene = scene
        schedule.deliver = bus.publish

    def publish(self, stream: str, index: int, t_ns: int, data: Any, latency_ns: int = 0) -> None:
        message = Message(stream, index, t_ns, t_ns + latency_ns, data)
        if latency_ns:
            self.schedule.once(message)
        else:
            self.bus.publish(message)


class SensorPart:
    """Mount, due times, latency, faults and random numbers around one sensor's `measure`."""

    def __init__(
        self,
        sensor: Any,
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
        self._key = stream_key(seed, info.name)
        self._context = context
        self.name = info.name
        self._state = ask(self.name, 0, sensor.initial_state, KeyedRandom(stream_key(seed, f"{info.name}/turn-on"), 0))
        self._held: Any = None
        self._hidden = getattr(sensor, "hidden", None)
        context.bus.advertise(info)
        if self._hidden is not None:
            self._hidden_name = f"truth/{info.name}"
            context.bus.advertise(
                StreamInfo(self._hidden_name, sensor.hidden_message, info.rate, info.vehicle, mount=info.mount)
            )
        assert info.rate is not None
        context.schedule.every(info.rate, self._act)

    def _act(self, t_ns: int, index: int) -> None:
        context = self._context
        kinematics = kinematics_at(context.fleet.state(self._vehicle, t_ns), self.info.mount)
        rng = KeyedRandom(self._key, index)
        answer = ask(self.name, t_ns, self.sensor.measure, kinematics, context.scene, self._state, rng)
        sample, self._state = self._checked(answer, t_ns)
        extra = 0.0
        if self._faults:
            sample, extra, self._held = ask(
                self.name, t_ns, apply_faults, self._faults, self.sensor, sample, self._held, rng
            )
        if self._hidden is not None:
            hidden = ask(self.name, t_ns, self._hidden, self._state, t_ns)
            context.publish(self._hidden_name, index, t_ns, hidden)
        if sample is not None:
            latency = self.info.latency_ns + round(extra * NS_PER_S)
            context.publish(self.info.name, index, t_ns, sample, latency)

    def _checked(self, answer: Any, t_ns: int) -> tuple[Any, Any]:
        fits = isinstance(answer, tuple) and len(answer) == 2
        if fits and answer[0] is not None:
            is_record = hasattr(type(answer[0]), "__dataclass_fields__")
            fits = is_record and isinstance(getattr(answer[0], "t_ns", None), int | np.integer)
        if not fits:
            shown = repr(answer) if len(repr(answer)) <= 60 else f"a {type(answer).__name__}"
            raise PartError(
                f"{self.name} at {t_ns / NS_PER_S:.3f} s: measure gives {shown}; return (sample, state), "
                "the sample a dataclass with an integer t_ns, or None"
            )
        return answer  # type: ignore[no-any-return]

    def memory(self) -> Any:
        return self._state, self._held

    def remember(self, memory: Any) -> None:
        self._state, self._held = memory

    def close(self) -> None:
        pass


class TruthPart(Forgetful):
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


class Localiser(Protocol):
    """What turns a vehicle's messages into estimates."""

    def on_message(self, message: Message) -> Estimate | None: ...

    def snapshot(self) -> Any: ...

    def restore(self, saved: Any) -> None: ...


class EstimatorPart:
    """Runs a localiser on the vehicle's streams and publishes what it believes."""

    def __init__(self, localiser: Localiser, inputs: Sequence[str], info: StreamInfo, context: Context) -> None:
        self._localiser = localiser
        self.name = info.name
        self._info = info
        self._context = context
        self._index = 0
        context.bus.advertise(info)
        for stream in inputs:
            context.bus.on(stream, self._on_message)

    def _on_message(self, message: Message) -> None:
        estimate = self._localiser.on_message(message)
        if estimate is not None:
            self._context.bus.publish(
                Message(self._info.name, self._index, estimate.t_ns, message.arrival_ns, estimate)
            )
            self._index += 1

    def memory(self) -> Any:
        return self._localiser.snapshot(), self._index

    def remember(self, memory: Any) -> None:
        saved, self._index = memory
        self._localiser.restore(saved)

    def close(self) -> None:
        pass


class AutopilotPart:
    """Ticks the flight modes, publishes status and events, and reports touches."""

    def __init__(self, autopilot: Autopilot, status: StreamInfo, events: StreamInfo, context: Context) -> None:
        self.name = status.name
        self._autopilot = autopilot
        self._status = status
        self._events = events
        self._context = context
        self._count = self._told = 0
        context.bus.advertise(status)
        context.bus.advertise(events)
        assert status.rate is not None
        context.schedule.every(status.rate, self._act)

    def _act(self, t_ns: int, index: int) -> None:
        self._told, touches = self._context.fleet.touches(self._autopilot.index, self._told)
        for event in touches:
            self._publish(event, t_ns)
            if event.kind == "crash":
                self._autopilot.send(Disarm(), t_ns)
        for event in self._autopilot.tick(t_ns):
            self._publish(event, t_ns)
        self._context.publish(self._status.name, index, t_ns, self._autopilot.status(t_ns))

    def _publish(self, event: Event, now_ns: int) -> None:
        # what happened between two ticks is told at the second
        self._context.bus.publish(Message(self._events.name, self._count, event.t_ns, now_ns, event))
        self._count += 1

    def memory(self) -> Any:
        return self._count, self._told

    def remember(self, memory: Any) -> None:
        self._count, self._told = memory

    def close(self) -> None:
        pass


class OwnPart:
    """Around an object that may be the user's own; a snapshot holds the object's attributes."""

    def __init__(self, name: str, own: Any, context: Context) -> None:
        self.name = name
        self._own = own
        self._context = context

    def memory(self) -> Any:
        return attributes_of(self._own)

    def remember(self, memory: Any) -> None:
        give_attributes(self._own, memory)

    def close(self) -> None:
        pass


class PilotPart(OwnPart):
    """Asks a pilot at its rate and passes on what it answers."""

    def __init__(
        self, pilot: Callable[[Bundle], Any], info: StreamInfo, autopilot: Autopilot, context: Context
    ) -> None:
        super().__init__(f"pilot of '{info.vehicle}'", pilot, context)
        self.pilot = pilot
        self._info = info
        self._autopilot = autopilot
        assert info.rate is not None
        context.schedule.every(info.rate, self._act)

    @property
    def done(self) -> bool:
        """True once the pilot says it has nothing more to send; a plain function never does."""
        return bool(getattr(self.pilot, "done", False))

    def _act(self, t_ns: int, index: int) -> None:
        bundle = Bundle(t_ns, self._info.vehicle, self._context.bus, self._autopilot.state(t_ns))
        reply = ask(self.name, t_ns, self.pilot, bundle)
        for item in reply if isinstance(reply, list | tuple) else [reply]:
            if item is not None:
                try:
                    self._send(item, t_ns)
                except (SetpointError, TypeError, ValueError) as error:
                    raise SetpointError(f"{self.name} at {t_ns / NS_PER_S:.3f} s: {error}") from error

    def _send(self, item: Any, t_ns: int) -> None:
        if not isinstance(item, Setpoint | Request):
            raise SetpointError(f"answers with {item!r}; give setpoints and requests of skyloop.messages")
        self._autopilot.send(item, t_ns)


class Controller(Protocol):
    """Your own: made as Class(airframe, period_s, **options)."""

    def throttle(self, state: VehicleState | Estimate, setpoint: Setpoint, t_ns: int) -> Array:
        """(n_rotors,) 0..1."""


class ControllerPart(OwnPart):
    """Runs a controller from outside the kernel at its rate; its throttles hold until the next call."""

    def __init__(self, controller: Controller, rate: Any, autopilot: Autopilot, context: Context) -> None:
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
        answer = ask(self.name, t_ns, self.controller.throttle, self._autopilot.state(t_ns), setpoint, t_ns)
        throttle = ask(self.name, t_ns, np.asarray, answer, np.float64)
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


class WindFieldPart(OwnPart):
    """Samples a user's wind field at each vehicle."""

    def __init__(self, field: Any, rate: Any, context: Context) -> None:
        super().__init__(f"wind field {type(field).__name__}", field, context)
        context.schedule.every(rate, self._act)

    def _act(self, t_ns: int, index: int) -> None:
        fleet = self._context.fleet
        for i in range(len(fleet.params)):
            position = self._context.fleet.state(i, t_ns).position
            answer = ask(self.name, t_ns, self._own.velocity, position, t_ns / NS_PER_S)
            wind = ask(self.name, t_ns, np.asarray, answer, np.float64)
            if wind.shape != (3,) or not np.isfinite(wind).all():
                raise ScenarioError(f"{self.name} at {position} gives {wind}; it must give three finite numbers")
            fleet.inputs[i]["wind_mean"] = wind
