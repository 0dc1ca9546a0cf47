"""What becomes of a vehicle whose pilot says goodbye, vanishes or hangs, and of the run."""

from __future__ import annotations

import re
from functools import partial

import numpy as np
import pytest

from link_rig import TWO, Computer, Rig, eventually, flying
from skyloop.links.loop.client_sessions import SessionOptions
from skyloop.links.pace import Pace
from skyloop_client.errors import LinkEnded, LinkError
from skyloop_client.messages import Arm, Disarm, TakeOff, Velocity
from skyloop_client.session import Session

SECOND = 1_000_000_000


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever leaves has a second of simulated time to come back."""
    monkeypatch.setattr("link_rig.SessionOptions", partial(SessionOptions, hover_s=1.0))


def take_off(session: Session) -> None:
    session.send(Arm(), TakeOff(1.0))
    bundle = session.sleep_until(session.now() + 2 * SECOND)
    assert bundle.status.mode == "hover"


def mode(rig: Rig) -> str:
    return rig.simulation.autopilots["drone"].memory.mode


@pytest.mark.usefixtures("quick")
def test_a_vehicle_left_alone_hovers_then_lands_unless_somebody_comes_back() -> None:
    with flying() as rig:
        rig.link_gate._alone = Pace(4.0)
        computer = Computer()
        session = rig.connect(clock=computer)
        take_off(session)
        session.send(Velocity(np.array([1.0, 0.0, 0.0])))
        session.close(bye=False)
        assert eventually(lambda: mode(rig) == "hover")
        assert not rig.link.over
        with rig.connect(clock=computer) as again:
            # flown far faster than the wall clock: nobody may wait for that later
            bundle = again.sleep_until(again.now() + 30 * SECOND)
            assert bundle.status.mode == "hover"
            assert bundle.state.position[2] > 0.8
            again._pipe.close(False)
        left_ns = rig.simulation.clock.now_ns
        assert eventually(lambda: mode(rig) == "land", 3.0)
        assert rig.simulation.clock.now_ns - left_ns < 2 * SECOND
        assert not rig.link.over
        assert eventually(lambda: rig.link.over)
        assert rig.simulation.truth().position[2] < 0.3
        assert rig.error is None


def test_commands_of_a_pilot_who_left_are_forgotten() -> None:
    with flying(TWO) as rig:
        leaver = rig.connect(vehicle="a", clock=Computer())
        with rig.connect(vehicle="b", clock=Computer()) as other:
            leaver.progress()
            leaver._pipe.write(
                {"type": "ask", "number": 1, "et_ns": 0, "send": [Arm(), TakeOff(1.0)], "until_ns": SECOND}
            )
            other.sleep_until(SECOND)
            assert leaver._pipe.read()["status"].armed
            # while the other one holds time, it asks for something later, and is gone before that
            fast = Velocity(np.full(3, 5.0))
            leaver._pipe.write({"type": "ask", "number": 2, "et_ns": 2 * SECOND, "send": [fast]})
            leaver.close(bye=False)
            rig.news_of("a left")
            other.sleep_until(2 * SECOND + SECOND // 5)
            assert rig.simulation.autopilots["a"].memory.setpoint is None
            assert np.linalg.norm(rig.simulation.truth("a").velocity_world) < 2.0


@pytest.mark.parametrize("how", ["sync", "none"])
@pytest.mark.usefixtures("quick")
def test_a_hung_pilot_is_reported_with_its_last_interaction(how: str) -> None:
    with flying(mode=how, pace=20.0, hang_s=0.4) as rig:
        rig.link_gate._alone = Pace(20.0)
        session = rig.connect(clock=Computer())
        session.send(Arm(), TakeOff(1.0))
        session.sleep_until(2 * SECOND)
        said = rig.news_of("left", "hung: nothing heard for")
        assert re.search(r"last question at ET 0\.\d+ s", said)
        assert eventually(lambda: rig.link.over)
        assert rig.simulation.truth().position[2] < 0.3
        with pytest.raises(LinkEnded, match="hung: nothing heard"):
            session.ask()
        session.close()


def test_nobody_comes_or_says_goodbye_on_the_ground() -> None:
    with flying(wait_s=0.3) as rig:
        assert eventually(lambda: rig.error is not None)
        with pytest.raises(LinkError, match=r"no pilot came to port \d+ within 0.3 s"):
            raise rig.error  # type: ignore[misc]
        rig.error = None
    with flying() as rig:
        assert not rig.link.over
        with rig.connect(clock=Computer()) as session:
            session.send(Arm(), Disarm())
            assert not rig.link.over
        assert eventually(lambda: rig.link.over)


def test_one_who_vanishes_on_the_ground_may_come_back() -> None:
    with flying() as rig:
        rig.connect().close(bye=False)
        rig.news_of("left")
        assert not rig.link.over
        with rig.connect(clock=Computer()) as session:
            assert session.sleep_until(10 * SECOND).t_ns == 10 * SECOND
        assert eventually(lambda: rig.link.over)
