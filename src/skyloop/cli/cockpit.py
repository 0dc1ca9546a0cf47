"""The verb that starts the cockpit."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Annotated

import typer

from skyloop.cli.console import AllowCode, Home, Seed, Sets, load
from skyloop.cli.logs import Verbs
from skyloop_client.errors import ScenarioError

app = Verbs()
log = logging.getLogger(__name__)


@app.command(opens_code=True)
def cockpit(
    *,
    scenario: Annotated[str | None, typer.Argument(metavar="[SCENARIO]", help="The scenario to fly at once.")] = None,
    host: Annotated[
        str, typer.Option(help="The address to listen on; 0.0.0.0 lets other machines connect.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port; 0 takes any free one.")] = 8707,
    runs: Annotated[Path, typer.Option(help="The folder for run folders, which the page also lists.")] = Path("runs"),
    datasets: Annotated[Path, typer.Option(help="A folder with datasets to list.")] = Path("datasets"),
    allow_code: AllowCode = False,
    home: Home = None,
    set_: Sets = None,
    seed: Seed = None,
) -> None:
    """See and steer flights in a browser: the world in 3-D, cameras, plots, click-and-fly, recordings.

    Pilots that fly to goals wait for goals from the page; other pilots fly until someone takes over. Ctrl-C ends it.

    Examples: `skyloop cockpit` · `skyloop cockpit room-nav` · `skyloop cockpit park-square --host 0.0.0.0`
    """
    if scenario is None and (home or set_ or seed is not None):
        raise ScenarioError("--set, --seed and --home change a scenario; name one: skyloop cockpit hover --seed 2")
    loaded = None if scenario is None else load(scenario, set_, seed, home)
    from skyloop.cli.catalogue import catalogue
    from skyloop.cockpit.cockpit import Cockpit

    if allow_code:
        log.warning("whoever has the cockpit's address can run any program as you: --allow-code was given")
    flying = Cockpit(catalogue(), host, port, runs, datasets, allow_code=allow_code)
    try:
        if loaded is not None:
            flying.fly_next(loaded)
        print(f"the cockpit is at {flying.server.url} (Ctrl-C ends)", flush=True)
        flying.run()
    finally:
        flying.close()
