"""The benches that render: they measure what they say; no speed is asserted."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from test_benches import aims, by_key

from radar_reference import TABLE_2, reference_volts
from skyloop.sensors.radar.echoes import Echoes
from skyloop.world.mesh import box, ellipsoid
from skyloop.world.model import Model, Shape
from skyloop.world.semantics import CLASS_ID
from skyloop.world.views import ViewRequest
from skyloop_client.errors import SetupError
from skyloop_papers.benchmarks import airsim, camera, gym, link, perception, radar
from skyloop_papers.benchmarks.measurement import Measurement, Rounds

pytestmark = pytest.mark.renders


@pytest.mark.slow("starts the server; tests/airsim asks it in the fast suite")
def test_airsim_beside_the_bare_renderer() -> None:
    found = by_key(airsim.airsim(1, 1, airsim.Asked(width=32, height=24, world="flat", quality="low")))
    assert aims(found) == {"vs_renderer": 0.55, "server_share": 0.20}
    assert {"requests_per_s", "renderer_pictures_per_s"} <= set(found)


def test_landing_beside_opencv() -> None:
    found = by_key(perception.landing(seeds=(5,), altitudes=(7.0,), repeats=2))
    assert aims(found) == {"detector_images_per_s": 60.0}
    assert "marker found in 2" in found["detector_images_per_s"].note
    steps = {f"{step}_ms" for step in perception.STEPS}
    assert {"peer_images_per_s", *steps, *(f"peer_{step}" for step in steps - {"marker_ms"})} <= set(found)


# ---- the camera


def two_objects() -> Model:
    model = Model()
    ball = Shape("ball", (ellipsoid(1.0, rings=16, n=24), ellipsoid(1.0)), (20.0,))
    model.place(ball, (5.0, 0.0, 2.0), is_a="object")
    model.place(ball, (40.0, 0.0, 2.0), is_a="object", scale=2.0)
    model.place(Shape("behind", (box((1, 1, 1)),)), (-5.0, 0.0, 2.0), is_a="object")
    model.freeze()
    return model


def test_peers_draw_what_is_visible_at_its_detail() -> None:
    request = ViewRequest(camera.PARK_LENS, camera.looking((0.0, 0.0, 2.0), 0.0))
    parts = camera.drawn_parts(two_objects(), request)
    coarse, fine = len(ellipsoid(1.0).faces), len(ellipsoid(1.0, rings=16, n=24).faces)
    assert sorted(len(part.faces) for part in parts) == [coarse, fine]
    far = min(parts, key=lambda part: len(part.faces))
    assert far.positions.max(axis=0) == pytest.approx([42.0, 2.0, 4.0], abs=0.1)
    rates = camera.peer_rates(parts, request, 1)
    assert "mujoco" in rates and all(rate and rate > 0.0 and not why for rate, why in rates.values())


@pytest.mark.slow("runs the benchmark")
def test_the_rig_is_measured() -> None:
    assert set(by_key(camera.room(1))) == {"room_stereo_rigs_per_s"}


# ---- environments


def test_environments_beside_gym_pybullet_drones() -> None:
    peers = ("peer", "peer_single")
    with ExitStack() as opened:
        timed = gym.gym_timings(0.02, 3, opened, peer=True)
        taken = Rounds({name: (lambda: 100.0) if name in peers else take for name, take in timed.items()}, 1)
        alone = Rounds(gym.gym_timings(0.02, 3, opened, peer=False), 1, "no bullet")
    found = by_key(gym.gym_measurements(alone, 3), without="no bullet")
    assert {key for key, each in found.items() if math.isnan(each.value)} == {
        "vs_gym_pybullet_drones", "gym_pybullet_drones_steps_per_s", "single_vs_gym_pybullet_drones",
        "gym_pybullet_drones_single_steps_per_s",
    }  # fmt: skip
    found = by_key(gym.gym_measurements(taken, 3))
    assert aims(found) == {"vs_gym_pybullet_drones": 50.0, "single_vs_gym_pybullet_drones": 5.0}
    assert found["vs_gym_pybullet_drones"].value == pytest.approx(taken["many"] / 100.0)
    assert "physics 240 Hz, control 30 Hz" in found["steps_per_s"].note
    assert {"single_steps_per_s", "image_steps_per_s", "gym_pybullet_drones_steps_per_s"} <= set(found)


def test_random_actions_keep_near_hover() -> None:
    many = gym.ManyEnvironments(4, airframe="crazyflie", action="motors", physics_rate_hz=240, control_rate_hz=30)
    p = many.env.params[0]
    many.env.reset(seed=1)
    for action in many.actions[:3]:
        many.env.step(action)
    lift = p["thrust_per_speed_squared"] * (many.env.states["command"][:, :4] ** 2).sum(axis=1)
    assert lift == pytest.approx(np.full(4, p["mass"] * p["gravity"]), rel=0.11)


@pytest.mark.processes
def test_a_peer_that_is_not_there_or_fails_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    started = subprocess.Popen
    fails = [sys.executable, "-c", "raise ImportError('no bullet')"]
    with monkeypatch.context() as patch:
        patch.setattr(subprocess, "Popen", lambda command, **pipes: started(fails, **pipes))
        with pytest.raises(SetupError, match="ImportError: no bullet; `make bench` installs it"):
            gym.peer_steps_per_second(0.1, processes=2)
        request = ViewRequest(camera.PARK_LENS, camera.looking((0.0, 0.0, 2.0), 0.0))
        rates = camera.peer_rates([], request, 1)
    assert all(rate is None and "ImportError: no bullet" in why for rate, why in rates.values())


def test_without_torch_the_detector_is_measured_and_torch_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(name: str = "people", runtime: str = "auto") -> Any:
        if runtime == "torch":
            raise SetupError("torch is not installed")
        return SimpleNamespace(runtime=runtime, find=lambda image: np.sqrt(image.astype(float)).sum())

    monkeypatch.setattr(perception, "load_detector", load)
    found = by_key(perception.detect(per_part=0, looks=3), without="torch is not installed")
    assert math.isnan(found["optimised_vs_torch"].value) and found["images_per_s"].value > 0.0


# ---- the link


@pytest.mark.slow("five exchanges between processes, with cameras")
def test_the_link_beside_a_plain_socket() -> None:
    found = by_key(link.link(bundles=5, rounds=2, trip_s=0.4, world="flat"))
    assert aims(found) == {
        "vs_raw_socket": 0.7, "shared_memory_vs_raw_socket": 2.0, "round_trip_p50_us": 200.0,
        "round_trip_p99_us": 2000.0, "ask_p99_us": 2000.0,
    }  # fmt: skip
    assert {key for key in aims(found) if found[key].lower_is_better} == {
        "round_trip_p50_us", "round_trip_p99_us", "ask_p99_us",
    }  # fmt: skip
    # a bundle is that of the rig, and large ones have large pictures
    assert found["bundle_bytes"].value > 320 * 240 * (3 + 4)
    size = int(found["large_shared_memory_vs_raw_socket"].note.split("1280x720: ")[1].split()[0])
    assert size - found["bundle_bytes"].value == pytest.approx((1280 * 720 - 320 * 240) * (3 + 4), abs=64)
    assert "n = 10" in found["bundle_p50_us"].note
    assert found["bundle_p50_us"].value <= found["bundle_p99_us"].value
    assert int(found["round_trip_p50_us"].note.split("painted ")[1].split()[0]) > 0, "cameras were on"
    assert {"bundles_per_s", "ask_p50_us", "plain_p50_us", "plain_p99_us"} <= set(found)


# ---- the radar

PICTURE = radar.RadarPicture(width=48, height=36, trees=4)
FEW: dict[str, Any] = {"rounds": 1, "repeats": 1, "one_in": 64, "compared": 1}
GPU = {"gpu_frame_ms", "gpu_sum_ms"}


@pytest.fixture(scope="module")
def flight() -> Iterator[radar.RadarFlight]:
    flight = radar.RadarFlight(PICTURE)
    yield flight
    flight.close()


@pytest.mark.slow("runs the benchmark")
def test_the_radar_beside_the_papers_sum(flight: radar.RadarFlight, monkeypatch: pytest.MonkeyPatch) -> None:
    """First without a GPU, then with a CPU in the place of one."""
    with monkeypatch.context() as patch:
        patch.setattr("skyloop.sensors.radar.radar._gpu", lambda: (None, "CuPy is not installed"))
        plain = by_key(radar.measured_on(flight, **FEW))
    assert not GPU & set(plain) and "no GPU figures: radar backend 'gpu'" in plain["frame_ms"].note
    monkeypatch.setattr(radar, "gpu_radar", lambda picture: (radar.radar_of(picture, "cpu"), ""))
    monkeypatch.setattr(radar, "gpu_name", lambda: "Some Device 9000")
    made: dict[str, Measurement] = {figure.key: figure for figure in radar.measured_on(flight, **FEW)}
    # the stand-in for the GPU finds the very same echoes
    assert made.pop("gpu_echoes_error").value == 0.0
    found = by_key(iter(made.values()))
    expected = {"frame_ms": 30.0, "vs_paper_method": 300.0, "error_vs_reference": 1e-3, "memory_mb": 300.0}
    assert aims(found) == {**expected, "gpu_frame_ms": 1.0}
    assert not found["vs_paper_method"].lower_is_better and found["error_vs_reference"].holds
    assert {"frame_cpu_ms", "echoes_ms", "sum_ms", "echoes", "every_pixel_ms", "paper_method_whole_ms"} <= set(found)
    # two float64 for each of three antennas and a complex64, of every pixel
    assert found["memory_mb"].value > 48 * 36 * (2 * 3 * 8 + 8) / 1e6
    assert all("Some Device 9000" in found[key].note for key in GPU) and "GPU" not in found["frame_ms"].note


def test_the_radar_flies_past_people_who_walk(flight: radar.RadarFlight) -> None:
    first, second = (scene.kinematics for scene in flight.scenes[:2])
    assert np.linalg.norm(second.position - first.position) == pytest.approx(3.0 * (second.t_ns - first.t_ns) * 1e-9)
    assert np.linalg.norm(first.velocity_world) == pytest.approx(3.0)
    view = flight.scenes[-1].view
    person = view.classes == CLASS_ID["person"]
    assert person.any() and np.linalg.norm(view.velocities[person], axis=1).max() > 0.5
    # looking down every pixel echoes, ahead the sky does not
    assert (flight.steep.view.surface[..., 1] > 0).all() and (flight.scenes[0].view.surface[..., 1] == 0).any()


def test_given_and_painted_pictures_make_the_same_scan(flight: radar.RadarFlight) -> None:
    bench = radar.Bursts(radar.radar_of(PICTURE, "cpu"), flight.scenes)
    given, painted = bench.scan(flight.scenes[2]), bench.scan(flight.painted[2])
    assert np.abs(given.volts).max() > 0.0 and np.array_equal(given.volts, painted.volts)


def test_the_papers_method_is_eq_4() -> None:
    random = np.random.default_rng(3)
    away, speed = random.uniform(2.0, 20.0, 6), random.uniform(-3.0, 3.0, 6)
    strengths = (random.normal(size=(6, 2)) @ [1.0, 1j]).astype(np.complex64)
    # sender and receivers at one point, so that half a path is the distance
    echoes = Echoes(np.repeat(away[:, None], 3, 1), np.repeat(speed[:, None], 3, 1), strengths)
    ahead, exact = np.array([1.0, 0.0, 0.0]), strengths.astype(complex)
    wanted = reference_volts(
        TABLE_2, np.zeros(3), np.zeros((3, 3)), away[:, None] * ahead, speed[:, None] * ahead,
        np.abs(exact), np.angle(exact),
    )  # fmt: skip
    assert radar.paper_burst(TABLE_2, echoes) == pytest.approx(wanted, abs=1e-8)


def test_the_error_is_that_of_the_fast_sum(flight: radar.RadarFlight, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = radar.Bursts(radar.radar_of(PICTURE, "cpu"), flight.scenes[-1:])
    right = bench.summed
    monkeypatch.setattr(bench, "summed", lambda echoes: 1.01 * right(echoes))
    assert bench.compared(1)[0] == pytest.approx(0.01, abs=1e-3)
