"""The parts of a running simulation that act at their own rates: sensors, estimators, autopilots, pilots.

A part is made by `assembly.py`, enters itself into the schedule or onto the bus, and from then on only answers.
All that changes in it is in `memory()`, so that a snapshot of the simulation holds it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from skyloop.bus import Bundle, Bus
from skyloop.errors import ScenarioError, SetpointError
from skyloop.keyed_random import KeyedRandom, stream_key
from skyloop.messages import Array, Estimate, Event, Message, Request, Setpoint, VehicleState
from skyloop.schedule import Schedule
from skyloop.sensors.faults import Fault, apply_faults
from skyloop.sensors.sensor import Scene, kinematics_at
from skyloop.streams import NS_PER_S, StreamInfo
from skyloop.vehicle.autopilot import Autopilot
from skyloop.vehicle.fleet import Fleet


class Part(Protocol):
    def memory(self) -> Any: ...

    def remember(self, memory: Any) -> None: ...

    def close(self) -> None: ...


class Forgetful:
    """For parts that hold nothing worth keeping."""

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

    def publish(self, stream: str, index: int, t_ns: int, data: Any, latency_ns: int = 0) -> None:
        message = Message(stream, index, t_ns, t_ns + latency_ns, data)
        if latency_ns:
            self.schedule.once(message.arrival_ns, lambda _: self.bus.publish(message))
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
        self._state = sensor.initial_state(KeyedRandom(stream_key(seed, f"{info.name}/turn-on"), 0))
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
        sample, self._state = self.sensor.measure(kinematics, context.scene, self._state, rng)
        extra = 0.0
        if self._faults:
            sample, extra, self._held = apply_faults(self._faults, self.sensor, sample, self._held, rng)
        if self._hidden is not None:
            context.publish(self._hidden_name, index, t_ns, self._hidden(self._state, t_ns))
        if sample is not None:
            latency = self.info.latency_ns + round(extra * NS_PER_S)
            context.publish(self.info.name, index, t_ns, sample, latency)

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
        self._info = info
        self._context = context
        self._index = 0
        context.bus.advertise(info)
        for stream in inputs:
            context.bus.on(stream, self._on_message)

    def _on_message(self, message: Message) -> None:
        estimate = self._localiser.on_message(message)
        if estimate is not None:
            arrival = message.arrival_ns - estimate.t_ns
            self._context.bus.publish(
                Message(self._info.name, self._index, estimate.t_ns, estimate.t_ns + arrival, estimate)
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
        self._autopilot = autopilot
        self._status = status
        self._events = events
        self._context = context
        self._count = 0
        context.bus.advertise(status)
        context.bus.advertise(events)
        assert status.rate is not None
        context.schedule.every(status.rate, self._act)

    def _act(self, t_ns: int, index: int) -> None:
        row = self._context.fleet.states[self._autopilot.index]
        if row["impact_speed"] > 0.0:
            speed = float(row["impact_speed"])
            row["impact_speed"] = 0.0
            what = "body" if row["body_down"] else "legs"
            self._publish(Event(t_ns, "contact", f"{what} at {speed:.2f} m/s", {"speed": speed}))
        for event in self._autopilot.tick(t_ns):
            self._publish(event)
        self._context.publish(self._status.name, index, t_ns, self._autopilot.status(t_ns))

    def _publish(self, event: Event) -> None:
        self._context.publish(self._events.name, self._count, event.t_ns, event)
        self._count += 1

    def memory(self) -> Any:
        return self._count

    def remember(self, memory: Any) -> None:
        self._count = memory

    def close(self) -> None:
        pass


class PilotPart:
    """Asks a pilot at its rate and passes on what it answers."""

    def __init__(
        self, pilot: Callable[[Bundle], Any], info: StreamInfo, autopilot: Autopilot, context: Context
    ) -> None:
        self.pilot = pilot
        self._info = info
        self._autopilot = autopilot
        self._context = context
        assert info.rate is not None
        context.schedule.every(info.rate, self._act)

    @property
    def done(self) -> bool:
        """True once the pilot says it has nothing more to send; a plain function never does."""
        return bool(getattr(self.pilot, "done", False))

    def _act(self, t_ns: int, index: int) -> None:
        bundle = Bundle(t_ns, self._info.vehicle, self._context.bus, self._autopilot.state(t_ns))
        reply = self.pilot(bundle)
        for item in reply if isinstance(reply, list | tuple) else [reply]:
            if item is not None:
                try:
                    self._send(item, t_ns)
                except (SetpointError, TypeError, ValueError) as error:
                    raise SetpointError(
                        f"pilot of '{self._info.vehicle}' at {t_ns / NS_PER_S:.3f} s: {error}"
                    ) from error

    def _send(self, item: Any, t_ns: int) -> None:
        if not isinstance(item, Setpoint | Request):
            raise SetpointError(f"answers with {item!r}; give setpoints and requests of skyloop.messages")
        self._autopilot.send(item, t_ns)

    def memory(self) -> Any:
        return getattr(self.pilot, "__dict__", None)

    def remember(self, memory: Any) -> None:
        if memory is not None:
            self.pilot.__dict__.clear()
            self.pilot.__dict__.update(memory)

    def close(self) -> None:
        pass


class Controller(Protocol):
    """Your own: made as Class(airframe, period_s, **options)."""

    def throttle(self, state: VehicleState | Estimate, setpoint: Setpoint, t_ns: int) -> Array:
        """(n_rotors,) 0..1."""


class ControllerPart:
    """Runs a controller from outside the kernel at its rate; its throttles hold until the next call."""

    def __init__(self, controller: Controller, rate: Any, autopilot: Autopilot, context: Context) -> None:
        self.controller = controller
        self._autopilot = autopilot
        self._context = context
        context.schedule.every(rate, self._act)

    def _act(self, t_ns: int, index: int) -> None:
        setpoint = self._autopilot.present_setpoint(t_ns)
        if setpoint is None:
            return
        fleet, i = self._context.fleet, self._autopilot.index
        n = int(fleet.params[i]["n_rotors"])
        throttle = np.asarray(self.controller.throttle(self._autopilot.state(t_ns), setpoint, t_ns), dtype=np.float64)
        if throttle.shape != (n,) or not np.isfinite(throttle).all():
            raise SetpointError(
                f"controller {type(self.controller).__name__} at {t_ns / NS_PER_S:.3f} s: throttle must "
                f"be {n} finite numbers, got {throttle}"
            )
        share = np.clip(throttle, 0.0, 1.0)
        if fleet.params[i]["throttle_is_thrust"]:
            share = np.sqrt(share)
        command = share * fleet.params[i]["max_speed"]
        fleet.states[i]["command"][:n] = command
        # touching down is felt as thrust the controller has taken away
        wanted = fleet.params[i]["thrust_per_speed_squared"] * np.sum(command**2)
        fleet.states[i]["thrust_wanted"] = wanted

    def memory(self) -> Any:
        return getattr(self.controller, "__dict__", None)

    def remember(self, memory: Any) -> None:
        if memory is not None:
            self.controller.__dict__.clear()
            self.controller.__dict__.update(memory)

    def close(self) -> None:
        pass


class WindFieldPart(Forgetful):
    """Samples a user's wind field at each vehicle."""

    def __init__(self, field: Any, rate: Any, context: Context) -> None:
        self._field = field
        self._context = context
        context.schedule.every(rate, self._act)

    def _act(self, t_ns: int, index: int) -> None:
        fleet = self._context.fleet
        for i in range(len(fleet.params)):
            position = self._context.fleet.state(i, t_ns).position
            wind = np.asarray(self._field.velocity(position, t_ns / NS_PER_S), dtype=np.float64)
            if wind.shape != (3,) or not np.isfinite(wind).all():
                raise ScenarioError(f"wind field at {position} gives {wind}; it must give three finite numbers")
            fleet.inputs[i]["wind_mean"] = wind
