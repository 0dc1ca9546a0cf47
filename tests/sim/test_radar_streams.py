"""A radar in the loop: its three streams, what they say of themselves, and what a run leaves to look at."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import skyloop
import skyloop.run as running
from core_flights import Tape
from skyloop.sim.scenario import Scenario
from skyloop.sim.simulation import Simulation
from skyloop.world.scenery.actors.gait import PARTS
from skyloop.world.worlds.open_ground import RadarLab
from skyloop_client.messages import Message, RadarDetections, RadarScan, RangeDopplerImage

pytestmark = pytest.mark.renders
SEED, HEIGHT = 4, 1.2
RADAR = "drone/radar/"
NAMES = [RADAR + ending for ending in ("raw", "range_doppler", "detections")]
BURST_S = 63 * 390.975e-6 + 63 / 64 * 390.975e-6
WALK = {
    "name": "walk",
    "seed": SEED,
    "duration": 1.25,
    "world": "radar-lab",
    "vehicles": [
        {
            "name": "drone",
            "sensors": {
                "radar": {
                    "kind": "radar", "preset": "bgt60tr13c-real", "rate_hz": 10, "width": 160, "height": 120,
                    "mount": {"position": [0.1, 0.0, HEIGHT]},
                }
            },
        }
    ],
}  # fmt: skip


class Watched:
    """One simulation to its end, a snapshot in between, and all that was published."""

    def __init__(self) -> None:
        self.simulation = skyloop.build(skyloop.make_scenario(WALK))
        inboxes = {name: self.simulation.subscribe(name) for name in NAMES}
        tape = Tape(self.simulation.bus)
        self.simulation.run_until(0.7)
        self.early = tape.cut()
        self.saved = self.simulation.snapshot()
        self.simulation.run_until(1.25)
        self.late = tape.cut()
        self.tape = tape
        self.messages: dict[str, list[Message]] = {name: list(inbox) for name, inbox in inboxes.items()}


@pytest.fixture(scope="module")
def watched() -> Iterator[Watched]:
    one = Watched()
    yield one
    one.simulation.close()


def of_radar(rows: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
    return [row for row in rows if row[0] in NAMES]


def test_names_and_records(watched: Watched) -> None:
    infos = watched.simulation.bus.infos
    assert [name for name in infos if name.startswith(RADAR)] == NAMES
    kinds = [RadarScan, RangeDopplerImage, RadarDetections]
    assert [infos[name].message for name in NAMES] == [kind.__name__ for kind in kinds]
    for name, kind in zip(NAMES, kinds, strict=True):
        assert len(watched.messages[name]) == 13
        assert all(isinstance(message.data, kind) for message in watched.messages[name])
    scan = watched.messages[NAMES[0]][0].data
    assert scan.volts.shape == (3, 64, 64) and scan.volts.dtype == np.float32


def test_stamped_in_the_middle_of_a_burst_and_there_at_its_end(watched: Watched) -> None:
    for name in NAMES:
        for k, message in enumerate(watched.messages[name]):
            assert message.t_ns == message.data.t_ns == k * 100_000_000
            assert message.arrival_ns - message.t_ns == pytest.approx(0.5e9 * BURST_S, abs=1)
    assert watched.simulation.bus.infos[NAMES[0]].latency_ns == pytest.approx(0.5e9 * BURST_S, abs=1)


@pytest.mark.parametrize(("name", "table_3"), [("v_max", 3.15), ("v_res", 0.1), ("d_max", 12.0), ("d_res", 0.38)])
def test_what_follows_from_the_waveform(watched: Watched, name: str, table_3: float) -> None:
    """ "airloop", Table 3."""
    assert watched.simulation.bus.infos[NAMES[0]].details[name] == pytest.approx(table_3, rel=0.02)


def test_a_track_follows_the_walker(watched: Watched) -> None:
    walker = RadarLab(SEED).model.movers[0]
    # chest and pelvis: the torso
    rows = [PARTS.index("pelvis"), PARTS.index("chest")]

    def torso(t: float) -> np.ndarray:
        return np.asarray(walker.poses(t)[rows, :, 3].mean(axis=0))

    start = watched.simulation.truth().position + np.array([0.1, 0.0, HEIGHT])
    shown = [message.data for message in watched.messages[NAMES[2]] if len(message.data.track_ids)]
    assert len(shown) >= 8
    errors, speeds = [], []
    for found in shown:
        t = found.t_ns * 1e-9
        truth, velocity = torso(t) - start, (torso(t + 0.01) - torso(t - 0.01)) / 0.02
        away = np.linalg.norm(found.track_positions - truth, axis=1)
        errors.append(away.min())
        radial = truth / np.linalg.norm(truth)
        speeds.append(abs((found.track_velocities[away.argmin()] - velocity) @ radial))
    assert np.median(errors) < 0.5, errors
    assert np.median(speeds) < 0.3, speeds


def test_going_back_gives_the_same_tracks(watched: Watched) -> None:
    """The tracker's memory is in the snapshot; without it the tracks of the late bursts would be new."""
    watched.simulation.restore(watched.saved)
    watched.simulation.run_until(1.25)
    assert of_radar(watched.tape.cut()) == of_radar(watched.late)
    assert watched.messages[NAMES[2]][7].data.track_ids.size
    assert len(of_radar(watched.late)) == 3 * 6


def test_a_run_publishes_the_same_bytes_and_leaves_pictures_and_rows(
    watched: Watched, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tapes = []

    def taped(scenario: Scenario, **options: Any) -> Simulation:
        simulation = skyloop.build(scenario, **options)
        tapes.append(Tape(simulation.bus))
        return simulation

    monkeypatch.setattr(running, "build", taped)
    monkeypatch.setattr(running, "plot_flight", lambda *_: None)
    running.run_scenario(skyloop.make_scenario(WALK), tmp_path / "run")
    assert of_radar(tapes[0].cut()) == of_radar(watched.early + watched.late)
    pictures = tmp_path / "run" / "pictures"
    for name in NAMES:
        assert [path.stem for path in sorted((pictures / name).glob("0*.png"))] == ["0000.000", "0001.000"]
    for path in [*pictures.rglob("*.png"), tmp_path / "run" / "pictures.png"]:
        with Image.open(path) as image:
            assert np.asarray(image).std() > 5.0, f"{path.name} shows nothing"
    assert (pictures / NAMES[1] / "spectrogram.png").is_file()
    with (tmp_path / "run" / "streams" / "drone" / "radar" / "detections.csv").open() as file:
        rows = list(csv.DictReader(file))
    for row, message in zip(rows, watched.messages[NAMES[2]], strict=True):
        assert None not in row, "more cells than columns"
        np.testing.assert_array_equal(np.fromstring(row["ranges"], sep=" "), message.data.ranges)
        assert len(row["track_positions"].split()) == message.data.track_positions.size
