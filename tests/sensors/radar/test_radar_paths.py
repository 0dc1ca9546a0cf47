"""Ways other than straight there and back: over the ground, through glass, folded; and patterns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from radar_scans import before, decibel, echoes_of, mean_square, radar, scanned
from radar_stages import BALL, BALL_RADIUS, GROUND, WINDOW, X

from painted_world import moving
from skyloop.sensors.radar.config import RadarConfig, RadarTarget
from skyloop.sensors.radar.radar import Radar
from skyloop.world.materials import MATERIAL_ID, grazing_reflection
from skyloop_client.errors import ScenarioError


@pytest.mark.renders
@pytest.mark.parametrize("height", np.linspace(0.8, 1.2, 7))
def test_two_rays(stages: Any, height: float) -> None:
    """Of a point over the ground: |1 + Γ·e^{jk(R'−R)}|⁴ of what it is without, but for 1/R'."""
    eye = moving(position=(X - 6.0, GROUND, 1.0))
    target = {"position": (X, GROUND, height), "size": 1.0}
    options = {"targets": (target,), "classes": ("target",), "iq": True, "n_chirps": 1}
    options |= {"tx_position": (0.0, 0.0, 0.0), "rx_positions": ((0.0, 0.0, 0.0),), "n_rx": 1, "bandwidth": 1e6}
    sensor, bouncing = radar(**options), radar(ground_bounce=True, **options)
    straight, bent = np.hypot(6.0, height - 1.0), np.hypot(6.0, height + 1.0)
    wavelength = sensor.paths.wavelength
    sine = (height + 1.0) / bent
    table = np.rint(sine * 256.0) / 256.0
    mirror = grazing_reflection(MATERIAL_ID["tiles"], np.array([table]), wavelength)[0]
    sum_of_ways = 1.0 + mirror * straight / bent * np.exp(2j * np.pi / wavelength * (bent - straight))
    ratio = mean_square(scanned(bouncing, stages, eye)) / mean_square(scanned(sensor, stages, eye))
    assert decibel(ratio) == pytest.approx(decibel(abs(sum_of_ways) ** 4), abs=0.3)


@pytest.mark.renders
def test_patches_bounce_too(stages: Any) -> None:
    """Seen over tiles, each patch of the pane has three more ways; what lies on the ground has none."""
    eye = moving(position=(X - 6.0, GROUND, 1.0), rotation_deg=(0.0, 15.0, 0.0))
    plain = echoes_of(radar(specular=False), stages, eye)[0]
    bounced = echoes_of(radar(specular=False, ground_bounce=True), stages, eye)[0]
    assert len(bounced.strengths) == len(plain.strengths)
    # from below the window's middle
    eye = moving(position=(X - 6.0, WINDOW, 0.0))
    plain = echoes_of(radar(specular=False), stages, eye)[0]
    bounced = echoes_of(radar(specular=False, ground_bounce=True), stages, eye)[0]
    assert len(bounced.strengths) == len(plain.strengths), "nothing below to bounce off"


@pytest.mark.renders
def test_behind_glass(stages: Any) -> None:
    """With the second return a ball echoes through the pane, dimmed by its transparency there and back."""
    eye = before(WINDOW, 6.0, X)
    blind, through = (radar(classes=("target",), see_through=option) for option in (False, True))
    assert len(echoes_of(blind, stages, eye)[0].strengths) == 0
    behind = echoes_of(through, stages, eye)[0]
    bare = echoes_of(radar(classes=("object",)), stages, before(BALL, 6.0, X))[0]
    strongest, wanted = np.argmax(np.abs(behind.strengths)), np.argmax(np.abs(bare.strengths))
    assert behind.half_paths[strongest, 2] == pytest.approx(bare.half_paths[wanted, 2], abs=2e-3)
    ratio = abs(behind.strengths[strongest] / bare.strengths[wanted])
    # rays know flat triangles only, so that the ball is a plate of one of its facets
    assert ratio < 0.6
    assert 6.0 - BALL_RADIUS < behind.half_paths[:, 2].min() < 6.01


@pytest.mark.renders
@pytest.mark.parametrize(("distance", "share"), [(11.0, 0.0), (13.0, 1.0)])
def test_what_is_beyond_folds_and_is_told(stages: Any, distance: float, share: float) -> None:
    target = {"position": (distance, -300.0, 0.0), "size": 1.0}
    scan = scanned(radar(targets=(target,)), stages, moving(position=(0.0, -300.0, 0.0)))
    assert scan.folded_share == pytest.approx(share)
    beat = np.argmax(np.abs(np.fft.rfft(scan.volts[0, 0] * np.hanning(64), 512))) * 0.3747 * 64 / 512
    # in I/Q-free data 12 m is the end, from which what is farther comes back
    assert beat == pytest.approx(distance if share == 0.0 else 2.0 * 11.992 - distance, abs=0.2)


@pytest.mark.renders
def test_speed_folds(stages: Any) -> None:
    target = {"position": (6.0, -300.0, 0.0), "velocity": (4.0, 0.0, 0.0), "size": 1.0}
    scan = scanned(radar(targets=(target,)), stages, moving(position=(0.0, -300.0, 0.0)))
    assert scan.folded_share == 1.0
    spectrum = np.abs(np.fft.fft2(scan.volts[0] * np.hanning(64) * np.hanning(64)[:, None]))[:, :32]
    row = np.unravel_index(np.argmax(spectrum), spectrum.shape)[0]
    speed = (row if row < 32 else row - 64) * 0.0985
    assert speed == pytest.approx(4.0 - 2.0 * 3.153, abs=0.15)


def gain(pattern: Any, stages: Any, azimuth_deg: float, elevation_deg: float, folder: Path | None = None) -> float:
    """dB of an echo against one straight ahead, both at 5 m."""
    a, e = np.radians([azimuth_deg, elevation_deg])
    powers = []
    for place in ((5.0 * np.cos(e) * np.cos(a), 5.0 * np.cos(e) * np.sin(a), 5.0 * np.sin(e)), (5.0, 0.0, 0.0)):
        target = RadarTarget(position=(place[0], place[1] - 300.0, place[2]), size=1.0)
        sensor = Radar(RadarConfig(targets=(target,), pattern=pattern, n_chirps=1, iq=True), 0.1, folder)
        powers.append(mean_square(scanned(sensor, stages, moving(position=(0.0, -300.0, 0.0)))))
    return decibel(powers[0] / powers[1])


@pytest.mark.renders
def test_patterns(stages: Any, tmp_path: Path) -> None:
    assert gain({"kind": "isotropic"}, stages, 40.0, -20.0) == pytest.approx(0.0, abs=0.02)
    # half the power of one antenna at half the beamwidth, of both a quarter
    beam = {"kind": "beam", "azimuth_deg": 60.0, "elevation_deg": 40.0}
    assert gain(beam, stages, 30.0, 0.0) == pytest.approx(-6.0, abs=0.15)
    assert gain(beam, stages, 0.0, 20.0) == pytest.approx(-6.0, abs=0.15)
    assert gain({"kind": "vira"}, stages, 42.4, 0.0) == pytest.approx(20.0 * np.log10(0.707), abs=0.1)
    (tmp_path / "p.csv").write_text(
        "0,-60,-35,0,35,60\n-30,-20,-20,-10,-20,-20\n0,-6,-6,0,-12,-12\n30,-20,-20,-10,-20,-20\n"
    )
    table = {"kind": "csv", "file": "p.csv"}
    assert gain(table, stages, 40.0, 0.0, tmp_path) == pytest.approx(-12.0, abs=0.3)
    assert gain(table, stages, -40.0, 0.0, tmp_path) == pytest.approx(-6.0, abs=0.3)
    grey = np.full((51, 101), 255, np.uint8)
    grey[:, :40] = 128
    Image.fromarray(grey).save(tmp_path / "p.png")
    picture = {"kind": "picture", "file": "p.png", "fov_deg": 90.0}
    # dark on the left side of the picture, which is to the left
    assert gain(picture, stages, 30.0, 0.0, tmp_path) == pytest.approx(20.0 * np.log10(128 / 255), abs=0.1)
    assert gain(picture, stages, -30.0, 0.0, tmp_path) == pytest.approx(0.0, abs=0.1)


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("none.csv", None, "no such file"),
        ("short.csv", "0,1\n1,2\n", "2 rows of"),
        ("ragged.csv", "0,1,2\n1,2\n3,4,5\n", "3 rows of"),
        ("words.csv", "0,a,b\n1,2,3\n4,5,6\n", "could not convert"),
        ("falls.csv", "0,5,1\n1,2,3\n4,5,6\n", "angles must rise"),
        ("text.png", "no picture", "cannot identify"),
    ],
)
def test_patterns_that_are_none(tmp_path: Path, name: str, text: str | None, told: str) -> None:
    if text is not None:
        (tmp_path / name).write_text(text)
    kind = "picture" if name.endswith("png") else "csv"
    with pytest.raises(ScenarioError, match=told):
        Radar(RadarConfig.model_validate({"pattern": {"kind": kind, "file": name}}), 0.1, tmp_path)
