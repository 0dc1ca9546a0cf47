"""What may be wrong with a radar in a scenario, and what the one line about it must hold."""

from __future__ import annotations

from bad_runs import own

FILES = {
    "ragged.csv": "deg,-10,10\n-10,0,0\n10,0\n",
    "one_row.csv": "deg,-10,10\n0,0,0\n",
    "falling.csv": "deg,10,-10\n-10,0,0\n10,0,0\n",
    "words.csv": "deg,-10,10\n-10,much,0\n10,0,0\n",
    "words.png": "not a picture",
}


def radar(options: str) -> list[str]:
    return own(sensors=f"{{a: {{kind: radar, {options}}}}}")


def pattern(kind: str, file: str) -> list[str]:
    return radar(f"pattern: {{kind: {kind}, file: {file}}}")


RUNS: dict[str, tuple[list[str], list[str]]] = {
    "a burst without end": (radar("n_chirps: 60000, n_samples: 60000"), ["sensors.a", "60000 chirps", "at most"]),
    "more antennas than places": (radar("n_rx: 4"), ["sensors.a", "n_rx is 4", "rx_positions has 3", "lower n_rx"]),
    "chirps that overlap": (
        radar("chirp_duration: 4e-4, chirp_repetition: 3e-4"),
        ["sensors.a", "chirp_repetition 0.0003 s is shorter than chirp_duration 0.0004 s"],
    ),
    "a radar's unknown class": (radar("classes: [person, dragon]"), ["sensors.a", "'dragon' is no class", "person"]),
    "a missing pattern file": (pattern("csv", "absent.csv"), ["drone.sensors.a", "absent.csv", "no such file"]),
    "a ragged pattern": (pattern("csv", "ragged.csv"), ["ragged.csv", "3 rows of [2, 3] columns", "first row"]),
    "a pattern of one row": (pattern("csv", "one_row.csv"), ["one_row.csv", "2 rows of [3] columns"]),
    "a pattern of falling angles": (pattern("csv", "falling.csv"), ["falling.csv", "angles must rise"]),
    "a pattern of words": (pattern("csv", "words.csv"), ["words.csv", "'much'"]),
    "a pattern that is no picture": (pattern("picture", "words.png"), ["words.png", "PNG or JPEG"]),
    "perception of no radar": (
        own(sensors="{radar: {kind: radar}}", perception="{rader: {}}"),
        ["no radar named 'rader'", "did you mean 'radar'"],
    ),
    "ranges that cannot be": (
        own(sensors="{a: {kind: radar}}", perception="{a: {min_range: 5, max_range: 4}}"),
        ["perception.a", "max_range 4.0 m must be above min_range 5.0 m"],
    ),
    "tracks that are never shown": (
        own(sensors="{a: {kind: radar}}", perception="{a: {tracking: {confirm_hits: 9}}}"),
        ["perception.a.tracking", "confirm_hits 9 cannot exceed confirm_bursts 5"],
    ),
}
