"""The points of a campaign: values of the parameters, by a grid, at random, by Latin hypercube or from a list."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, model_validator

from skyloop.core.random_key import stream_key
from skyloop_client.messages import Array

STRICT = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

Design = Literal["grid", "random", "latin-hypercube", "list"]
Point = dict[str, Any]
"""Values by parameter."""


class Span(BaseModel):
    """All numbers from `least` to `most`."""

    model_config = STRICT

    least: float
    """The least value."""
    most: float
    """The greatest value."""
    steps: Annotated[int, Field(ge=2, le=10_000)] | None = None
    """How many values a grid has, both ends included. Only a grid needs it."""
    scale: Literal["linear", "log"] = "linear"
    """`log`: equal ratios are equally likely. Both ends must then be above 0."""
    whole: bool = False
    """true: whole numbers only."""

    @model_validator(mode="after")
    def _ends_are_in_order(self) -> Span:
        if not self.least < self.most:
            raise ValueError(f"least is {self.least:g} and most {self.most:g}; least must be below most")
        if self.scale == "log" and self.least <= 0.0:
            raise ValueError(f"least is {self.least:g}; with scale: log it must be above 0")
        return self

    def at(self, share: float) -> float | int:
        """The value that divides the span so: 0 is `least`, 1 is `most`."""
        if self.whole:
            # every whole number has the same share
            low, high = math.ceil(self.least), math.floor(self.most)
            return min(high, low + math.floor(share * (high - low + 1)))
        if self.scale == "log":
            return float(self.least * (self.most / self.least) ** share)
        return self.least + share * (self.most - self.least)

    def grid(self) -> list[Any]:
        n = self.steps or 2
        if self.whole:
            return sorted({round(self.least + k / (n - 1) * (self.most - self.least)) for k in range(n)})
        return [self.at(k / (n - 1)) for k in range(n)]


def _kind(value: object) -> str:
    return "span" if isinstance(value, dict | Span) else "values"


Choice = Annotated[
    Annotated[Span, Tag("span")] | Annotated[list[Any], Tag("values"), Field(min_length=1)], Discriminator(_kind)
]
"""A span of numbers, or a list of values of any kind."""


def points(design: Design, space: Mapping[str, Choice] | list[Point], count: int, seed: int) -> list[Point]:
    """The same for the same arguments, whoever asks. `count` is for designs by chance."""
    if isinstance(space, list):
        return [dict(point) for point in space]
    if design == "grid":
        axes = [choice.grid() if isinstance(choice, Span) else choice for choice in space.values()]
        return [dict(zip(space, values, strict=True)) for values in itertools.product(*axes)]
    names = list(space)
    shares = np.empty((count, len(names)))
    for column, name in enumerate(names):
        chance = _generator(seed, name)
        shares[:, column] = chance.random(count)
        if design == "latin-hypercube":
            # one point in each of `count` equal parts of every parameter
            shares[:, column] = (chance.permutation(count) + shares[:, column]) / count
    return [at_shares(space, row) for row in shares]


def at_shares(space: Mapping[str, Choice], shares: Array) -> Point:
    """The point at positions between 0 and 1 along each parameter."""
    return {
        name: choice.at(float(share)) if isinstance(choice, Span) else choice[int(share * len(choice))]
        for (name, choice), share in zip(space.items(), np.minimum(shares, np.nextafter(1.0, 0.0)), strict=True)
    }


def corners(space: Mapping[str, Choice] | list[Point]) -> list[Point]:
    """Few points that hold both ends of every span and every listed value: what is to be refused is among them."""
    if isinstance(space, list):
        return list(space)
    axes = {
        name: [choice.at(0.0), choice.at(1.0)] if isinstance(choice, Span) else choice for name, choice in space.items()
    }
    longest = max((len(values) for values in axes.values()), default=0)
    return [{name: values[min(k, len(values) - 1)] for name, values in axes.items()} for k in range(longest)]


def run_seed(seed: int, number: int) -> int:
    """The seed of one run, drawn."""
    return int(stream_key(seed, f"campaign run {number}")) >> 33


def _generator(seed: int, name: str) -> np.random.Generator:
    return np.random.Generator(np.random.Philox(key=int(stream_key(seed, f"campaign parameter {name}"))))
