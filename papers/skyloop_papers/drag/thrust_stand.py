"""Figs. 14 and 15 of the paper: a motor on a scale, thrust by the PWM that its speed controller gets.

The rotors of the shipped f450 are given the throttle of each PWM, in the flight kernels and with a flight's battery.
Thrust is that of the rotor speeds, so it does not matter that the vehicle takes off where a stand would not. The paper
prints no thrust; the other curve is a wind tunnel's of a like propeller.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from skyloop.sim.assembly import build, load_airframe
from skyloop.sim.scenario import make_scenario
from skyloop.vehicle.airframe import Airframe
from skyloop_client.messages import Arm, Array, Motors
from skyloop_papers.drag.flights import AIRFRAME
from skyloop_papers.plots import INK, figure

PWM = np.arange(1000.0, 1951.0, 20.0)
"""µs, as in section 3.2.1."""
LOWEST_PWM, HIGHEST_PWM = 1000.0, 2000.0
"""µs: throttle 0 and 1."""
READINGS, APART = 5, 1.0
"""At each PWM, and s between them."""
VOLTS = 14.8
GRAMS_PER_N = 1000.0 / 9.80665
UIUC_RPM = np.array([1666, 2018, 2556, 3144, 3728, 4290, 4853, 5450, 6021], float)
UIUC_CT = np.array([0.0986, 0.1005, 0.1042, 0.1074, 0.1114, 0.1151, 0.1191, 0.1230, 0.1259])
"""APC Slow Flyer 11 x 4.7, static, from the propeller data site of the University of Illinois."""
DIAMETER, AIR = 0.2794, 1.225
BLUE = "#1f77b4"


@dataclass(frozen=True, slots=True, eq=False)
class ThrustStand:
    pwm: Array
    """(n,) µs."""
    grams: Array
    """(n, 5) readings of a scale with steps of 1 g, of one rotor."""
    rpm: Array
    """(n,) at the last reading."""
    per_square: float
    """N/(rad/s)², of the airframe."""
    most_rpm: float
    """Of the airframe with a full battery."""


def airframe_on_stand() -> Airframe:
    """With a pack whose voltage falls under four motors as that of the stand does under one."""
    airframe = load_airframe(AIRFRAME)
    battery = airframe.battery
    assert battery is not None
    pack = {"resistance": battery.resistance / 4, "capacity_ah": 4 * battery.capacity_ah}
    return airframe.model_copy(update={"battery": battery.model_copy(update=pack)})


def measure_thrust() -> ThrustStand:
    airframe = airframe_on_stand()
    battery = airframe.battery
    assert battery is not None
    charge = (VOLTS / battery.cells - battery.cell_empty) / (battery.cell_full - battery.cell_empty)
    vehicle = {"name": "stand", "airframe": f"{__name__}:airframe_on_stand", "charge": charge}
    scenario = make_scenario({"name": "thrust-stand", "duration": 600.0, "vehicles": [vehicle]})
    per_square, readings, rpm = airframe.motor.thrust_coefficient, [], []
    with build(scenario) as simulation:
        port = simulation.port.vehicle("stand")
        port.send(Arm(), by="thrust stand")
        rested = simulation.snapshot()
        for pwm in PWM:
            simulation.restore(rested)
            throttle = np.clip((pwm - LOWEST_PWM) / (HIGHEST_PWM - LOWEST_PWM), 0.0, 1.0)
            row = []
            for _ in range(READINGS):
                # a command is valid for half a second
                for _ in range(10):
                    port.send(Motors(np.full(len(airframe.rotors), throttle)), by="thrust stand")
                    simulation.run_until(simulation.now + APART / 10)
                speed = float(port.truth.rotor_speeds[0])
                row.append(float(np.rint(per_square * speed**2 * GRAMS_PER_N)))
            readings.append(row)
            rpm.append(speed * 60.0 / (2.0 * np.pi))
    most = airframe.motor.max_speed * 60.0 / (2.0 * np.pi)
    return ThrustStand(PWM, np.array(readings), np.array(rpm), per_square, most)


def wind_tunnel_grams(rpm: Array) -> Array:
    """Thrust of one such propeller by the coefficients of the wind tunnel."""
    coefficient = np.interp(rpm, UIUC_RPM, UIUC_CT)
    return np.asarray(coefficient * AIR * (rpm / 60.0) ** 2 * DIAMETER**4 * GRAMS_PER_N)


def plot_thrust(stand: ThrustStand, path: Path) -> None:
    with figure(path, (11.5, 4.6), f"Fig. 15: one rotor of the {AIRFRAME} at {VOLTS:g} V") as drawn:
        by_pwm, by_speed = drawn.subplots(1, 2)
        _by_pwm(by_pwm, stand)
        _by_speed(by_speed, stand)


def _by_pwm(axis: Any, stand: ThrustStand) -> None:
    axis.boxplot(
        stand.grams.T, positions=stand.pwm, widths=14.0, manage_ticks=False, showfliers=False,
        medianprops={"color": BLUE, "lw": 2.0}, boxprops={"color": BLUE},
    )  # fmt: skip
    axis.plot([], [], color=BLUE, lw=2.0, label="model: five readings each, which are the same")
    axis.set(xlabel="PWM to the speed controller [µs]", ylabel="thrust [g]", xlim=(980, 1970), ylim=(-20, None))
    axis.set_title("thrust by PWM, as in the paper in steps of 20 µs from 1000 to 1950 µs")
    axis.legend(loc="upper left")


def _by_speed(axis: Any, stand: ThrustStand) -> None:
    rpm = np.linspace(0.0, stand.most_rpm, 80)
    square = (rpm * 2.0 * np.pi / 60.0) ** 2
    axis.plot(rpm, stand.per_square * square * GRAMS_PER_N, color=BLUE, label="model")
    axis.plot(stand.rpm, stand.grams[:, -1], ".", color=BLUE, ms=4)
    axis.plot(
        UIUC_RPM, wind_tunnel_grams(UIUC_RPM), "o", color=INK, mfc="white", ms=5,
        label="APC Slow Flyer 11 × 4.7, static,\nUniversity of Illinois",
    )  # fmt: skip
    axis.set(xlabel="rotor speed [1/min]", ylabel="thrust [g]", xlim=(0, None), ylim=(0, None))
    axis.set_title("the same by rotor speed")
    axis.legend(loc="upper left")
