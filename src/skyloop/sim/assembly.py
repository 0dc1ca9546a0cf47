"""Builds a simulation from a scenario. This is the only file that knows every package below it."""

from __future__ import annotations

import inspect
import logging
import math
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from skyloop.core.bus import Bus
from skyloop.core.clock import Clock, FreeRunning, Gate, RealTime, Schedule
from skyloop.core.jit import prepare
from skyloop.core.plugins import Registry
from skyloop.core.validation import read_yaml, validated
from skyloop.rendering.client import Renderer
from skyloop.sensors.external_camera import Observer
from skyloop.sensors.faults import check_faults
from skyloop.sensors.registry import SENSORS
from skyloop.sensors.sensor import CompletedSensor, Sensor
from skyloop.sim.estimator_assembly import estimator_parts, seen_by_estimators
from skyloop.sim.part import Part
from skyloop.sim.parts import (
    AutopilotPart,
    Context,
    ControllerPart,
    PilotPart,
    ProcessingPart,
    ScenePart,
    TruthPart,
    WindFieldPart,
)
from skyloop.sim.scenario import (
    AIRFRAMES,
    Scenario,
    UserPilot,
    UserSensor,
    Vehicle,
    has_own_controller,
)
from skyloop.sim.sensing import ObserverPart, SensorPart
from skyloop.sim.simulation import Simulation
from skyloop.sim.simulation_port import SimulationPort
from skyloop.sim.spawning import join
from skyloop.sim.survey import WorldSurvey, survey_of
from skyloop.sim.vehicle_port import VehiclePort
from skyloop.sim.watchful_people import people_parts
from skyloop.sim.world_editor import WorldEditor
from skyloop.vehicle.airframe import Airframe, Drag
from skyloop.vehicle.appearance import vehicle_shape
from skyloop.vehicle.autopilot import Autopilot
from skyloop.vehicle.fleet import Fleet, VehicleMover
from skyloop.vehicle.kernel_packing import CONTROLLERS, CompiledController, Flying, pack
from skyloop.vehicle.pilots.pilots import build_pilot
from skyloop.world.atmosphere import ConstantWind, DrydenWind, wind_field
from skyloop.world.earth import Earth
from skyloop.world.model import basic_shapes
from skyloop.world.scene import WorldScene
from skyloop.world.solids import Solids
from skyloop.world.weather import randomised, weather_at
from skyloop.world.world import World, build_world
from skyloop_client.errors import ScenarioError, unknown_name
from skyloop_client.messages import Array
from skyloop_client.streams import NS_PER_S, Rate, StreamInfo
from skyloop_client.user_code import is_plugin, load_plugin, made, require

log = logging.getLogger(__name__)

AUTOPILOT_RATE = Rate(50)
FASTEST_CONTROLLER_HZ = 500.0
PROCESSORS: Registry[Any] = Registry("processors", "processor")


def build(
    scenario: Scenario,
    *,
    gates: tuple[Gate, ...] = (),
    wanted: Callable[[int], bool] | None = None,
    renders: bool = True,
) -> Simulation:
    """Build a simulation at t = 0, before its first event. For `wanted` see `parts.Context`.

    renders: start the renderer now if there are cameras; otherwise it starts with the first picture."""
    prepare(*needed_rooms(scenario))
    folder = None if scenario.folder is None else Path(scenario.folder)
    earth = Earth(scenario.earth)
    world = made("world", build_world, scenario.world, scenario.seed, folder)
    world.model.change_surfaces({name: one.depth_m for name, one in scenario.materials.items()})
    airframes = [load_airframe(vehicle.airframe, folder) for vehicle in scenario.vehicles]
    fleet = _build_fleet(scenario, airframes, earth, world)
    pacing = RealTime(scenario.pacing.factor) if scenario.pacing.mode == "realtime" else FreeRunning()
    clock = Clock(pacing, gates)
    scene = _build_scene(scenario, world, earth, airframes, fleet, clock)
    bus, schedule = Bus(), Schedule()
    context = Context(bus, schedule, fleet, scene)
    context.wanted = wanted
    parts: list[Part] = [ScenePart(context), context.user_streams, *people_parts(context)]
    if scenario.wind.kind == "field":
        field = made("wind", wind_field, scenario.wind, folder)
        parts.append(WindFieldPart(field, _rate(scenario.wind.rate_hz, "wind.rate_hz"), context))
    autopilots = {
        vehicle.name: Autopilot(
            fleet,
            i,
            limits=airframes[i].limits,
            failsafes=vehicle.failsafes,
            on_estimate=vehicle.state != "truth",
        )
        for i, vehicle in enumerate(scenario.vehicles)
    }
    for i, vehicle in enumerate(scenario.vehicles):
        parts += _sensor_parts(vehicle, i, scenario, folder, context)
    for i, vehicle in enumerate(scenario.vehicles):
        autopilot = autopilots[vehicle.name]
        parts.append(_truth_part(vehicle.name, i, scenario.truth_rate_hz, context))
        survey = survey_of(scenario, vehicle, world.model)
        parts += _flying_parts(vehicle, airframes[i], autopilot, folder, survey, context)
        parts += estimator_parts(vehicle, autopilot, earth, folder, context)
    parts += _observer_parts(scenario, context)
    if context.lookers and renders:
        scene.expect_views()
    port = SimulationPort(context, clock, WorldEditor(scene, fleet, clock))
    for name, autopilot in autopilots.items():
        port.add_vehicle(VehiclePort(name, autopilot, context, clock))
    simulation = Simulation(clock, fleet, bus, schedule, autopilots, parts, port)
    simulation.editor.join = partial(join, simulation, context, scenario.seed)
    return simulation


def needed_rooms(scenario: Scenario) -> list[str]:
    """Name the modules, or names in them, whose compiled kernels this scenario calls."""
    rooms = ["skyloop.vehicle.fleet_kernels", "skyloop.core.keyed_random"]
    rooms += ["skyloop.sensors.sensor", "skyloop.world.ground"]
    # the vehicle's hull is a solid, too, and other ones are looked for in any world
    rooms += ["skyloop.world.solid_grids", "skyloop.vehicle.contact_search.free_steps"]
    if len(scenario.vehicles) > 1 or scenario.world.name not in ("flat", "hills") or scenario.world.file:
        rooms += ["skyloop.vehicle"]
    for vehicle in scenario.vehicles:
        kinds = {estimator.kind for estimator in vehicle.estimators.values()}
        rooms += ["skyloop.vehicle.estimation"] if vehicle.state == "ekf" or "ekf" in kinds else []
        for config in vehicle.sensors.values():
            if not isinstance(config, UserSensor):
                sensor = SENSORS[config.kind]
                rooms += [sensor.__module__, *sensor.kernels]
    return rooms


def _build_scene(
    scenario: Scenario, world: World, earth: Earth, airframes: list[Airframe], fleet: Fleet, clock: Clock
) -> WorldScene:
    """Put the vehicles into the world, and set up weather and renderer."""
    numbers = []
    for i, (vehicle, airframe) in enumerate(zip(scenario.vehicles, airframes, strict=True)):
        mover = VehicleMover(fleet, i, lambda: clock.now_ns)
        numbers.append(world.model.add_mover(mover, [vehicle_shape(airframe)], is_a="vehicle", name=vehicle.name))
    for shape in basic_shapes():
        # for links that add things in flight: the renderer is sent every shape once, at its start
        world.model.know(shape)
    world.model.freeze()
    fleet.attach(Solids(world.model, numbers))
    for i, vehicle in enumerate(scenario.vehicles):
        if len(vehicle.position) == 2:
            fleet.step_up(i)
        if thing := fleet.in_the_way(i):
            log.warning(
                "%s: '%s' is in the way above the start of '%s'; choose another position",
                scenario.name,
                thing,
                vehicle.name,
            )
    topics = scenario.world.randomise
    weather = weather_at(randomised(scenario.weather, scenario.seed, topics), scenario.earth.latitude_deg)
    texture_seed = scenario.seed if "textures" in topics else 0
    scene = WorldScene(world.model, earth, weather, lambda model: Renderer(model, texture_seed=texture_seed))
    scene.vehicle_parts = [(world.model.objects[n].rows[0], world.model.objects[n].rows[-1] + 1) for n in numbers]
    return scene


def load_airframe(airframe: str | Airframe, folder: Path | None = None) -> Airframe:
    """Load an airframe by name, from a YAML file, or from a user's module (an Airframe, a dict, or a function)."""
    if isinstance(airframe, Airframe):
        return airframe
    if is_plugin(airframe):
        own = load_plugin(airframe, folder)
        own = made(airframe, own) if callable(own) else own
        return own if isinstance(own, Airframe) else validated(Airframe, own, airframe)
    if airframe.endswith((".yaml", ".yml")):
        path = Path(airframe) if folder is None else folder / airframe
        return validated(Airframe, read_yaml(path), airframe)
    if airframe not in AIRFRAMES:
        raise unknown_name("airframe", airframe, AIRFRAMES)
    return _named_airframe(airframe)


@cache
def _named_airframe(name: str) -> Airframe:
    return validated(Airframe, read_yaml(AIRFRAMES[name]), name)


def _build_fleet(scenario: Scenario, airframes: list[Airframe], earth: Earth, world: World) -> Fleet:
    rate = Rate.from_hz(scenario.physics_rate_hz)
    records = []
    for vehicle, airframe in zip(scenario.vehicles, airframes, strict=True):
        airframe.check_lift(vehicle.name, earth)
        drag = chosen_drag(vehicle, airframe)
        airframe.tell_estimates(vehicle.name, drag)
        if vehicle.charge != 1.0 and airframe.battery is None:
            raise ScenarioError(
                f"{vehicle.name}: charge {vehicle.charge}, but '{airframe.name}' has no battery; remove it"
            )
        flying = Flying(
            gravity=earth.gravity,
            home_altitude=scenario.earth.altitude,
            drag=drag,
            controller=vehicle.controller or airframe.controller,
            control_divider=control_divider(vehicle, rate),
            seed=scenario.seed,
            name=vehicle.name,
            wind=scenario.wind,
            wrenches=vehicle.wrenches,
            rotor_faults=vehicle.rotor_faults,
            has_battery=vehicle.battery,
        )
        records.append(pack(airframe, flying))
    fleet = Fleet(records, rate, world.ground)
    fleet.names = [vehicle.name for vehicle in scenario.vehicles]
    wind = scenario.wind
    mean = wind.velocity if isinstance(wind, ConstantWind) else wind.mean if isinstance(wind, DrydenWind) else None
    for i, (vehicle, airframe) in enumerate(zip(scenario.vehicles, airframes, strict=True)):
        fleet.place(i, standing_position(vehicle, airframe, world), np.radians(vehicle.yaw_deg))
        fleet.set_charge(i, vehicle.charge)
        if mean is not None:
            fleet.inputs[i]["wind_mean"] = fleet.states[i]["wind"] = mean
    return fleet


def control_divider(vehicle: Vehicle, physics: Rate) -> int:
    """Physics steps per call of the controller."""
    if vehicle.controller_rate_hz is None:
        return math.ceil(physics.hz / FASTEST_CONTROLLER_HZ)
    ratio = physics.hz / vehicle.controller_rate_hz
    divider = max(1, round(ratio))
    # 333.333 stands for a third of 1000
    if abs(ratio / divider - 1.0) < 1e-5:
        return divider
    nearest = sorted({max(1, int(ratio)), int(ratio) + 1} if ratio > 1.0 else {1})
    possible = " or ".join(f"{physics.hz / steps:.6g}" for steps in nearest)
    raise ScenarioError(
        f"{vehicle.name}: controller_rate_hz {vehicle.controller_rate_hz:g} is no whole fraction of physics_rate_hz "
        f"{physics.hz:g}; give {possible}"
    )


def chosen_drag(vehicle: Vehicle, airframe: Airframe) -> Drag:
    return airframe.drag.model_copy(update=vehicle.drag.model_dump(exclude_none=True))


def standing_position(vehicle: Vehicle, airframe: Airframe, world: World) -> Array:
    """The start position: on its legs on the ground, unless the scenario gives a height."""
    x, y = vehicle.position[:2]
    sink = airframe.contact.sink
    standing = world.ground.at(x, y)[0] - min(leg[2] for leg in airframe.contact.legs) - sink
    if len(vehicle.position) == 2:
        return np.array([x, y, standing])
    # a height read off a standing vehicle may be a little lower
    if vehicle.position[2] < standing - sink:
        raise ScenarioError(
            f"{vehicle.name}: position {list(vehicle.position)} puts its legs below the ground; "
            f"give a height of at least {math.ceil(1000.0 * standing) / 1000.0:.3f} m, or [x, y] to stand there"
        )
    return np.array(vehicle.position)


def _sensor_parts(vehicle: Vehicle, i: int, scenario: Scenario, folder: Path | None, context: Context) -> list[Part]:
    parts: list[Part] = []
    for name, config in vehicle.sensors.items():
        key_path = f"{vehicle.name}.sensors.{name}"
        rate = _rate(config.rate_hz, f"{key_path}.rate_hz")
        if isinstance(config, UserSensor):
            own = made(key_path, load_plugin(config.kind, folder), **config.options)
            require(own, ("message", "initial_state", "measure"), key_path)
            sensor: Sensor[Any] = own if isinstance(own, Sensor) else CompletedSensor(own)
        else:
            try:
                sensor = SENSORS[config.kind].from_config(config, rate.period_s, folder)
            except ScenarioError as error:
                raise ScenarioError(f"{key_path}: {error}") from error
        sensor.enter(context.scene.model)
        stream = "/".join(filter(None, (vehicle.name, name, sensor.stream)))
        latency = config.latency if config.latency is not None else sensor.latency
        check_faults(config.faults, sensor, stream)
        delay_ns, mount = round(latency * NS_PER_S), config.mount.mount()
        info = StreamInfo(stream, sensor.message, rate, vehicle.name, delay_ns, mount, sensor.details())
        part = SensorPart(sensor, info, i, config.faults, scenario.seed, context)
        processing = _processing_parts(vehicle, name, info, context)
        # trackers, and pilots, estimators or controllers of the user's own, may remember what they saw
        remembered = _has_own_reader(scenario) or seen_by_estimators(scenario, stream)
        part.independent = part.independent and not processing and not remembered
        parts += [part, *processing]
    return parts


def _has_own_reader(scenario: Scenario) -> bool:
    """Whether a pilot or controller of the user's own may read any stream of any vehicle."""
    return any(isinstance(each.pilot, UserPilot) or has_own_controller(each) for each in scenario.vehicles)


def _processing_parts(vehicle: Vehicle, name: str, raw: StreamInfo, context: Context) -> list[Part]:
    """What is computed from each sample of a sensor and published beside it, such as a radar's detections."""
    processor = PROCESSORS.get(raw.message)
    if processor is None:
        return []
    config = vehicle.perception.get(name, processor.Config())
    if config is None:
        return []
    infos = [
        StreamInfo(
            f"{vehicle.name}/{name}/{ending}", message, raw.rate, vehicle.name, raw.latency_ns, raw.mount, raw.details
        )
        for ending, message in processor.products.items()
    ]
    return [ProcessingPart(processor(raw.details, config), raw.name, infos, context)]


def _observer_parts(scenario: Scenario, context: Context) -> list[Part]:
    names = [vehicle.name for vehicle in scenario.vehicles]
    parts: list[Part] = []
    for name, config in scenario.observers.items():
        rate = _rate(config.rate_hz, f"observers.{name}.rate_hz")
        info = StreamInfo(f"observer/{name}", "CameraImage", rate)
        watched = None if config.vehicle is None else names.index(config.vehicle)
        part = ObserverPart(Observer(config), info, watched, context)
        part.independent = not _has_own_reader(scenario) and not seen_by_estimators(scenario, info.name)
        parts.append(part)
    return parts


def _truth_part(vehicle: str, i: int, rate_hz: float, context: Context) -> TruthPart:
    rate = Rate.from_hz(rate_hz)
    return TruthPart(
        i,
        {
            "state": StreamInfo(f"truth/{vehicle}", "VehicleState", rate, vehicle),
            "battery": StreamInfo(f"{vehicle}/battery", "BatteryState", rate, vehicle),
            "actuators": StreamInfo(f"{vehicle}/actuators", "ActuatorState", rate, vehicle),
        },
        context,
    )


def _flying_parts(
    vehicle: Vehicle,
    airframe: Airframe,
    autopilot: Autopilot,
    folder: Path | None,
    survey: WorldSurvey,
    context: Context,
) -> list[Part]:
    """Make the parts that fly a vehicle: its autopilot, a user's controller, and the pilot."""
    parts: list[Part] = [AutopilotPart(autopilot, vehicle.name, AUTOPILOT_RATE, context)]
    named = vehicle.controller or airframe.controller
    make = load_plugin(named, folder) if is_plugin(named) else CONTROLLERS[named]
    if not isinstance(make, CompiledController):
        physics = context.fleet.rate
        rate = Rate(physics.num, physics.den * control_divider(vehicle, physics))
        key_path = f"{vehicle.name}.controller"
        controller = made(key_path, make, airframe, rate.period_s, **vehicle.controller_options)
        require(controller, ("throttle",), key_path)
        parts.append(ControllerPart(controller, rate, autopilot, context))
    if vehicle.pilot is not None:
        if isinstance(vehicle.pilot, UserPilot):
            pilot = load_plugin(vehicle.pilot.kind, folder)
            if inspect.isclass(pilot):
                pilot = made(f"{vehicle.name}.pilot", pilot, **vehicle.pilot.options)
            elif vehicle.pilot.options:
                raise ScenarioError(f"{vehicle.name}.pilot: '{vehicle.pilot.kind}' is a function, it takes no options")
            require(pilot, ("__call__",), f"{vehicle.name}.pilot")
        else:
            pilot = build_pilot(vehicle.pilot.drawn(survey))
        rate = _rate(vehicle.pilot.rate_hz, f"{vehicle.name}.pilot.rate_hz")
        info = StreamInfo(f"{vehicle.name}/pilot", "Setpoint", rate, vehicle.name)
        parts.append(PilotPart(pilot, info, autopilot, context))
    return parts


def _rate(hz: float | str, key_path: str) -> Rate:
    try:
        rate = Rate.from_hz(hz)
    except (ScenarioError, ValueError, ZeroDivisionError):
        raise ScenarioError(
            f"{key_path}: {hz} is no rate; give a positive number or a fraction like 30000/1001"
        ) from None
    if not 1e-3 <= rate.hz <= 1e5:
        raise ScenarioError(f"{key_path}: {hz} Hz is out of range; give 0.001 to 100000")
    return rate
