"""The dataset of people that the shipped detector is trained on: `skyloop train people --make-data`.

Three parts, each with VOC and COCO of all its places:

    datasets/people               park, urban, forest, warehouse and house; split by world seed into train, val and test
    datasets/people/new-world     worlds that are not trained on; all of it is test
    datasets/people/bad-weather   the five worlds with seeds of their own in fog, rain and dusk; all of it is test

A place (one world seed) is wholly in one split, so no building, tree or person is in two. All images of a place are
made in one process, and the same plan gives the same bytes whatever the number of processes.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from skyloop.core.files import write_whole
from skyloop.core.interrupts import Interruption
from skyloop.core.jit import prepare
from skyloop.core.random_key import stream_key
from skyloop.datasets.seed_set import JOINED, write_joined
from skyloop.datasets.worker_processes import WorkerJob, Workers
from skyloop_client import regular_files
from skyloop_client.errors import DatasetError

WORLDS = ("park", "urban", "forest", "warehouse", "house")
NEW_WORLDS = ("corridor", "blocks")
"""Never trained on: one indoors, one under the sky."""
PER_PLACE = 20
"""Images of one world seed; building it takes as long as rendering about ten."""
IMAGES = 20_000
LEAST_IMAGES, MOST_IMAGES = 15, 200_000
TEST_SHARE = 1.0 / 15.0
"""Images of each of the two test parts, as a share of the main part."""
SPLIT_BY_TURN = ("train", "train", "train", "val", "test")
"""The split of the places of each world in turn: 60, 20 and 20 %."""
PARTS = {"": 1_000, "new-world": 500_000, "bad-weather": 700_000}
"""The folders of the parts, and the first world seed of each."""
FORMATS = ("coco", "voc")
WORKER = "skyloop_detect.training_data.people_worker"
PLAN = "plan.json"
KERNELS = ("skyloop.sensors.camera", "skyloop.sensors.labels", "skyloop.world.views", "skyloop.world.rays",
           "skyloop.core.keyed_random", "skyloop.world.ground", "skyloop.world.scenery")  # fmt: skip
Progress = Callable[[int, float], None]


def plan_people(folder: Path, images: int = IMAGES) -> dict[str, Any]:
    """The plan of a folder: the one that is there, if it is the same, or a new one."""
    if not LEAST_IMAGES <= images <= MOST_IMAGES:
        raise DatasetError(f"--images {images}: give {LEAST_IMAGES} to {MOST_IMAGES}")
    return _keep(folder, images, [entry for part in PARTS for entry in places_of(part, images)])


def plan_tests(folder: Path, per_part: int, per_place: int = PER_PLACE, shift: int = 0) -> dict[str, Any]:
    """The plan of some of the test images of the usual dataset, the same number of each part, and nothing to train on.

    per_place: images of each world seed; they are the first ones that the usual dataset has of it. shift: of the world
    seeds; other than 0, they are places that the usual dataset does not have."""
    chosen = []
    for part in PARTS:
        places = [entry for entry in places_of(part, IMAGES, shift) if entry["split"] == "test"]
        # the first ones: worlds take turns, so each is among them equally often
        chosen += [{**entry, "images": per_place} for entry in places[: -(-per_part // per_place)]]
    return _keep(folder, sum(entry["images"] for entry in chosen), chosen)


def _keep(folder: Path, images: int, places: list[dict[str, Any]]) -> dict[str, Any]:
    plan: dict[str, Any] = {"images": images, "places": places}
    # neighbours in the plan go to different processes; shuffled, so that none gets only the slow worlds
    plan["places"].sort(key=lambda entry: stream_key(int(entry["seed"]), "people/order"))
    path = folder / PLAN
    if path.exists():
        if read_people(folder) != plan:
            raise DatasetError(f"'{folder}' holds another people dataset; give the same --images, or another --out")
        return plan
    if folder.exists() and any(folder.iterdir()):
        raise DatasetError(f"'{folder}' is not empty and holds no people dataset; give another --out")
    write_whole(path, json.dumps(plan, indent=1) + "\n")
    return plan


def places_of(part: str, images: int, shift: int = 0) -> list[dict[str, Any]]:
    """The places of one part, with their worlds, seeds, splits and numbers of images."""
    worlds = NEW_WORLDS if part == "new-world" else WORLDS
    wanted = max(len(worlds), round(images * TEST_SHARE)) if part else images
    # a round has each split of each world at its share, so splits hold 60/20/20 of the images whenever rounds are whole
    per_round = len(worlds) * (1 if part else len(SPLIT_BY_TURN))
    rounds = max(1, round(wanted / (PER_PLACE * per_round)))
    count = rounds * per_round
    entries = []
    for k in range(count):
        seed = PARTS[part] + shift + k
        share = wanted // count + (k < wanted % count)
        entries.append(
            {
                "part": part,
                "world": worlds[k % len(worlds)],
                "seed": seed,
                "images": share,
                "split": "test" if part else SPLIT_BY_TURN[k // len(worlds) % len(SPLIT_BY_TURN)],
                "bad_weather": part == "bad-weather",
                "folder": f"{part}/seed-{seed}".lstrip("/"),
            }
        )
    return entries


def read_people(folder: Path) -> dict[str, Any]:
    try:
        plan = json.loads(regular_files.read_text(folder / PLAN))
        return {"images": int(plan["images"]), "places": list(plan["places"])}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DatasetError(f"'{folder / PLAN}' cannot be read: {error}; give another --out") from None


def make_people(folder: Path, workers: int, progress: Progress = lambda images, rate: None) -> dict[str, Any]:
    """Make the places that are missing, then join the labels of each part. Returns the summary."""
    plan = read_people(folder)
    began = time.perf_counter()
    missing = [entry for entry in plan["places"] if not (folder / entry["folder"]).exists()]
    total = sum(entry["images"] for entry in plan["places"])
    there = total - sum(entry["images"] for entry in missing)
    made = 0
    if missing:
        # once, before several processes compile the same kernels; the import makes them known
        import skyloop_detect.training_data.people_worker  # noqa: F401

        prepare(*KERNELS)
        count = max(1, min(workers, len(missing)))
        jobs = [
            WorkerJob(f"worker {number}", WORKER, (str(folder), str(number), str(count))) for number in range(count)
        ]
        with (
            Interruption() as interruption,
            Workers(jobs) as running,
        ):
            for message in running.messages(interruption):
                made += message.get("image", 0)
                progress(there + made, made / (time.perf_counter() - began))
    for part in dict.fromkeys(entry["part"] for entry in plan["places"]):
        _join(folder, [entry for entry in plan["places"] if entry["part"] == part], folder / part)
    seconds = time.perf_counter() - began
    summary = {"folder": str(folder), "images": total, "images_made_now": made, "wall_s": seconds}
    write_whole(folder / "summary.json", json.dumps(summary, indent=1) + "\n")
    return summary


def _join(folder: Path, entries: list[dict[str, Any]], part: Path) -> None:
    """VOC and COCO of all places of a part, in the order of their seeds."""
    for name in FORMATS:
        sources = {
            int(entry["seed"]): folder / entry["folder"] / name
            for entry in sorted(entries, key=lambda entry: int(entry["seed"]))
        }
        try:
            files = JOINED[name](sources)
        except (OSError, ValueError, KeyError) as error:
            raise DatasetError(f"a place of '{part}' is damaged ({error}); remove its folder and go on") from None
        write_joined(files, part / name)
