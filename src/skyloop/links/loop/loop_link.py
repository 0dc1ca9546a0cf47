"""Software under test outside the simulator, as a link: `--link loop[:[HOST:]PORT]`, and behind `skyloop loop`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, Field, SkipValidation, model_validator

from skyloop.links.inbox import Inbox
from skyloop.links.link_gate import Link, LinkConfig, LinkGate, all_vehicles
from skyloop.links.loop.client_sessions import SessionOptions
from skyloop.links.loop.coordinator import TABLE_I, Coordinator
from skyloop.links.loop.listener import Listener
from skyloop.links.loop.targets import Target, reachable
from skyloop.links.loop.timeline import plot_timeline
from skyloop.links.registry import Address
from skyloop.sim.scenario import Scenario
from skyloop.sim.simulation_port import SimulationPort

NAMED_DELAYS: dict[str, Mapping[str, float]] = {"none": {}, "table-i": TABLE_I}


def _delays(value: object) -> object:
    if isinstance(value, str) and value not in NAMED_DELAYS:
        raise ValueError(f"give {' or '.join(NAMED_DELAYS)}")
    return NAMED_DELAYS[value] if isinstance(value, str) else value


class LoopConfig(LinkConfig, SessionOptions):
    """Your software flies, in step with simulated time: clients of skyloop-client connect."""

    kind: ClassVar[str] = "loop"
    bare: ClassVar[str] = "address"
    feeds_estimators: ClassVar[bool] = True
    invitation: ClassVar[str] = "pilots and estimators may connect to %s"

    address: Address = ("127.0.0.1", 0)
    """Port 0: any free one."""
    ports: Annotated[int, Field(ge=1, le=64)] = 1
    """With 5 there is one for each sensor and one for commands."""
    delays: Annotated[Mapping[str, float], BeforeValidator(_delays)] = {}
    """s by message class: how long the acquisition of a sample takes in the SUT's time; or `table-i`."""
    target: SkipValidation[Target | None] = Field(default=None, exclude=True)
    """Starts the SUT when the simulation is ready."""

    @model_validator(mode="before")
    @classmethod
    def _paced(cls, data: dict[str, object]) -> dict[str, object]:
        """Without a pace, a free-running simulator would make every computer look slow."""
        if data.get("mode", "sync") == "sync" or data.get("pace") is not None:
            return data
        return {**data, "pace": 1.0}

    def flown(self, scenario: Scenario) -> frozenset[str]:
        return frozenset() if self.pilots_inside else frozenset(self.vehicles) or all_vehicles(scenario)

    def open(self, scenario: Scenario, inbox: Inbox) -> Sequence[Link]:
        host, first = self.address
        listener = Listener(inbox, host, tuple(first + k if first else 0 for k in range(self.ports)))
        if self.opened is not None:
            self.opened(f"{host}:{listener.ports[0]}")
        else:
            self.announce(reachable(f"{host}:{listener.ports[0]}"))
        return [LoopLink(listener, self, f"{scenario.name}, mode {self.mode}")]


class LoopLink(Coordinator):
    """Draws the timeline of the flight into the run folder."""

    def __init__(self, listener: Listener, config: LoopConfig, title: str) -> None:
        super().__init__(listener, config, config.target)
        self._title = title
        self._folder: Path | None = None

    def attach(self, port: SimulationPort, folder: Path | None, link_gate: LinkGate) -> None:
        self._folder = folder
        super().attach(port, folder, link_gate)

    def close(self) -> None:
        self.listener.close()
        if self.target is not None:
            self.target.stop()
        # also after Ctrl-C or an error of the SUT; a flight without a summary has left nothing
        if self._folder is not None and (self._folder / "summary.json").exists():
            plot_timeline(self.timeline.rows, self._folder / "timeline.png", self._title)
            self._folder = None
