"""Goals from programs on the link, and the pilot that flies to them at the other end of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from goal_flights import scenario
from link_rig import Computer, flying
from skyloop_autonomy.pilots.navigate import NavigatePilot
from skyloop_client.messages import Goal, GoalStatus, VehicleState
from skyloop_client.session import fly

MS = 1_000_000
NEAR = np.array([3.5, 2.0, 1.62])


def plain(**changes: Any) -> dict[str, Any]:
    told: dict[str, Any] = scenario(**changes).model_dump(mode="json")
    return told


def test_a_program_on_the_link_sends_goals_to_the_pilot_inside() -> None:
    """The second goal comes while it flies to the first one, and is flown to instead."""
    inside = flying(plain(goals=[], wait=60.0), pilots_inside=True)
    with inside as rig, rig.connect(role="companion", clock=Computer()) as session:
        session.publish("goal", Goal(np.array([2.0, 9.0, 1.62])))
        assert session.sleep_until(4000 * MS).refused == ()
        session.publish("goal", Goal(NEAR))
        assert session.sleep_until(4100 * MS).refused == ()
        bundle = session.ask(want=None, until_ns=14_000 * MS)
    status, state = bundle.get("navigation/status"), bundle.state
    assert isinstance(status, GoalStatus) and (status.state, status.number) == ("waiting", 2)
    assert isinstance(state, VehicleState) and np.linalg.norm(state.position - NEAR) < 0.3


def test_the_pilot_flies_the_same_at_the_other_end_of_the_link() -> None:
    told = plain(goals=[NEAR.tolist()])
    told["vehicles"][0]["pilot"] = None
    with flying(told) as rig:
        pilot = NavigatePilot(goals=[NEAR.tolist()])
        with rig.connect(clock=Computer()) as session:
            fly(session, pilot)
        assert [outcome.state for outcome in pilot.outcomes] == ["reached"] and pilot.done
        outside = pilot.outcomes[0].t_ns
    assert 3.0 < outside * 1e-9 < 12.0
