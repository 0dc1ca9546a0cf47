"""Estimators as parts of a simulation: the built-in EKF and classes of the user's own, made as the scenario says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from skyloop.core.frames import yaw_from_quat
from skyloop.sim.estimator_config import ESTIMATORS, PARTS_OF_THE_SIMULATION, EstimatorConfig, Options
from skyloop.sim.part import Memory, Part
from skyloop.sim.parts import Context, UserPart
from skyloop.sim.scenario import Scenario, Vehicle
from skyloop.vehicle.autopilot import Autopilot
from skyloop.vehicle.estimation.localisation import EkfLocaliser
from skyloop.world.earth import Earth
from skyloop_client.errors import PartError, ScenarioError, StreamError, nearest_name
from skyloop_client.estimator import Estimator, EstimatorSetup, answers_of
from skyloop_client.messages import Message, StartConditions
from skyloop_client.streams import NS_PER_S, StreamInfo
from skyloop_client.user_code import call_user_code, is_plugin, load_plugin, made, require


class EkfPart(Part):
    """Runs the built-in localiser on the vehicle's streams and publishes what it believes."""

    def __init__(self, localiser: EkfLocaliser, inputs: Sequence[str], info: StreamInfo, context: Context) -> None:
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

    def memory(self) -> object:
        return self._localiser.snapshot(), self._index

    def remember(self, memory: Memory) -> None:
        saved, self._index = memory
        self._localiser.restore(saved)


@runtime_checkable
class Remembering(Protocol):
    """An estimator of the user's that says itself what it remembers."""

    def snapshot(self) -> object: ...

    def restore(self, memory: object) -> None: ...


class UserEstimatorPart(UserPart):
    """Gives an estimator of the user's every message of its inputs as it arrives, and publishes what it answers.

    A snapshot holds the estimator's attributes, or what its `snapshot` gives where it has one.
    """

    def __init__(self, estimator: Estimator, setup: EstimatorSetup, latency_ns: int, context: Context) -> None:
        super().__init__(f"estimator '{setup.name}' of '{setup.vehicle}'", estimator, context)
        self._setup = setup
        self._latency_ns = latency_ns
        for name, record in getattr(estimator, "products", {setup.name: "Estimate"}).items():
            info = StreamInfo(f"{setup.vehicle}/{name}", record, None, setup.vehicle, latency_ns)
            context.user_streams.reserve(info, self.name)
        for source in setup.infos.values():
            context.bus.on(source.name, self._on_message)

    def _on_message(self, message: Message) -> None:
        now_ns = message.arrival_ns
        answer = call_user_code(self.name, now_ns, self._own.on_message, message)
        try:
            for name, record in answers_of(self._setup.name, answer):
                self._context.user_streams.publish(
                    self._setup.vehicle, name, record, now_ns, sender=self.name, latency_ns=self._latency_ns
                )
        except StreamError as error:
            raise PartError(f"{self.name} at {now_ns / NS_PER_S:.3f} s: {error}") from error

    def memory(self) -> object:
        return self._own.snapshot() if isinstance(self._own, Remembering) else super().memory()

    def remember(self, memory: Memory) -> None:
        if isinstance(self._own, Remembering):
            self._own.restore(memory)
        else:
            super().remember(memory)


@dataclass(frozen=True, slots=True, eq=False)
class OutsideEstimator:
    """An estimator that runs at the other end of a link: what its process gets when it connects."""

    setup: EstimatorSetup
    options: Options
    products: dict[str, str] = field(default_factory=dict)
    """Streams and the names of their records, in place of a stream of estimates."""

    def publishes(self, name: str) -> bool:
        """Whether a stream, with or without the vehicle's name, is one that is kept for it."""
        own = name.removeprefix(f"{self.setup.vehicle}/") if isinstance(name, str) else ""
        return own in (self.products or {self.setup.name: "Estimate"})

    @property
    def sender(self) -> str:
        return f"estimator '{self.setup.name}' on the link"


class OutsideEstimatorPart(Part):
    """Keeps the stream of an estimator whose records come over a link."""

    def __init__(self, outside: OutsideEstimator, context: Context) -> None:
        setup = outside.setup
        self.name = f"{setup.vehicle}/{setup.name}"
        for name, record in (outside.products or {setup.name: "Estimate"}).items():
            info = StreamInfo(f"{setup.vehicle}/{name}", record, None, setup.vehicle)
            context.user_streams.reserve(info, outside.sender)
        context.user_streams.outside[self.name] = outside


EKF_STREAM = "estimate"
"""Of the EKF that `state: ekf` alone asks for."""
NOT_SENSED = ("BatteryState", "ActuatorState", "VehicleStatus", "SetpointState", "Event", "Estimate")
"""Records of a vehicle that no sensor makes."""


def estimator_parts(
    vehicle: Vehicle, autopilot: Autopilot, earth: Earth, folder: Path | None, context: Context
) -> list[Part]:
    """All estimators of a vehicle, and the stream of estimates its controller listens to."""
    parts: list[Part] = []
    if vehicle.state == "ekf" and "ekf" not in vehicle.estimators:
        # first, because others may have `state` as an input
        config = EstimatorConfig(kind="ekf")
        infos = _inputs(vehicle, config, vehicle.name, context)
        setup = EstimatorSetup(vehicle.name, EKF_STREAM, infos, _start(autopilot, earth, context))
        parts.append(ekf_part(vehicle, config, setup, earth, context))
    for name, config in vehicle.estimators.items():
        key_path = f"{vehicle.name}.estimators.{name}"
        infos = _inputs(vehicle, config, key_path, context)
        setup = EstimatorSetup(vehicle.name, name, infos, _start(autopilot, earth, context))
        make = load_plugin(config.kind, folder) if is_plugin(config.kind) else ESTIMATORS[config.kind]
        if config.kind in PARTS_OF_THE_SIMULATION:
            parts.append(make(vehicle, config, setup, earth, context))
            continue
        estimator = made(key_path, make, setup, **config.options)
        require(estimator, ("on_message",), key_path)
        parts.append(UserEstimatorPart(estimator, setup, round(config.latency * NS_PER_S), context))
    if vehicle.state != "truth":
        stream = _state_stream(vehicle, context)
        context.bus.on(stream, lambda message: autopilot.feed_estimate(message.data))
    return parts


def seen_by_estimators(scenario: Scenario, stream: str) -> bool:
    """Whether some estimator of the user's, or one outside, gets the messages of a sensor's stream."""
    for vehicle in scenario.vehicles:
        for config in vehicle.estimators.values():
            names = {full for name in config.inputs for full in (name, f"{vehicle.name}/{name}")}
            if config.kind != "ekf" and (stream in names or (not names and stream.startswith(f"{vehicle.name}/"))):
                return True
    return False


def _inputs(vehicle: Vehicle, config: EstimatorConfig, key_path: str, context: Context) -> dict[str, StreamInfo]:
    """By the name the scenario gives it, what is known of each input."""
    known, own = context.bus.infos, f"{vehicle.name}/"
    if not config.inputs:
        sensed = [i for i in known.values() if i.vehicle == vehicle.name and i.message not in NOT_SENSED]
        return {info.name.removeprefix(own): info for info in sensed if info.name.startswith(own)}
    found = {}
    full: str | None
    for name in config.inputs:
        if name == "state":
            # so that a scenario can be flown on another estimate without naming it twice
            full = f"truth/{vehicle.name}" if vehicle.state == "truth" else _state_stream(vehicle, context)
        else:
            full = next((full for full in (own + name, name) if full in known), None)
        if full is None:
            hint = nearest_name(name, [stream.removeprefix(own) for stream in known])
            raise ScenarioError(f"{key_path}.inputs: no stream named '{name}'; {hint}")
        found[name] = known[full]
    return found


def outside_part(
    vehicle: Vehicle, config: EstimatorConfig, setup: EstimatorSetup, earth: Earth, context: Context
) -> Part:
    """An estimator at the other end of a link."""
    return OutsideEstimatorPart(OutsideEstimator(setup, config.options, config.products), context)


def ekf_part(vehicle: Vehicle, config: EstimatorConfig, setup: EstimatorSetup, earth: Earth, context: Context) -> Part:
    """The built-in estimator. It has its options from `ekf` of the vehicle."""
    infos = dict(setup.infos)
    # without a barometer heights come from GNSS, without a magnetometer the heading is `unknown_heading_sd`
    missing = {"ImuSample", "GnssFix"} - {info.message for info in infos.values()}
    if missing:
        lacking = ", ".join(sorted(missing))
        raise ScenarioError(f"{vehicle.name}: the ekf needs sensors that give {lacking}; add them under sensors")
    localiser = EkfLocaliser(
        vehicle.ekf, infos, earth.local_frame.home, earth.magnetic_field_world, gravity=earth.gravity
    )
    inputs = [info.name for info in infos.values()]
    info = StreamInfo(f"{vehicle.name}/{setup.name}", "Estimate", None, vehicle.name)
    return EkfPart(localiser, inputs, info, context)


def _start(autopilot: Autopilot, earth: Earth, context: Context) -> StartConditions:
    state, home = context.fleet.state(autopilot.index, 0), earth.local_frame.home
    return StartConditions(
        latitude_deg=home.latitude_deg,
        longitude_deg=home.longitude_deg,
        altitude=home.altitude,
        gravity=earth.gravity,
        magnetic_field_world=earth.magnetic_field_world,
        position=state.position,
        yaw=float(yaw_from_quat(state.quat_wxyz)),
    )


def _state_stream(vehicle: Vehicle, context: Context) -> str:
    """The stream of estimates that `state` names."""
    state, known = vehicle.state, context.bus.infos
    named = [f"{vehicle.name}/{EKF_STREAM}"] if state == "ekf" else []
    stream = next((full for full in (f"{vehicle.name}/{state}", *named, state) if full in known), None)
    if stream is None:
        names = ["truth", "ekf", *vehicle.estimators, *known]
        raise ScenarioError(
            f"{vehicle.name}: state '{state}' is neither truth nor ekf nor an estimator nor a stream; "
            f"{nearest_name(state, names)}"
        )
    if known[stream].message != "Estimate":
        raise ScenarioError(f"{vehicle.name}: state '{state}' is a stream of {known[stream].message}, not of Estimate")
    return stream


def check_nobody_is_outside(scenario: Scenario) -> None:
    """Without a link nobody would ever say what such an estimator believes."""
    for vehicle in scenario.vehicles:
        for name, estimator in vehicle.estimators.items():
            if estimator.kind == "link":
                raise ScenarioError(
                    f"{vehicle.name}.estimators.{name} is of kind link: its process connects to `skyloop loop` only"
                )
