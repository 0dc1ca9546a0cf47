"""Every option of a camera shows in what it publishes."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, get_args

import numpy as np
import pytest
from option_flights import DRONE, fields_of, fly, numbered
from option_views import COMMON, DASH, EVERY, Pair, Seen, brighter, check_pair, difference, seen, sensors_of

from skyloop.sensors.camera import PRESETS, CameraConfig, Quality, Truth
from skyloop.sensors.sensor import MountConfig

pytestmark = pytest.mark.renders

PLAIN = {"kind": "camera", "preset": "perfect", "width": 64, "height": 48, "rate_hz": 1.0 / EVERY}


def sharper(before: Seen, after: Seen) -> float:
    """Share by which neighbouring pixels differ more."""
    fine = [np.abs(np.diff(s.image, axis=1)).mean() for s in (before, after)]
    return float(fine[1] / fine[0] - 1.0)


def wider(before: Seen, after: Seen) -> float:
    return float(after.image.shape[1] - before.image.shape[1])


def taller(before: Seen, after: Seen) -> float:
    return float(after.image.shape[0] - before.image.shape[0])


def focal_length(before: Seen, after: Seen) -> float:
    assert difference(before, after) > 2.0
    return float(after.details["fx"] / before.details["fx"])


def darker_corners(before: Seen, after: Seen) -> float:
    """Share of what is shown that the corners lose, more than the middle does."""
    share = after.image / np.maximum(before.image, 1.0)
    return float(1.0 - share[[0, 0, -1, -1], [0, -1, 0, -1]].mean() / share[20:28, 28:36].mean())


def channels_lost(before: Seen, after: Seen) -> float:
    assert np.abs(after.image - before.image @ [0.299, 0.587, 0.114]).max() < 1.5
    assert (before.details["mode"], after.details["mode"]) == ("colour", "grey")
    return float(before.image.ndim - after.image.ndim)


def labels(before: Seen, after: Seen) -> float:
    """At the first instant, when the other vehicle is right in front."""
    return len(after.truths[0].labels) - len(before.truths[0].labels)


def truth_of_one_kind(before: Seen, after: Seen) -> float:
    assert before.truths == []
    return len(after.truths)


def tilt(image: np.ndarray) -> float:
    """How much higher the sky's edge is on one side than on the other: px of blue from the top."""
    sky = image[..., 2] > image[..., 1]
    return float(abs(sky[:, 4].sum() - sky[:, -5].sum()))


def more_tilted(before: Seen, after: Seen) -> float:
    return tilt(after.image) - tilt(before.image)


BLURRED = {"exposure_time": 0.06}
ROLLING = {"readout_time": 0.1}
AUTOMATIC = {"auto_exposure": True, "target_brightness": 0.8}
LABELLED = {"truth": ["labels"], "label_min_px": 5}
CAMERA: dict[str, list[Pair]] = {
    **COMMON,
    "mount": [
        Pair({"position": [0.0, 0.0, 2.0]}, difference, 3.0),
        Pair({"rotation_deg": [0.0, 40.0, 0.0]}, difference, 3.0),
    ],
    "faults": [Pair([{"kind": "bias", "value": 30.0}], brighter, 25.0)],
    "width": [Pair(80, wider, 16)],
    "mode": [Pair("grey", channels_lost, 1)],
    "height": [Pair(60, taller, 12)],
    "horizontal_fov_deg": [Pair(60.0, focal_length, 1.7)],
    "quality": [Pair(level, difference, 0.1, {"quality": lower}) for lower, level in pairwise(get_args(Quality))],
    "model": [
        Pair("fisheye", difference, 3.0),
        Pair("brown-conrady", difference, 2.0, {"model": "fisheye", "distortion": [0.1, 0.0, 0.0, 0.0]}),
    ],
    "distortion": [
        Pair([-0.3, 0.1, 0.0, 0.0], difference, 2.0, {"model": "brown-conrady"}),
        Pair([0.3, 0.0, 0.0, 0.0], difference, 2.0, {"model": "fisheye"}),
    ],
    "truth": [Pair([name], truth_of_one_kind, 2) for name in get_args(Truth)],
    "label_classes": [Pair(["person", "car"], labels, -1, LABELLED)],
    "label_min_px": [Pair(3000, labels, -1, LABELLED)],
    "exposure": [Pair(2.0, brighter, 20.0)],
    "exposure_time": [Pair(0.06, sharper, -0.1)],
    "blur_samples": [Pair(2, difference, 0.5, BLURRED)],
    "readout_time": [Pair(0.1, difference, 1.0)],
    "readout_bands": [Pair(2, difference, 0.5, ROLLING)],
    "vignetting": [Pair(1.0, darker_corners, 0.4)],
    "full_well": [Pair(200.0, sharper, 0.2)],
    "read_noise": [Pair(100.0, sharper, 0.2, {"full_well": 1000.0})],
    "auto_exposure": [Pair(True, brighter, 20.0, {"target_brightness": 0.8})],
    "target_brightness": [Pair(0.2, brighter, -20.0, AUTOMATIC)],
    "auto_exposure_tau": [Pair(5.0, brighter, -20.0, AUTOMATIC)],
    "gimbal": [Pair("roll-pitch", more_tilted, -3.0), Pair("fixed", difference, 3.0)],
    "gimbal_attitude_deg": [Pair([0.0, 30.0, 90.0], difference, 3.0, {"gimbal": "fixed"})],
}


def test_every_option_of_a_camera_has_a_case() -> None:
    assert set(CAMERA) == fields_of(CameraConfig, "kind", "preset")
    gimbals = get_args(CameraConfig.model_fields["gimbal"].annotation)
    assert gimbals == ("none", *(pair.value for pair in CAMERA["gimbal"]))


@pytest.mark.parametrize(("option", "number"), numbered(CAMERA))
def test_camera(option: str, number: int) -> None:
    check_pair(PLAIN, CAMERA, option, number, DASH)


def test_the_truth_stream_has_what_was_asked_for_and_nothing_else() -> None:
    sensors = sensors_of(PLAIN, CAMERA)
    flight = fly(DASH, {DRONE + "sensors": sensors})
    for number, name in enumerate(get_args(Truth)):
        stream = f"truth_{number}_after"
        truth = seen(flight, stream, sensors[stream]).truths[0]
        given = {n for n in get_args(Truth) if n != "labels" and getattr(truth, n) is not None}
        given |= {"labels"} if truth.labels else set()
        assert given == {name}


# ---- presets

MOUNTS: dict[str, Any] = {
    "airloop": [0.0, 0.0, 0.0],
    "d435-colour": [0.12, 0.0, 0.0],
    "d435-left": [0.12, 0.0, 0.0],
    "d435-right": [0.12, -0.05, 0.0],
    "down-1280": [0.5, 0.0, -0.1],
    "perfect": [0.0, 0.0, 0.0],
}


def test_every_preset_has_its_size_rate_and_place() -> None:
    assert set(MOUNTS) == set(PRESETS) == set(get_args(CameraConfig.model_fields["preset"].annotation))
    names: dict[str, Any] = {preset.replace("-", "_"): preset for preset in PRESETS}
    sensors = {name: {"kind": "camera", "preset": preset} for name, preset in names.items()}
    flight = fly(DASH.but(seconds=0.049), {DRONE + "sensors": sensors})
    for name, preset in names.items():
        n = PRESETS[preset]
        messages = flight.messages[f"drone/{name}"]
        assert messages[0].data.colour.shape == (n.height, n.width, 3)
        assert len(messages) == (2 if preset.startswith("d435") else 1)
        told = seen(flight, name, sensors[name]).details
        assert told["fx"] == pytest.approx(0.5 * n.width / np.tan(np.radians(0.5 * n.horizontal_fov_deg)))
        assert CameraConfig(preset=preset).mount.position == tuple(MOUNTS[preset])
    left, right, down = (
        flight.records(name)[0].colour.astype(float) for name in ("d435_left", "d435_right", "down_1280")
    )
    assert np.abs(left - right).mean() > 0.3, "two eyes see from two places"
    # there is no sky below
    assert (down[..., 2] <= down[..., 1]).mean() > 0.9


def test_a_mount_that_is_given_counts_more_than_the_preset() -> None:
    mount = MountConfig(position=(0.0, 0.0, 1.0))
    assert CameraConfig(preset="down-1280", mount=mount).mount.position == (0.0, 0.0, 1.0)
    assert CameraConfig(preset="d435-left", rate_hz=5).rate_hz == 5
