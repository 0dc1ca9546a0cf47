"""Textures: seamless, repeatable, of the brightness their users count on; wallpapers full of corners."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from photography import corners
from skyloop.rendering.texture_patterns import Canvas, cells, noise, places
from skyloop.rendering.texture_wallpaper import wallpaper as painted_wallpaper
from skyloop.rendering.textures import VARIANTS, texture_layers
from skyloop.world.generation import generator
from skyloop.world.materials import MATERIAL_ID, MATERIALS
from skyloop_client.errors import ScenarioError

FOCAL_PX = 320 / np.tan(np.radians(43))
WALLPAPER_TILE = MATERIALS[MATERIAL_ID["wallpaper"]].tile
TINTABLE = ("plain", "plaster", "concrete", "cloth", "metal", "hair")


@pytest.fixture(autouse=True)
def _fresh(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("skyloop.world.generation.CACHE_FOLDER", tmp_path)


def resampling(pixels: int, start: float, step: float, size: int) -> NDArray[np.float64]:
    """(pixels, size) weights: each pixel is the mean of eight linear interpolations over its width `step` of texels."""
    at = start + (np.arange(pixels)[:, None] + (np.arange(8) + 0.5) / 8) * step - 0.5
    low = np.floor(at).astype(int)
    weights = np.zeros((pixels, size))
    rows = np.repeat(np.arange(pixels), 8)
    np.add.at(weights, (rows, low.ravel() % size), (1 - (at - low)).ravel() / 8)
    np.add.at(weights, (rows, (low + 1).ravel() % size), (at - low).ravel() / 8)
    return weights


def wall_image(layer: NDArray[np.uint8], distance: float, rows: int = 360) -> NDArray[np.float64]:
    """Grey 640 × `rows` view of a wall straight ahead, `distance` m away, hfov 86°."""
    size = len(layer)
    grey = layer[..., :3] @ np.array([0.299, 0.587, 0.114])
    step = distance / FOCAL_PX / WALLPAPER_TILE * size
    image = resampling(rows, 17.0, step, size) @ grey @ resampling(640, 31.0, step, size).T
    return np.rint(image)


def test_the_corner_counter_counts_a_chessboard() -> None:
    board = np.kron(np.indices((12, 20)).sum(axis=0) % 2, np.ones((30, 32))) * 200.0
    assert corners(board) == 11 * 19
    assert corners(np.tile(np.linspace(0, 255, 640), (360, 1))) == 0


def test_cells_know_the_nearest_points_around_the_edges_too() -> None:
    found = cells(np.random.default_rng(3), 96, 8, 6)
    u, v = places(96)
    at = np.stack([u * 8, v * 6], axis=-1).reshape(-1, 2).astype(float)
    away = np.stack([found.du, found.dv], axis=-1).reshape(-1, 2)
    numbers, first = np.unique(found.number, return_index=True)
    assert len(numbers) == found.count == 48
    tree = cKDTree((at - away)[first] % (8, 6), boxsize=(8, 6))
    distances, nearest = tree.query(at, k=2)
    # the second one may lie beyond the eight neighbours that are looked at
    np.testing.assert_allclose(found.nearest.ravel(), distances[:, 0], atol=1e-4)
    assert np.mean(numbers[nearest[:, 0]] == found.number.ravel()) > 0.999
    assert np.mean(np.abs(found.second.ravel() - distances[:, 1]) < 1e-3) > 0.99


def test_noise_keeps_to_its_band() -> None:
    field = noise(np.random.default_rng(1), 128, 8, 16, slope=0.0)
    assert field.mean() == pytest.approx(0, abs=1e-5)
    assert field.std() == pytest.approx(1, abs=1e-4)
    power = np.abs(np.fft.fft2(field)) ** 2
    cycles = np.hypot(*np.meshgrid(np.fft.fftfreq(128, 1 / 128), np.fft.fftfreq(128, 1 / 128)))
    assert power[(cycles > 5) & (cycles < 25)].sum() > 0.95 * power.sum()


def test_a_stamp_over_the_corner_comes_back_on_all_sides() -> None:
    canvas = Canvas.of(16, (0.0, 0.0, 0.0), 0.0)
    canvas.stamp(0.0, 0.0, np.ones((4, 6), np.float32), np.arange(72).reshape(4, 6, 3) / 72, 0.5)
    shifted = np.roll(canvas.paint, (2, 3), axis=(1, 2))
    np.testing.assert_allclose(shifted[:3, :4, :6], np.moveaxis(np.arange(72).reshape(4, 6, 3) / 72, -1, 0), atol=1e-6)
    assert canvas.height.sum() == pytest.approx(0.5 * 24)


@pytest.fixture(scope="module")
def small() -> tuple[NDArray[np.uint8], dict[str, tuple[int, int]]]:
    """Every texture, painted small."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("skyloop.rendering.textures.kept", lambda name, source, make: make())
        return texture_layers(list(VARIANTS), 0, 128)


def of(textures: tuple[NDArray[np.uint8], dict[str, tuple[int, int]]], name: str) -> NDArray[np.uint8]:
    first, count = textures[1][name]
    return textures[0][first : first + count]


def seam(layer: NDArray[np.uint8], axis: int) -> float:
    """Difference across the wrapped edge, by the largest between neighbours anywhere inside."""
    rows = np.moveaxis(layer.astype(float), axis, 0)
    inside = np.abs(np.diff(rows, axis=0)).mean(axis=(1, 2))
    return float(np.abs(rows[0] - rows[-1]).mean() / inside.max())


def thumbnails(layers: NDArray[np.uint8], edge: int) -> NDArray[np.float64]:
    n, size = layers.shape[:2]
    return layers[..., :3].reshape(n, edge, size // edge, edge, size // edge, 3).mean(axis=(2, 4))


def test_every_material_has_its_texture() -> None:
    assert {material.texture for material in MATERIALS} - {"picture"} <= set(VARIANTS), "a world brings its pictures"


def test_layers_lie_where_the_places_say() -> None:
    layers, places = texture_layers(["brick", "snow", "brick"], 0, 64)
    assert layers.shape == (4, 64, 64, 4)
    assert layers.dtype == np.uint8
    assert places == {"brick": (0, 3), "snow": (3, 1)}
    np.testing.assert_array_equal(layers[3:], texture_layers(["snow"], 0, 64)[0])


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(ScenarioError, match="no texture 'velvet'"):
        texture_layers(["grass", "velvet"], 0)


def test_opposite_edges_meet(small: Any) -> None:
    for name in VARIANTS:
        for layer in of(small, name):
            assert max(seam(layer, 0), seam(layer, 1)) < 1.15, name


def test_the_seam_of_a_cut_texture_is_noticed(small: Any) -> None:
    for name in ("rock", "water", "bark", "hair"):
        cut = of(small, name)[0][:93, :93]
        assert max(seam(cut, 0), seam(cut, 1)) > 1.15


def test_same_seed_same_bytes_and_other_seeds_differ() -> None:
    names = ["brick", "grass", "cloth", "leaves"]
    first = texture_layers(names, 7, 64)[0]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("skyloop.rendering.textures.kept", lambda name, source, make: make())
        np.testing.assert_array_equal(first, texture_layers(names, 7, 64)[0])
    other = texture_layers(names, 8, 64)[0]
    assert np.all(np.abs(first.astype(float) - other).mean(axis=(1, 2, 3)) > 3)


def test_what_was_painted_once_comes_from_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    painted = texture_layers(["bark"], 3, 64)[0]

    def fail(name: str, seed: int, size: int) -> NDArray[np.uint8]:
        raise AssertionError(f"painted {name} again")

    monkeypatch.setattr("skyloop.rendering.textures._painted", fail)
    np.testing.assert_array_equal(texture_layers(["bark"], 3, 64)[0], painted)
    with pytest.raises(AssertionError, match="painted bark again"):
        texture_layers(["bark"], 4, 64)


@pytest.mark.parametrize("seed", [0, 5, 11])
def test_what_vertex_colours_tint_is_near_white_and_grey(seed: int) -> None:
    layers, places = texture_layers(TINTABLE, seed, 128)
    for name in TINTABLE:
        mean = of((layers, places), name)[..., :3].mean(axis=(1, 2))
        assert np.all((mean > 198) & (mean < 242)), name
        assert np.all(np.ptp(mean, axis=1) < 8), name


@pytest.mark.parametrize("seed", [0, 5, 11])
def test_grown_and_burnt_things_have_their_own_colours(seed: int) -> None:
    textures = texture_layers(["grass", "leaves", "brick", "soil", "asphalt", "water"], seed, 128)
    mean = {name: of(textures, name)[..., :3].mean(axis=(1, 2)).T for name in textures[1]}
    for name in ("grass", "leaves"):
        red, green, blue = mean[name]
        assert np.all((green > 1.05 * red) & (green > 1.3 * blue)), name
    for name in ("brick", "soil"):
        red, green, blue = mean[name]
        assert np.all((red > 1.1 * green) & (green > blue)), name
    assert np.all(np.ptp(mean["asphalt"], axis=0) < 6)
    assert np.all(mean["asphalt"] < 120)
    assert np.all(mean["water"][2] > mean["water"][0])


def test_the_ground_shows_no_large_blotches(small: Any) -> None:
    """Seen from so far that a texture is 4 × 4 pixels, its repeats must not stand out."""
    for name in ("grass", "soil", "gravel", "asphalt", "water", "snow", "plaster", "concrete"):
        grey = thumbnails(of(small, name), 4).mean(axis=-1)
        assert np.all(grey.std(axis=(1, 2)) < 0.07 * grey.mean(axis=(1, 2))), name


def test_there_is_structure_down_to_the_texel(small: Any) -> None:
    for name in sorted(set(VARIANTS) - {"plain", "glass", "snow"}):
        grey = of(small, name)[..., :3].mean(axis=-1)
        assert np.all(np.abs(np.diff(grey, axis=2)).mean(axis=(1, 2)) > 1.0), name


def test_variants_differ_in_colour_or_pattern(small: Any) -> None:
    for name, count in VARIANTS.items():
        colour = of(small, name)[..., :3].reshape(count, -1, 3).mean(axis=1)
        pattern = thumbnails(of(small, name), 32).mean(axis=-1).reshape(count, -1)
        likeness = np.corrcoef(pattern) if count > 1 else np.eye(1)
        for a in range(count):
            for b in range(a):
                assert likeness[a, b] < 0.5 or np.abs(colour[a] - colour[b]).max() > 12, (name, a, b)


def test_no_two_wallpapers_share_a_pattern(small: Any) -> None:
    pattern = thumbnails(of(small, "wallpaper"), 32).mean(axis=-1).reshape(36, -1)
    likeness = np.abs(np.corrcoef(pattern)) - np.eye(36)
    assert likeness.max() < 0.7


def wallpaper(variant: int, seed: int = 0) -> NDArray[np.uint8]:
    colour, _ = painted_wallpaper(generator(seed, f"texture/wallpaper/{variant}"), variant, 512)
    return np.clip(colour * 255 + 0.5, 0, 255).astype(np.uint8)


@pytest.mark.parametrize("variant", [7, 24, 28, 29])
def test_the_sparsest_wallpapers_have_corners_enough(variant: int) -> None:
    layer = wallpaper(variant)
    for distance in (1.0, 2.0, 3.0, 5.0):
        assert corners(wall_image(layer, distance)) >= 300


@pytest.mark.slow("72 wallpapers")
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("variant", range(36))
def test_every_wallpaper_has_corners_enough(variant: int, seed: int) -> None:
    """Also on a wall of 2.5 m, which at 5 m fills 172 of the 360 rows only."""
    layer = wallpaper(variant, seed)
    for distance in (1.0, 2.0, 3.0, 5.0):
        rows = min(360, round(2.5 * FOCAL_PX / distance))
        assert corners(wall_image(layer, distance, rows)) >= 300
