"""Links by name, their options, and several of them on one flight."""

from __future__ import annotations

import socket
import threading
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from foxglove_client import Viewer as Foxglove
from mavlink_setup import Client
from px4_peer import Bench, Peer, echo
from px4_peer import scenario as px4_scenario
from ros2_rig import DOMAIN, Node, ns

from cockpit_rig import CockpitRig, Viewer, until
from skyloop.cli.console import links_from
from skyloop.cockpit.cockpit_beside import CockpitConfig
from skyloop.links.autopilots.configs import ArdupilotConfig, Px4Config
from skyloop.links.foxglove.link import FoxgloveConfig
from skyloop.links.link_gate import Link, LinkConfig, LinkGate, Onlooker
from skyloop.links.loop.loop_link import LoopConfig
from skyloop.links.mavlink.link import MavlinkConfig
from skyloop.links.registry import LINKS, link_from
from skyloop.links.ros2.link import Ros2Config
from skyloop.links.ros2.simulation_services import QUITTING
from skyloop.run import run_scenario
from skyloop.sim.assembly import build
from skyloop.sim.scenario import Scenario, make_scenario
from skyloop.sim.simulation_port import SimulationPort
from skyloop_client.errors import LinkError, ScenarioError, SetpointError, SkyloopError, UnknownNameError
from skyloop_client.messages import Hover

FREE = ("127.0.0.1", 0)


def two(**more: Any) -> Scenario:
    return make_scenario({"vehicles": [{"name": "one"}, {"name": "two", "position": [5.0, 0.0]}], **more})


def test_options_come_with_or_without_a_name() -> None:
    assert link_from("foxglove:9000,pace=2") == FoxgloveConfig(address=("127.0.0.1", 9000), pace=2.0)
    assert link_from("foxglove:[::1]:9000").address == ("::1", 9000)  # type: ignore[attr-defined]
    assert link_from("ros2:lockstep=/drone/cmd_vel@20") == Ros2Config(lockstep="/drone/cmd_vel@20")
    assert link_from("mavlink:until_landed=true,host=0.0.0.0") == MavlinkConfig(until_landed=True, host="0.0.0.0")
    assert link_from("loop:delays=table-i,mode=none").pace == 1.0
    assert link_from("px4:/a,b/px4 -s x,vehicle=two,pace=max") == Px4Config(
        program="/a,b/px4 -s x", vehicle="two", pace=None
    )
    assert {type(link) for link in links_from(["mavlink"], foxglove="0", autopilot="px4:/x", ros2=True)} == {
        MavlinkConfig, FoxgloveConfig, Px4Config, Ros2Config
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "error", "why"),
    [
        ("ros", UnknownNameError, "did you mean 'ros2'"),
        ("foxglove:prot=1", ScenarioError, "--link foxglove: prot: unknown key 'prot'"),
        ("foxglove:here", ScenarioError, r"give PORT or HOST:PORT \(got 'here'\)"),
        ("foxglove:1,pace=fast", ScenarioError, "pace: .*valid number.*'fast'"),
        ("foxglove:pace=1,pace=2", LinkError, "pace is given twice"),
        ("keyboard:now", LinkError, "keyboard takes options with a name only"),
        ("commands", ScenarioError, "file is missing"),
        ("px4:lockstep=loose", LinkError, "no lockstep named 'loose'; give strict"),
        ("mavlink:60000", LinkError, "port offset 60000: give -5000 to"),
    ],
)
def test_what_is_wrong_is_told_in_one_line(text: str, error: type[SkyloopError], why: str) -> None:
    with pytest.raises(error, match=why) as caught:
        link_from(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("links", "why"),
    [
        (["px4", "mavlink"], "'one' is flown by px4 alone; leave out the link mavlink"),
        (["keyboard", "betaflight:vehicle=one"], "'one' is flown by betaflight alone; leave out the link keyboard"),
        (["px4:vehicle=two", "ardupilot"], "'two' is flown by px4 alone; leave out the link ardupilot"),
        (["foxglove:pace=2", "mavlink:pace=3"], "foxglove sets the pace to 2 and mavlink to 3; give both the same"),
        (["ros2", "ros2"], "ros2 is given twice"),
        (["px4:vehicle=three"], "three"),
    ],
)
def test_what_cannot_be_together_is_refused_before_anything_is_opened(links: list[str], why: str) -> None:
    gate = LinkGate()
    with pytest.raises(SkyloopError, match=why):
        gate.open([link_from(text) for text in links], two())
    assert not gate.links


def test_vehicles_may_have_different_autopilots() -> None:
    pilots = [{"name": name, "pilot": {"kind": "hover"}} for name in ("one", "two", "three")]
    gate = LinkGate()
    try:
        scenario = gate.open(
            [Px4Config(vehicle="one", port=0), ArdupilotConfig(vehicle="two", port=0)],
            make_scenario({"vehicles": [{**one, "position": [5.0 * k, 0.0]} for k, one in enumerate(pilots)]}),
        )
    finally:
        gate.close()
    assert set(gate.links) == {"px4 one", "ardupilot two"}
    flown = {vehicle.name: vehicle for vehicle in scenario.vehicles}
    assert flown["one"].pilot is flown["two"].pilot is None and flown["three"].pilot is not None
    assert "imu" in flown["one"].sensors and "imu" not in flown["three"].sensors


def test_a_pace_that_is_given_counts_before_defaults() -> None:
    def factor(*configs: LinkConfig) -> float | None:
        gate = LinkGate()
        try:
            gate.open(configs, two())
        finally:
            gate.close()
        return gate.pace.factor

    clients = MavlinkConfig(port_offset=None)
    assert factor(clients) == 1.0
    assert factor(clients, FoxgloveConfig(address=FREE, pace=4.0)) == 4.0
    assert factor(FoxgloveConfig(address=FREE)) is None


class Says(Onlooker):
    def __init__(self, allows_realtime: bool | None = None, over: bool | None = None) -> None:
        self._allows, self._over = allows_realtime, over

    @property
    def allows_realtime(self) -> bool | None:
        return self._allows

    @property
    def over(self) -> bool | None:
        return self._over

    def attach(self, port: SimulationPort, folder: Path | None, link_gate: LinkGate) -> None:
        self.gate = link_gate


@pytest.mark.parametrize(
    ("says", "agreed"), [([None], False), ([True, None], True), ([True, False], False), ([True, True], True)]
)
def test_links_without_a_say_leave_it_to_the_others(says: list[bool | None], agreed: bool) -> None:
    gate = LinkGate()
    scenario = gate.open([Says(say, say) for say in says], make_scenario({"vehicles": [{}]}))
    with build(scenario, gates=(gate,)) as simulation:
        gate.attach(simulation.port)
        simulation.step()
        assert (gate._paced is gate._alone) == agreed, "real time"
        assert gate.over == agreed
        gate.stop()
        assert gate.over
        gate.finish("done")


def test_nobody_else_commands_what_an_autopilot_drives() -> None:
    with Bench(px4_scenario()) as bench:
        vehicle = bench.sim.port.vehicle()
        assert vehicle.send(Hover(), by="ros2") == "px4 flies drone; command it through px4"
        with pytest.raises(SetpointError, match="px4 flies drone"):
            vehicle.fly(Hover())
        peer = bench.peer(echo)
        bench.sim.run_for(0.1)
        assert "px4 flies" in vehicle.send(Hover(), by="ros2") and vehicle.commander != "ros2"
        peer.close()
        while "px4 flies" in vehicle.send(Hover(), by="cockpit"):
            bench.sim.run_for(0.02)


class Flight(threading.Thread):
    """A run in a thread of its own."""

    def __init__(self, scenario: Scenario, folder: Path, links: list[Link | LinkConfig]) -> None:
        super().__init__(daemon=True)
        self._witness = Says()
        self._arguments = scenario, folder, [*links, self._witness]
        self.summary: dict[str, Any] = {}
        self.error: BaseException | None = None
        self.start()

    def run(self) -> None:
        scenario, folder, links = self._arguments
        try:
            self.summary = run_scenario(scenario, folder, links=links, plot_wanted=lambda summary: False)
        except BaseException as error:
            self.error = error

    def stop(self) -> None:
        """One that a test has left behind would disturb those after it."""
        self._witness.gate.stop()
        self.join(60.0)

    def ended(self) -> dict[str, Any]:
        self.join(60.0)
        assert not self.is_alive() and self.error is None, self.error
        return self.summary


def page_at(url: str) -> CockpitRig:
    """Of a cockpit beside a flight."""
    rig = CockpitRig.__new__(CockpitRig)
    rig.url, rig.port = url, urlsplit(url).port or 0
    return rig


@pytest.mark.processes
def test_four_links_on_one_flight(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A ground station takes off, a node and Foxglove see it, a person at a page lands it, a node ends the flight."""
    monkeypatch.setenv("ROS_DOMAIN_ID", str(DOMAIN))
    at: dict[str, str] = {}
    scenario = make_scenario({"name": "all", "duration": 600, "truth_rate_hz": 50, "vehicles": [{"name": "drone"}]})
    flight = Flight(
        scenario, tmp_path / "run", [
            Ros2Config(),
            FoxgloveConfig(address=FREE, opened=lambda url: at.update(foxglove=url)),
            MavlinkConfig(port_offset=None, opened=lambda address: at.update(mavlink=address)),
            CockpitConfig(address=FREE, opened=lambda url: at.update(cockpit=url)),
        ],
    )  # fmt: skip
    node = Node()
    try:
        until(lambda: len(at) == 3)
        page = Viewer(page_at(at["cockpit"]), ("truth/drone", "drone/status"))
        node.read("/drone/odom", "nav_msgs/msg/Odometry")
        with (
            Foxglove(at["foxglove"]) as foxglove,
            socket.create_connection(("127.0.0.1", int(at["mavlink"].rpartition(":")[2]))) as line,
        ):
            foxglove.subscribe("/truth/drone")
            station = Client(line)
            assert station.command(400, 1) == 0 and station.command(22, 0, 0, 0, *[float("nan")] * 4) == 0
            station.until_mode("hold")
            until(lambda: node.take("/drone/odom")[-1]["pose"]["pose"]["position"]["z"] > 1.0)
            assert foxglove.until(lambda: foxglove.on("/truth/drone"))
            until(lambda: page.next("rec", s="drone/status")["n"]["armed"])
            assert page.order("land") == {"ok": True}
            station.until_disarmed(60.0)
        quitting = {"state": {"state": QUITTING}}
        node.ask("/set_simulation_state", "simulation_interfaces/srv/SetSimulationState", quitting)
        assert node.answer()["result"]["result"] == 1
        summary = flight.ended()
        page.close()
    finally:
        node.close()
        flight.stop()
    assert set(summary["links"]) == {"late", "ros2", "mavlink", "cockpit"}
    assert summary["links"]["ros2"]["calls"] == 1 and summary["vehicles"]["drone"]["highest_m"] > 1.0


@pytest.mark.processes
def test_an_autopilot_beside_ros2_and_foxglove_has_one_time_with_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PX4's clock is set by the stamps of HIL_SENSOR; they are those of /clock and of the IMU in ROS 2."""
    monkeypatch.setenv("ROS_DOMAIN_ID", str(DOMAIN))
    peers: list[Peer] = []

    def come(address: str) -> None:
        peers.append(Peer(int(address.rpartition(":")[2]), echo))

    links = [*links_from(["ros2", "foxglove:0"]), Px4Config(port=0, pace=1.0, opened=come)]
    node = Node()
    try:
        node.read("/clock", "rosgraph_msgs/msg/Clock")
        node.read("/drone/imu", "sensor_msgs/msg/Imu")
        summary = run_scenario(px4_scenario().model_copy(update={"duration": 2.0}), tmp_path / "run", links=links)
        clocks = [ns(message["clock"]) for message in node.take("/clock", 20)]
        samples = [ns(message["header"]["stamp"]) for message in node.take("/drone/imu", 20)]
    finally:
        node.close()
    peers[0].close()
    assert summary["links"]["px4"]["sensor_messages"] == 499 and summary["links"]["ros2"]["sent"] > 0
    steps = {1000 * message.time_usec for message in peers[0].sensors()}
    assert set(clocks) <= steps and set(samples) <= steps


def test_every_kind_is_told_of() -> None:
    assert {"airsim", "mavlink", "ros2", "foxglove", "px4", "ardupilot", "betaflight", "cockpit", "loop"} <= set(LINKS)
    for name, config in LINKS.items():
        assert config.kind == name and (config.__doc__ or "").strip()
    assert LoopConfig.feeds_estimators and Ros2Config.feeds_estimators
