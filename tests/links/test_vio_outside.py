"""Visual-inertial odometry in the loop: in another process, on a slower computer, and for PX4's side of the wire."""

from __future__ import annotations

import json
import threading
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from odometry_pilot import on_odometry
from px4_peer import Peer

from skyloop.cli import main
from skyloop.links.autopilots.configs import Px4Config
from skyloop.recording.journal import read_group
from skyloop.run import run_scenario
from skyloop.sim.scenario import load_scenario

POINTS = "[[0,0,1],[1.2,0.6,1],[0,0,1]]"
LEGS = f"{{kind: legs, speed: 1, acceleration: 1.5, turn_rate: 0.5, points: {POINTS}}}"
SHORT = f"vehicles.drone.pilot.trajectory={LEGS}"


def rows(path: Path) -> list[list[str]]:
    return [line.split(",") for line in path.read_text(encoding="utf-8").splitlines()[1:]]


@pytest.mark.slow("odometry from stereo images")
def test_room_vio_flies_on_an_estimator_outside_at_half_the_speed(tmp_path: Path, capsys: Any) -> None:
    reported = ["loop", "room-vio", "--estimator", "vio", "--speed", "0.5", "--set", "duration=9", "--set", SHORT]
    reported += ["--set", "vehicles.drone.pilot.takeoff_altitude=1", "--out", str(tmp_path / "run"), "--json"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["skyloop", *reported])
        with suppress(SystemExit):
            main()
    summary = json.loads(capsys.readouterr().out)
    (one,) = summary["links"]["loop"]["pilots"]
    assert (one["role"], summary["links"]["loop"]["violations"]) == ("estimator", 0)
    assert one["computed_s"] > 1.0
    flown = summary["vehicles"]["drone"]
    assert flown["highest_m"] > 0.9 and flown["estimate_error_rms_m"] < 0.2
    streams = tmp_path / "run" / "streams" / "drone"
    late = np.array([(int(row[1]) - int(row[2])) * 1e-9 for row in rows(streams / "vio.csv")])
    # its execution time delays what it says, but the loading of its code does not
    assert (late > 0.0).all() and np.median(late) < 0.1 and late[:50].max() < 1.0
    poses = list(read_group(streams / "vio_key_poses.journal"))
    clouds = list(read_group(streams / "vio_landmarks.journal"))
    assert len(poses) >= len(clouds) > 5
    assert poses[-1].data.source == "cam0" and len(clouds[-1].data.ids) == len(clouds[-1].data.points) > 10


@pytest.mark.slow("odometry from stereo images")
def test_px4s_side_of_the_wire_flies_in_the_room_on_odometry_alone(tmp_path: Path) -> None:
    """The estimate is that of the cameras and the IMU; the peer takes off, goes 1.5 m forward, comes back and lands."""
    # the peer's gains are for an iris without the heavy camera
    changes = {"duration": 14.0, "vehicles.drone.airframe": "iris"}
    way = [(2.5, (0.0, 0.0, -1.0)), (5.0, (1.5, 0.5, -1.0)), (8.0, (0.0, 0.0, -1.0)), (11.0, (0.0, 0.0, 0.3))]
    scenario = load_scenario("room-vio", changes)
    peers: list[Peer] = []

    def come(address: str) -> None:
        # the listener is there already, but it is read only when the flight has begun
        threading.Thread(target=lambda: peers.append(Peer(int(address.rpartition(":")[2]), on_odometry(way)))).start()

    summary = run_scenario(
        scenario, tmp_path / "run", links=[Px4Config(port=0, pace=None, opened=come, odometry_frame="frd")]
    )
    peers[0].close()
    kinds = {message.get_type() for message in peers[0].got}
    assert kinds == {"HIL_SENSOR", "ODOMETRY"}
    odometry = [message for message in peers[0].got if message.get_type() == "ODOMETRY"]
    assert {(m.frame_id, m.child_frame_id, m.estimator_type, m.reset_counter) for m in odometry} == {(20, 12, 3, 0)}
    assert len(odometry) > 500 and np.isfinite([m.pose_covariance for m in odometry]).all()
    flown = summary["vehicles"]["drone"]
    assert flown["highest_m"] > 0.9 and flown["flown_m"] > 4.0 and not flown["crashed"]
    path = tmp_path / "run" / "streams" / "truth" / "drone.csv"
    truth = np.array([[float(x) for x in row[3:6]] for row in rows(path)])
    assert np.linalg.norm(truth[-1] - truth[0]) < 0.3, "it stands where it took off"
    assert np.linalg.norm(truth[:, :2] - truth[0, :2], axis=1).max() == pytest.approx(np.hypot(1.5, 0.5), abs=0.35)
