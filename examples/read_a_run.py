"""Reads the streams of a run folder with numpy alone: python read_a_run.py RUN_FOLDER [VEHICLE]."""

import sys
from pathlib import Path

import numpy as np


def read_stream(folder: Path, stream: str) -> np.ndarray:
    """One row per message, columns by name: read_stream(run, "truth/drone")["position_2"]."""
    return np.genfromtxt(folder / "streams" / f"{stream}.csv", delimiter=",", names=True)


def vectors(rows: np.ndarray, name: str) -> np.ndarray:
    """(n, 3) of a field that was written as name_0, name_1, name_2."""
    return np.column_stack([rows[f"{name}_{axis}"] for axis in range(3)])


def report(folder: Path, vehicle: str = "drone") -> dict[str, float]:
    truth = read_stream(folder, f"truth/{vehicle}")
    battery = read_stream(folder, f"{vehicle}/battery")
    position = vectors(truth, "position")
    steps = np.linalg.norm(np.diff(position, axis=0), axis=1)
    found = {
        "seconds": float(truth["t_ns"][-1]) * 1e-9,
        "metres flown": float(steps.sum()),
        "highest": float(position[:, 2].max()),
        "joules used": float(battery["energy_used"][-1]),
    }
    if (folder / "streams" / f"{vehicle}/estimate.csv").exists():
        estimate = read_stream(folder, f"{vehicle}/estimate")
        believed = vectors(estimate, "position")
        # the true state at the instants of the estimates, interpolated between rows
        exact = np.column_stack([np.interp(estimate["t_ns"], truth["t_ns"], axis) for axis in position.T])
        flown = estimate["t_ns"] > 0.5 * truth["t_ns"][-1]
        error = np.linalg.norm(believed - exact, axis=1)[flown]
        found["estimate off, rms of the second half"] = float(np.sqrt(np.mean(error**2)))
    return found


if __name__ == "__main__":
    for what, value in report(Path(sys.argv[1]), *sys.argv[2:3]).items():
        print(f"{what}: {value:.2f}")
