"""Every airframe that ships takes off, hovers and lands."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from option_flights import DRONE, Script, fly

from skyloop.sim.scenario import AIRFRAMES
from skyloop_client.messages import Arm, Land, TakeOff

UP_AND_DOWN = Script(((0.2, Arm()), (0.4, TakeOff(1.5)), (6.0, Land())), 12.0)


@pytest.mark.parametrize("airframe", list(AIRFRAMES))
def test_it_takes_off_hovers_and_lands(airframe: str) -> None:
    flight = fly(UP_AND_DOWN, {DRONE + "airframe": airframe})
    hovering = (flight.t > 5.0) & (flight.t < 6.0)
    start = flight.position[0]
    assert np.linalg.norm(flight.position[hovering] - start - [0, 0, 1.5], axis=1).max() < 0.15
    assert flight.event_time("took off") < 6.0 < flight.event_time("landed")
    assert not flight.status[-1].armed
    assert np.linalg.norm(flight.position[-1] - start) < 0.15
    assert flight.tilt[-1] < 0.02


def test_no_two_airframes_fly_alike() -> None:
    flights = {name: fly(UP_AND_DOWN, {DRONE + "airframe": name}) for name in list(AIRFRAMES)}
    for one, other in combinations(flights, 2):
        difference = np.abs(flights[one].rotor_speeds - flights[other].rotor_speeds)[flights[one].at(2.0) :].max()
        assert difference > 1.0, (one, other)
