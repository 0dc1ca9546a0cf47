"""Users' own files: what becomes of their nodes, and that a bad file is told in one line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
import trimesh
from model_rays import cast, triangles
from PIL import Image
from trimesh.visual import TextureVisuals
from trimesh.visual.material import PBRMaterial

from skyloop.world.imported import Imported
from skyloop.world.materials import MATERIALS
from skyloop.world.semantics import CLASS_WORDS, CLASSES, meaning_of, words_of
from skyloop_client.errors import ScenarioError


def at(x: float, y: float, z: float) -> np.ndarray:
    matrix = np.eye(4)
    matrix[:3, 3] = x, y, z
    return matrix


def painted(mesh: trimesh.Trimesh, name: str, colour: tuple[int, int, int] = (255, 255, 255)) -> trimesh.Trimesh:
    mesh.visual = TextureVisuals(material=PBRMaterial(name=name, baseColorFactor=[*colour, 255]))
    return mesh


def village() -> trimesh.Scene:
    """Y up, as glTF has it: a floor, a wall of bricks, a tree, and two posts that share their mesh."""
    scene = trimesh.Scene()
    scene.add_geometry(
        painted(trimesh.creation.box((20, 0.2, 20)), "Tarmac"), node_name="Ground", transform=at(0, -0.1, 0)
    )
    scene.add_geometry(
        painted(trimesh.creation.box((4, 3, 0.2)), "RedBrick"), node_name="wall.001", transform=at(5, 1.5, -2)
    )
    scene.add_geometry(
        painted(trimesh.creation.icosphere(4, 1.5), "stuff", (0, 128, 0)), node_name="Tree_03", transform=at(-5, 4, 0)
    )
    post = painted(trimesh.creation.cylinder(0.1, 1.0), "thing")
    for k in range(2):
        scene.add_geometry(post, node_name=f"Cylinder.{k}", geom_name="post", transform=at(k, 0.5, 8))
    return scene


@pytest.fixture(scope="module")
def glb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("files") / "village.glb"
    path.write_bytes(village().export(file_type="glb"))
    return path


def objects_of(world: Imported) -> dict[str, str]:
    world.model.freeze()
    return {t.name: CLASSES[t.class_id] for t in world.model.objects[1:] if t.class_id < 255}


def bounds(world: Imported, name: str) -> np.ndarray:
    corners, objects = triangles(world.model)
    number = next(k for k, instance in enumerate(world.model.objects) if instance.name == name)
    mine = corners[objects == number].reshape(-1, 3)
    return np.array([mine.min(axis=0), mine.max(axis=0)])


def materials_of(world: Imported, name: str) -> set[str]:
    (row,) = next(instance for instance in world.model.objects if instance.name == name).rows
    return {MATERIALS[m].name for m in world.model.shapes[world.model.part_shape[row]].lods[0].materials}


def test_nodes_become_things_with_the_class_and_material_of_their_names(glb: Path) -> None:
    world = Imported(glb)
    assert objects_of(world) == {
        "Ground": "ground", "wall.001": "wall", "Tree_03": "tree", "Cylinder.0": "object", "Cylinder.1": "object",
    }  # fmt: skip
    assert materials_of(world, "wall.001") == {"brick"}
    assert materials_of(world, "Ground") == {"asphalt"}
    assert materials_of(world, "Tree_03") == {"plain"}


def test_y_becomes_up_and_the_wall_stands_where_it_was_put(glb: Path) -> None:
    np.testing.assert_allclose(bounds(Imported(glb), "wall.001"), [[3, 1.9, 0], [7, 2.1, 3]], atol=1e-5)
    np.testing.assert_allclose(bounds(Imported(glb, up="z"), "wall.001"), [[3, 0, -2.1], [7, 3, -1.9]], atol=1e-5)
    np.testing.assert_allclose(
        bounds(Imported(glb, scale=0.5), "wall.001"), [[1.5, 0.95, 0], [3.5, 1.05, 1.5]], atol=1e-5
    )


def test_rays_meet_what_the_file_holds(glb: Path) -> None:
    world = Imported(glb)
    corners, _ = triangles(world.model)
    origins, directions = [(5.0, 0.0, 1.0), (-5.0, 0.0, 20.0), (0.0, 0.0, 5.0)], [(0, 1, 0), (0, 0, -1), (0, 0, -1)]
    distances, _ = cast(corners, origins, directions)
    np.testing.assert_allclose(distances, [1.9, 20 - 5.5, 5.0], atol=0.02)


def test_patterns_come_before_words(glb: Path) -> None:
    world = Imported(
        glb, classes={"cylinder.*": "fence", "*TREE*": "bush"}, materials={"thing": "wood", "stuff": "leaves"}
    )
    found = objects_of(world)
    assert (found["Cylinder.0"], found["Tree_03"], found["wall.001"]) == ("fence", "bush", "wall")
    assert materials_of(world, "Cylinder.1") == {"wood"}
    assert materials_of(world, "Tree_03") == {"leaves"}


def test_colours_come_from_the_material_and_the_mean_of_its_picture(tmp_path: Path) -> None:
    half = np.zeros((8, 8, 3), np.uint8)
    half[:4] = 255
    mesh = trimesh.creation.box((1, 1, 1))
    uv = np.random.default_rng(1).random((8, 2))
    mesh.visual = TextureVisuals(
        uv=uv, material=PBRMaterial(baseColorTexture=Image.fromarray(half), baseColorFactor=[255, 255, 55, 255])
    )
    path = tmp_path / "box.glb"
    path.write_bytes(trimesh.Scene(mesh).export(file_type="glb"))
    colours = Imported(path).model.shapes[0].lods[0].colours
    # half of the light is 0.5^(1/2.2) of full scale; a factor of 55/255 of the light likewise
    expected = 255 * 0.5 ** (1 / 2.2) * np.array([1, 1, (55 / 255) ** (1 / 2.2)])
    np.testing.assert_allclose(colours[0, :3], expected, atol=2)
    assert (colours == colours[0]).all()


def test_large_meshes_get_a_coarser_one_of_the_same_size(glb: Path) -> None:
    world = Imported(glb)
    fine, coarse = next(shape.lods for shape in world.model.shapes if len(shape.lods) == 2)
    assert len(fine.faces) == 5120
    assert len(coarse.faces) < 0.5 * len(fine.faces)
    assert coarse.radius == pytest.approx(1.5, abs=0.1)


def test_degenerate_faces_are_dropped_and_missing_normals_are_flat(tmp_path: Path) -> None:
    path = tmp_path / "roof.obj"
    path.write_text("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 1 3 4\nf 1 1 2\nf 1 2 2\n")
    mesh = Imported(path, up="z").model.shapes[0].lods[0]
    assert len(mesh.faces) == 2
    np.testing.assert_allclose(mesh.normals, np.tile([0, 0, 1], (6, 1)), atol=1e-6)


def test_a_mirrored_node_keeps_its_outside_out(tmp_path: Path) -> None:
    scene = trimesh.Scene()
    scene.add_geometry(trimesh.creation.box((1, 2, 3)), node_name="box", transform=np.diag([-1.0, 1, 2, 1]))
    path = tmp_path / "mirror.glb"
    path.write_bytes(scene.export(file_type="glb"))
    mesh = Imported(path).model.shapes[0].lods[0]
    p = mesh.positions[mesh.faces]
    outward = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
    assert (np.einsum("ij,ij->i", outward, p.mean(axis=1)) > 0).all()
    np.testing.assert_allclose(np.ptp(mesh.positions, axis=0), [1, 6, 2], atol=1e-5)


def test_obj_objects_and_materials_by_name(tmp_path: Path) -> None:
    (tmp_path / "w.mtl").write_text("newmtl concrete\nKd .5 .5 .5\nnewmtl bark\nKd .3 .2 .1\n")
    path = tmp_path / "w.obj"
    path.write_text(
        "mtllib w.mtl\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"
        "o House\nusemtl concrete\nf 1 2 3 4\no Oak_2\nusemtl bark\nf 1 2 4\n"
    )
    world = Imported(path)
    assert objects_of(world) == {"House": "building", "Oak_2": "tree"}
    assert materials_of(world, "House") == {"cement"}
    assert materials_of(world, "Oak_2") == {"bark"}


def test_obj_names_in_old_encodings_are_no_trouble(tmp_path: Path) -> None:
    (tmp_path / "w.mtl").write_bytes("newmtl Dämmung\nKd 1 0 0\n".encode("latin-1"))
    path = tmp_path / "w.obj"
    text = "# von Jörg\nmtllib w.mtl\nv 0 0 0\nv 1 0 0\nv 1 1 0\no Bäume_wall\nusemtl Dämmung\nf 1 2 3\n"
    path.write_bytes(text.encode("latin-1"))
    assert list(objects_of(Imported(path)).values()) == ["wall"]


def test_the_ground_lies_under_the_file_where_told_or_not_at_all(glb: Path) -> None:
    assert Imported(glb).ground.at(0.0, 0.0)[0] == pytest.approx(-0.2, abs=1e-6)
    assert Imported(glb, ground=-3.0).ground.at(50.0, 0.0)[0] == -3.0
    world = Imported(glb, ground=False)
    assert "plain" not in [instance.name for instance in world.model.objects]
    corners, _ = triangles(Imported(glb).model)
    # beyond the file the plain is at the ground's height; below the file's own floor it is lower
    outside, _ = cast(corners, [[60.0, 60.0, 5.0]], [[0.0, 0.0, -1.0]])
    assert outside[0] == pytest.approx(5.2, abs=1e-5)
    below, _ = cast(corners, [[0.0, 0.0, -0.21]], [[0.0, 0.0, -1.0]])
    assert below[0] == pytest.approx(0.02, abs=1e-5)


def test_same_file_same_bytes(glb: Path) -> None:
    worlds = [Imported(glb) for _ in range(2)]
    first, again = (triangles(world.model)[0].tobytes() for world in worlds)
    assert first == again
    assert [t.name for t in worlds[0].model.objects] == [t.name for t in worlds[1].model.objects]


def test_words_of_names() -> None:
    assert words_of("RedBrick_wall.001") == ["red", "brick", "wall"]
    assert meaning_of(("wall_lamp",), {}, CLASS_WORDS, "object") == "lamp"
    assert meaning_of(("Trees.Group",), {}, CLASS_WORDS, "object") == "tree"
    assert meaning_of(("Benches",), {}, CLASS_WORDS, "object") == "bench"
    assert meaning_of(("Cube.001", "Mesh", "carpet"), {}, CLASS_WORDS, "object") == "object"


def refusal(path: Path, **options: object) -> str:
    with pytest.raises(ScenarioError) as caught:
        Imported(path, **options)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    assert caught.value.__cause__ is None
    return str(caught.value)


def test_bad_files_are_told_in_one_line(tmp_path: Path) -> None:
    def file(name: str, content: bytes | str) -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    assert "does not exist" in refusal(tmp_path / "none.glb")
    assert re.search(r"is no \.glb", refusal(file("a.fbx", b"x")))
    assert "0 bytes" in refusal(file("empty.glb", b""))
    assert "export it again" in refusal(file("noise.glb", bytes(range(256)) * 8))
    assert "export it again" in refusal(file("not.gltf", "{ this is no JSON"))
    assert "no triangles" in refusal(file("none.gltf", json.dumps({"asset": {"version": "2.0"}, "scenes": [{}]})))
    assert "no triangles" in refusal(file("points.obj", "v 0 0 0\nv 1 1 1\n"))
    assert "area" in refusal(file("line.obj", "v 0 0 0\nv 1 1 1\nv 2 2 2\nf 1 2 3\n"))
    assert "NaN" in refusal(file("nan.obj", "v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"))
    assert "beyond" in refusal(file("far.obj", "v 0 0 0\nv 1e7 0 0\nv 0 1e7 0\nf 1 2 3\n"))


def test_too_many_triangles_are_refused(glb: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skyloop.world.mesh_files.MOST_TRIANGLES", 100)
    assert "simplify" in refusal(glb)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"scale": 0.0}, "scale"), ({"scale": "big"}, "scale"), ({"scale": float("nan")}, "scale"), ({"up": "x"}, "up"),
        ({"ground": "low"}, "ground"), ({"classes": {"a": "tre"}}, "tree"), ({"materials": {"a": "bricks"}}, "brick"),
        ({"classes": ["tree"]}, "patterns"),
    ],
)  # fmt: skip
def test_impossible_options_are_refused(glb: Path, options: dict[str, object], told: str) -> None:
    assert told in refusal(glb, **options)


@pytest.mark.parametrize("kind", ["glb", "gltf", "obj"])
def test_a_file_cut_off_or_garbled_anywhere_is_a_world_or_one_clear_line(tmp_path: Path, kind: str) -> None:
    scene = village()
    scene.delete_geometry([name for name in scene.geometry if len(scene.geometry[name].faces) > 1000])
    if kind == "gltf":
        for name, content in scene.export(file_type="gltf").items():
            (tmp_path / name).write_bytes(content)
        path = tmp_path / "model.gltf"
    else:
        path = tmp_path / f"model.{kind}"
        exported = scene.export(file_type=kind)
        path.write_bytes(exported if isinstance(exported, bytes) else exported.encode())
    whole = path.read_bytes()
    random = np.random.default_rng(5)
    broken = [whole[: int(len(whole) * share)] for share in np.linspace(0.0, 0.999, 20)]
    for _ in range(20):
        garbled = bytearray(whole)
        for place in random.integers(0, len(whole), 6):
            garbled[place] = int(random.integers(256))
        broken.append(bytes(garbled))
    refused = 0
    for content in broken:
        path.write_bytes(content)
        try:
            world = Imported(path)
        except ScenarioError as error:
            refused += 1
            assert "\n" not in str(error)
        else:
            assert np.isfinite(triangles(world.model)[0]).all()
    assert refused >= (5 if kind == "obj" else 15)
