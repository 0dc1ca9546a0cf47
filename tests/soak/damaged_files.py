"""Files of every kind that skyloop reads, damaged: each reader ends with a success or one line, in bounded memory."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
import trimesh
import yaml
from drawn_people import write_both
from forked_commands import Ended, command, run_forked
from mutations import damaged
from PIL import Image
from random_scenarios import CUBE
from trials import Part, Result

from skyloop_client.errors import SkyloopError

SKYLOOP = Path(sys.executable).parent / "skyloop"
ROOT = Path(__file__).resolve().parents[2]
DETECT = ROOT / "plugins" / "skyloop-detect"
SECONDS = 120.0
MEMORY = 8 << 30
"""Bytes of addresses; a reader that believes a count of four billion needs more."""
RECORDED = ("--world", "blocks", "--frames", "12", "--sensors", "rgb,stereo,depth,imu,gps,lidar", "--size", "64x48")


@dataclass(frozen=True, slots=True)
class Reader:
    """One kind of file, as found in a folder that is whole, and what reads it."""

    name: str
    source: str
    """The folder of whole files, below the part's own."""
    files: str
    """Those that are damaged, as a pattern."""
    read: Callable[[Path, Random], Callable[[], None]]
    """In the folder of the damaged copy."""


# ---- what reads


def _typed(*words: str) -> Callable[[Path, Random], Callable[[], None]]:
    return lambda folder, chance: command(list(words))


def _one_of(*commands: tuple[str, ...]) -> Callable[[Path, Random], Callable[[], None]]:
    return lambda folder, chance: command(list(chance.choice(commands)))


def _called(work: Callable[[Path], object]) -> Callable[[Path, Random], Callable[[], None]]:
    """A reader without a verb that is quick enough: as a verb, it turns a known error into one line."""

    def read(folder: Path, chance: Random) -> Callable[[], None]:
        def called() -> None:
            try:
                work(folder)
            except SkyloopError as error:
                print(f"skyloop: {' '.join(str(error).split())}", file=sys.stderr)
                sys.exit(1)

        return called

    return read


def _images(folder: Path) -> None:
    from skyloop_detect.samples import read_image

    for path in sorted(folder.glob("image.*")):
        assert read_image(path).dtype == np.uint8


def _coco(folder: Path) -> None:
    from skyloop_detect.dataset_reader import read_coco

    read_coco(folder / "coco", "val")


def _voc(folder: Path) -> None:
    from skyloop_detect.dataset_reader import read_voc

    read_voc(folder / "voc", "val")


def _onnx(runtime: str) -> Callable[[Path], None]:
    def look(folder: Path) -> None:
        from skyloop_detect.detector import load_detector

        load_detector(folder / "people.onnx", runtime).find(np.zeros((240, 320, 3), np.uint8))

    return look


def _safetensors(folder: Path) -> None:
    from skyloop_detect.weights import load_network

    load_network(folder / "people.safetensors")


def _plan(folder: Path) -> None:
    from skyloop.campaigns.campaign import Campaign
    from skyloop.campaigns.plan import load_plan

    Campaign(load_plan(folder / "plan.yaml"))


def _run_folder(folder: Path) -> None:
    from skyloop.recording.run_reader import read_run

    for stream in read_run(folder / "run").streams.values():
        for index in (0, len(stream.arrivals) // 2, len(stream.arrivals) - 1):
            stream.at(index)


SHORT = ("run", "scenario.yaml")
RUN = ("run", "world.yaml", "--out", "run")
READERS = (
    Reader("journal", "dataset", "journal/*", _one_of(("check", "."), ("replay", ".", "--speed", "0"),
                                                      ("export", ".", "--to", "tum"), ("check", ".", "--repair"))),
    Reader("dataset JSON", "dataset", "*.json", _one_of(("check", "."), ("replay", ".", "--speed", "0"),
                                                        ("record", "--resume", "--out", ".", "--workers", "1"))),
    Reader("EuRoC tables", "euroc", "mav0/**/*.csv", _typed("replay", ".", "--speed", "0")),
    Reader("EuRoC YAML", "euroc", "mav0/**/sensor.yaml", _typed("replay", ".", "--speed", "0")),
    Reader("EuRoC images", "euroc", "mav0/**/data/*", _typed("replay", ".", "--speed", "0")),
    Reader("PNG", "png", "image.*", _called(_images)),
    Reader("JPEG", "jpeg", "image.*", _called(_images)),
    Reader("COCO", "labels", "coco/annotations/instances_val.json", _called(_coco)),
    Reader("VOC", "labels", "voc/Annotations/*.xml", _called(_voc)),
    Reader("ONNX, onnxruntime", "onnx", "*.onnx", _called(_onnx("onnxruntime"))),
    Reader("ONNX, openvino", "onnx", "*.onnx", _called(_onnx("openvino"))),
    Reader("safetensors", "safetensors", "*.safetensors", _called(_safetensors)),
    Reader("glTF", "gltf", "scene*", _typed(*RUN)),
    Reader("GLB", "glb", "scene*", _typed(*RUN)),
    Reader("OBJ", "obj", "scene*", _typed(*RUN)),
    Reader("SDF", "sdf", "**/*.[sdc]*[fe]*", _typed(*RUN)),
    Reader("scenario YAML", "yaml", "scenario.yaml", _typed(*SHORT, "--out", "run")),
    Reader("airframe YAML", "yaml", "craft.yaml", _typed("run", "own.yaml", "--out", "run")),
    Reader("campaign YAML", "yaml", "plan.yaml", _called(_plan)),
    Reader("AirSim JSON", "yaml", "settings.json",
           _typed("serve", "--settings", "settings.json", "--lasts", "0.1", "--port", "0")),
    Reader("run folder", "flown", "run/**/*.[cj]s*", _called(_run_folder)),
    Reader("orders CSV", "yaml", "orders.csv", _typed(*SHORT, "--commands", "orders.csv", "--out", "run")),
    Reader("trajectory CSV", "yaml", "way.csv",
           _typed("record", "--world", "flat", "--sensors", "imu", "--frames", "2", "--workers", "1", "--no-report",
                  "--trajectory", "way.csv", "--out", "made")),
)  # fmt: skip
ODD = ("fifo", "folder", "endless", "empty", "gone")


class DamagedFiles(Part):
    name = "files"

    def __init__(self, folder: Path, seed: int) -> None:
        super().__init__(folder, seed)
        self._whole = folder / "whole"
        _write_whole_files(self._whole)
        self._whole_ones_checked = False

    def trial(self, number: int) -> Iterable[Result]:
        reader, chance = READERS[number % len(READERS)], self.chance(number)
        folder = self.folder / f"{number:05d}"
        if number < len(READERS):
            # what is whole is read, or damage would prove nothing
            shutil.copytree(self._whole / reader.source, folder)
            ended = _read(reader, folder, chance)
            fault = ended.fault or ("" if ended.code in (0, 3) else f"a whole one is not read: {ended.err[-300:]}")
            shutil.rmtree(folder)
            yield Result(f"{reader.name}, whole", fault)
        shutil.copytree(self._whole / reader.source, folder)
        paths = sorted(path for path in folder.glob(reader.files) if path.is_file())
        path = chance.choice(paths)
        how = _damage(path, chance)
        ended = _read(reader, folder, chance)
        if not ended.fault:
            shutil.rmtree(folder)
        what = f"{ended.fault} [{how} {path.relative_to(folder)} in {folder}]" if ended.fault else ""
        yield Result(f"{reader.name}, damaged", what)


def _read(reader: Reader, folder: Path, chance: Random) -> Ended:
    return run_forked(reader.read(folder, chance), folder, seconds=SECONDS, memory=MEMORY)


def _damage(path: Path, chance: Random) -> str:
    """How, in words."""
    if chance.random() < 0.85:
        data, how = damaged(path.read_bytes(), chance)
        path.write_bytes(data)
        return how
    how = chance.choice(ODD)
    path.unlink()
    if how == "fifo":
        os.mkfifo(path)
    elif how == "folder":
        path.mkdir()
    elif how == "endless":
        path.symlink_to("/dev/zero")
    elif how == "empty":
        path.touch()
    return how


# ---- whole files


def _write_whole_files(whole: Path) -> None:
    whole.mkdir()
    record = ["record", *RECORDED, "--formats", "asl", "--workers", "1", "--no-report", "--out", "dataset"]
    flight = ["run", "hover", "--set", "duration=2", "--out", "flown/run"]
    for words in (record, flight):
        subprocess.run([SKYLOOP, *words], cwd=whole, check=True, capture_output=True)
    shutil.copytree(whole / "dataset" / "mav0", whole / "euroc" / "mav0")
    write_both(whole / "labels", 3)
    picture = Image.fromarray(np.random.default_rng(1).integers(0, 255, (60, 80, 3), np.uint8))
    for kind, ending in (("png", "png"), ("jpeg", "jpg")):
        (whole / kind).mkdir()
        picture.save(whole / kind / f"image.{ending}")
    _write_models(whole)
    _write_worlds(whole, picture)
    _write_texts(whole / "yaml")


def _write_models(whole: Path) -> None:
    for kind, file in (("onnx", "models/people-int8.onnx"), ("safetensors", "weights/people.safetensors")):
        (whole / kind).mkdir()
        source = DETECT / ("src/skyloop_detect" if kind == "onnx" else "") / file
        shutil.copyfile(source, whole / kind / f"people.{kind}")


def _write_worlds(whole: Path, picture: Image.Image) -> None:
    box = trimesh.creation.box((1.0, 1.0, 1.0))
    material = trimesh.visual.material.PBRMaterial(baseColorTexture=picture)
    box.visual = trimesh.visual.TextureVisuals(uv=np.random.default_rng(2).random((8, 2)), material=material)
    scene = trimesh.Scene([box])
    (whole / "obj").mkdir()
    (whole / "obj" / "scene.obj").write_text("mtllib scene.mtl\nusemtl red\n" + CUBE, encoding="utf-8")
    (whole / "obj" / "scene.mtl").write_text("newmtl red\nKd 1 0 0\nmap_Kd scene.png\n", encoding="utf-8")
    picture.save(whole / "obj" / "scene.png")
    (whole / "glb").mkdir()
    (whole / "glb" / "scene.glb").write_bytes(scene.export(file_type="glb"))
    (whole / "gltf").mkdir()
    for name, data in scene.export(file_type="gltf").items():
        (whole / "gltf" / (name if name != "model.gltf" else "scene.gltf")).write_bytes(data)
    shutil.copytree(ROOT / "examples" / "sdf", whole / "sdf")
    for kind, file in (("obj", "scene.obj"), ("glb", "scene.glb"), ("gltf", "scene.gltf"), ("sdf", "room.sdf")):
        text = yaml.safe_dump({"world": {"file": file}, "duration": 0.05, "vehicles": [{"position": [3.0, 3.0]}]})
        (whole / kind / "world.yaml").write_text(text, encoding="utf-8")


def _write_texts(folder: Path) -> None:
    from skyloop.sim.assembly import load_airframe
    from skyloop.sim.scenario import SCENARIOS

    folder.mkdir()
    text = SCENARIOS["first-flight"].read_text(encoding="utf-8").replace("duration: 70", "duration: 0.1")
    (folder / "scenario.yaml").write_text(text, encoding="utf-8")
    craft = load_airframe("iris").model_dump(mode="json")
    (folder / "craft.yaml").write_text(yaml.safe_dump(craft, sort_keys=False), encoding="utf-8")
    own = {"duration": 0.1, "vehicles": [{"airframe": "craft.yaml"}]}
    (folder / "own.yaml").write_text(yaml.safe_dump(own), encoding="utf-8")
    plan = {"scenario": "hover", "space": {"duration": [1, 2]}, "metrics": ["flown_m"], "success": "flown_m > 1"}
    (folder / "plan.yaml").write_text(yaml.safe_dump(plan), encoding="utf-8")
    settings = {
        "SettingsVersion": 1.2,
        "SimMode": "Multirotor",
        "ClockSpeed": 5,
        "Vehicles": {
            "Drone": {
                "VehicleType": "SimpleFlight",
                "X": 1,
                "Y": 0,
                "Z": -1,
                "Sensors": {"Imu": {"SensorType": 2, "Enabled": True}},
            }
        },
    }
    (folder / "settings.json").write_text(json.dumps(settings, indent=1), encoding="utf-8")
    (folder / "way.csv").write_text("0,0,2\n3,0,2\n3,3,2\n", encoding="utf-8")
    order = '20000000,drone,take_off,"{""height"": 2.0}"'
    (folder / "orders.csv").write_text(f"t_ns,vehicle,order,arguments\n{order}\n", encoding="utf-8")
