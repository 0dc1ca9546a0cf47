"""What a run leaves to look at, and `skyloop look`."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import skyloop
from skyloop.cli import main
from skyloop.recording.picture_legends import HEIGHT, depth_picture, id_picture, legend, value_range
from skyloop.recording.stream_pictures import cloud_picture, scan_picture
from skyloop.run import run_scenario
from skyloop_client.streams import StreamInfo

SEEING = {
    "name": "seeing",
    "duration": 1.3,
    "world": {"name": "blocks"},
    "observers": {"side": {"mode": "fixed", "vehicle": "drone", "rate_hz": 1, "width": 64, "height": 48}},
    "vehicles": [
        {
            "name": "drone",
            "sensors": {
                "camera": {
                    "kind": "camera", "width": 64, "height": 48, "rate_hz": 5,
                    "truth": ["depth", "normals", "instances", "classes", "materials", "labels"],
                },
                "depth": {"kind": "depth_camera", "width": 64, "height": 48, "rate_hz": 5},
                "lidar": {"kind": "lidar", "preset": "vlp16", "rate_hz": 5},
            },
        }
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "seeing"
    run_scenario(skyloop.make_scenario(SEEING), path)
    return path


@pytest.mark.renders
@pytest.mark.parametrize(
    ("stream", "size"),
    [
        ("drone/camera", (64, 48)),
        ("truth/drone/camera/depth", (64, 48)),
        ("truth/drone/camera/normals", (64, 48)),
        ("truth/drone/camera/instances", (64, 48)),
        ("truth/drone/camera/classes", (64, 48)),
        ("truth/drone/camera/materials", (64, 48)),
        ("drone/depth", (64, 48)),
        ("drone/lidar", (480, 480)),
        ("observer/side", (64, 48)),
    ],
)
def test_a_picture_a_second(folder: Path, stream: str, size: tuple[int, int]) -> None:
    files = sorted((folder / "pictures" / stream).glob("*.png"))
    assert [file.stem for file in files] == ["0000.000", "0001.000"]
    with Image.open(files[0]) as image:
        assert image.size == size
        assert np.asarray(image).std() > 2.0


@pytest.mark.renders
def test_every_row_that_is_no_photograph_has_a_legend(folder: Path) -> None:
    sheet = np.asarray(Image.open(folder / "pictures.png").convert("RGB"))
    grey = (sheet[:, -1] == 40).all(axis=-1)  # the strips, at the right edge, where no words reach
    ends = np.flatnonzero(np.diff(grey.astype(int)) == -1)
    # depth, normals, instances, classes, materials, depth camera, LiDAR; not the two cameras
    assert grey.sum() == 7 * HEIGHT and len(ends) == 7


def test_a_legend_of_classes_names_what_is_seen() -> None:
    info = StreamInfo("truth/drone/camera", "ImageTruth", details={"classes": ["sky", "ground", "tree"]})
    ground, tree = id_picture(np.array([1, 2]))
    strip = legend(info, "/classes", [id_picture(np.full((4, 4), 2))], 300)
    assert strip is not None
    assert (strip == tree).all(axis=-1).sum() == 100 and not (strip == ground).all(axis=-1).any()


@pytest.mark.renders
def test_rows_tell_the_shapes(folder: Path) -> None:
    with (folder / "streams" / "drone" / "camera.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 7
    assert {row["colour_shape"] for row in rows} == {"48x64x3"}
    with (folder / "streams" / "drone" / "lidar.csv").open() as file:
        first = next(csv.DictReader(file))
    assert int(first["points_shape"].split("x")[0]) > 100


def test_colours_of_depth_ids_and_scans() -> None:
    depth = depth_picture(np.array([[0.5, 50.0, 0.0, np.inf]], np.float32))
    assert depth[0, 0, 0] > depth[0, 0, 2] and depth[0, 1, 2] > depth[0, 1, 0]
    assert not depth[0, 2].any() and not depth[0, 3].any()
    ids = id_picture(np.arange(100).reshape(10, 10))
    assert not ids[0, 0].any()
    assert len(np.unique(ids.reshape(-1, 3), axis=0)) == 100
    scan = scan_picture(np.array([[10.0, 0.0, 0.0]], np.float32))
    assert scan[240 - 60, 239:241].max() > 70
    # a few points around their middle, as of landmarks, are large enough to be seen
    few = cloud_picture(np.array([[100.0, 0.0, 0.0], [110.0, 0.0, 0.0], [120.0, 0.0, 0.0]], np.float32))
    assert (few[240 - 62 : 240 - 57, 238:243].max(axis=2) > 70).all()


def look(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int | str | None:
    monkeypatch.setattr(sys, "argv", ["skyloop", "look", *arguments])
    with pytest.raises(SystemExit) as stop:
        main()
    return stop.value.code


@pytest.mark.renders
def test_look_makes_a_picture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dry, wet = tmp_path / "dry.png", tmp_path / "wet.png"
    common = ["blocks", "--size", "96x64", "--quality", "low", "--from=-20,-20,9", "--at=0,0,1"]
    assert not look(monkeypatch, *common, "--out", str(dry))
    assert not look(monkeypatch, *common, "--out", str(wet), "--set", "weather.visibility=30", "--seed", "2")
    pictures = [np.asarray(Image.open(path), float) for path in (dry, wet)]
    assert pictures[0].shape == (64, 96, 3)
    assert pictures[1].std() < 0.7 * pictures[0].std()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["parc"], "did you mean 'park'"),
        (["blocks", "--quality", "hihg"], "choose one of low"),
        (["blocks", "--from", "1,2"], "--from is '1,2'; give 3 numbers"),
        (["blocks", "--size", "4x4"], "8 to 8192"),
        (["blocks", "--set", "weather.rian=3"], "did you mean 'rain'"),
        (["no-such.glb"], "no-such.glb"),
    ],
)
def test_look_refuses_in_one_line(
    arguments: list[str], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "x.png"
    assert look(monkeypatch, *arguments, "--out", str(out)) == 1
    message = capsys.readouterr().err.strip()
    assert said in message and "\n" not in message
    assert not out.exists()


def test_points_with_values_are_coloured_by_them_with_a_scale() -> None:
    x, y = np.meshgrid(np.arange(-5.0, 5.0, 0.2), np.arange(-5.0, 5.0, 0.2))
    # all at one height, so that colours of heights would all be the same
    points = np.column_stack([x.ravel(), y.ravel(), np.full(x.size, 1.5)]).astype(np.float32)
    values = (points[:, 0] + 5.0).astype(np.float32)
    picture = cloud_picture(points, values)
    south, north = picture[240 + 100, 240], picture[240 - 100, 240]
    assert south[0] > 150 > south[2] and north[2] > 150 > north[0], "near is red, far is blue"
    cells = picture[240 - 110 : 240 + 110, 240 - 110 : 240 + 110].reshape(-1, 3)
    assert (cells.max(axis=1) > 70).all(), "no gaps between the cells"
    assert picture[480 - 20, 20, 0] > 150, "the lower end of the scale"
    strip = legend(StreamInfo("drone/maps/distance", "PointCloud"), "", [picture], 900, by_value=True)
    plain = legend(StreamInfo("drone/maps/near", "PointCloud"), "", [picture], 900)
    assert strip is not None and plain is not None and not np.array_equal(strip, plain)


@pytest.mark.parametrize(
    ("values", "bounds"),
    [([0.0, 3.2], (0.0, 5.0)), ([-0.3, 0.9], (-0.5, 1.0)), ([2.0, np.inf], (0.0, 2.0)), ([], (0, 1))],
)
def test_ranges_of_values_are_round(values: list[float], bounds: tuple[float, float]) -> None:
    assert value_range(np.array(values)) == pytest.approx(bounds)
