"""Commands are answered while pictures are painted, where nobody counts on the order of events."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from link_rig import Rig, eventually
from skyloop.core.bus import Fingerprint
from skyloop.links.link_gate import LinkGate
from skyloop.links.loop.client_sessions import SessionOptions
from skyloop.sim.assembly import build
from skyloop.sim.parts import ScenePart
from skyloop.sim.scenario import make_scenario
from skyloop_client import Bundle, Session
from skyloop_client.messages import Arm

PATIENCE_S = 20.0


SCENARIO = {"vehicles": [{"airframe": "iris", "sensors": {"imu0": {"kind": "imu", "rate_hz": 100}}}]}


class Asking(Rig):
    """Its simulation is stepped by the test, while another thread asks."""

    def __init__(self, mode: str) -> None:
        super().__init__(SCENARIO, SessionOptions(mode=mode))
        self.answers: list[Bundle] = []

    def asks(self, *send: object, want: tuple[str, ...] = ()) -> threading.Thread:
        def ask() -> None:
            self.session = self.connect()
            self.answers.append(self.session.ask(*send, want=want))

        thread = threading.Thread(target=ask, daemon=True)
        thread.start()
        return thread

    session: Session


@pytest.fixture
def rig(request: pytest.FixtureRequest) -> Iterator[Asking]:
    built = Asking(getattr(request, "param", "none"))
    yield built
    built.stop()


def until(thread: threading.Thread, limit_s: float = PATIENCE_S) -> Callable[[], bool]:
    end = time.monotonic() + limit_s
    return lambda: not thread.is_alive() or time.monotonic() > end


def test_a_command_is_obeyed_and_answered_in_the_middle_of_an_instant(rig: Asking) -> None:
    thread = rig.asks(Arm())
    rig.link_gate.serve_until(until(thread))
    assert [answer.refused for answer in rig.answers] == [()]
    assert rig.answers[0].status.armed
    assert rig.simulation.clock.now_ns == 0
    # the event that was entered for it finds nothing left to do
    before = rig.link.timeline.count
    rig.simulation.run_for(0.05)
    assert rig.link.timeline.count == before == 1
    rig.session.close()


def test_who_wants_samples_waits_for_the_end_of_the_instant(rig: Asking) -> None:
    thread = rig.asks(want=("imu0",))
    rig.link_gate.serve_until(until(thread, 0.3))
    assert not rig.answers
    end = time.monotonic() + PATIENCE_S
    while thread.is_alive() and time.monotonic() < end:
        rig.simulation.step()
    assert rig.answers[0].get("imu0") is not None
    assert np.isfinite(rig.answers[0].get("imu0").specific_force).all()
    rig.session.close()


@pytest.mark.parametrize(("rig", "served"), [("sync", False), ("none", True), ("realtime", True)], indirect=["rig"])
def test_synchronised_time_is_left_alone(rig: Asking, served: bool) -> None:
    scene = next(part for part in rig.simulation.parts if isinstance(part, ScenePart)).scene
    assert (scene.meanwhile is not None) is (scene.beside is not None) is served


def test_a_command_is_answered_while_a_sensor_measures(rig: Asking) -> None:
    thread = rig.asks(Arm())
    # the measurement ends only when the command was answered
    rig.link_gate.serve_beside(lambda: thread.join(PATIENCE_S))
    assert rig.answers[0].status.armed
    rig.session.close()
    with pytest.raises(ZeroDivisionError):
        rig.link_gate.serve_beside(lambda: 1 / 0)


def test_a_command_that_came_before_the_measurement_is_answered_during_it(rig: Asking) -> None:
    thread = rig.asks(Arm())
    assert eventually(lambda: rig.listener.inbox.qsize())
    while not rig.link.client_sessions.pilots or not next(iter(rig.link.client_sessions.pilots.values())).question:
        source, *arguments = rig.listener.inbox.get(PATIENCE_S)
        source.taker(*arguments)
    rig.link_gate.serve_beside(lambda: thread.join(PATIENCE_S))
    assert rig.answers[0].status.armed
    rig.session.close()


def test_samples_are_the_same_in_another_thread() -> None:
    data = {
        "world": "blocks",
        "vehicles": [{"airframe": "iris", "sensors": {"lidar0": {"kind": "lidar", "rate_hz": 10}}}],
    }
    seen = []
    for beside in (False, True):
        with build(make_scenario(data, {}, place="test")) as built:
            gate = LinkGate()
            threads: set[str] = set()

            def serve(work: Callable[[], Any], gate: LinkGate = gate, threads: set[str] = threads) -> Any:
                def named() -> object:
                    threads.add(threading.current_thread().name)
                    return work()

                return gate.serve_beside(named)

            if beside:
                built.port.editor.measure_beside(serve)
            fingerprint = Fingerprint(built.bus)
            built.run_for(0.35)
            seen.append(fingerprint.hexdigests())
            gate.finish("done")
            assert bool(threads) is beside
            assert threading.current_thread().name not in threads
    assert seen[0] == seen[1]
