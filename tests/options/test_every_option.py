"""No option of a scenario is without a test: what can be written there is read from the code."""

from __future__ import annotations

from typing import Any, get_args

from option_flights import HERE
from pydantic import BaseModel

from skyloop.sim.scenario import Scenario, Vehicle

FILES = {
    "scenario": ("Scenario", "PacingConfig", "EarthConfig", "UserPilot", "UserSensor", "SurfaceChoice"),
    "world": ("WorldConfig",),
    "weather": ("WeatherConfig",),
    "observer": ("ObserverConfig",),
    "airframe": ("Airframe", "Rotor", "Motor", "Battery", "ContactConfig"),
    "controller": ("Gains", "SimpleFlightGains", "Limits"),
    "air": ("Drag", "DragChoice", "Calm", "ConstantWind", "DrydenWind", "FieldWind", "Wrench", "RotorFault"),
    "landing": ("LandingPilotConfig", "LandingStart", "LandingControlConfig"),
    "navigate": ("NavigatePilotConfig", "NavigatorConfig", "GlobalPlannerConfig", "LocalPlannerConfig"),
    "failsafe": ("Failsafes",),
    "drawn": ("ExploreConfig", "FreeSpaceConfig", "DrawnGoals"),
    "state": ("EkfConfig", "EstimatorConfig"),
    "sensor": ("SensorConfig", "MountConfig"),
    "sensor_fault": ("Fault", "Outage"),
    "camera": ("CameraConfig",),
    "depth": ("DepthCameraConfig",),
    "lidar": ("LidarConfig",),
    "optical_flow": ("OpticalFlowConfig",),
    "radar": ("RadarConfig", "RadarTarget", "Isotropic", "Beam", "Vira", "CsvPattern", "PicturePattern"),
    "radar_processing": ("ProcessingConfig", "TrackingConfig"),
}
BY_KIND: dict[str, tuple[str, ...]] = {
    "sensor": ("skyloop.sensors.",),
    "pilot": ("skyloop.vehicle.pilots.pilots", "skyloop.vehicle.trajectories.trajectories"),
}
"""Enumerated from their registries in test_<name>_options.py."""

VEHICLE = {
    "scenario": ("name", "position", "yaw_deg"),
    "airframe": ("airframe", "controller", "controller_rate_hz", "controller_options", "battery", "charge"),
    "air": ("drag", "wrenches", "rotor_faults"),
    "state": ("state", "ekf", "estimators"),
    "sensor": ("sensors",),
    "radar_processing": ("perception",),
    "pilot": ("pilot",),
    "failsafe": ("failsafes",),
}


def models_in(annotation: Any, found: set[type[BaseModel]]) -> set[type[BaseModel]]:
    """Every config record that an annotation may hold, however deep."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        if annotation not in found:
            found.add(annotation)
            for field in annotation.model_fields.values():
                models_in(field.annotation, found)
        return found
    for part in get_args(annotation):
        models_in(part, found)
    return found


MODELS = sorted(models_in(Scenario, set()) - {Vehicle}, key=lambda model: model.__name__)


def text(name: str) -> str:
    return (HERE / f"test_{name}_options.py").read_text(encoding="utf-8")


def test_every_config_record_has_a_file_that_enumerates_its_fields() -> None:
    for model in MODELS:
        homes = [name for name, models in FILES.items() if model.__name__ in models]
        if homes:
            assert model.__name__ in text(homes[0]) and "fields_of(" in text(homes[0])
        else:
            covered = any(model.__module__.startswith(modules) for modules in BY_KIND.values())
            assert covered, f"{model.__name__} can be written in a scenario, but no options test covers it"


def test_every_option_of_a_vehicle_is_covered() -> None:
    assert {name for names in VEHICLE.values() for name in names} == set(Vehicle.model_fields)
    for file, names in VEHICLE.items():
        for name in names:
            assert name in text(file)
