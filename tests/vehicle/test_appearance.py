"""Vehicle shapes: as large as the airframe, light enough to draw, and with a front."""

from __future__ import annotations

import numpy as np
import pytest
from flying import read_airframe

from skyloop.sim.scenario import AIRFRAMES
from skyloop.vehicle.appearance import FRONT, vehicle_shape


@pytest.mark.parametrize("name", list(AIRFRAMES))
def test_shape_follows_the_numbers(name: str) -> None:
    airframe = read_airframe(name)
    shape = vehicle_shape(airframe)
    full, simple = shape.lods
    assert 300 <= len(full.faces) <= 800
    assert 30 <= len(simple.faces) <= 80
    assert np.isfinite(full.positions).all()
    np.testing.assert_allclose(np.linalg.norm(full.normals, axis=1), 1.0, atol=1e-5)
    hubs = np.array([rotor.position for rotor in airframe.rotors])
    radius = airframe.motor.radius
    for mesh in shape.lods:
        # rotors reach to their tips, legs to the ground
        assert mesh.positions[:, 1].max() == pytest.approx(hubs[:, 1].max() + radius, rel=0.15)
        assert mesh.positions[:, 2].min() == pytest.approx(
            min(leg[2] for leg in airframe.contact.legs), abs=0.05 * radius
        )
    for hub in hubs:
        near = np.linalg.norm(full.positions - hub, axis=1)
        assert near.min() <= radius
    bright = (full.colours[:, :3] == FRONT).all(axis=1)
    assert full.positions[bright, 0].mean() > 0.3 * hubs[:, 0].max()
    assert full.positions[~bright, 0].mean() < 0.0


def test_faces_point_outwards() -> None:
    """The volume enclosed, by the divergence theorem, is positive and about that of the fuselage and its parts."""
    mesh = vehicle_shape(read_airframe("iris")).lods[0]
    a, b, c = (mesh.positions[mesh.faces[:, k]].astype(float) for k in range(3))
    volume = np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0
    assert 1e-3 < volume < 1e-2


def test_the_camera_is_seen_on_the_airframe_that_has_one() -> None:
    with_camera, without = (vehicle_shape(read_airframe(name)).lods[0] for name in ("iris-d435", "iris"))
    assert len(with_camera.faces) == len(without.faces) + 12
