"""The battery: open-circuit voltage by charge, voltage drop by current, and the energy used."""

import numpy as np

from skyloop.core.jit import inlined


@inlined
def voltage_ratio(s, p):  # type: ignore[no-untyped-def]
    """The share of the full rotor speed that the battery still allows."""
    return min(1.0, s.voltage / p.voltage_full) if p.has_battery else 1.0


@inlined
def drain_battery(s, p, dt, density_ratio):  # type: ignore[no-untyped-def]
    """One step: each rotor draws its ideal induced power T^1.5/√(2ρA) over the efficiency of propeller and drive."""
    if not p.has_battery:
        return
    # T^1.5 is (k ρ)^1.5 ω³, so that one root is enough for all rotors
    per_speed_squared = p.thrust_coefficient * density_ratio
    disc = np.sqrt(2.0 * 1.225 * np.pi * density_ratio / per_speed_squared) * p.rotor_radius
    cubes = 0.0
    for i in range(p.n_rotors):
        cubes += s.rotor_speed[i] ** 3
    power = p.hotel_power + cubes * per_speed_squared / (disc * p.power_efficiency)
    charge_left = max(0.0, 1.0 - s.charge_used / p.capacity)
    open_voltage = p.voltage_empty + (p.voltage_full - p.voltage_empty) * charge_left
    # power = (open - R i) i; the cells cannot give more than the largest power of this equation
    spread = open_voltage * open_voltage - 4.0 * p.resistance * power
    current = (open_voltage - np.sqrt(max(0.0, spread))) / (2.0 * p.resistance)
    if charge_left <= 0.0:
        current = 0.0
        open_voltage = 0.0
    s.current = current
    s.voltage = open_voltage - p.resistance * current
    s.charge_used += current * dt
    s.energy_used += s.voltage * current * dt
