"""A method whose last argument is a record takes the record's fields from clients, one after another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from skyloop.links.airsim.calls import Method, Reply
from skyloop_client.errors import LinkError

REPLY: Any = object()


@dataclass(frozen=True, slots=True)
class Pace:
    speed: float
    lasts: float = 3.0


class Group:
    def __init__(self) -> None:
        self.given: list[Any] = []

    def go(self, reply: Reply, place: str, pace: Pace) -> None:
        self.given.append((reply, place, pace))

    def add(self, a: int, b: int = 2) -> int:
        return a + b


def test_the_fields_of_a_record_follow_the_other_arguments() -> None:
    group = Group()
    method = Method.of(group.go)
    assert list(method.signature.parameters) == ["place", "speed", "lasts"]
    method.call(REPLY, ["home", 2.0])
    method.call(REPLY, ["home", 2.0, 9.0])
    assert group.given == [(REPLY, "home", Pace(2.0)), (REPLY, "home", Pace(2.0, 9.0))]


def test_methods_without_a_record_take_what_is_sent() -> None:
    assert Method.of(Group().add).call(REPLY, [1]) == 3
    assert Method.of(Group().add).call(REPLY, [1, 5]) == 6


@pytest.mark.parametrize("params", [["home"], ["home", 1.0, 2.0, 3.0]])
def test_too_few_and_too_many_are_told_with_what_it_takes(params: list[Any]) -> None:
    with pytest.raises(LinkError, match=r"it takes \(place: str, speed: float, lasts: float = 3.0\)"):
        Method.of(Group().go).call(REPLY, params)
