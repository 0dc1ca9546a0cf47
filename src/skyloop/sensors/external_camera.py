"""Observers: cameras that belong to no vehicle. They use no random numbers and keep no state."""

from __future__ import annotations

import math
from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from skyloop.core.frames import quat_from_matrix, yaw_from_quat
from skyloop.core.quantities import Distance, Elevation, Point, Seconds
from skyloop.sensors.camera import Quality
from skyloop.world.views import Pinhole, ViewPose, ViewRequest
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array, VehicleState
from skyloop_client.streams import NS_PER_S, Rate


class ObserverConfig(BaseModel):
    """A camera that belongs to no vehicle; it sees all vehicles and has no noise."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    mode: Literal["fixed", "chase", "orbit"] = "chase"
    """`fixed` stands still, `chase` flies behind the heading of a vehicle, `orbit` circles around a vehicle or around
    `look_at`."""
    vehicle: str | None = None
    """The vehicle it looks at; null: it looks at the point `look_at`."""
    rate_hz: float | str = 25.0
    """Images per second."""
    width: Annotated[int, Field(ge=8, le=8192)] = 640
    """px, the width of the image."""
    height: Annotated[int, Field(ge=8, le=8192)] = 360
    """px, the height of the image."""
    horizontal_fov_deg: Annotated[float, Field(ge=1.0, le=170.0)] = 80.0
    """The field of view across the image."""
    quality: Quality = "medium"
    """How much detail the renderer draws."""
    position: Point = (-5.0, -5.0, 3.0)
    """m, the position of the camera in mode `fixed`, in world axes."""
    look_at: Point = (0.0, 0.0, 1.0)
    """m, the point that `fixed` and `orbit` look at when no vehicle is named, in world axes."""
    back: Distance = 3.0
    """m, the distance behind the vehicle in mode `chase`, and the radius in mode `orbit`."""
    up: Elevation = 1.2
    """m, the height above the point it looks at, in modes `chase` and `orbit`."""
    period: Seconds = 30.0
    """s, the time of one circle in mode `orbit`, counter-clockwise from east."""

    @field_validator("rate_hz")
    @classmethod
    def _rate_is_usable(cls, value: float | str) -> float | str:
        try:
            Rate.from_hz(value)
        except (ScenarioError, ZeroDivisionError) as error:
            raise ValueError(f"{error}; give a positive number or a fraction such as 30000/1001") from None
        return value

    @model_validator(mode="after")
    def _chases_someone(self) -> ObserverConfig:
        if self.mode == "chase" and self.vehicle is None:
            raise ValueError("mode chase needs a vehicle; name one, or take mode fixed or orbit")
        return self


class Observer:
    def __init__(self, config: ObserverConfig) -> None:
        self.config = config
        c = config
        self.lens = Pinhole.from_fov(c.width, c.height, math.radians(c.horizontal_fov_deg))

    def request(self, state: VehicleState | None, t_ns: int) -> ViewRequest:
        """The view due at `t_ns`; `state` is that of the vehicle it looks at, None if it looks at a point."""
        c = self.config
        if c.vehicle is not None and state is None:
            raise ScenarioError(f"an observer of '{c.vehicle}' needs that vehicle's state")
        target = np.array(c.look_at) if state is None else state.position
        if c.mode == "fixed":
            eye = np.array(c.position)
        else:
            yaw = 2.0 * math.pi * (t_ns / NS_PER_S) / c.period
            if c.mode == "chase" and state is not None:
                yaw = float(yaw_from_quat(state.quat_wxyz)) + math.pi
            eye = target + np.array([c.back * math.cos(yaw), c.back * math.sin(yaw), c.up])
        return ViewRequest(self.lens, ViewPose(t_ns, eye, looking(eye, target)), c.quality)


def looking(eye: Array, target: Array) -> Array:
    """(4,) world_from_camera of a level camera at `eye`; straight down or up, north is up in the image."""
    forward = target - eye
    size = float(np.linalg.norm(forward))
    forward = forward / size if size > 1e-9 else np.array([1.0, 0.0, 0.0])
    right = np.array([forward[1], -forward[0], 0.0])
    level = float(np.linalg.norm(right))
    right = right / level if level > 1e-9 else np.array([1.0, 0.0, 0.0])
    return quat_from_matrix(np.stack([right, np.cross(forward, right), forward], axis=1))
