"""The cockpit: a server for pages in a browser, and the flights and recordings that people choose there."""

from __future__ import annotations

import queue
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from skyloop.cockpit.access_guard import run_folder
from skyloop.cockpit.cockpit_beside import about, planned
from skyloop.cockpit.cockpit_link import CockpitLink
from skyloop.cockpit.jobs import Jobs, next_run_folder
from skyloop.cockpit.player import Player, playing
from skyloop.cockpit.scenario_edits import REFUSED, changed, check, scenario_from_page
from skyloop.cockpit.server_bridge import LogLines
from skyloop.cockpit.server_start import PORT, CockpitServer
from skyloop.cockpit.snapshots import Kept, Snapshots
from skyloop.cockpit.wire import Fields
from skyloop.core.interrupts import Interruption
from skyloop.run import run_scenario
from skyloop.sim.scenario import SCENARIOS, Scenario
from skyloop_client.errors import Interrupted, SkyloopError, unknown_name
from skyloop_client.user_code import without_code

POLL_S = 0.2
LASTS_S = 86_400.0
"""Simulated s after which a flight in the cockpit ends by itself."""

Catalogue = dict[str, dict[str, str]]


class Cockpit:
    """`skyloop cockpit`: flies what is chosen, one flight after the other, until Ctrl-C."""

    def __init__(
        self,
        catalogue: Catalogue,
        host: str = "127.0.0.1",
        port: int = PORT,
        runs: Path = Path("runs"),
        datasets: Path = Path("datasets"),
        *,
        allow_code: bool = False,
    ) -> None:
        """allow_code: scenarios and recordings that a page chooses may name code and files of this machine."""
        self._allow_code = allow_code
        self._catalogue = catalogue
        self._runs = runs
        self._roots = {"runs": runs, "datasets": datasets}
        self._next: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._link: CockpitLink | None = None
        self._player: Player | None = None
        self._interruption = Interruption()
        self._gone = False
        self.server = CockpitServer(self._on_order, host, port, self._roots)
        self._log = LogLines(self.server.courier)
        self._jobs = Jobs(catalogue, runs, lambda job: self.server.courier.tell({"kind": "job", "job": job}))

    def fly_next(self, scenario: Scenario) -> None:
        self._next.put(lambda: self._fly(scenario))

    def _of_a_page(self) -> AbstractContextManager[None]:
        """Whoever runs the cockpit chose neither the scenario nor the recording."""
        return nullcontext() if self._allow_code else without_code(f"{REFUSED}; or start it with --allow-code")

    def _fly_for_page(self, scenario: Scenario) -> None:
        with self._of_a_page():
            self._fly(scenario)

    def run(self, most_flights: int | None = None) -> None:
        """Until Ctrl-C, or for so many flights and recordings."""
        flown = 0
        with self._interruption:
            while not self._gone and (most_flights is None or flown < most_flights):
                self._interruption.check()
                try:
                    act = self._next.get(timeout=POLL_S)
                except queue.Empty:
                    continue
                flown += 1
                try:
                    act()
                except Interrupted:
                    raise
                except SkyloopError as error:
                    self.server.courier.tell({"kind": "note", "text": str(error)})

    def close(self) -> None:
        self._jobs.close()
        self._log.close()
        self.server.close()

    # ---- flights and recordings, in the main thread

    def _fly(self, scenario: Scenario) -> None:
        """Until the person ends it; once more for each time that the person goes back."""
        kept: list[Kept] = []
        while True:
            folder = next_run_folder(self._runs, scenario.name)
            link = self._link = CockpitLink(
                self.server.courier, about=about(scenario), planned=planned(scenario), snapshots=Snapshots(kept)
            )
            try:
                run_scenario(for_people(scenario), folder, links=[link])
                self.server.courier.tell({"kind": "note", "text": f"the run folder is {folder}"})
            finally:
                self._link = None
            kept = link.back_to
            if not kept:
                return

    def _play(self, folder: Path) -> None:
        with self._of_a_page(), playing(self.server.courier, folder) as self._player:
            try:
                self._player.run(self._interruption.check)
            finally:
                self._player = None

    def _stop(self) -> None:
        if self._link is not None:
            self._link.deliver({"kind": "order", "id": None, "name": "stop", "arguments": {}})
        if self._player is not None:
            self._player.stop()

    # ---- from the server, in the courier's thread

    def _on_order(self, order: Fields) -> None:
        kind = order.get("kind")
        if kind == "server gone":
            self._gone = True
        elif kind == "order" and self._link is not None:
            self._link.deliver(order)
        elif kind == "play" and self._player is not None:
            self._player.answer(order)
        elif kind == "studio":
            self.server.courier.reply(order, lambda: self._do(str(order["name"]), order["arguments"]))
        else:
            self.server.courier.refuse(order, "nothing is flying; start a flight first")

    def _do(self, name: str, given: Fields) -> object:
        if name == "catalogue":
            return self._catalogue
        if name == "scenario":
            return {"text": _text_of(given["name"])}
        if name == "check":
            return check(given["text"], allow_code=self._allow_code)
        if name == "change":
            return {"text": changed(given["text"], given["changes"])}
        if name == "start":
            text = given["text"] or _text_of(given["scenario"])
            scenario = scenario_from_page(text, given["changes"], allow_code=self._allow_code)
            self._stop()
            self._next.put(lambda: self._fly_for_page(scenario))
            return {"scenario": scenario.name}
        if name == "stop":
            self._stop()
            return None
        if name == "play":
            folder = run_folder(self._roots[given["root"]], given["run"])
            self._stop()
            self._next.put(lambda: self._play(folder))
            return {"run": folder.name}
        if name == "job":
            return self._jobs.start(given["kind"], given["name"], quick=given["quick"])
        return self._jobs.plain()


def for_people(scenario: Scenario) -> Scenario:
    """A flight that waits for a person's goals, and does not end when a pilot has nothing more to do."""
    vehicles = []
    for vehicle in scenario.vehicles:
        if vehicle.pilot is not None and vehicle.pilot.kind == "navigate":
            waiting = vehicle.pilot.model_copy(update={"goals": (), "wait": LASTS_S})
            vehicle = vehicle.model_copy(update={"pilot": waiting})
        vehicles.append(vehicle)
    return scenario.model_copy(update={"vehicles": vehicles, "duration": LASTS_S})


def _text_of(name: str) -> str:
    if name not in SCENARIOS:
        raise unknown_name("scenario", name, SCENARIOS)
    return SCENARIOS[name].read_text(encoding="utf-8")
