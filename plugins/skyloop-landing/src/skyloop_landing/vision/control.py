"""From the marker's position in the image to commands: equations (1) to (4) of the paper, and what to do in trouble.

`measured` and `advance` are a state machine of plain numbers, so that firmware in C can copy them line by line.
Commands are as on the serial line: body axes forward, right, down in m/s, and a yaw rate in degrees per second,
positive to the right.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from skyloop.core import quantities
from skyloop_landing.vision.figures import SeenMarker

FOCAL = 640.0 * 16.0
"""1/16 px."""
CENTRE_X, CENTRE_Y = 639.5 * 16.0, 359.5 * 16.0
"""1/16 px, the middle of the image."""
DEG_PER_UNIT = 360.0 / 65536.0

SEEK, OVER, DOWN, LAND, GIVEN_UP = range(5)
STAGES = ("seek", "over", "down", "land", "given up")
"""Names of the stages: no marker in sight; moving over it (the paper's first); descending (its second); the lower
controller lands; it will not land."""

NEVER = -1e9
"""s: a time long ago."""


class LandingControlConfig(BaseModel):
    """Gains and limits of the landing, and which parts of it are as published."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    altitude_filter: bool = True
    """false: each rangefinder reading is used unfiltered, as in the paper."""
    median_of: Literal[1, 3, 5, 7] = 5
    """The number of rangefinder readings in the median, against spikes."""
    altitude_lag: quantities.Seconds = 0.3
    """s, the time constant with which the filtered altitude follows the median."""
    second_stage: Literal["held", "published", "aligned"] = "held"
    """When it starts to descend. `held`: position and heading are right and stay so for `hold`, and are controlled
    all the way down. `published`: one image with the right position; the heading is not controlled any more.
    `aligned`: like that, but in that image the heading must be right too."""
    position_gain: quantities.Positive = 0.8
    """1/s, K1 of the paper: m/s for each metre beside the marker."""
    tilt_height: quantities.Positive = 4.4
    """m/s: K1 is at most this divided by the altitude. Tilt shifts the marker in the image in proportion to the
    altitude; a higher gain there would amplify it."""
    integral_share: quantities.NonNegative = 0.12
    """The integral gain against steady wind, as a share of K1², within twice the distance of `over_within`. 0: as
    published."""
    descent_gain: quantities.Positive = 0.45
    """1/s, K2 of the paper: m/s for each metre of altitude."""
    yaw_gain: quantities.Positive = 1.5
    """1/s, K3 of the paper."""
    max_speed: quantities.Positive = 2.0
    """m/s, horizontal."""
    max_acceleration: quantities.Acceleration = 1.5
    """m/s²: the fastest change of the horizontal command."""
    max_descent: quantities.Positive = 2.0
    """m/s, the fastest descent."""
    max_yaw_rate_deg: quantities.Positive = 60.0
    """Degrees per second."""
    yaw_within: quantities.Positive = 0.35
    """It turns only when nearer to the marker than this share of its altitude; otherwise the marker might leave the
    image."""
    over_within: quantities.Positive = 0.08
    """It is over the marker within this share of its altitude, but at least within `land_within`."""
    aligned_within_deg: quantities.Positive = 2.5
    """It is aligned within this angle."""
    hold: quantities.Instant = 0.4
    """s, the time over the marker and aligned before it descends."""
    landing_height: quantities.Length = 1.05
    """m, H_L of the paper: the altitude of the camera at which the lower controller lands."""
    land_within: quantities.Length = 0.08
    """m, the distance from the marker's middle within which it may land."""
    land_hold: quantities.Instant = 0.3
    """s, the time within `land_within` at `landing_height` before it lands."""
    when_lost: Literal["climb", "go on"] = "climb"
    """What it does without the marker. `climb`: it stops descending and climbs to see it again. `go on`: equations
    (1), (2) and (4) keep their last commands, and (3) continues with the altitude."""
    lost_after: quantities.Seconds = 0.3
    """s, the time without the marker after which it is lost; until then the vehicle continues, but does not descend."""
    climb_speed: quantities.NonNegative = 1.0
    """m/s, the speed at which it climbs to see the marker again."""
    ceiling: Annotated[float, Field(gt=0.0, le=20.0)] = 15.0
    """m, the altitude at which it stops climbing; the marker is found from 20 m down."""
    give_up_after: quantities.Seconds = 20.0
    """s, the time without the marker after which it gives up. It never lands without it."""
    time_limit: quantities.Seconds = 90.0
    """s, the time since the start of the landing after which it gives up, for instance in too strong a wind."""
    camera_ahead: quantities.OnBoard = 0.5
    """m, the camera's position ahead of the vehicle's middle. 0: the camera, not the vehicle, is centred over the
    marker."""


@dataclass(frozen=True, slots=True)
class LandingMemory:
    """All that is kept between two images."""

    stage: int = SEEK
    readings: tuple[float, ...] = ()
    """m, the last ones, newest last."""
    altitude: float = math.nan
    """m, filtered; NaN before the first reading."""
    altitude_t: float = NEVER
    """s, of the last reading."""
    t: float = NEVER
    """s, of the last step; NEVER before the first."""
    began_t: float = NEVER
    """s, of the first step."""
    seen_t: float = NEVER
    """s: when the marker was last seen, or when the search began."""
    held_t: float = NEVER
    """s: since when all is right for the next stage; NEVER if it is not."""
    vx: float = 0.0
    """m/s, the last command."""
    vy: float = 0.0
    vz: float = 0.0
    yaw_rate_deg: float = 0.0
    """Degrees per second, the last command."""
    wind_x: float = 0.0
    """m/s that the integral adds."""
    wind_y: float = 0.0


@dataclass(frozen=True, slots=True)
class LandingCommand:
    """What the board tells the vehicle."""

    vx: float
    """m/s forward."""
    vy: float
    """m/s to the right."""
    vz: float
    """m/s down."""
    yaw_rate_deg: float
    """Degrees per second to the right."""
    stage: int
    """SEEK, OVER, DOWN, LAND or GIVEN_UP."""


@dataclass(frozen=True, slots=True)
class Offset:
    """Where the marker is, from the vehicle's middle."""

    ahead: float
    """m."""
    right: float
    """m."""
    heading_deg: float
    """How far it must turn to the right."""
    heading_is_measured: bool

    @property
    def distance(self) -> float:
        return math.sqrt(self.ahead * self.ahead + self.right * self.right)


def offset_of(marker: SeenMarker, altitude: float, camera_ahead: float) -> Offset:
    ahead = camera_ahead + (CENTRE_Y - marker.y) * altitude / FOCAL
    right = (marker.x - CENTRE_X) * altitude / FOCAL
    return Offset(ahead, right, marker.heading * DEG_PER_UNIT, marker.rectangle >= 0)


def measured(memory: LandingMemory, reading: float, t: float, config: LandingControlConfig) -> LandingMemory:
    """The altitude after a reading of the rangefinder. NaN is a reading that did not come: it changes nothing."""
    if math.isnan(reading):
        return memory
    if not config.altitude_filter or math.isnan(memory.altitude):
        return replace(memory, readings=(reading,), altitude=reading, altitude_t=t)
    readings = (*memory.readings, reading)[-config.median_of :]
    median = sorted(readings)[len(readings) // 2]
    dt = t - memory.altitude_t
    # it was commanded to sink meanwhile; without this the filter would lag behind
    expected = memory.altitude - memory.vz * dt
    share = min(dt / config.altitude_lag, 1.0)
    altitude = max(expected + share * (median - expected), 0.0)
    return replace(memory, readings=readings, altitude=altitude, altitude_t=t)


def advance(
    memory: LandingMemory, marker: SeenMarker | None, t: float, config: LandingControlConfig
) -> tuple[LandingMemory, LandingCommand]:
    """One image further: the command until the next one. LAND and GIVEN_UP are for good."""
    if memory.stage in (LAND, GIVEN_UP):
        return _told(memory, 0.0, 0.0, 0.0, 0.0)
    dt = t - memory.t if memory.t > NEVER else 0.0
    if memory.began_t <= NEVER:
        memory = replace(memory, began_t=t, seen_t=t)
    memory = replace(memory, t=t)
    if t - memory.began_t > config.time_limit:
        return _given_up(memory)
    blind = math.isnan(memory.altitude) or t - memory.altitude_t > 2.0 * config.lost_after
    if marker is None and config.when_lost == "go on" and not math.isnan(memory.altitude):
        return _goes_on(memory, t, config)
    if marker is None or blind:
        return _without_marker(memory, t, config, blind)
    stage = OVER if memory.stage == SEEK else memory.stage
    memory = replace(memory, seen_t=t, stage=stage)
    offset = offset_of(marker, memory.altitude, config.camera_ahead)
    memory = _next_stage(memory, offset, t, config)
    if memory.stage == LAND:
        return _told(memory, 0.0, 0.0, 0.0, 0.0)
    return _steer(memory, offset, dt, config)


def _told(
    memory: LandingMemory, vx: float, vy: float, vz: float, yaw_rate: float
) -> tuple[LandingMemory, LandingCommand]:
    command = LandingCommand(vx, vy, vz, yaw_rate, memory.stage)
    return replace(memory, vx=vx, vy=vy, vz=vz, yaw_rate_deg=yaw_rate), command


def _given_up(memory: LandingMemory) -> tuple[LandingMemory, LandingCommand]:
    return _told(replace(memory, stage=GIVEN_UP), 0.0, 0.0, 0.0, 0.0)


def _without_marker(
    memory: LandingMemory, t: float, config: LandingControlConfig, blind: bool
) -> tuple[LandingMemory, LandingCommand]:
    """Stops descending at once, climbs when the marker is lost, gives up after a time."""
    lost = t - memory.seen_t
    memory = replace(memory, held_t=NEVER)
    if lost > config.give_up_after:
        return _given_up(memory)
    if lost <= config.lost_after and memory.stage != SEEK:
        return _told(memory, memory.vx, memory.vy, 0.0, 0.0)
    climbs = not blind and memory.altitude < config.ceiling
    # what the integral has learnt of the wind keeps it over the position
    vx, vy = (0.0, 0.0) if blind else (memory.wind_x, memory.wind_y)
    return _told(replace(memory, stage=SEEK), vx, vy, -config.climb_speed if climbs else 0.0, 0.0)


def _goes_on(memory: LandingMemory, t: float, config: LandingControlConfig) -> tuple[LandingMemory, LandingCommand]:
    """Without a marker in the image: what was commanded along x, y and yaw goes on."""
    if t - memory.seen_t > config.give_up_after:
        return _given_up(memory)
    if memory.stage == DOWN and memory.altitude <= config.landing_height:
        return _told(replace(memory, stage=LAND), 0.0, 0.0, 0.0, 0.0)
    return _told(memory, memory.vx, memory.vy, _descent(memory, config), memory.yaw_rate_deg)


def _descent(memory: LandingMemory, config: LandingControlConfig) -> float:
    """Equation (3)."""
    if memory.stage != DOWN or memory.altitude <= config.landing_height:
        return 0.0
    return min(config.descent_gain * memory.altitude, config.max_descent)


def _limit(memory: LandingMemory, config: LandingControlConfig) -> float:
    """m from the marker within which it counts as over it."""
    return max(config.over_within * memory.altitude, config.land_within)


def _next_stage(memory: LandingMemory, offset: Offset, t: float, config: LandingControlConfig) -> LandingMemory:
    if config.second_stage != "held":
        aligned = config.second_stage == "published" or abs(offset.heading_deg) < config.aligned_within_deg
        if memory.stage == OVER and aligned and offset.distance < _limit(memory, config):
            memory = replace(memory, stage=DOWN)
        if memory.stage == DOWN and memory.altitude <= config.landing_height:
            memory = replace(memory, stage=LAND)
        return memory
    near = memory.altitude <= config.landing_height
    if memory.stage == DOWN and not near:
        return replace(memory, held_t=NEVER)
    within = config.land_within if near else _limit(memory, config)
    if offset.distance >= within or abs(offset.heading_deg) >= config.aligned_within_deg:
        return replace(memory, held_t=NEVER)
    if memory.held_t <= NEVER:
        memory = replace(memory, held_t=t)
    held = t - memory.held_t
    if memory.stage == DOWN and near and held >= config.land_hold:
        return replace(memory, stage=LAND)
    if memory.stage == OVER and held >= config.hold:
        return replace(memory, stage=DOWN)
    return memory


def _steer(
    memory: LandingMemory, offset: Offset, dt: float, config: LandingControlConfig
) -> tuple[LandingMemory, LandingCommand]:
    """Equations (1) to (4), with limits."""
    published = config.second_stage != "held"
    gain = min(config.position_gain, config.tilt_height / max(memory.altitude, 0.1))
    beside = offset.distance > 2.0 * _limit(memory, config)
    if not beside:
        step, limit = config.integral_share * gain * gain * dt, 0.5 * config.max_speed
        wind_x, wind_y = _turned(memory.wind_x, memory.wind_y, math.radians(memory.yaw_rate_deg) * dt)
        wind_x, wind_y = _shortened(wind_x + step * offset.ahead, wind_y + step * offset.right, limit)
        memory = replace(memory, wind_x=wind_x, wind_y=wind_y)
    vx, vy = gain * offset.ahead + memory.wind_x, gain * offset.right + memory.wind_y
    vx, vy = _shortened(vx, vy, config.max_speed)
    change_x, change_y = _shortened(vx - memory.vx, vy - memory.vy, config.max_acceleration * dt)
    vx, vy = memory.vx + change_x, memory.vy + change_y
    yaw_rate = 0.0
    turns = offset.heading_is_measured and not (published and memory.stage == DOWN)
    if turns and offset.distance < config.yaw_within * memory.altitude:
        yaw_rate = _clipped(config.yaw_gain * offset.heading_deg, config.max_yaw_rate_deg)
    off = beside or abs(offset.heading_deg) > 2.0 * config.aligned_within_deg
    vz = _descent(memory, config) if published or not off else 0.0
    return _told(memory, vx, vy, vz, yaw_rate)


def _clipped(value: float, limit: float) -> float:
    return max(-limit, min(value, limit))


def _turned(x: float, y: float, angle: float) -> tuple[float, float]:
    """A vector that stands still, in the axes (forward, right) of a vehicle that has turned right by a small angle."""
    return x + angle * y, y - angle * x


def _shortened(x: float, y: float, limit: float) -> tuple[float, float]:
    length = math.sqrt(x * x + y * y)
    return (x, y) if length <= limit else (x * limit / length, y * limit / length)
