"""From the estimators of a scenario to parts, and to what the controller flies on."""

from __future__ import annotations

from pathlib import Path

from skyloop.core.frames import yaw_from_quat
from skyloop.sim.estimation import EkfPart, OutsideEstimator, OutsideEstimatorPart, UserEstimatorPart
from skyloop.sim.estimator_config import ESTIMATORS, PARTS_OF_THE_SIMULATION, EstimatorConfig
from skyloop.sim.parts import Context, Part
from skyloop.sim.scenario import Scenario, Vehicle
from skyloop.vehicle.autopilot import Autopilot
from skyloop.vehicle.estimation.localisation import EkfLocaliser
from skyloop.world.earth import Earth
from skyloop_client.errors import ScenarioError, nearest_name
from skyloop_client.estimator import EstimatorSetup
from skyloop_client.messages import StartConditions
from skyloop_client.plugins import is_plugin, load_plugin, made, require
from skyloop_client.streams import NS_PER_S, StreamInfo

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
        place = f"{vehicle.name}.estimators.{name}"
        infos = _inputs(vehicle, config, place, context)
        setup = EstimatorSetup(vehicle.name, name, infos, _start(autopilot, earth, context))
        make = load_plugin(config.kind, folder) if is_plugin(config.kind) else ESTIMATORS[config.kind]
        if config.kind in PARTS_OF_THE_SIMULATION:
            parts.append(make(vehicle, config, setup, earth, context))
            continue
        estimator = made(place, make, setup, **config.options)
        require(estimator, ("on_message",), place)
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


def _inputs(vehicle: Vehicle, config: EstimatorConfig, place: str, context: Context) -> dict[str, StreamInfo]:
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
            raise ScenarioError(f"{place}.inputs: no stream named '{name}'; {hint}")
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
