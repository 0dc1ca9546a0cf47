"""One program for each of two vehicles: `lead` flies a circle and says where it is, `follow` keeps its place beside it.

skyloop loop examples/formation.yaml --sut "lead=python3 examples/formation.py" \
    --sut "follow=python3 examples/formation.py" --target frozen --speed follow=0.2

`formation.py 0.004` does not measure how long it computes but says that each cycle takes 4 ms: the same flight each
time.
"""

import sys

import numpy as np

from skyloop_client import Bundle, connect
from skyloop_client.messages import Arm, Array, Land, Path, Position, TakeOff, Velocity

HEIGHT, SPEED, RADIUS = 3.0, 1.5, 5.0
"""m, m/s, m."""
BESIDE = np.array([-3.0, 0.0, 0.0])
"""m from the leader to its follower, world."""
CYCLE_S = 0.05
FLIGHT_S = 20.0


def lead(bundle: Bundle) -> Velocity:
    bundle.publish("place", Path(bundle.t_ns, bundle.state.position[None]))
    turned = SPEED / RADIUS * bundle.t_ns * 1e-9
    return Velocity(SPEED * np.array([np.cos(turned), np.sin(turned), 0.0]))


def follow(bundle: Bundle) -> Position | None:
    place: Path | None = bundle.get("lead/place", None)
    where: Array | None = None if place is None else place.positions[0] + BESIDE
    return None if where is None else Position(where, 0.0)


def main(cost_s: float | None = None) -> None:
    said_ns = 0
    clock = "" if cost_s is None else lambda: said_ns
    with connect(clock=clock, period=1.5 * CYCLE_S, duration=0.02) as session:
        pilot = lead if session.vehicle == "lead" else follow
        bundle = session.ask(Arm(), TakeOff(HEIGHT), want=["status"])
        for cycle in range(1, round(FLIGHT_S / CYCLE_S)):
            setpoint = pilot(bundle) if bundle.get("status").mode in ("hover", "setpoint") else None
            said_ns += round((cost_s or 0.0) * 1e9)
            wanted = [name for name in ("status", "lead/place") if session.full_name(name) in session.infos]
            items = [] if setpoint is None else [setpoint]
            bundle = session.ask(*items, want=wanted, until_ns=round(cycle * CYCLE_S * 1e9))
        session.send(Land())
        while not session.ask(want=["status"], until_ns=session.now() + round(CYCLE_S * 1e9)).get("status").landed:
            pass


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
