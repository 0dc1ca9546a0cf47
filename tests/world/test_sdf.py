"""SDF worlds: closed forms for shapes and poses, what stops a vehicle, and that hostile files are told in one line."""

from __future__ import annotations

import logging
import math
from pathlib import Path

import numpy as np
import pytest
import trimesh
from model_rays import cast, triangles
from PIL import Image

from skyloop.world.imported import Imported
from skyloop.world.materials import MATERIALS
from skyloop.world.mesh_files import ImportedMesh
from skyloop.world.semantics import CLASSES
from skyloop.world.solids import Solids
from skyloop_client.errors import ScenarioError

ROOM = Path(__file__).parents[2] / "examples" / "sdf" / "room.sdf"
DOWN, EAST, NORTH = (0, 0, -1), (1, 0, 0), (0, 1, 0)


def world_of(folder: Path, inside: str, *, version: str = "1.9", name: str = "own.sdf", **options: object) -> Imported:
    path = folder / name
    path.write_text(f'<sdf version="{version}"><world name="w">{inside}</world></sdf>', encoding="utf-8")
    made = Imported(path, **options)  # type: ignore[arg-type]
    made.model.freeze()
    return made


def visual(geometry: str, pose: str = "", more: str = "") -> str:
    return f'<visual name="v"><pose>{pose}</pose><geometry>{geometry}</geometry>{more}</visual>'


def model(content: str, pose: str = "", name: str = "m") -> str:
    return f'<model name="{name}"><pose>{pose}</pose><link name="l">{content}</link></model>'


def box(x: float, y: float, z: float) -> str:
    return f"<box><size>{x} {y} {z}</size></box>"


def rays(world: Imported, origin: tuple[float, float, float], *directions: tuple[float, float, float]) -> list[float]:
    corners, _ = triangles(world.model)
    return list(cast(corners, [origin] * len(directions), list(directions))[0])


def bounds(world: Imported, name: str) -> list[float]:
    corners, objects = triangles(world.model)
    number = next(k for k, thing in enumerate(world.model.objects) if thing.name == name)
    mine = corners[objects == number].reshape(-1, 3)
    return [*mine.min(axis=0), *mine.max(axis=0)]


# ---- shapes


def test_shapes_are_where_closed_forms_put_them(tmp_path: Path) -> None:
    shapes = {
        "b": (box(2, 4, 6), "0 0 10 0 0 0"),
        "s": ("<sphere><radius>1.5</radius></sphere>", "20 0 10 0 0 0"),
        "c": ("<cylinder><radius>2</radius><length>3</length></cylinder>", "40 0 10 0 0 0"),
        "e": ("<ellipsoid><radii>1 2 3</radii></ellipsoid>", "60 0 10 0 0 0"),
        "k": ("<capsule><radius>1</radius><length>4</length></capsule>", "80 0 10 0 0 0"),
        "n": ("<cone><radius>2</radius><length>4</length></cone>", "100 0 10 0 0 0"),
        "p": ("<plane><normal>-1 0 0</normal><size>4 2</size></plane>", "120 0 10 0 0 0"),
    }
    world = world_of(tmp_path, "".join(model(visual(shape), pose, name) for name, (shape, pose) in shapes.items()))
    tops = {"b": 13.0, "s": 11.5, "c": 11.5, "e": 13.0, "k": 13.0, "n": 12.0}
    for name, top in tops.items():
        x = float(shapes[name][1].split()[0])
        assert rays(world, (x + 1e-3, 1e-3, 50.0), DOWN)[0] == pytest.approx(50.0 - top, abs=3e-3), name
    for x, half in ((0, 1.0), (20, 1.5), (40, 2.0), (60, 1.0), (80, 1.0), (100, 1.0), (120, 0.0)):
        # at the height of the middle; a round side is up to 0.5 % inside its circle
        found = rays(world, (x - 5.0, 0.01, 10.01), EAST)[0]
        assert found == pytest.approx(5.0 - half, abs=0.012), x
    volumes = math.pi * 2.0**2 * 3.0, 4.0 / 3.0 * math.pi * 1.5**3, 2 * 4 * 6.0
    for name, volume in zip("csb", volumes, strict=True):
        number = next(k for k, thing in enumerate(world.model.objects) if thing.name == f"{name}::l::v")
        corners, objects = triangles(world.model)
        mine = corners[objects == number]
        # outwards everywhere, or the signed volume would be less
        signed = np.einsum("ni,ni->n", mine[:, 0], np.cross(mine[:, 1], mine[:, 2])).sum() / 6.0
        assert signed == pytest.approx(volume, rel=0.02)


def test_a_pose_turns_about_x_then_y_then_z(tmp_path: Path) -> None:
    """A point of a thin rod, by hand: R = Rz(yaw) Ry(pitch) Rx(roll)."""
    roll, pitch, yaw = 0.3, -0.4, 1.1
    rod = visual(box(0.02, 0.02, 0.02), "1 2 3 0 0 0")
    degrees = " ".join(str(math.degrees(angle)) for angle in (roll, pitch, yaw))
    w, *xyz = trimesh.transformations.quaternion_from_euler(roll, pitch, yaw, "sxyz")
    quat = " ".join(map(str, [*xyz, w]))
    poses = [
        f"<pose>5 6 7 {roll} {pitch} {yaw}</pose>", f'<pose degrees="true">5 6 7 {degrees}</pose>',
        f'<pose rotation_format="quat_xyzw">5 6 7 {quat}</pose>',
    ]  # fmt: skip
    worlds = [world_of(tmp_path, model(rod).replace("<pose></pose>", pose, 1)) for pose in poses]
    turn = trimesh.transformations.euler_matrix(roll, pitch, yaw, "sxyz")[:3, :3]
    for world in worlds:
        low, high = np.reshape(bounds(world, "m::l::v"), (2, 3))
        np.testing.assert_allclose(0.5 * (low + high), turn @ [1, 2, 3] + [5, 6, 7], atol=1e-5)


FRAMES = """
  <frame name="base"><pose>10 0 0 0 0 1.5707963</pose></frame>
  <frame name="above" attached_to="base"><pose>0 0 2 0 0 0</pose></frame>
  <model name="outer">
    <pose relative_to="above">1 0 0 0 0 0</pose>
    <frame name="hook"><pose>0 3 0 0 0 0</pose></frame>
    <link name="a"><pose relative_to="hook">0 0 1 0 0 0</pose>%s</link>
    <link name="b"><pose relative_to="a">1 0 0 0 0 0</pose>%s</link>
    <joint name="j" type="fixed"><parent>a</parent><child>b</child><pose>0 0 0.5 0 0 0</pose></joint>
    <model name="inner"><pose relative_to="j">0 1 0 0 0 0</pose><link name="c">%s</link></model>
    <link name="d"><pose relative_to="inner::c">0 1 0 0 0 0</pose>%s</link>
  </model>
  <model name="placed" placement_frame="tip"><pose>-5 0 1 0 0 0</pose>
    <link name="e">%s</link><link name="tip"><pose>0 0 4 0 0 0</pose></link></model>
"""


def test_frames_are_relative_to_what_they_name(tmp_path: Path) -> None:
    world = world_of(tmp_path, FRAMES % ((visual(box(0.1, 0.1, 0.1)),) * 5), version="1.11")
    # x of the model is north here, y is west
    places = {
        "outer::a": (7, 1, 3), "outer::b": (7, 2, 3), "outer::inner::c": (6, 2, 3.5), "outer::d": (5, 2, 3.5),
        "placed::e": (-5, 0, -3),
    }  # fmt: skip
    for name, place in places.items():
        low, high = np.reshape(bounds(world, f"{name}::v"), (2, 3))
        np.testing.assert_allclose(0.5 * (low + high), place, atol=1e-5, err_msg=name)


# ---- what stops a vehicle, and the ground


def test_collisions_stop_and_visuals_do_where_there_are_none(tmp_path: Path) -> None:
    """Straight up, at the places of four models: what a vehicle below them meets."""
    hull = f'<collision name="c"><pose>0 0 -1 0 0 0</pose><geometry>{box(1, 1, 1)}</geometry></collision>'
    same = f'<collision name="c"><geometry>{box(1, 1, 1)}</geometry></collision>'
    seen = visual(box(1, 1, 1))
    world = world_of(
        tmp_path,
        model(seen, "0 0 5 0 0 0", "bare") + model(seen + hull, "10 0 5 0 0.2 0", "lower")
        + model(seen + same, "20 0 5 0 0 0", "same")
        + model(seen + visual(box(3, 3, 0.1), "0 0 -2 0 0 0").replace('"v"', '"w"') + same, "30 0 5 0 0 0", "ghost"),
    )  # fmt: skip
    solids = Solids(world.model)
    met = [solids.above((x, 0.0, 0.0), 20.0) for x in (0.0, 10.0, 20.0, 30.0)]
    tilted = 5.0 - 1.5 / math.cos(0.2)
    assert [each and each[0] for each in met] == pytest.approx([4.5, tilted, 4.5, 4.5], abs=1e-4)
    assert met[0] is not None and met[0][0] == pytest.approx(4.5) and met[0][1] == "bare::l::v"
    assert met[3] is not None and met[3][0] == pytest.approx(4.5), "the sheet at 3 m is seen and does not stop"
    assert rays(world, (30.0, 0.0, 2.94), (0, 0, 1))[0] == pytest.approx(0.01, abs=1e-4)


def test_vehicles_stand_on_the_level_plane(tmp_path: Path) -> None:
    plane = "<plane><normal>0 0 1</normal><size>20 20</size></plane>"
    ground = model(
        visual(plane) + f'<collision name="c"><geometry>{plane}</geometry></collision>', "0 0 0.5 0 0 0", "g"
    )
    sunk = model(visual(box(1, 1, 1)), "3 0 0 0 0 0", "sunk")
    world = world_of(tmp_path, ground + sunk)
    assert world.ground.at(1.0, 1.0)[0] == pytest.approx(0.5)
    assert world_of(tmp_path, sunk).ground.at(0.0, 0.0)[0] == pytest.approx(-0.5), "without one, the lowest point"
    assert world_of(tmp_path, "<include><uri>model://ground_plane</uri></include>" + sunk).ground.at(0, 0)[0] == 0.0


# ---- looks


CLASSIC = """
<include><uri>model://sun</uri></include><include><uri>model://ground_plane</uri></include>
<!-- gz topic -t /x --echo --><plugin name="p" filename="p.so" gz:a="1"/><actor name="a"/>
<model name="brick_wall"><pose>1 1 1 0 0 0</pose><link name="l">%s<sensor name="s" type="ray"/></link></model>
<model name="crate"><link name="l">%s</link></model>
<model name="thing"><pose>0 9 1 0 0 0</pose><link name="l">%s</link></model>
<model name="hills"><link name="l"><visual name="v"><geometry><heightmap><uri>x.png</uri></heightmap></geometry></visual></link></model>
<light name="sun" type="directional"/><light name="bulb" type="point"><pose>2 3 4 0 0 0</pose><diffuse>1 0 0 1</diffuse></light>
<state world_name="w"><model name="brick_wall"><pose frame="">-4 2 1 0 0 0</pose><link name="l"><pose>0 0 0 0 0 0</pose></link></model></state>
"""  # noqa: E501


def test_a_world_of_gazebo_classic(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    script = "<material><script><uri>model://panel/materials/scripts</uri><name>Panel/%s</name></script></material>"
    named = "<material><script><name>Gazebo/%s</name></script></material>"
    inside = CLASSIC % (
        visual(box(1, 1, 2)), visual(box(1, 1, 1), "0 9 3 0 0 0", script % "One"),
        visual(box(1, 1, 1), more=named % "Red"),
    )  # fmt: skip
    with caplog.at_level(logging.WARNING):
        world = world_of(tmp_path, inside, version="1.6", name="own.world", models=str(ROOM.parent / "models"))
    told = "actor (1), heightmap (1), plugin (1), sensor (1), sun (`weather` sets it) (2)"
    assert [record.getMessage().partition("skipped: ")[2] for record in caplog.records] == [told]
    assert bounds(world, "brick_wall::l::v") == pytest.approx([-4.5, 1.5, 0, -3.5, 2.5, 2]), (
        "as Gazebo applies its state"
    )
    things = {thing.name: thing for thing in world.model.objects}
    shown = {}
    for name in ("brick_wall", "crate", "thing"):
        row = things[f"{name}::l::v"].rows[0]
        mesh = world.model.shapes[world.model.part_shape[row]].lods[0]
        shown[name] = CLASSES[things[f"{name}::l::v"].class_id], MATERIALS[mesh.materials[0]].name, mesh.colours[0, :3]
    assert shown["brick_wall"][:2] == ("wall", "brick") and shown["crate"][:2] == ("box", "picture")
    assert shown["thing"][1] == "plain" and list(shown["thing"][2]) == [255, 0, 0]
    assert len(world.model.pictures) == 1
    lamp = next(k for k, thing in enumerate(world.model.objects) if thing.name == "bulb")
    assert world.model.lamps[lamp].is_on and CLASSES[things["bulb"].class_id] == "lamp"
    assert Solids(world.model).above((2.0, 3.0, 0.5), 10.0) is None, "a light stops nothing"


def test_a_picture_stands_upright_on_each_side_of_a_box(tmp_path: Path) -> None:
    """Its lower left corner is the texture's 0, 0: for somebody in front of a side, left is left and up is up."""
    Image.new("RGB", (8, 8), (200, 10, 10)).save(tmp_path / "red.png")
    look = "<material><pbr><metal><albedo_map>red.png</albedo_map></metal></pbr></material>"
    world = world_of(tmp_path, model(visual(box(2, 2, 2), more=look)))
    mesh = world.model.shapes[
        world.model.part_shape[next(t for t in world.model.objects if t.name == "m::l::v").rows[0]]
    ].lods[0]
    for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        out, left = (x, y, 0), (y, -x, 0)
        mine = np.flatnonzero(mesh.normals @ np.array(out) > 0.9)
        corner = mine[np.abs(mesh.uv[mine]).sum(axis=1) < 1e-6][0]
        assert mesh.positions[corner] == pytest.approx(np.array(out) + left - [0, 0, 1.0], abs=1e-5)
    assert (world.model.pictures[0] == [200, 10, 10]).all()


def test_meshes_have_their_scale_and_their_submesh(tmp_path: Path) -> None:
    folder = tmp_path / "models" / "rock" / "meshes"
    folder.mkdir(parents=True)
    (folder / "rock.stl").write_bytes(trimesh.creation.box((1, 1, 1)).export(file_type="stl"))
    two = trimesh.Scene()
    two.add_geometry(trimesh.creation.box((1, 1, 1)), node_name="one", geom_name="one")
    moved = trimesh.transformations.translation_matrix([5, 0, 0])
    two.add_geometry(trimesh.creation.box((1, 1, 1)), node_name="two", geom_name="two", transform=moved)
    (folder / "two.glb").write_bytes(two.export(file_type="glb"))
    mesh = "<mesh><uri>model://rock/meshes/%s</uri>%s</mesh>"
    world = world_of(
        tmp_path,
        model(visual(mesh % ("rock.stl", "<scale>2 3 4</scale>")), "10 0 2 0 0 0")
        + model(visual(mesh % ("two.glb", "<submesh><name>two</name></submesh>")), "0 0 1 0 0 0", "part"),
    )
    assert rays(world, (10.0, 0.0, 20.0), DOWN)[0] == pytest.approx(16.0)
    assert rays(world, (0.0, 0.0, 2.0), EAST, NORTH)[0] == pytest.approx(9.0), "only the submesh is there"
    low = rays(world, (5.0, 0.1, 20.0), DOWN)[0]
    assert low == pytest.approx(18.5)


def test_collada_needs_its_package_and_has_its_own_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mesh = model(visual("<mesh><uri>tall.dae</uri></mesh>"), "0 0 5 0 0 0")
    (tmp_path / "tall.dae").write_text("<COLLADA><asset><up_axis>Y_UP</up_axis></asset></COLLADA>", encoding="utf-8")
    monkeypatch.setattr("skyloop.world.mesh_files.find_spec", lambda name: None)
    with pytest.raises(ScenarioError, match=r"'.*tall\.dae' is a COLLADA file, .*; pip install pycollada"):
        world_of(tmp_path, mesh)
    tall = ImportedMesh("n", "n", "", np.eye(4), trimesh.creation.box((1, 4, 2)))
    monkeypatch.setattr("skyloop.world.sdf_shapes.read_parts", lambda path, roots: [tall])
    assert bounds(world_of(tmp_path, mesh), "m::l::v::n") == pytest.approx([-0.5, -1, 3, 0.5, 1, 7])


# ---- includes, and files that are hostile or wrong


def test_the_shipped_room() -> None:
    world = Imported(ROOM)
    world.model.freeze()
    assert len(world.model.pictures) == 3 and world.ground.at(0.0, 0.0)[0] == 0.0
    assert rays(world, (0.0, 0.0, 1.3), EAST, (-1, 0, 0), NORTH) == pytest.approx([6.0, 6.0, 5.0], abs=1e-4)
    # the included table is turned by 0.3; its hull of one box stops vehicles where there is air between the legs
    ways = [(0.5, 3.0, 0.2), (0.5, 3.0, 2.0)]
    assert rays(world, ways[0], (0, 0, 1))[0] == pytest.approx(0.52, abs=1e-4)
    above = Solids(world.model).above((0.5, 3.0, -0.5), 1.0)
    assert above is not None and above[0] == pytest.approx(0.5, abs=1e-3), "from below the hull begins at the floor"
    assert CLASSES[next(t for t in world.model.objects if t.name == "wall_1::link::visual").class_id] == "wall"


LAUGHS = '<!DOCTYPE sdf [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><sdf version="1.9"><world name="&b;"/></sdf>'
OUTSIDE = '<!DOCTYPE sdf [<!ENTITY a SYSTEM "file:///etc/passwd">]><sdf version="1.9"><world name="w">&a;</world></sdf>'
ALBEDO = "<material><pbr><metal><albedo_map>%s</albedo_map></metal></pbr></material>"
INCLUDE = "<include><uri>%s</uri></include>"
SEEN = model(visual(box(1, 1, 1)))
BAD = {
    "laughs": (LAUGHS, "declares a document type"),
    "entity": (OUTSIDE, "declares a document type"),
    "not xml": ("<sdf><world>", "damaged or no SDF file"),
    "not sdf": ("<robot/>", "begins with <robot>"),
    "deep": ("<sdf>" + "<model>" * 200 + "</model>" * 200 + "</sdf>", "more than 100 levels"),
    "nothing but the network": (INCLUDE % "https://x/y/Cone", "shows nothing: skipped: model of the network (1)"),
    "nothing": ("<sdf version='1.9'><world name='w'/></sdf>", "shows nothing"),
    "out": (INCLUDE % "model://../../secret", "leads out of the folders"),
    "absolute": (INCLUDE % "file:///etc", "leads out of the folders"),
    "missing": (INCLUDE % "model://nowhere", "no model 'model://nowhere' in"),
    "nul": (INCLUDE % "model://a%00b" + SEEN, "no model"),
    "circle": (INCLUDE % "model://ring", "includes are 20 deep"),
    "mesh": (model(visual("<mesh><uri>model://x/y.stl</uri></mesh>")), "no mesh 'model://x/y.stl'"),
    "mesh out": (model(visual("<mesh><uri>../../y.stl</uri></mesh>")), "leads out of the folders"),
    "numbers": (model(visual("<box><size>1 2</size></box>")), "<size> is '1 2'; give 3 numbers"),
    "nan": (model(visual(box(1, 1, 1)), "nan 0 0 0 0 0"), "<pose> is 'nan 0 0 0 0 0'; give 6 numbers"),
    "negative": (model(visual(box(1, -1, 1))), "give m above 0"),
    "no such frame": (SEEN.replace("<pose>", "<pose relative_to='nobody'>", 1), "no frame of 'w' named 'nobody'"),
    "frames": (
        "<frame name='a'><pose relative_to='b'/></frame><frame name='b'><pose relative_to='a'/></frame>"
        + SEEN.replace("<pose>", "<pose relative_to='a'>", 1), "depends on itself",
    ),
    "picture": (model(visual(box(1, 1, 1), more=ALBEDO % "n.png")),
                "no picture 'n.png'"),
    "no image": (model(visual(box(1, 1, 1), more=ALBEDO % "own.sdf")),
                 "cannot be read (UnidentifiedImageError)"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_told_in_one_line(name: str, tmp_path: Path) -> None:
    content, words = BAD[name]
    folder = tmp_path / "worlds"
    ring = folder / "models" / "ring"
    ring.mkdir(parents=True)
    (ring / "model.sdf").write_text(f"<sdf><model name='r'>{INCLUDE % 'model://ring'}</model></sdf>", encoding="utf-8")
    (tmp_path / "y.stl").write_bytes(trimesh.creation.box((1, 1, 1)).export(file_type="stl"))
    whole = (
        content
        if content.startswith("<!") or "<sdf" in content or content == "<robot/>"
        else (f'<sdf version="1.9"><world name="w">{content}</world></sdf>')
    )
    (folder / "own.sdf").write_text(whole, encoding="utf-8")
    with pytest.raises(ScenarioError) as refused:
        Imported(folder / "own.sdf")
    assert words in str(refused.value) and "\n" not in str(refused.value)


def test_links_out_of_the_folders_and_bombs_of_includes_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    (folder / "models" / "m0").mkdir(parents=True)
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "model.sdf").write_text(f"<sdf>{SEEN}</sdf>", encoding="utf-8")
    (folder / "models" / "way_out").symlink_to(tmp_path / "secret")
    with pytest.raises(ScenarioError, match="leads out of the folders"):
        world_of(folder, INCLUDE % "model://way_out")
    for k in range(18):
        inner = folder / "models" / f"m{k}"
        inner.mkdir(exist_ok=True)
        both = "".join(f"<include><name>{n}</name><uri>model://m{k + 1}</uri></include>" for n in "ab")
        (inner / "model.sdf").write_text(f"<sdf><model name='m'>{both}</model></sdf>", encoding="utf-8")
    (folder / "models" / "m18").mkdir()
    (folder / "models" / "m18" / "model.sdf").write_text(f"<sdf>{SEEN}</sdf>", encoding="utf-8")
    with pytest.raises(ScenarioError, match="includes more than 3000 models"):
        world_of(folder, INCLUDE % "model://m0")


def test_the_network_is_left_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        world_of(tmp_path, INCLUDE % "https://fuel.gazebosim.org/1.0/openrobotics/models/Cone" + SEEN)
    assert "skipped: model of the network (1)" in caplog.text
    kept = tmp_path / "models" / "cone"
    kept.mkdir(parents=True)
    (kept / "model.sdf").write_text(
        f"<sdf>{model(visual(box(1, 1, 1)), '0 0 7 0 0 0', 'cone')}</sdf>", encoding="utf-8"
    )
    world = world_of(tmp_path, INCLUDE % "https://fuel.gazebosim.org/1.0/openrobotics/models/Cone" + SEEN)
    assert rays(world, (0.0, 0.0, 20.0), DOWN)[0] == pytest.approx(12.5), "it was fetched before, by its name"
