"""The sensors that a scenario can name by kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from skyloop.core.plugins import Registry
from skyloop.core.validation import either
from skyloop.sensors.sensor import Sensor, SensorConfig

SENSORS: Registry[type[Sensor[Any]]] = Registry("sensors", "sensor")

if TYPE_CHECKING:
    AnySensor: TypeAlias = SensorConfig
else:
    AnySensor = either(each.Config for each in SENSORS.loadable().values())
