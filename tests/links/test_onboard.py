"""An estimator and the pilot that flies on it, in one program over one session."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from link_rig import Computer, flying
from published_things import FromTruth
from skyloop_client import Bundle
from skyloop_client.errors import LinkError
from skyloop_client.messages import Arm, Goal, Message, Number, TakeOff
from skyloop_client.onboard import run_onboard

MS = 1_000_000
OUTSIDE: dict[str, Any] = {
    "truth_rate_hz": 100,
    "vehicles": [
        {
            "name": "drone",
            "state": "vio",
            "estimators": {"vio": {"kind": "link", "inputs": ["truth/drone"], "options": {"offset": 0.0}}},
        }
    ],
}


class Flyer:
    """Takes off and flies 1 m to the east."""

    def __init__(self) -> None:
        self.done = False
        self.calls: list[tuple[int, int, float]] = []
        """Instant, stamp of its state, and the newest number of the estimator."""

    def __call__(self, bundle: Bundle) -> Any:
        number = bundle.get("count", None)
        self.calls.append((bundle.t_ns, bundle.state.t_ns, 0.0 if number is None else number.value))
        if not bundle.status.armed:
            return [Arm(), TakeOff(1.0)]
        self.done = bundle.t_ns > 4_000 * MS
        return Goal(np.array([1.0, 0.0, 1.0])) if bundle.t_ns > 2_500 * MS else None


def test_the_pilot_flies_on_its_own_estimates_and_waits_while_the_estimator_computes() -> None:
    computer, pilot = Computer(), Flyer()

    class Slow(FromTruth):
        def on_message(self, message: Message) -> Any:
            computer.compute(3 * MS)
            return [super().on_message(message), ("count", Number(message.t_ns, float(self.count)))]

    with flying(copy.deepcopy(OUTSIDE)) as rig:
        with rig.connect(estimator="vio", role="pilot", clock=computer) as session:
            run_onboard(session, Slow, pilot, 20.0)
        assert rig.link.timeline.violations == 0
        assert rig.simulation.truth().position[0] > 0.4
    times = np.array([call[:2] for call in pilot.calls])
    # a call every 50 ms, each on the sample of that instant, as soon as it is computed
    assert np.all(np.diff(times[:, 0]) == 50 * MS)
    assert set(times[:, 0] - times[:, 1]) == {3 * MS}
    numbers = [call[2] for call in pilot.calls]
    assert np.all(np.diff(numbers) == 5.0), "the newest record of its own estimator"


def test_a_session_without_an_estimator_is_refused() -> None:
    with flying() as rig, rig.connect() as session, pytest.raises(LinkError, match="connect with estimator"):
        run_onboard(session, FromTruth, Flyer())
