"""What the battery gives, loses and refuses."""

from __future__ import annotations

import numpy as np
import pytest
from flying import GRAVITY, HOVER_SPEED, IRIS, ask, fly, hold_rotors, make_fleet, ns

from skyloop.vehicle.kernel_records import SET_MOTORS, SET_POSITION
from skyloop.world.atmosphere import density

assert IRIS.battery is not None
BATTERY = IRIS.battery
FULL, EMPTY = BATTERY.cells * BATTERY.cell_full, BATTERY.cells * BATTERY.cell_empty


def test_energy_and_charge_are_the_integrals_of_power_and_current() -> None:
    fleet = make_fleet(has_battery=True)
    ask(fleet, SET_POSITION, position=(3.0, 0.0, 4.0))
    energy = charge = 0.0
    for k in range(1, 2001):
        fleet.advance_to(ns(0.001 * k))
        battery = fleet.battery(0, ns(0.001 * k))
        energy += battery.voltage * battery.current * 0.001
        charge += battery.current * 0.001
    assert battery.energy_used == pytest.approx(energy, rel=1e-9)
    assert 1.0 - battery.state_of_charge == pytest.approx(charge / (BATTERY.capacity_ah * 3600.0), rel=1e-9)


def test_power_is_the_induced_power_over_the_efficiency() -> None:
    fleet = make_fleet(has_battery=True)
    hold_rotors(fleet, HOVER_SPEED)
    fly(fleet, 0.001)
    battery = fleet.battery(0, 0)
    disc = 2.0 * float(density(0.0)) * np.pi * IRIS.motor.radius**2
    induced = 4 * (IRIS.mass * GRAVITY / 4) ** 1.5 / np.sqrt(disc)
    power = induced / BATTERY.efficiency + BATTERY.hotel_power
    assert battery.voltage * battery.current == pytest.approx(power, rel=1e-5)
    assert battery.voltage == pytest.approx(FULL - BATTERY.resistance * battery.current, rel=1e-12)
    # a 1.5 kg quadrotor on 10 inch propellers takes 100 to 250 W
    assert 100.0 < power < 250.0


def test_voltage_sags_with_load_and_recovers() -> None:
    fleet = make_fleet(has_battery=True)
    row = fleet.inputs[0]
    row["armed"], row["kind"] = 1, SET_MOTORS
    voltages = []
    for k, throttle in enumerate((0.0, 0.5, 1.0, 0.0), start=1):
        row["throttle"][:4] = throttle
        fly(fleet, 0.5 * k)
        voltages.append(fleet.battery(0, 0).voltage)
    idle, half, full, after = voltages
    assert idle > half > full
    assert half > after - 0.5 and after > half
    assert after < idle


def test_open_circuit_voltage_falls_with_charge() -> None:
    fleet = make_fleet(has_battery=True, hotel_power=0.0)
    for charge in (1.0, 0.6, 0.1):
        fleet.set_charge(0, charge)
        fleet.advance_to(fleet.rate.due_ns(int(fleet.states["step"][0]) + 1))
        assert fleet.battery(0, 0).voltage == pytest.approx(EMPTY + charge * (FULL - EMPTY), rel=1e-9)
        assert fleet.battery(0, 0).state_of_charge == pytest.approx(charge)


def test_full_throttle_speed_follows_the_voltage() -> None:
    speeds = []
    for charge in (1.0, 0.3):
        fleet = make_fleet(has_battery=True)
        fleet.set_charge(0, charge)
        row = fleet.inputs[0]
        row["armed"], row["kind"] = 1, SET_MOTORS
        row["throttle"][:4] = 1.0
        state = fly(fleet, 1.0)
        speeds.append(state.rotor_speeds[0])
        ratio = fleet.battery(0, 0).voltage / FULL
        assert ratio < 1.0
        assert state.rotor_speeds[0] == pytest.approx(IRIS.motor.max_speed * ratio, rel=1e-3)
    assert speeds[1] < 0.95 * speeds[0]


def test_an_empty_battery_ends_the_flight() -> None:
    fleet = make_fleet(has_battery=True, capacity=60.0)
    ask(fleet, SET_POSITION, position=(0.0, 0.0, 0.0))
    assert abs(fly(fleet, 2.0).position[2]) < 0.5
    state = fly(fleet, 20.0)
    battery = fleet.battery(0, 0)
    assert battery.state_of_charge == 0.0
    assert battery.current == 0.0
    assert state.rotor_thrusts.max() < 1e-6
    assert state.acceleration_world[2] == pytest.approx(-GRAVITY, rel=1e-6)
    used = battery.energy_used
    fly(fleet, 22.0)
    assert fleet.battery(0, 0).energy_used == used
    assert used == pytest.approx(60.0 * 0.5 * (FULL + EMPTY), rel=0.05)
