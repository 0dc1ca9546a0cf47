"""AirSim's clients as a link: `--link airsim[:[HOST:]PORT]`, and behind `skyloop serve`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from skyloop.links.airsim.listener import RpcListener
from skyloop.links.airsim.options import AirSimOptions, SensorOptions, VehicleOptions
from skyloop.links.airsim.server import AirSimServer
from skyloop.links.inbox import Inbox
from skyloop.links.link_gate import Link, LinkConfig, LinkGate, all_vehicles
from skyloop.links.registry import Address
from skyloop.sim.scenario import Scenario, Vehicle
from skyloop.sim.simulation_port import SimulationPort
from skyloop_client.messages import Message
from skyloop_client.streams import NS_PER_S

PORT = 41451
READY_NS = NS_PER_S // 2
"""Simulated ns after which every sensor has a sample: one of the GNSS takes 0.2 s to arrive."""
SENSOR_KINDS = ("imu", "gnss", "barometer", "magnetometer", "rangefinder", "lidar")
"""Of a scenario, that AirSim has too."""


def _say_nothing(line: str) -> None:
    pass


class AirSimConfig(LinkConfig):
    """Scripts for AirSim fly, without Unreal."""

    kind: ClassVar[str] = "airsim"
    bare: ClassVar[str] = "address"
    invitation: ClassVar[str] = "AirSim clients may connect to %s"

    address: Address = ("127.0.0.1", PORT)
    paused: bool = False
    """Time waits until a client continues it, so that a script that steps time gives the same results every time."""
    quality: Literal["low", "medium", "high", "epic", "cinematic"] = "medium"
    """Of images."""
    options: AirSimOptions | None = Field(default=None, exclude=True)
    """Of a settings.json. None: those that fit the scenario."""
    say: Callable[[str], None] = Field(default=_say_nothing, exclude=True)
    """Gets lines for people."""
    ends: Callable[[], bool] = Field(default=lambda: False, exclude=True)
    """Asked regularly whether the server shall end."""

    def flown(self, scenario: Scenario) -> frozenset[str]:
        # an autopilot outside may fly vehicles of a settings.json
        return frozenset() if self.options is not None else all_vehicles(scenario)

    def open(self, scenario: Scenario, inbox: Inbox) -> Sequence[Link]:
        options = self.options or AirSimOptions(
            {vehicle.name: _options_of(vehicle) for vehicle in scenario.vehicles}, quality=self.quality
        )
        listener = RpcListener(inbox, self.address[0], (self.address[1],))
        return [ServedAirSim(listener, options, self)]


class ServedAirSim(AirSimServer):
    """Accepts clients when the sensors have samples, and tells people what happens on other links."""

    def __init__(self, listener: RpcListener, options: AirSimOptions, config: AirSimConfig) -> None:
        super().__init__(listener, options, config.say, config.ends)
        self._config = config

    def attach(self, port: SimulationPort, folder: Path | None, link_gate: LinkGate) -> None:
        super().attach(port, folder, link_gate)
        # links that are attached later announce theirs later
        port.bus.on_new(lambda info: port.bus.on(info.name, self._tell) if info.name.startswith("link/") else None)
        port.editor.expect_views()
        port.at(port.now_ns + READY_NS, self._open)

    def _open(self) -> None:
        self.state.time.pause(self._config.paused)
        self.listener.open()
        self._config.announce(f"{self.listener.host}:{self.listener.ports[0]}")

    def _tell(self, message: Message) -> None:
        event = message.data
        self._config.say(f"{message.stream.removeprefix('link/')} {event.kind}: {event.text}")


def _options_of(vehicle: Vehicle) -> VehicleOptions:
    sensors = {
        name: SensorOptions(config.kind, name)
        for name, config in vehicle.sensors.items()
        if config.kind in SENSOR_KINDS
    }
    return VehicleOptions(vehicle.name, sensors=sensors)
