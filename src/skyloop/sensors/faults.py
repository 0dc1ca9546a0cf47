"""Scheduled sensor faults. They are applied around `measure`, in one place for all sensors.

For each due sample of a stream with faults, the simulation calls

    sample, state = sensor.measure(kinematics, scene, state, rng)
    published, extra_latency, held = apply_faults(config.faults, sensor, sample, held, rng)

It publishes `published` unless it is None, `extra_latency` seconds later than usual. It keeps `held` (None at first)
beside the sensor's state, in snapshots too. The index counts on when nothing is published.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol, TypeVar

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from skyloop.core.keyed_random import KeyedRandom, fill_uniform
from skyloop.core.quantities import Delay, Instant, Number
from skyloop_client.errors import ScenarioError, nearest_name
from skyloop_client.messages import Array
from skyloop_client.streams import NS_PER_S

_FIRST_BLOCK = 1 << 33
_BLOCKS_PER_FAULT = 1 << 8

_NEEDED = {
    "off": set[str](),
    "stuck": set[str](),
    "bias": {"value"},
    "spike": {"value", "probability"},
    "delay": {"delay"},
    "dropout": {"probability"},
}


class Fault(BaseModel):
    """A fault of a sensor. `bias` needs `value`, `spike` needs `value` and `probability`, `delay` needs `delay`,
    `dropout` needs `probability`."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    kind: Literal["off", "stuck", "bias", "spike", "delay", "dropout"]
    """`off`: no samples; `stuck`: the last sample again and again; `bias`: `value` is added; `spike`: `value` is added
    or subtracted at random; `delay`: samples come later; `dropout`: samples are lost at random."""
    start: Instant = 0.0
    """s, the simulated time at which it begins, inclusive."""
    end: Instant | None = None
    """s, the simulated time at which it ends, exclusive; null: never."""
    field: str | None = None
    """The field that a bias or spike disturbs; null: the sensor's main one."""
    value: Number | tuple[Number, ...] | None = None
    """The bias, or the amplitude of the spikes, in the unit of the field; one number, or one per component."""
    probability: Annotated[float, Field(ge=0.0, le=1.0)] | None = None
    """The probability of a spike or a dropout, per sample."""
    delay: Delay | None = None
    """s, the additional latency."""

    @model_validator(mode="after")
    def _fits_together(self) -> Fault:
        if self.end is not None and self.end <= self.start:
            raise ValueError(f"fault '{self.kind}' ends at {self.end} s, before it starts at {self.start} s")
        needed = _NEEDED[self.kind]
        values = {"value": self.value, "probability": self.probability, "delay": self.delay}
        given = {name for name, value in values.items() if value is not None}
        if needed - given:
            raise ValueError(f"fault '{self.kind}' needs {', '.join(sorted(needed - given))}")
        unused = given - needed | ({"field"} if self.field is not None and "value" not in needed else set())
        if unused:
            raise ValueError(f"fault '{self.kind}' does not use {', '.join(sorted(unused))}; remove it")
        return self

    def is_active(self, t_ns: int) -> bool:
        return t_ns >= self.start * NS_PER_S and (self.end is None or t_ns < self.end * NS_PER_S)


if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    class Stamped(DataclassInstance, Protocol):
        """A sensor's sample."""

        @property
        def t_ns(self) -> int: ...


class Disturbable(Protocol):
    """What a fault needs to know of a sensor."""

    @property
    def fault_fields(self) -> Mapping[str, int]: ...

    def disturbed(self, sample: Any, field: str, error: Array) -> Any: ...


def check_faults(faults: Sequence[Fault], sensor: Disturbable, stream: str) -> None:
    """Raises an error, before the flight, for a fault that this sensor cannot have."""
    known = sensor.fault_fields
    for fault in faults:
        if fault.value is None:
            continue
        if not known:
            raise ScenarioError(f"{stream}: fault '{fault.kind}' needs a sensor class that names its fault_fields")
        field = _field(fault, sensor)
        if field not in known:
            raise ScenarioError(f"{stream}: fault '{fault.kind}' on '{field}'; {nearest_name(field, known)}")
        if isinstance(fault.value, tuple) and len(fault.value) != known[field]:
            raise ScenarioError(
                f"{stream}: fault '{fault.kind}' has {len(fault.value)} values for the "
                f"{known[field]} of {field}; "
                "give one number, or one per component"
            )


Sample = TypeVar("Sample", bound="Stamped")


def apply_faults(
    faults: Sequence[Fault], sensor: Disturbable, sample: Sample | None, held: Sample | None, rng: KeyedRandom
) -> tuple[Sample | None, float, Sample | None]:
    """Returns the sample to publish (None: nothing), its additional latency in s, and the new `held`."""
    if sample is None:
        return None, 0.0, held
    t_ns = sample.t_ns
    extra_latency, silent, stuck = 0.0, False, False
    for number, fault in enumerate(faults):
        if not fault.is_active(t_ns):
            continue
        if fault.kind == "off":
            silent = True
        elif fault.kind == "stuck":
            stuck = True
            held = sample if held is None else held
            sample = replace(held, t_ns=t_ns)
        elif fault.kind == "delay":
            extra_latency += fault.delay or 0.0
        elif fault.kind == "dropout":
            silent = silent or _happens(fault, number, rng)
        elif fault.kind == "bias" or _happens(fault, number, rng):
            sample = _disturbed(sensor, sample, fault, number, rng)
    published = None if silent else sample
    if not stuck and published is not None:
        held = published
    return published, extra_latency, held


def add_error(sample: Sample, field: str, error: Array) -> Sample:
    """The sample with `error`, a number or an array, added to one field."""
    value = getattr(sample, field)
    disturbed = value + error if isinstance(value, np.ndarray) else float(value + error[0])
    return replace(sample, **{field: disturbed})


def _field(fault: Fault, sensor: Disturbable) -> str:
    return fault.field or str(next(iter(sensor.fault_fields)))


def _uniform(rng: KeyedRandom, number: int, size: int) -> Array:
    out = np.empty(size)
    fill_uniform(rng.key, np.uint64(rng.index), np.uint64(_FIRST_BLOCK + _BLOCKS_PER_FAULT * number), out)
    return out


def _happens(fault: Fault, number: int, rng: KeyedRandom) -> bool:
    return bool(_uniform(rng, number, 1)[0] < (fault.probability or 0.0))


def _disturbed(sensor: Disturbable, sample: Sample, fault: Fault, number: int, rng: KeyedRandom) -> Sample:
    field = _field(fault, sensor)
    components = sensor.fault_fields[field]
    error = np.broadcast_to(np.asarray(fault.value, dtype=np.float64), components)
    if fault.kind == "spike":
        error = error * np.where(_uniform(rng, number, 1 + components)[1:] < 0.5, -1.0, 1.0)
    disturbed: Sample = sensor.disturbed(sample, field, error)
    return disturbed
