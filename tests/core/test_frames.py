import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

from skyloop.core import frames
from skyloop.core.frames import GeoPoint, LocalFrame, Transform
from skyloop_client.errors import SetpointError

RNG = np.random.default_rng(7)
QUATS = Rotation.random(200, rng=RNG).as_quat(scalar_first=True)
VECTORS = RNG.normal(size=(200, 3)) * [1.0, 3.0, 7.0]


def oracle(quat):
    return Rotation.from_quat(quat, scalar_first=True)


def assert_same_rotation(a, b, atol=1e-12):
    sign = np.sign(np.sum(np.asarray(a) * b, axis=-1, keepdims=True))
    np.testing.assert_allclose(a * sign, b, atol=atol)


def test_product_rotation_and_matrix_agree_with_scipy():
    assert_same_rotation(
        frames.quat_multiply(QUATS[:100], QUATS[100:]),
        (oracle(QUATS[:100]) * oracle(QUATS[100:])).as_quat(scalar_first=True),
    )
    np.testing.assert_allclose(frames.rotate(QUATS, VECTORS), oracle(QUATS).apply(VECTORS), atol=1e-12)
    np.testing.assert_allclose(frames.rotate_inverse(QUATS, VECTORS), oracle(QUATS).inv().apply(VECTORS), atol=1e-12)
    np.testing.assert_allclose(frames.matrix_from_quat(QUATS), oracle(QUATS).as_matrix(), atol=1e-12)
    assert frames.rotate(QUATS[0], VECTORS[0]).shape == (3,)


def test_leading_batch_axes_broadcast():
    quats = QUATS[:12].reshape(3, 4, 4)
    turned = frames.rotate(quats, [1.0, 2.0, 3.0])
    assert turned.shape == (3, 4, 3)
    np.testing.assert_array_equal(turned[1, 2], frames.rotate(quats[1, 2], [1.0, 2.0, 3.0]))
    assert frames.matrix_from_quat(quats).shape == (3, 4, 3, 3)
    assert frames.quat_from_yaw(np.zeros((5, 2))).shape == (5, 2, 4)
    assert frames.slerp(quats, quats[::-1], np.full((3, 4), 0.3)).shape == (3, 4, 4)


def test_normalising_refuses_what_has_no_direction():
    np.testing.assert_allclose(frames.quat_normalised([0.0, 3.0, 0.0, 4.0]), [0.0, 0.6, 0.0, 0.8])
    for bad in (np.zeros(4), np.full(4, np.nan)):
        with pytest.raises(SetpointError, match="length 1"):
            frames.quat_normalised(bad)


def test_quat_from_matrix_holds_at_half_turns_and_near_them():
    axes = np.vstack([np.eye(3), -np.eye(3), VECTORS[:20] / np.linalg.norm(VECTORS[:20], axis=1)[:, None]])
    for angle in (0.0, 1e-9, 1.0, np.pi - 1e-9, np.pi, np.pi + 1e-9):
        quat = frames.quat_from_rotvec(angle * axes)
        back = frames.quat_from_matrix(frames.matrix_from_quat(quat))
        assert (back[:, 0] >= 0.0).all()
        np.testing.assert_allclose(np.abs(np.sum(back * quat, axis=1)), 1.0, atol=1e-14)
        np.testing.assert_allclose(frames.matrix_from_quat(back), frames.matrix_from_quat(quat), atol=1e-14)
    assert_same_rotation(frames.quat_from_matrix(oracle(QUATS).as_matrix()), QUATS)


def test_euler_angles_are_intrinsic_yaw_pitch_roll():
    roll, pitch, yaw = 0.3, -0.7, 2.5
    quat = frames.quat_from_euler(roll, pitch, yaw)
    assert_same_rotation(quat, Rotation.from_euler("ZYX", [yaw, pitch, roll]).as_quat(scalar_first=True))
    np.testing.assert_allclose(frames.euler_from_quat(quat), [roll, pitch, yaw], atol=1e-14)
    assert frames.yaw_from_quat(quat) == pytest.approx(yaw)
    np.testing.assert_allclose(frames.quat_from_yaw(yaw), frames.quat_from_euler(0.0, 0.0, yaw), atol=1e-15)
    angles = frames.euler_from_quat(QUATS)
    assert_same_rotation(frames.quat_from_euler(angles[:, 0], angles[:, 1], angles[:, 2]), QUATS)


def test_signs_of_the_euler_angles_in_flu():
    forward, left = [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]
    assert frames.rotate(frames.quat_from_euler(0.0, 0.2, 0.0), forward)[2] < 0.0  # nose down
    assert frames.rotate(frames.quat_from_euler(0.2, 0.0, 0.0), left)[2] > 0.0  # left side up
    np.testing.assert_allclose(frames.rotate(frames.quat_from_yaw(np.pi / 2), forward), left, atol=1e-15)


@pytest.mark.parametrize("pitch", [np.pi / 2, -np.pi / 2])
def test_euler_at_gimbal_lock_still_gives_the_same_rotation(pitch):
    quat = frames.quat_from_euler(0.4, pitch, 1.1)
    angles = frames.euler_from_quat(quat)
    assert angles[0] == 0.0
    assert_same_rotation(frames.quat_from_euler(*angles), quat, atol=1e-8)


def test_rotation_vectors_round_trip_at_every_size():
    axis = np.array([0.2, -0.5, 0.84])
    axis /= np.linalg.norm(axis)
    for angle in (0.0, 1e-300, 1e-12, 1e-5, 0.4, 3.1, np.pi):
        quat = frames.quat_from_rotvec(angle * axis)
        assert_same_rotation(quat, Rotation.from_rotvec(angle * axis).as_quat(scalar_first=True))
        np.testing.assert_allclose(frames.rotvec_from_quat(quat), angle * axis, atol=1e-14, rtol=1e-12)
        np.testing.assert_allclose(frames.rotvec_from_quat(-quat), angle * axis, atol=1e-14, rtol=1e-12)


def test_slerp_takes_the_short_way_at_constant_rate():
    start, end = QUATS[3], QUATS[4]
    fractions = np.array([0.0, 0.1, 0.75, 1.0])
    expected = Slerp([0.0, 1.0], oracle(np.stack([start, end])))(fractions).as_quat(scalar_first=True)
    assert_same_rotation(frames.slerp(start, end, fractions), expected)
    assert_same_rotation(frames.slerp(start, -end, fractions), expected)
    np.testing.assert_allclose(frames.slerp(start, start, 0.5), start, atol=1e-15)


def test_transforms_compose_invert_and_apply_like_matrices():
    a_from_b = Transform(np.array([1.0, -2.0, 3.0]), QUATS[0])
    b_from_c = Transform(np.array([-0.5, 0.25, 4.0]), QUATS[1])
    a_from_c = a_from_b @ b_from_c
    np.testing.assert_allclose(a_from_c.matrix(), a_from_b.matrix() @ b_from_c.matrix(), atol=1e-12)
    np.testing.assert_allclose(a_from_b.inverse().matrix(), np.linalg.inv(a_from_b.matrix()), atol=1e-12)
    np.testing.assert_allclose(a_from_c.apply(VECTORS), a_from_b.apply(b_from_c.apply(VECTORS)), atol=1e-12)
    np.testing.assert_allclose((Transform.identity() @ a_from_b).matrix(), a_from_b.matrix())
    batch = Transform(VECTORS, QUATS)
    assert (batch @ b_from_c).matrix().shape == (200, 4, 4)
    np.testing.assert_allclose((batch @ batch.inverse()).position, 0.0, atol=1e-12)


def test_ned_and_frd_vectors():
    np.testing.assert_array_equal(frames.ned_from_enu([1.0, 2.0, 3.0]), [2.0, 1.0, -3.0])
    np.testing.assert_array_equal(frames.frd_from_flu([1.0, 2.0, 3.0]), [1.0, -2.0, -3.0])
    np.testing.assert_array_equal(frames.enu_from_ned(frames.ned_from_enu(VECTORS)), VECTORS)
    np.testing.assert_array_equal(frames.flu_from_frd(frames.frd_from_flu(VECTORS)), VECTORS)


def test_ned_frd_attitude_moves_vectors_consistently():
    converted = frames.quat_ned_frd_from_enu_flu(QUATS)
    np.testing.assert_allclose(
        frames.rotate(converted, frames.frd_from_flu(VECTORS)),
        frames.ned_from_enu(frames.rotate(QUATS, VECTORS)),
        atol=1e-12,
    )
    np.testing.assert_allclose(frames.quat_enu_flu_from_ned_frd(converted), QUATS, atol=1e-15)
    # Facing east is yaw 0 in ENU and a 90° heading in NED; nose-up and right-down are positive in FRD.
    roll, pitch, yaw = frames.euler_from_quat(frames.quat_ned_frd_from_enu_flu(frames.quat_from_euler(0.1, -0.2, 0.0)))
    np.testing.assert_allclose([roll, pitch, yaw], [0.1, 0.2, np.pi / 2], atol=1e-12)


def test_ecef_known_values():
    np.testing.assert_allclose(frames.ecef_from_geodetic([0.0, 0.0, 0.0]), [6378137.0, 0.0, 0.0], atol=1e-9)
    np.testing.assert_allclose(frames.ecef_from_geodetic([90.0, 33.0, 10.0]), [0.0, 0.0, 6356762.314245], atol=1e-6)
    np.testing.assert_allclose(
        frames.ecef_from_geodetic([45.0, 0.0, 0.0]), [4517590.8788, 0.0, 4487348.4088], atol=1e-3
    )


def test_ecef_lies_on_the_ellipsoid_and_altitude_along_its_normal():
    geodetic = np.column_stack([RNG.uniform(-90, 90, 100), RNG.uniform(-180, 180, 100), np.zeros(100)])
    surface = frames.ecef_from_geodetic(geodetic)
    axes = np.array([6378137.0, 6378137.0, 6356752.314245179])
    np.testing.assert_allclose(np.sum((surface / axes) ** 2, axis=1), 1.0, atol=1e-12)
    normal = surface / axes**2
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    raised = frames.ecef_from_geodetic(np.add(geodetic, [0.0, 0.0, 12345.0]))
    np.testing.assert_allclose(raised - surface, 12345.0 * normal, atol=1e-5)
    np.testing.assert_allclose(np.degrees(np.arcsin(normal[:, 2])), geodetic[:, 0], atol=1e-9)


def test_geodetic_round_trip_below_a_tenth_of_a_millimetre_everywhere():
    latitude = np.array([-90.0, -89.9999999, -61.3, -1e-9, 0.0, 1e-6, 12.5, 47.641468, 89.99999, 90.0])
    longitude = np.array([-180.0, -122.14, 0.0, 13.7, 179.999])
    altitude = np.array([-10e3, -3.0, 0.0, 122.0, 35e3, 1000e3])
    geodetic = np.stack(np.meshgrid(latitude, longitude, altitude, indexing="ij"), axis=-1)
    ecef = frames.ecef_from_geodetic(geodetic)
    back = frames.geodetic_from_ecef(ecef)
    assert np.linalg.norm(frames.ecef_from_geodetic(back) - ecef, axis=-1).max() < 1e-7
    np.testing.assert_allclose(back[..., 0], geodetic[..., 0], atol=1e-11)
    np.testing.assert_allclose(back[..., 2], geodetic[..., 2], atol=1e-7)


HOME = GeoPoint(47.641468, -122.140165, 122.0)


def test_local_frame_axes_point_east_north_up():
    local = LocalFrame(HOME)
    np.testing.assert_allclose(local.ecef_from_enu.T @ local.ecef_from_enu, np.eye(3), atol=1e-15)
    assert np.linalg.det(local.ecef_from_enu) == pytest.approx(1.0)
    np.testing.assert_allclose(local.enu_from_geodetic(HOME), 0.0, atol=1e-9)
    east, north, up = (local.geodetic_from_enu(axis) for axis in np.eye(3))
    assert east.longitude_deg > HOME.longitude_deg
    assert abs(east.latitude_deg - HOME.latitude_deg) < 1e-10
    # Meridian radius of curvature at this latitude: a(1-e²)/(1-e²sin²φ)^1.5.
    eccentricity_squared = 0.00669437999014
    sine = np.sin(np.radians(HOME.latitude_deg))
    meridian = 6378137.0 * (1 - eccentricity_squared) / (1 - eccentricity_squared * sine**2) ** 1.5 + 122.0
    assert np.radians(north.latitude_deg - HOME.latitude_deg) * meridian == pytest.approx(1.0, abs=1e-5)
    assert up.altitude == pytest.approx(123.0, abs=1e-9)


def test_the_earth_curves_away_from_the_local_frame():
    local = LocalFrame(HOME)
    # Along the prime vertical the radius of curvature is N + h, so the rise over 10 km is d²/2(N+h).
    rise = local.geodetic_from_enu([10_000.0, 0.0, 0.0]).altitude - HOME.altitude
    normal_radius = 6378137.0 / np.sqrt(1 - 0.00669437999014 * np.sin(np.radians(HOME.latitude_deg)) ** 2)
    assert rise == pytest.approx(1e8 / (2 * (normal_radius + 122.0)), rel=1e-4)
    assert 7.7 < rise < 7.9


def test_local_frame_round_trips_single_points_and_arrays():
    local = LocalFrame(GeoPoint(-33.9, 151.2, -20.0))
    enu = np.array([1234.5, -6789.0, 321.0])
    np.testing.assert_allclose(local.enu_from_geodetic(local.geodetic_from_enu(enu)), enu, atol=1e-8)
    many = VECTORS.reshape(20, 10, 3) * 1000.0
    np.testing.assert_allclose(local.enu_from_geodetic_array(local.geodetic_array_from_enu(many)), many, atol=1e-8)
