"""The link bench: a tiny run of all of it, with real records, two processes and cameras on; no timing is asserted."""

from __future__ import annotations

import pytest

from skyloop_papers.benchmarks import link
from skyloop_papers.benchmarks.measurement import Measurement

pytestmark = [pytest.mark.renders, pytest.mark.slow("five exchanges between processes, with cameras")]


@pytest.fixture(scope="module")
def figures() -> dict[str, Measurement]:
    return {figure.key: figure for figure in link.link(bundles=5, rounds=2, trip_s=0.4, world="flat")}


def test_the_keys_that_were_asked_for_with_their_aims(figures: dict[str, Measurement]) -> None:
    aims = {key: (f.aim, f.lower_is_better) for key, f in figures.items() if f.aim is not None}
    assert aims == {
        "vs_raw_socket": (0.7, False),
        "shared_memory_vs_raw_socket": (2.0, False),
        "round_trip_p50_us": (200.0, True),
        "round_trip_p99_us": (2000.0, True),
        "ask_p99_us": (2000.0, True),
    }


def test_a_bundle_is_that_of_the_rig(figures: dict[str, Measurement]) -> None:
    pictures = 320 * 240 * (3 + 4)
    assert figures["bundle_bytes"].value > pictures
    assert "n = 10" in figures["bundle_p50_us"].note
    assert figures["bundles_per_s"].value > 0.0
    # rates and latencies are of the same exchanges
    assert figures["bundle_p50_us"].value <= figures["bundle_p99_us"].value


def test_large_bundles_have_large_pictures(figures: dict[str, Measurement]) -> None:
    note = figures["large_shared_memory_vs_raw_socket"].note
    size = int(note.split("1280x720: ")[1].split()[0])
    assert size - figures["bundle_bytes"].value == pytest.approx((1280 * 720 - 320 * 240) * (3 + 4), abs=64)


def test_cameras_were_on_while_round_trips_were_measured(figures: dict[str, Measurement]) -> None:
    note = figures["round_trip_p50_us"].note
    painted = int(note.split("painted ")[1].split()[0])
    assert painted > 0
    assert {"ask_p50_us", "ask_p99_us", "plain_p50_us", "plain_p99_us"} <= set(figures)
    assert figures["ask_p99_us"].value >= figures["ask_p50_us"].value - figures["plain_p99_us"].value
