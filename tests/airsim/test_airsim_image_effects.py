"""What CaptureSettings and NoiseSettings do to pictures: each camera has one setting, all look from one place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from airsim_rpc import Rpc, pixels, pose

from skyloop.links.airsim.pixels import LIGHT, NOISE_KEYS

pytestmark = pytest.mark.renders

SIZE = {"ImageType": 0, "Width": 96, "Height": 64, "FOV_Degrees": 90}
QUIET = {
    "ImageType": 0, "Enabled": True, "RandContrib": 0, "HorzWaveContrib": 0, "HorzNoiseLinesContrib": 0,
    "HorzDistortionContrib": 0,
}  # fmt: skip


def camera(noise: Any = None, **capture: Any) -> Any:
    return {
        "X": 0.46, "Y": 0, "Z": 0, "CaptureSettings": [{**SIZE, **capture}],
        "NoiseSettings": [] if noise is None else [{**QUIET, **noise}],
    }  # fmt: skip


SPECKS = {"RandContrib": 0.5, "RandDensity": 1, "RandSize": 8}
LINES = {"HorzNoiseLinesContrib": 1, "HorzNoiseLinesDensityY": 0.25, "HorzNoiseLinesDensityXY": 1}
WAVE = {"HorzWaveContrib": 1, "HorzWaveStrength": 0.1}
SETTINGS: dict[str, Any] = {
    "DefaultSensors": {"imu": {"SensorType": 2, "Enabled": False}},
    "Vehicles": {"Drone1": {"Cameras": {
        "plain": camera(),
        "brighter": camera(AutoExposureBias=1),
        "gamma": camera(TargetGamma=2),
        "dim": camera(AutoExposureMaxBrightness=0.2),
        "lit": camera(AutoExposureMinBrightness=0.8, AutoExposureSpeed=2),
        "blurred": camera(MotionBlurAmount=1),
        "quiet": camera({}),
        "specks": camera(SPECKS),
        "fine": camera({**SPECKS, "RandSize": 500}),
        "few": camera({**SPECKS, "RandSize": 500, "RandDensity": 3}),
        "standing": camera({**SPECKS, "RandSpeed": 1}),
        "lines": camera(LINES),
        "dashes": camera({**LINES, "HorzNoiseLinesDensityXY": 0.2}),
        "wave": camera(WAVE),
        "half wave": camera({**WAVE, "HorzWaveScreenSize": 0.5}),
        "long wave": camera({**WAVE, "HorzWaveVertSize": 20}),
        "torn": camera({"HorzDistortionContrib": 1, "HorzDistortionStrength": 0.05}),
        "grey": {**camera(), "NoiseSettings": [{**QUIET, **SPECKS, "ImageType": 7}],
                 "CaptureSettings": [{**SIZE, "ImageType": 7}]},
    }}},
}  # fmt: skip


def pictures(rpc: Rpc, *names: str, kind: int = 0) -> list[np.ndarray[Any, Any]]:
    asked = [{"camera_name": name, "image_type": kind, "pixels_as_float": False, "compress": False} for name in names]
    return [pixels(answer).astype(int) for answer in rpc("simGetImages", asked, "Drone1", False)]


@pytest.fixture
def high(rpc: Rpc) -> Rpc:
    rpc("simSetVehiclePose", pose(0.0, 0.0, -5.0), True, "Drone1")
    return rpc


def test_exposure_and_gamma(high: Rpc) -> None:
    plain, brighter, gamma, dim, lit, quiet = pictures(high, "plain", "brighter", "gamma", "dim", "lit", "quiet")
    assert np.array_equal(plain, quiet), "noise of nothing is nothing"
    # a stop is twice the light, which is shown as the root of what it fills
    assert brighter == pytest.approx(255.0 * np.sqrt(1.0 - np.exp(-2.0 * LIGHT[plain])), abs=0.51)
    assert gamma == pytest.approx(255.0 * np.sqrt(plain / 255.0), abs=0.7)
    assert 0.25 < plain.mean() / 255.0 < 0.7
    assert dim.mean() / 255.0 == pytest.approx(0.2, abs=0.01)
    assert lit.mean() / 255.0 == pytest.approx(0.8, abs=0.01)


def test_automatic_exposure_follows_with_its_speed(high: Rpc) -> None:
    rpc = high
    (day,) = pictures(rpc, "lit")
    rpc("simSetTimeOfDay", True, "2026-06-21 21:00:00", False, 1.0, 60.0, False)
    (dark,) = pictures(rpc, "lit")
    rpc("simContinueForTime", 3.0)
    rpc("simSetVehiclePose", pose(0.0, 0.0, -5.0), True, "Drone1")
    later, plain = pictures(rpc, "lit", "plain")
    rpc("simSetTimeOfDay", False)
    assert dark.mean() < 0.9 * day.mean() and later.mean() > dark.mean() + 10.0 and later.mean() > plain.mean() + 10.0


def test_motion_blur_smears_along_the_motion(high: Rpc) -> None:
    rpc = high
    plain, blurred = pictures(rpc, "plain", "blurred")
    assert np.array_equal(plain, blurred), "nothing moves"
    state = rpc("simGetGroundTruthKinematics", "Drone1")
    state["angular_velocity"]["z_val"] = 6.0
    rpc("simSetKinematics", state, True, "Drone1")
    plain, blurred = pictures(rpc, "plain", "blurred")
    # turning to the right, edges across the columns fade, those across the rows do not
    ratio = [float(np.abs(np.diff(blurred, axis=a)).mean() / np.abs(np.diff(plain, axis=a)).mean()) for a in (0, 1)]
    assert ratio[1] < 0.6 < 0.75 < ratio[0]


def test_specks(high: Rpc) -> None:
    rpc = high
    plain, coarse, fine, few = pictures(rpc, "plain", "specks", "fine", "few")
    noise = (coarse - 0.5 * plain)[..., 0]
    # eight specks across the image: twelve columns share one shade
    assert np.ptp(noise[3, 1:11]) <= 1 and np.abs(np.diff(noise[3, ::12])).max() > 5
    assert np.ptp((fine - 0.5 * plain)[3, 1:11, 0]) > 5
    share = (few != plain).any(axis=2).mean()
    assert share == pytest.approx(np.exp(-2.0), abs=0.02) and (fine != plain).any(axis=2).mean() > 0.97
    before = pictures(rpc, "specks", "standing")
    assert np.array_equal(before[0], coarse), "the same at the same instant"
    rpc("simContinueForTime", 0.02)
    rpc("simSetVehiclePose", pose(0.0, 0.0, -5.0), True, "Drone1")
    specks, standing = pictures(rpc, "specks", "standing")
    assert np.abs(specks - before[0]).mean() > 10.0 > 1.0 > np.abs(standing - before[1]).mean()


def test_lines(high: Rpc) -> None:
    plain, lines, dashes = pictures(high, "plain", "lines", "dashes")
    struck = (lines != plain).any(axis=2).mean(axis=1)
    assert 3 <= (struck > 0.9).sum() <= 32 and (struck < 0.1).sum() == 64 - (struck > 0.9).sum()
    dashed = (dashes != plain).any(axis=2).mean(axis=1)
    assert dashed[dashed > 0.0].mean() == pytest.approx(0.2, abs=0.06)


def row_shifts(image: np.ndarray[Any, Any], plain: np.ndarray[Any, Any], most: int = 14) -> np.ndarray[Any, Any]:
    """px that rows above the grass, which looks alike everywhere, were moved by to the right."""
    rows = []
    for own, was in zip(image[:40, :, 1], plain[:40, :, 1], strict=True):
        gaps = [np.abs(own[most:-most] - was[most - s : 96 - most - s]).sum() for s in range(-most, most + 1)]
        rows.append(int(np.argmin(gaps)) - most)
    return np.array(rows)


def test_rows_that_wave_or_are_torn(high: Rpc) -> None:
    rpc = high
    block = rpc("simListSceneObjects", "block_.*")[0]
    before = rpc("simGetObjectPose", block)
    try:
        # an upright edge in the middle of all rows
        rpc("simSetObjectPose", block, pose(2.5, 0.5, -5.0), True)
        rpc("simSetObjectScale", block, {"x_val": 0.1, "y_val": 0.2, "z_val": 9.0})
        plain, wave, half, long, torn = pictures(rpc, "plain", "wave", "half wave", "long wave", "torn")
    finally:
        rpc("simSetObjectPose", block, before, True)
        rpc("simSetObjectScale", block, {"x_val": 1.0, "y_val": 1.0, "z_val": 1.0})
    shifts = row_shifts(wave, plain)
    assert 7 <= np.abs(shifts).max() <= 11, "a tenth of 96 px"
    assert (np.diff(np.sign(shifts[shifts != 0])) != 0).sum() >= 10, "six of the ten waves"
    waving, half_waving = ((image != plain).any(axis=(1, 2)).sum() for image in (wave, half))
    assert half_waving <= 33 and waving >= 50, "of 64 rows"
    assert (np.diff(np.sign(row_shifts(long, plain))) != 0).sum() <= 3
    jitter = row_shifts(torn, plain)
    assert 3 <= np.percentile(np.abs(jitter), 90) <= 5 and np.abs(np.diff(jitter)).mean() > 1.5


def test_other_types_can_be_noisy(high: Rpc) -> None:
    (grey,) = pictures(high, "grey", kind=7)
    assert len(np.unique(grey)) > 20


def test_every_key_of_noise_is_known() -> None:
    assert set(NOISE_KEYS) == {
        "RandContrib", "RandSpeed", "RandSize", "RandDensity", "HorzWaveContrib", "HorzWaveStrength",
        "HorzWaveVertSize", "HorzWaveScreenSize", "HorzNoiseLinesContrib", "HorzNoiseLinesDensityY",
        "HorzNoiseLinesDensityXY", "HorzDistortionContrib", "HorzDistortionStrength",
    }  # fmt: skip
