"""The README's ten lines: build a scenario, step it, read streams, command setpoints."""

import numpy as np

import skyloop
from skyloop_client.messages import Arm, Goal, TakeOff

scenario = skyloop.make_scenario({"vehicles": [{"airframe": "iris", "sensors": {"imu": {"kind": "imu"}}}]})
sim = skyloop.build(scenario)
imu = sim.subscribe("drone/imu")
sim.send(Arm(), TakeOff(2.0))
sim.run_for(3.0)
sim.send(Goal(np.array([10.0, 0.0, 5.0])))
sim.run_for(6.0)
print("at", sim.truth().position.round(2), "with", len(imu), "IMU samples,", sim.latest("drone/status").mode)
