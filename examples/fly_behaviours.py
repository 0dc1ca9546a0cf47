"""Behaviours from Python: fly to a place, around it, in a spiral of your own, and home, inside a fence."""

import math

import numpy as np

import skyloop
from skyloop.vehicle.behaviours import Behaviour, Fence, Fenced, GoTo, Orbit, Order, Situation, Steps
from skyloop_client.messages import Arm, GoHome, Position, TakeOff


class Spiral(Behaviour):
    """Climbs by a metre per turn of 3 m radius, for so many turns."""

    def __init__(self, turns: float) -> None:
        self.turns = turns
        self.start_ns = -1
        self.centre = np.zeros(3)

    def update(self, now: Situation) -> Order | None:
        if self.start_ns < 0:
            self.start_ns, self.centre = now.t_ns, now.state.position - [3.0, 0.0, 0.0]
        angle = 0.5 * (now.t_ns - self.start_ns) * 1e-9
        self.done = angle >= 2.0 * math.pi * self.turns
        c, s = math.cos(angle), math.sin(angle)
        away = np.array([3.0 * c, 3.0 * s, angle / (2.0 * math.pi)])
        return Position(self.centre + away, velocity=np.array([-1.5 * s, 1.5 * c, 0.25 / math.pi]))


sim = skyloop.build(skyloop.make_scenario({"vehicles": [{"airframe": "iris"}]}))
drone = sim.port.vehicle("drone")
tour = Steps(GoTo([8.0, 0.0, 3.0], speed=3.0), Orbit([8.0, 5.0, 3.0], radius=5.0, speed=2.0, turn=math.pi), Spiral(1.5))
drone.fly(Arm(), TakeOff(2.0), Fenced(Fence(distance=40.0, height=10.0), tour), GoHome())
highest = 0.0
while drone.behaviour is not None and not drone.behaviour.done:
    sim.run_for(0.1)
    highest = max(highest, float(sim.truth().position[2]))
away = np.hypot(*sim.truth().position[:2])
print(f"landed {away:.1f} m from home after {sim.now:.0f} s, at most {highest:.1f} m high")
