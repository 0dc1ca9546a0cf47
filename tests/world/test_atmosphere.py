import numba
import numpy as np
import pytest

from skyloop.world import atmosphere

# US Standard Atmosphere 1976, geopotential altitude: K, Pa, kg/m³.
TABLE = [
    (-1000.0, 294.65, 113929.2, 1.346995),
    (0.0, 288.15, 101325.0, 1.225000),
    (5000.0, 255.65, 54019.9, 0.736116),
    (11000.0, 216.65, 22632.06, 0.363918),
    (15000.0, 216.65, 12044.57, 0.193674),
    (20000.0, 216.65, 5474.889, 0.0880349),
]


@pytest.mark.parametrize(("altitude", "kelvin", "pascal", "kilogram"), TABLE)
def test_standard_table(altitude, kelvin, pascal, kilogram):
    assert atmosphere.temperature(altitude) == pytest.approx(kelvin, abs=1e-9)
    assert atmosphere.pressure(altitude) == pytest.approx(pascal, rel=3e-6)
    assert atmosphere.density(altitude) == pytest.approx(kilogram, rel=3e-6)


def test_hydrostatic_balance_holds_in_both_layers():
    altitude = np.array([-400.0, 0.0, 3000.0, 10_500.0, 11_500.0, 19_000.0])
    gradient = (atmosphere.pressure(altitude + 0.5) - atmosphere.pressure(altitude - 0.5)) / 1.0
    np.testing.assert_allclose(gradient, -9.80665 * atmosphere.density(altitude), rtol=1e-7)


def test_altitude_from_pressure_inverts_pressure_over_batches():
    altitude = np.linspace(-2000.0, 25_000.0, 60).reshape(3, 4, 5)
    np.testing.assert_allclose(atmosphere.altitude_from_pressure(atmosphere.pressure(altitude)), altitude, atol=1e-7)


def test_kernel_density_is_the_same_atmosphere():
    air_density = atmosphere.air_density

    @numba.njit
    def densities(altitudes, out):
        for i in range(len(altitudes)):
            out[i] = air_density(altitudes[i])

    altitude = np.linspace(-2000.0, 21_000.0, 47)
    out = np.empty_like(altitude)
    densities(altitude, out)
    np.testing.assert_allclose(out, atmosphere.density(altitude), rtol=1e-14)
