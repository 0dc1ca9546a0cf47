"""The flights of the paper's section 3, three truths for them, and the record of a flight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from skyloop.core.frames import rotate_inverse
from skyloop.run import fly
from skyloop.sim.assembly import build, load_airframe
from skyloop.sim.parts import PilotPart
from skyloop.sim.scenario import Scenario, make_scenario
from skyloop.vehicle.pilots.pilots import TrajectoryPilot
from skyloop.vehicle.trajectories.speed_profile import PEAK_SLOPE
from skyloop.world.atmosphere import density
from skyloop_client.errors import ScenarioError
from skyloop_client.messages import Array

AIRFRAME = "f450"
RATE_HZ = 100.0
HEIGHT = 15.0
"""m, the paper's height for the legs, used for all flights."""
ALONG_TRACK = 3.0
"""m/s², the peak along the track while the speed changes."""


@dataclass(frozen=True, slots=True)
class Truth:
    """The aerodynamics of a set of flights."""

    key: str
    label: str
    drag: dict[str, Any]
    """The scenario's `drag` choice. Missing numbers are the airframe's own."""


TRUTHS = (
    # The frame's drag area is 0.013 m². With 0.016 m², 26 m/s would need 51 degrees of tilt, but the airframe is
    # limited to 50.
    Truth("A", "rotor √T + parasitic", {"model": "rotor", "parasitic": [0.008, 0.008, 0.012]}),
    Truth("B", "AirSim box faces", {"model": "box"}),
    # Axial inflow: RotorPy's Hummingbird (10 cm rotors), scaled by R³ to 14 cm. Translational lift: at 26 m/s it just
    # cancels the loss by the induced inflow of hover.
    Truth(
        "C",
        "rotor √T + axial inflow + translational lift",
        {"model": "rotor", "axial_inflow": 6.3e-4, "translational_lift": 3.4e-3},
    ),
)
CONTROL = Truth("control", "rotor √T alone", {"model": "rotor"})
"""The model behind eq. (13), which must win here. It shows how much a ranking depends on the choice of truth."""


@dataclass(frozen=True, slots=True)
class DragFlight:
    label: str
    speed: float
    """m/s."""
    table: str
    """Its table in the paper. Empty for the calibration flight."""
    trajectory: dict[str, Any]
    """As in a scenario."""
    ramp: float = 0.0
    """s at both ends of the trajectory that are not evaluated."""


def circle(speed: float, radius: float, laps: float) -> DragFlight:
    ramp = PEAK_SLOPE * speed / ALONG_TRACK
    trajectory = {
        "kind": "circle", "centre": [-radius, 0.0, HEIGHT], "radius": radius, "speed": speed,
        "laps": laps, "ramp": ramp,
    }  # fmt: skip
    return DragFlight(f"circle {speed:g} m/s", speed, "Fig. 16", trajectory, ramp)


def lemniscate(speed: float, minimum_radius: float, laps: float) -> DragFlight:
    ramp = PEAK_SLOPE * speed / ALONG_TRACK
    trajectory = {
        "kind": "lemniscate", "centre": [0.0, 0.0, HEIGHT], "minimum_radius": minimum_radius,
        "speed": speed, "laps": laps, "ramp": ramp,
    }  # fmt: skip
    return DragFlight(f"lemniscate {speed:g} m/s", speed, "Fig. 16", trajectory, ramp)


def back_and_forth(speed: float, legs: int) -> DragFlight:
    trajectory = {
        "kind": "legs", "points": [[0.0, 0.0, HEIGHT], [80.0, 0.0, HEIGHT]], "speed": speed,
        "legs": legs, "acceleration": ALONG_TRACK, "yaw": 0.0,
    }  # fmt: skip
    return DragFlight(f"80 m legs {speed:g} m/s", speed, "Table 2", trajectory)


CALIBRATION = DragFlight(
    "minimum snap up to 12 m/s",
    12.0,
    "",
    {
        "kind": "waypoints",
        "waypoints": [
            [0, 0, 15], [40, 10, 18], [60, 45, 13], [20, 70, 16], [-30, 50, 20], [-45, 0, 15],
            [-10, -40, 12], [35, -30, 16], [0, 0, 15],
        ],
        "yaws": [0.0] * 9,
        "speed": 12.0,
        "acceleration": 5.0,
    },
)  # fmt: skip
"""The nose stays east while the track takes all directions, so that all three body axes see airflow."""

FLIGHTS = (
    circle(1.5, 3.0, laps=2),
    circle(7.5, 10.0, laps=5),
    lemniscate(15.0, 30.0, laps=2),
    lemniscate(20.0, 60.0, laps=2),
    circle(26.0, 400.0, laps=1),
    back_and_forth(5.0, legs=2),
    back_and_forth(10.0, legs=2),
)
QUICK_FLIGHTS = (
    circle(7.5, 10.0, laps=2),
    circle(26.0, 400.0, laps=0.25),
    back_and_forth(10.0, legs=1),
)


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """n samples of one flight: the inputs of the models and the acceleration to predict."""

    mass: float
    """kg."""
    thrust: Array
    """(n,) N of all rotors by the static curve, as on a thrust stand, which ignores the motion of the air."""
    quat_wxyz: Array
    """(n, 4) world_from_body."""
    velocity_world: Array
    """(n, 3) m/s."""
    true_specific_force: Array
    """(n, 3) m/s², body axes."""
    imu_specific_force: Array
    """(n, 3) m/s², body axes, as an MPU6000 measures it."""

    @property
    def thrust_body(self) -> Array:
        """(n, 3) N."""
        return np.outer(self.thrust, [0.0, 0.0, 1.0])

    @property
    def mean_speed(self) -> float:
        return float(np.linalg.norm(self.velocity_world, axis=1).mean())

    @property
    def largest_tilt_deg(self) -> float:
        x, y = self.quat_wxyz[:, 1], self.quat_wxyz[:, 2]
        return float(np.degrees(np.arccos(1.0 - 2.0 * (x**2 + y**2))).max())


def scenario_of(drag: dict[str, Any], flight: DragFlight) -> Scenario:
    return make_scenario(
        {
            "name": "reproduce-drag",
            "description": flight.label,
            "duration": 600.0,
            "truth_rate_hz": RATE_HZ,
            "vehicles": [
                {
                    "airframe": AIRFRAME,
                    "drag": drag,
                    "battery": False,
                    "sensors": {"imu": {"kind": "imu", "preset": "mpu6000", "rate_hz": RATE_HZ}},
                    "pilot": {
                        "kind": "trajectory",
                        "takeoff_altitude": HEIGHT,
                        "trajectory": flight.trajectory,
                        "land": False,
                    },
                }
            ],
        }
    )


def record_flight(drag: dict[str, Any], flight: DragFlight) -> Record:
    """Fly it and keep the part between the ramps."""
    scenario = scenario_of(drag, flight)
    with build(scenario) as simulation:
        states, samples = simulation.subscribe("truth/drone"), simulation.subscribe("drone/imu")
        pilot = next(part.pilot for part in simulation.parts if isinstance(part, PilotPart))
        assert isinstance(pilot, TrajectoryPilot)
        fly(simulation, scenario.duration)
    if not pilot.done or pilot.started_ns is None:
        raise ScenarioError(f"reproduce drag: {flight.label} was not flown to its end with drag {drag}")
    begin = pilot.started_ns + round(flight.ramp * 1e9)
    end = pilot.started_ns + round((pilot.trajectory.duration - flight.ramp) * 1e9)
    truth = [message.data for message in states if begin <= message.t_ns <= end]
    imu = [message.data for message in samples if begin <= message.t_ns <= end]
    airframe = load_airframe(AIRFRAME)
    quat = np.array([state.quat_wxyz for state in truth])
    height = np.array([state.position[2] for state in truth])
    squares = np.array([np.sum(state.rotor_speeds**2) for state in truth])
    acceleration = np.array([state.acceleration_world for state in truth])
    gravity = np.array([0.0, 0.0, -float(simulation.fleet.params[0]["gravity"])])
    return Record(
        mass=airframe.mass,
        thrust=airframe.motor.thrust_coefficient * density(scenario.earth.altitude + height) / 1.225 * squares,
        quat_wxyz=quat,
        velocity_world=np.array([state.velocity_world for state in truth]),
        true_specific_force=rotate_inverse(quat, acceleration - gravity),
        imu_specific_force=np.array([sample.specific_force for sample in imu]),
    )
