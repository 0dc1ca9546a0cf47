"""The report: one file that needs nothing else, tells what is there, and measures the noise that was put in."""

from __future__ import annotations

import math
import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from handmade import make_recording, messages_of, write_group

from skyloop.core.frames import GeoPoint, LocalFrame, quat_from_yaw, rotate, rotate_inverse
from skyloop.datasets.check_noise import NoiseCheck, NoiseRow
from skyloop.datasets.report import write_report
from skyloop.recording.recording import Recording, create_recording
from skyloop_client.errors import DatasetError
from skyloop_client.messages import (
    Contact,
    DepthImage,
    Event,
    EventKind,
    GnssFix,
    ImageTruth,
    ImuBias,
    ImuSample,
    Message,
    VehicleState,
)
from skyloop_client.streams import Mount, Rate, StreamInfo


class Page(HTMLParser):
    """Text of cells, addresses, and whether tags are balanced."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.open: list[str] = []
        self.rows: list[list[str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag not in ("meta", "img", "link", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> tuple[Recording, bytes]:
    """A whole recording and its report."""
    recording = make_recording(tmp_path_factory.mktemp("usual") / "dataset")
    return recording, write_report(recording.folder).read_bytes()


def test_it_is_one_file_with_the_same_bytes_each_time(usual: tuple[Recording, bytes]) -> None:
    recording, first = usual
    assert write_report(recording.folder).read_bytes() == first
    assert len(first) < 3_000_000
    text = first.decode()
    page = Page(text)
    assert page.open == []
    assert len(page.addresses) >= 10 and all(each.startswith("data:image/") for each in page.addresses)
    assert "<script" not in text and "http" not in re.sub(r"data:[^\"]*", "", text)
    assert "different sizes" not in text and "the flight touched things" not in text


def test_it_tells_gaps_labels_sizes_and_what_was_hit_and_nothing_becomes_html(made: Recording) -> None:
    wide = StreamInfo("drone/depth0", "DepthImage", Rate(10), "drone", details={**DEPTH, "width": 32, "height": 16})
    create_recording(made.folder, {**made.infos, wide.name: wide}, made.facts)
    path = made.folder / "recording.json"
    path.write_text(path.read_text().replace('"hand-made"', '"<script>alert(1)</script>"'))
    messages = messages_of(1)
    gone = [message for message in messages if message.stream == "drone/imu0"][5]
    kept = [message for message in messages if message is not gone]
    t_ns, zero = messages[-1].t_ns, np.zeros(3)
    for name in ("ground", "oak 3"):
        contact = Contact("rotor", 1, name, zero, zero, 2.0, 1.0)
        event = Event(t_ns, EventKind.CONTACT, f"rotor hit {name} at 2.00 m/s", contact)
        kept.append(Message("drone/events", 0, t_ns, t_ns, event))
    write_group(made, 1, kept)
    text = write_report(made.folder).read_text()
    assert "<script" not in text
    assert "Images have different sizes (drone/rgb0 24×16, drone/depth0 32×16 px)" in text
    assert f"the flight touched things 1 times: drone at {t_ns / 1e9:.2f} s: rotor hit oak 3 at 2.00 m/s" in text
    page = Page(text)
    rows = {row[0]: row for row in page.rows if row}
    assert rows["drone/rgb0"] == ["drone/rgb0", "CameraImage", "10", "10", "10", "0", "100", "0"]
    assert rows["drone/imu0"][4:7] == ["199", "1", "10"]
    assert rows["person"] == ["person", "10", "1", "10", "6", "8", "5", "0", "0"]
    assert any(f"{gone.index} at {gone.t_ns} ns" in cell for row in page.rows for cell in row)


def test_nothing_recorded_is_told(made: Recording) -> None:
    made.group_path(0).unlink()
    with pytest.raises(DatasetError, match="no complete group"):
        write_report(made.folder)


IMU = {"gyro_noise_density": 1e-3, "accel_noise_density": 1e-2, "gyro_lsb": 0.0, "accel_lsb": 0.02}
GNSS = {"position_sd": [0.3, 0.4], "position_tau": 120.0, "position_white_sd": [0.05, 0.1]}
DEPTH = {
    "fx": 10.0, "fy": 10.0, "cx": 9.5, "cy": 7.5, "min_range": 0.1, "max_range": 20.0, "noise_scale": 0.005,
    "zero_share": 0.05, "noise_growth_per_m": {"plain": 0.5}, "noise_frozen_beyond": 8.0,
}  # fmt: skip


def noisy(gain: float) -> list[NoiseRow]:
    """The check's rows on a turning vehicle whose sensors scatter `gain` times as much as configured."""
    mount = Mount(np.array([0.2, -0.1, 0.05]), quat_from_yaw(0.7))
    infos = {
        "truth/drone": StreamInfo("truth/drone", "VehicleState", Rate(100), "drone"),
        "drone/imu0": StreamInfo("drone/imu0", "ImuSample", Rate(100), "drone", 0, mount, IMU),
        "drone/gps0": StreamInfo("drone/gps0", "GnssFix", Rate(10), "drone", 0, mount, GNSS),
        "drone/depth0": StreamInfo("drone/depth0", "DepthImage", Rate(10), "drone", details=DEPTH),
        "truth/drone/rgb0": StreamInfo("truth/drone/rgb0", "ImageTruth", Rate(10), "drone", details=DEPTH),
    }
    earth = {"latitude_deg": 47.0, "longitude_deg": 8.0, "altitude": 400.0, "gravity": 9.8}
    check = NoiseCheck(Recording(infos=infos, facts={"vehicle": "drone", "scenario": {"earth": earth}}, folder=None))  # type: ignore[arg-type]
    rng, place = np.random.default_rng(5), LocalFrame(GeoPoint(47.0, 8.0, 400.0))
    walk, decay = np.array([0.3, 0.3, 0.4]) * rng.standard_normal(3), math.exp(-0.1 / 120.0)

    def put(stream: str, k: int, t_ns: int, data: Any) -> None:
        check.add(Message(stream, k, t_ns, t_ns, data))

    for k in range(1500):
        t_ns, w, turn = 10_000_000 * k, np.array([0.3, -0.2, 0.5]), rng.standard_normal(3)
        quat, force = quat_from_yaw(0.001 * k), np.array([0.5, 0.2, -0.1])
        zero = np.zeros(3)
        state = VehicleState(t_ns, turn, zero, quat, w, force, turn, np.zeros(4), np.zeros(4), zero)
        put("truth/drone", k, t_ns, state)
        bias = 0.01 * rng.standard_normal(6)
        put("truth/drone/imu0", k, t_ns, ImuBias(t_ns, bias[:3], bias[3:]))
        felt = rotate_inverse(quat, force + np.array([0.0, 0.0, 9.8])) + np.cross(turn, mount.position)
        felt = felt + np.cross(w, np.cross(w, mount.position))
        rates = rotate_inverse(mount.quat_wxyz, w) + bias[:3] + gain * 1e-2 * rng.standard_normal(3)
        forces = rotate_inverse(mount.quat_wxyz, felt) + bias[3:] + gain * 1e-1 * rng.standard_normal(3)
        put("drone/imu0", k, t_ns, ImuSample(t_ns, rates, 0.02 * np.round(forces / 0.02)))
        if k % 10 == 0:
            walk = decay * walk + math.sqrt(1.0 - decay**2) * np.array([0.3, 0.3, 0.4]) * rng.standard_normal(3)
            error = gain * (walk + np.array([0.05, 0.05, 0.1]) * rng.standard_normal(3))
            at = place.geodetic_from_enu(turn + rotate(quat, mount.position) + error)
            fix = GnssFix(t_ns, at.latitude_deg, at.longitude_deg, at.altitude, zero, 3, 1.0, 1.0, 9, 1.0, 1.0, 1.0)
            put("drone/gps0", k // 10, t_ns, fix)
            true = np.full((16, 20), 2.5 + 0.001 * k, np.float32)
            sigma = 0.005 * np.exp(0.5 * true)
            seen = rng.random(true.shape) >= 0.05 * gain
            depth = np.where(seen, true + gain * sigma * rng.standard_normal(true.shape), 0.0).astype(np.float32)
            put("drone/depth0", k // 10, t_ns, DepthImage(t_ns, depth))
            level = np.array([1.0, 0.0, 0.0, 0.0])
            put("truth/drone/rgb0", k // 10, t_ns, ImageTruth(t_ns, zero, level, depth=true))
    return check.rows()


def test_noise_as_configured_is_found_to_be_so() -> None:
    rows = noisy(1.0)
    assert {row.quantity.split(",")[0] for row in rows} >= {
        "gyro noise density", "accel noise density", "horizontal change of the error between fixes", "depth sd",
        "pixels without a value",
    }  # fmt: skip
    assert all(row.holds for row in rows), [row for row in rows if not row.holds]
    gyro = next(row for row in rows if row.quantity == "gyro noise density")
    assert gyro.measured == pytest.approx(1e-3, rel=0.03) and gyro.n == 4500


def test_noise_one_and_a_half_times_as_large_is_found_out() -> None:
    assert not any(row.holds for row in noisy(1.5))


def test_pixels_that_noise_carries_out_of_the_range_are_expected() -> None:
    """At 14.9 m the noise of the worst material is 1.8 m, so that some of its pixels leave a range of 18.75 m."""
    details = {**DEPTH, "max_range": 18.75, "zero_share": 0.01, "noise_growth_per_m": {"rough": 0.4}}
    details |= {"noise_frozen_beyond": 13.0, "noise_scale": 0.01}
    infos = {
        "drone/depth0": StreamInfo("drone/depth0", "DepthImage", Rate(10), "drone", details=details),
        "truth/drone/rgb0": StreamInfo("truth/drone/rgb0", "ImageTruth", Rate(10), "drone", details=details),
    }
    check = NoiseCheck(Recording(infos=infos, facts={"vehicle": "drone", "scenario": {}}, folder=None))  # type: ignore[arg-type]
    rng = np.random.default_rng(3)
    for k in range(20):
        true = np.full((100, 100), 14.9, np.float32)
        depth = true + 0.01 * np.exp(0.4 * 13.0) * rng.standard_normal(true.shape).astype(np.float32)
        depth[(depth > details["max_range"]) | (rng.random(true.shape) < 0.01)] = 0.0
        check.add(Message("drone/depth0", k, k, k, DepthImage(k, depth)))
        check.add(Message("truth/drone/rgb0", k, k, k, ImageTruth(k, np.zeros(3), np.ones(4), depth=true)))
    row = next(row for row in check.rows() if row.quantity == "pixels without a value")
    assert row.low == 0.01 and row.measured > 0.02
    assert row.high == pytest.approx(row.measured, rel=0.1)
    assert row.holds


@pytest.mark.parametrize("measured", [0.01, 0.02])
def test_the_verdict_agrees_with_the_figures_below_it(
    measured: float, made: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = NoiseRow("drone/imu0", "gyro noise density", 0.01, 0.01, measured, "", 9000, 0.05)
    monkeypatch.setattr(NoiseCheck, "rows", lambda check: [row])
    text = write_report(made.folder).read_text()
    assert ("1 measured noises are not as configured (see Noise): drone/imu0, gyro noise density" in text) == (
        measured > 0.01
    )
    assert ('<span class="bad">off</span>' in text) == (measured > 0.01)
