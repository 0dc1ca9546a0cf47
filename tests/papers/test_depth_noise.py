"""`skyloop reproduce depth-noise`: the fits, the block matching, the records, and images of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from skyloop_client.errors import ScenarioError
from skyloop_papers import pages
from skyloop_papers.depth_noise.checks import GROWTH
from skyloop_papers.depth_noise.experiment import EXPERIMENT
from skyloop_papers.depth_noise.fits import core_sd, cut_sigma, error_sd, fit_laws, kim_sigma
from skyloop_papers.depth_noise.frames import main, report_on, sigma_of_folder
from skyloop_papers.depth_noise.stereo import BASELINE, LENS, dot_table, match_blocks, paint_dots
from skyloop_papers.experiment import Cell
from skyloop_papers.runner import reproduce

DISTANCES = np.arange(0.5, 8.1, 0.5)


def test_fits_find_the_law_that_was_put_in() -> None:
    kim = fit_laws(DISTANCES, kim_sigma(0.537, DISTANCES))
    assert kim.growth == pytest.approx(0.537, abs=1e-4)
    assert kim.growth_r2 == pytest.approx(1.0)
    assert kim.square_r2 < 0.95
    square = fit_laws(DISTANCES, 0.004 * DISTANCES**2)
    assert [square.square, square.power] == pytest.approx([0.004, 2.0])
    assert square.square_r2 == pytest.approx(1.0)
    assert square.growth_r2 < 0.99
    assert square.disparity_sd(17.0) == pytest.approx(0.068)


def test_sigma_is_of_the_valid_pixels_and_the_core_ignores_mismatches() -> None:
    rng = np.random.default_rng(1)
    depth = 2.0 + 0.05 * rng.standard_normal((200, 200))
    depth[:10] = 0.0
    assert error_sd(depth, 1.9) == pytest.approx(0.05, rel=0.03)
    depth[10:14] = 15.0
    assert error_sd(depth, 2.0) > 1.0
    assert core_sd(depth) == pytest.approx(0.05, rel=0.05)
    assert np.isnan(error_sd(np.zeros((4, 4)), 1.0))


def test_cut_sigma_is_that_of_what_is_left() -> None:
    drawn = 8.0 + 4.5 * np.random.default_rng(2).standard_normal(400_000)
    left = drawn[(drawn > 0.1) & (drawn < 12.0)]
    assert cut_sigma(np.array(4.5), np.array(8.0), 0.1, 12.0) == pytest.approx(left.std(), rel=0.01)


@pytest.mark.parametrize("distance", [0.7, 2.0, 4.1])
def test_projected_dots_are_matched_at_their_disparity(distance: float) -> None:
    depth = np.full((40, 640), distance, np.float32)
    normals = np.zeros((40, 640, 3), np.float32)
    normals[..., 2] = -1.0
    pair: list[Any] = []
    for to_projector in (0.5 * BASELINE, -0.5 * BASELINE):
        light = np.empty_like(depth)
        paint_dots(depth, normals, (LENS.fx, LENS.cx, 19.5), to_projector, dot_table(), light)
        pair.append(np.rint(1000 * light * distance**2).astype(np.int32))
    disparity = np.empty_like(depth)
    match_blocks(pair[0], pair[1], disparity)
    found = disparity[6:34, 90:550]
    assert np.mean(found > 0) > 0.9
    assert np.median(found[found > 0]) == pytest.approx(BASELINE * LENS.fx / distance, abs=0.1)


def test_light_falls_with_the_square_of_distance_and_the_cosine() -> None:
    def brightest(distance: float, normal: tuple[float, float, float]) -> float:
        depth, light = np.full((90, 90), distance, np.float32), np.empty((90, 90), np.float32)
        normals = np.tile(np.array(normal, np.float32), (90, 90, 1))
        paint_dots(depth, normals, (3000.0, 44.5, 44.5), 0.0, dot_table(), light)
        return float(light.max())

    near = brightest(1.0, (0.0, 0.0, -1.0))
    assert brightest(3.0, (0.0, 0.0, -1.0)) == pytest.approx(near / 9.0, rel=1e-3)
    assert brightest(1.0, (0.0, np.sqrt(0.75), -0.5)) == pytest.approx(near / 2.0, rel=0.03)


def test_the_matcher_gives_no_answer_where_there_is_none() -> None:
    rng = np.random.default_rng(3)
    left, right = (rng.integers(0, 100, (30, 300)).astype(np.int32) for _ in range(2))
    disparity = np.empty((30, 300), np.float32)
    match_blocks(left, right, disparity)
    assert np.mean(disparity > 0) < 0.05
    match_blocks(left, np.roll(left, -20, axis=1), disparity)
    np.testing.assert_allclose(disparity[4:26, 55:290], 20.0, atol=0.2)


def write_images(folder: Path, growth: float) -> None:
    rng = np.random.default_rng(4)
    for k, distance in enumerate((0.5, 1.25, 2.0, 3.0, 4.5, 6.0)):
        depth = distance + float(kim_sigma(growth, np.array(distance))) * rng.standard_normal((120, 160))
        depth[0] = 0.0
        if k % 2:
            np.save(folder / f"{distance:g}.npy", depth.astype(np.float32))
        else:
            Image.fromarray(np.rint(1000 * depth.clip(0)).astype(np.uint16)).save(folder / f"{distance:g}_1.png")


def test_images_of_ones_own_are_fitted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_images(tmp_path, 0.45)
    (tmp_path / "notes.txt").write_text("not an image")
    distance, sigma, count = sigma_of_folder(tmp_path)
    assert distance.tolist() == [0.5, 1.25, 2.0, 3.0, 4.5, 6.0]
    assert count == 6
    assert fit_laws(distance, sigma).growth == pytest.approx(0.45, abs=0.005)
    main([str(tmp_path)])
    shown = capsys.readouterr().out
    assert shown.startswith("6 images at 6 distances from 0.5 to 6 m\n0.005·exp(m·d)   m = 0.4")
    assert "R² = 0.99" in shown or "R² = 1.00" in shown


def test_images_that_cannot_be_used_are_named_in_one_line(tmp_path: Path) -> None:
    def said() -> str:
        with pytest.raises(ScenarioError) as caught:
            report_on(tmp_path)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    with pytest.raises(SystemExit, match=r"error: .*gone: no such folder"):
        main([str(tmp_path / "gone")])
    assert "0 distances" in said()
    for name, content, message in (
        ("wall.npy", np.ones((4, 4)), "name it by its distance"),
        ("-1.npy", np.ones((4, 4)), "name it by its distance"),
        ("1.npy", np.ones((4, 4, 3)), "two dimensions, this one 3"),
        ("1.npy", np.ones((4, 4), np.uint8), "16-bit"),
        ("1.npy", np.zeros((4, 4)), "no pixel with a value"),
        ("1.npy", np.array([{"an": "object"}]), "not a readable depth image"),
    ):
        np.save(tmp_path / name, content)
        assert message in said()
        (tmp_path / name).unlink()
    (tmp_path / "1.png").write_bytes(b"no picture")
    assert "1.png: not a readable depth image" in said()


def _self_check_agrees(values: dict[str, Cell]) -> None:
    for name, m in GROWTH.items():
        assert values[f"self-check, {name}: the same, eq. 4 cut by the camera's 0.1 to 20 m"].ours > 0.9995
        plain = values[f"self-check, {name}: R² of simulated σ against eq. 4, m = {m}"]
        assert plain.ours > 0.99
        assert plain.published is None
        assert plain.conditions["largest_error_of_rendered_depth"] < 1e-4
        assert values[f"self-check, {name}: largest relative error of σ against eq. 4 so cut"].ours < 0.02
    assert values["self-check: pixels without a value"].ours == pytest.approx(0.01, abs=0.0005)


def _stereo_grows_as_published(values: dict[str, Cell]) -> None:
    fitted = {name: values[f"synthetic stereo, {name}: m fitted"].ours for name in GROWTH}
    assert fitted["cement"] < fitted["formboard"] < fitted["plastic"]
    for name in ("cement", "formboard"):
        cell = f"synthetic stereo, {name}: "
        assert values[cell + "core, R² of a·d²"].ours > values[cell + "core, R² of eq. 4"].ours
        assert 2.0 < values[cell + "core, p of c·d^p"].ours < 4.0
    assert values["synthetic stereo, plastic: R² of eq. 4 with m = 0.85"].published == 0.26049


@pytest.mark.slow("the experiment in its quick form")
@pytest.mark.renders
def test_the_quick_form(tmp_path: Path) -> None:
    """Once for all that is to be said of it: it starts a renderer."""
    results = reproduce(EXPERIMENT, quick=True, folder=tmp_path)
    values = {result.name: result for result in results}
    assert len(values) == len(results)
    assert all(np.isfinite(result.ours) for result in results)
    assert pages.differing("depth-noise", results) == []
    _self_check_agrees(values)
    _stereo_grows_as_published(values)
    assert values["time for one 460 × 320 image"].published == 12.1
    assert values["eq. 4 against stereo theory, plastic: disparity error it implies at 8 m"].ours > 1.0
    for picture in EXPERIMENT.pictures:
        assert (tmp_path / picture).read_bytes().startswith(b"\x89PNG")
