"""One process of the people dataset: makes its share of the places, each in a folder of its own with VOC and COCO.

`people_set` starts it as `python -m skyloop_detect.training_data.people_worker FOLDER NUMBER OF`. It reports its
progress on stdout, one line per image. A place is written aside and renamed when it is whole, so that
a cut-off run can be continued.
"""

from __future__ import annotations

import json
import logging
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skyloop.core.child_process import tell
from skyloop.core.files import PARTIAL
from skyloop.core.keyed_random import KeyedRandom
from skyloop.core.random_key import stream_key
from skyloop.recording.formats.coco import CocoWriter
from skyloop.recording.formats.label_images import LabelImage
from skyloop.recording.formats.voc import VocWriter
from skyloop.rendering.client import Renderer
from skyloop.sensors.camera import Camera, CameraConfig
from skyloop.world.earth import Earth, EarthConfig
from skyloop.world.generation import generator
from skyloop.world.scene import WorldScene
from skyloop.world.semantics import CLASS_ID, CLASSES
from skyloop.world.weather import WeatherConfig, weather_at
from skyloop_client import regular_files
from skyloop_client.errors import DatasetError, RendererError, SkyloopError
from skyloop_client.messages import Kinematics, Label
from skyloop_detect.samples import CLASSES as DETECTED
from skyloop_detect.training_data.people_places import make_place
from skyloop_detect.training_data.people_views import LATITUDE_DEG, ImagePlan, draw_shots

log = logging.getLogger(__name__)
STREAM = "rgb0"
LEAST_PX = 10
"""Visible pixels below which an object gets no label: a person 8 px high has about 20."""
LEAST_CONTRAST = 5.0
"""Levels of 255 by which an object must differ from what is around it, or within itself: the 2 % at which visibility
ends. Fog and darkness hide objects from everybody; a box around nothing would teach and score wrongly."""
RIM_PX = 2
"""px around an object's box that count as its surroundings."""
TEXTURES = {"train": (1, 24), "val": (25, 4), "test": (29, 8)}
"""The first texture seed of each split, and how many it has. Painting a set takes two seconds and it is kept on disk
with 50 MB, so places of one split share sets; no set is in two splits."""
GETS_BOXES = {CLASS_ID[name]: name for name in DETECTED}


def make_share(folder: Path, number: int, of: int) -> None:
    """Make the places number, number + of, ... of the plan that are not there yet."""
    plan = json.loads(regular_files.read_text(folder / "plan.json"))
    missing = [entry for entry in plan["places"][number::of] if not (folder / entry["folder"]).exists()]
    for entry in missing:
        try:
            make_one(folder / entry["folder"], entry)
        except RendererError as error:
            # on a busy machine a renderer may starve; a whole dataset should not end with it
            log.warning("place %s is made again: %s", entry["folder"], error)
            make_one(folder / entry["folder"], entry)


def make_one(folder: Path, entry: dict[str, Any]) -> None:
    """The images of one place, in VOC and COCO."""
    seed = int(entry["seed"])
    place = make_place(entry["world"], seed)
    chance = generator(seed, "people/views")
    shots = draw_shots(place, int(entry["images"]), chance, bad_weather=entry["bad_weather"])
    aside = folder.with_name(folder.name + PARTIAL)
    shutil.rmtree(aside, ignore_errors=True)
    coco = CocoWriter(aside / "coco", STREAM, GETS_BOXES)
    voc = VocWriter(aside / "voc", (STREAM, f"truth/{STREAM}"), GETS_BOXES, CLASSES)
    weather = weather_at(WeatherConfig(), LATITUDE_DEG)
    first, count = TEXTURES[entry["split"]]
    looks = first + int(stream_key(seed, "people/textures")) % count
    scene = WorldScene(place.model, Earth(EarthConfig()), weather, lambda model: Renderer(model, texture_seed=looks))
    try:
        for shot in shots:
            image = take(scene, shot, seed)
            coco.add(image)
            voc.add(image)
            tell(image=1)
    finally:
        scene.close()
    for writer in (coco, voc):
        writer.finish(dict.fromkeys(writer.names, entry["split"]))
    try:
        aside.replace(folder)
    except OSError as error:
        raise DatasetError(f"cannot write '{folder}': {error.strerror}") from error


def take(scene: WorldScene, shot: ImagePlan, seed: int) -> LabelImage:
    """The image and its labels, made by the camera that vehicles carry."""
    width, height = shot.size
    config = CameraConfig(
        width=width,
        height=height,
        horizontal_fov_deg=shot.fov_deg,
        quality=shot.quality,  # type: ignore[arg-type]
        exposure=shot.exposure,
        truth=("classes", "instances", "labels"),
        label_classes=DETECTED,
        label_min_px=LEAST_PX,
    )
    camera = Camera(config, 1.0)
    scene.weather = weather_at(shot.weather, LATITUDE_DEG)
    rest = np.zeros(3)
    kinematics = Kinematics(shot.t_ns, shot.position, rest, shot.quat_wxyz, rest, rest, rest)
    rng = KeyedRandom(stream_key(seed, "people/camera"), shot.t_ns)
    image, state = camera.measure(kinematics, scene.at(shot.t_ns), camera.initial_state(rng), rng)
    truth = state.truth
    assert truth is not None and truth.classes is not None and truth.instances is not None
    seen = tuple(label for label in truth.labels if contrast(image.colour, truth.instances, label) >= LEAST_CONTRAST)
    return LabelImage(shot.t_ns, image.colour, truth.classes, truth.instances, seen, shot.facts)


def contrast(colour: NDArray[np.uint8], instances: NDArray[np.int32], label: Label) -> float:
    """Levels: how far an object's mean is from its surroundings', or its pixels spread, in the best of the colours."""
    left, top, right, bottom = label.box_px
    part = np.s_[max(top - RIM_PX, 0) : bottom + RIM_PX + 1, max(left - RIM_PX, 0) : right + RIM_PX + 1]
    own = instances[part] == label.instance
    inside, around = colour[part][own].astype(np.float64), colour[part][~own].astype(np.float64)
    spread = float(inside.std(axis=0).max())
    return max(spread, float(np.abs(inside.mean(axis=0) - around.mean(axis=0)).max())) if len(around) else spread


def main() -> None:
    folder, number, of = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    try:
        make_share(folder, number, of)
    except SkyloopError as error:
        tell(error=str(error))
        sys.exit(1)
    except OSError as error:
        tell(error=f"cannot write '{folder}': {error.strerror or error}")
        sys.exit(1)


if __name__ == "__main__":
    main()
