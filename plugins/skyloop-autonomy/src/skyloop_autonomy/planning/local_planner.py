"""The local planner: a motion to the sub-goal that keeps clear of the cloud, or the safest one if there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from pydantic import BaseModel, ConfigDict, model_validator

from skyloop.core import quantities
from skyloop_autonomy.planning.clearance import LEAVING, MOVER_COLUMNS, MotionLimits
from skyloop_autonomy.planning.local_search import find_backup, find_motion, stays_clear
from skyloop_autonomy.planning.primitives import Motion
from skyloop_client.messages import Array

Kind: TypeAlias = Literal["fly", "hover", "brake", "back off"]
_BACKUPS: tuple[Kind, Kind, Kind] = ("hover", "brake", "back off")
NO_MOVERS: Array = np.empty((0, MOVER_COLUMNS))


class LocalPlannerConfig(BaseModel):
    """The local planner, between obstacles. The defaults are those of E2ES unless the field says why not."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    radius: quantities.Length = 0.45
    """m, the minimum distance between the vehicle's middle and any obstacle. The iris has 0.38 m to its blade tips;
    E2ES uses 0.5 m."""
    room: quantities.Length = 0.65
    """m, the preferred distance from obstacles. The map has cells of 0.2 and 0.3 m and drifts with the estimate, so
    `radius` alone is for narrow gaps."""
    max_speed: quantities.Speed = 0.9
    """m/s. E2ES's planner may fly 1.8 m/s, but its flights stay below 1 m/s; the rest is for the controller."""
    max_acceleration: quantities.Acceleration = 1.2
    """m/s², the largest acceleration of a planned motion."""
    max_jerk: quantities.Positive = 3.0
    """m/s³, the largest jerk of a planned motion."""
    reach: quantities.Length = 3.0
    """m, the planning range; points of the cloud beyond it are ignored."""
    floor: quantities.Elevation = 0.5
    """m, the lowest position it flies at, world axes."""
    ceiling: quantities.Elevation = 5.0
    """m, the highest position it flies at, world axes."""
    commit: quantities.Seconds = 0.3
    """s, the time of a motion that is flown before the next one is expected."""

    @model_validator(mode="after")
    def _has_room(self) -> LocalPlannerConfig:
        if self.ceiling <= self.floor:
            raise ValueError("the ceiling is not above the floor; make ceiling larger")
        return self

    @property
    def limits(self) -> tuple[float, ...]:
        return tuple(
            MotionLimits(
                self.radius,
                self.max_speed,
                self.max_acceleration,
                self.max_jerk,
                self.reach,
                self.floor,
                self.ceiling,
                self.commit,
                max(self.room, self.radius),
                LEAVING,
            )
        )


@dataclass(frozen=True, slots=True, eq=False)
class Manoeuvre:
    """A motion and what it is for."""

    motion: Motion
    kind: Kind
    roomy: bool = False
    """Whether a motion to a goal keeps the room that it would like."""


def plan_motion(
    start: Array, aim: Array, cloud: Array, config: LocalPlannerConfig, movers: Array = NO_MOVERS
) -> Manoeuvre | None:
    """A motion from `start` (3, 3: position, velocity, acceleration) towards `aim`; None where nothing is free.

    cloud: (n, 3) m, world, points of obstacles; movers: (m, 8), see `clearance`."""
    coefficients = np.zeros((7, 3))
    found = find_motion(_given(start), _given(aim), _given(cloud), _given(movers), config.limits, coefficients)
    duration, roomy = float(found[0]), bool(found[1])
    return Manoeuvre(Motion(coefficients, duration), "fly", roomy) if duration > 0.0 else None


def back_up(start: Array, cloud: Array, config: LocalPlannerConfig, movers: Array = NO_MOVERS) -> Manoeuvre:
    """Brakes or hovers where that keeps clear, otherwise backs off to where it is clearest."""
    coefficients = np.zeros((7, 3))
    duration, kind = find_backup(_given(start), _given(cloud), _given(movers), config.limits, coefficients)
    return Manoeuvre(Motion(coefficients, float(duration)), _BACKUPS[kind])


def is_still_clear(
    motion: Motion, over: float, cloud: Array, config: LocalPlannerConfig, movers: Array = NO_MOVERS
) -> bool:
    """Whether what is left of a motion after `over` seconds keeps clear of what is seen now."""
    times = (motion.duration, float(over))
    return bool(stays_clear(motion.coefficients, times, _given(cloud), _given(movers), config.limits))


def _given(array: Array) -> Array:
    return np.ascontiguousarray(array, dtype=np.float64)
