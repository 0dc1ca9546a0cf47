"""The detector of a scenario on a board: the program of `clients/cpp/detect.cpp`, and the network in a file for it."""

from __future__ import annotations

import hashlib
from pathlib import Path

from skyloop import Scenario
from skyloop.core.files import CACHE_FOLDER, write_whole
from skyloop.core.validation import validated
from skyloop.sensors.camera import PRESETS, CameraConfig
from skyloop.sensors.sensor import numbers_of
from skyloop_client.errors import LinkError, SetupError
from skyloop_detect.detector import LEAST_SCORE, model_file
from skyloop_detect.image_detector import NETWORK, ImageDetectorConfig

SOURCE = Path(__file__).parents[5] / "clients" / "cpp" / "detect.cpp"
USUAL = "people-fp16"
"""The shipped model without 8 bits, which the program cannot take."""


def board_command(scenario: Scenario, vehicle: str, name: str) -> list[str]:
    """The command for an `EmulatedBoard` that looks for the estimator `name`. Options of the scenario are kept."""
    flown = next(each for each in scenario.vehicles if each.name == vehicle)
    estimator = flown.estimators[name]
    where = f"{vehicle}.estimators.{name}.options"
    config: ImageDetectorConfig = validated(ImageDetectorConfig, estimator.options, where)
    if config.detector not in ("network", NETWORK):
        advice = f"add --set vehicles.{where}.detector=network"
        raise LinkError(f"the board runs the network, not the detector '{config.detector}'; {advice}")
    if config.window:
        raise LinkError(f"the board has no screen; leave out {where}.window")
    unknown = sorted(set(config.options) - {"model", "least_score"})
    if unknown:
        raise LinkError(f"{where}.options: the board takes model and least_score, not {unknown[0]}")
    found = [(key, flown.sensors.get(key)) for key in estimator.inputs]
    cameras = [(key, sensor) for key, sensor in found if isinstance(sensor, CameraConfig)]
    if len(cameras) != 1:
        raise LinkError(f"estimator '{name}' looks at {len(cameras)} cameras; put one under inputs")
    ((camera, lens),) = cameras
    model = model_file(config.options.get("model", USUAL))
    score = float(config.options.get("least_score", LEAST_SCORE))
    seen = numbers_of(lens, PRESETS)
    file = _kept(model, (seen.height, seen.width), score)
    if not SOURCE.is_file():
        raise SetupError(f"the board's program is built from skyloop's source tree; there is no '{SOURCE}'")
    return [str(SOURCE), str(file), "--camera", camera, "--estimator", name, "--vehicle", vehicle]


def _kept(model: Path, size: tuple[int, int], least_score: float) -> Path:
    """The model in a file for the board, in the cache under its contents."""
    from skyloop_detect.board_file import board_file

    data = board_file(model, size, least_score)
    path = CACHE_FOLDER / "boards" / f"{model.stem}-{hashlib.sha256(data).hexdigest()[:24]}.board"
    if not path.is_file():
        write_whole(path, data)
    return path
