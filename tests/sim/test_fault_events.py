"""A fault that begins or ends is an event: of the scenario, injected in flight, and after a snapshot."""

from __future__ import annotations

from typing import Any

from skyloop.sim.assembly import build
from skyloop.sim.scenario import make_scenario
from skyloop.sim.simulation import Simulation
from skyloop_client.messages import Message

SENSORS: dict[str, Any] = {
    "imu": {"kind": "imu", "rate_hz": 100, "faults": [{"kind": "bias", "start": 0.1, "end": 0.3, "value": 0.5}]},
    "gnss": {"kind": "gnss", "outages": [{"start": 0.2, "end": 0.4}]},
}
ROTORS = [
    {"rotor": 2, "kind": "lost", "start": 0.25},
    {"rotor": 0, "kind": "slow", "start": 0.255, "end": 0.26, "value": 3.0},
]
OF_THE_SCENARIO = [
    (0.1, "fault", "imu bias 0.5, until 0.3 s"),
    (0.2, "fault", "gnss outage, until 0.4 s"),
    (0.25, "fault", "rotor 2 lost"),
    # shorter than a tick of the autopilot
    (0.255, "fault", "rotor 0 3 times slower, until 0.26 s"),
    (0.26, "fault over", "rotor 0 3 times slower"),
    (0.3, "fault over", "imu bias 0.5"),
    (0.4, "fault over", "gnss outage"),
]


def simulated() -> Simulation:
    return build(make_scenario({"vehicles": [{"sensors": SENSORS, "rotor_faults": ROTORS}]}))


def told(simulation: Simulation) -> list[tuple[float, str, str]]:
    found: list[tuple[float, str, str]] = []

    def take(message: Message) -> None:
        event = message.data
        if "fault" in event.kind:
            found.append((event.t_ns / 1e9, str(event.kind), event.text))

    simulation.bus.on("drone/events", take)
    return found


def test_faults_of_the_scenario_are_told_when_they_begin_and_end() -> None:
    with simulated() as simulation:
        found = told(simulation)
        simulation.run_until(0.5)
        assert found == OF_THE_SCENARIO


def test_a_snapshot_knows_what_was_told() -> None:
    with simulated() as simulation:
        found = told(simulation)
        simulation.run_until(0.28)
        saved = simulation.snapshot()
        simulation.run_until(0.5)
        simulation.restore(saved)
        simulation.run_until(0.5)
        assert found == OF_THE_SCENARIO + OF_THE_SCENARIO[5:]


def test_injected_faults_are_told_and_so_is_their_end() -> None:
    with simulated() as simulation:
        simulation.run_until(0.5)
        found, faults = told(simulation), simulation.port.vehicle("drone").faults
        faults.fail_sensor("drone/imu", "stuck")
        faults.fail_rotor(1, "lost", 0.75)
        faults.set_charge(0.1)
        simulation.run_until(0.6)
        assert found == [
            (0.5, "fault", "imu stuck"), (0.5, "fault", "rotor 1 lost 25% of its thrust"),
            (0.5, "fault", "battery charge set to 10%"),
        ]  # fmt: skip
        faults.fail_sensor("drone/imu", None)
        faults.fail_rotor(1, None)
        simulation.run_until(0.7)
        assert [(kind, text) for _, kind, text in found[3:]] == [
            ("fault over", "imu stuck"), ("fault over", "rotor 1 lost 25% of its thrust"),
        ]  # fmt: skip
