"""A verb: the least distance that a beacon measured in a run folder."""

from pathlib import Path

import typer

from skyloop.recording.run_reader import read_run

app = typer.Typer()


@app.command()
def nearest(run: Path, stream: str = "drone/beacon") -> None:
    """Say how near a flight came to its beacon.

    Example: `skyloop nearest runs/valley-1`
    """
    samples = read_run(run).streams[stream]
    least = min(samples.at(k).data.distance for k in range(len(samples.arrivals)))
    print(f"{stream}: {least:.2f} m")
