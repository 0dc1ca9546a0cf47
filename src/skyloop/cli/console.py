"""Parts that the verbs share: consoles, options, folders, the summary of a run."""

from __future__ import annotations

import logging
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import asdict
from itertools import count, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from skyloop.cli.logs import is_quiet
from skyloop_client.errors import Interrupted, LinkError, RunFolderError, ScenarioError
from skyloop_client.user_code import without_code

if TYPE_CHECKING:
    from skyloop.links.link_gate import LinkConfig
    from skyloop.recording.run_folder import Summary
    from skyloop.sim.scenario import Scenario
    from skyloop_client.messages import Event

out = Console(soft_wrap=True, width=None if sys.stdout.isatty() else 140)
"""The console of results."""
err = Console(stderr=True, soft_wrap=True)
"""The console of errors and progress."""
log = logging.getLogger(__name__)

Quality = Annotated[str, typer.Option(help="The quality of images: low, medium, high, epic or cinematic.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs instead of text.")]
"""The option `--json`."""
Seed = Annotated[int | None, typer.Option("--seed", help="The seed, instead of the scenario's own.")]
"""The option `--seed`."""
Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="PATH=VALUE",
        help="Change one value, e.g. vehicles.drone.state=truth; may be given several times.",
    ),
]
"""The option `--set`."""
AllowCode = Annotated[
    bool,
    typer.Option("--allow-code", help="Scenarios of a page, and recordings, may name Python code and files to be run."),
]
Home = Annotated[
    str | None,
    typer.Option(
        "--home",
        metavar="PLACE",
        help="The location of the world: px4-zurich, ardupilot-canberra, airsim-redmond, or LAT,LON,ALT.",
    ),
]

Links = Annotated[
    list[str] | None,
    typer.Option(
        "--link",
        metavar="KIND[:OPTIONS]",
        help="Connect a link of `skyloop list`, e.g. mavlink, px4:PATH or foxglove:9000,pace=2; may be given several "
        "times.",
    ),
]
"""The option `--link`."""
Foxglove = Annotated[
    str | None,
    typer.Option("--foxglove", metavar="[[HOST:]PORT]", help="Stream the flight to Foxglove. Default: 127.0.0.1:8765."),
]
"""The option `--foxglove`."""
Ros2 = Annotated[bool, typer.Option("--ros2", help="Run as a ROS 2 node: publish the sensors, accept commands.")]
Ros2Lockstep = Annotated[
    str | None,
    typer.Option(
        "--ros2-lockstep",
        metavar="TOPIC[@HZ]",
        help="With --ros2: simulated time waits for messages on this topic, HZ per second. Default: 50.",
    ),
]
BOX_FIGURES = (("precision", "precision"), ("recall", "recall"), ("AP50", "ap50"))
TRACK_FIGURES = (
    ("recall", "recall", ""), ("MOTA", "mota", ""), ("off by", "position_rms_m", " m"),
    ("and", "velocity_rms_m_s", " m/s"),
)  # fmt: skip
Cockpit = Annotated[
    str | None,
    typer.Option("--cockpit", metavar="[[HOST:]PORT]", help="Show the flight in a browser. Default: 127.0.0.1:8707."),
]
PLACES = {"--foxglove": "127.0.0.1:8765", "--cockpit": "127.0.0.1:8707"}
"""What options mean without a value."""
MOST_WITH_EVENTS = 8
"""Vehicles whose events are all printed. Of a larger fleet only what went wrong is, and the rest is counted."""
MOST_CONTACTS = 20
"""Contacts of a vehicle that are printed. One that scrapes along a wall has hundreds."""


@contextmanager
def progress_bar(what: str, seconds: float, *, quiet: bool) -> Iterator[Callable[[float], None]]:
    """Yields a function that takes the simulated seconds so far."""
    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed:.0f}/{task.total:.0f} s simulated"),
        TimeRemainingColumn(), console=err, transient=True, disable=quiet or is_quiet() or not err.is_terminal,
    )  # fmt: skip
    with bar:
        task = bar.add_task(what, total=seconds)
        yield lambda t: bar.update(task, completed=t)


def event_lines(scenario: Scenario, *, quiet: bool) -> Callable[[str, Event], None]:
    """A function that prints an event of a flight as it happens."""
    from skyloop.recording.flight_log import WRONG
    from skyloop_client.messages import EventKind

    several, contacts = len(scenario.vehicles) > 1, Counter[str]()

    def tell(vehicle: str, event: Event) -> None:
        if quiet or (event.kind not in WRONG and len(scenario.vehicles) > MOST_WITH_EVENTS):
            return
        line = f"{event.t_ns / 1e9:.2f} s {f'{vehicle} ' * several}{event.kind}: {event.text}"
        if event.kind == EventKind.CONTACT:
            contacts[vehicle] += 1
            if contacts[vehicle] > MOST_CONTACTS:
                return
            line += "; further contacts are in summary.json only" * (contacts[vehicle] == MOST_CONTACTS)
        # a line for the screen must not run into a progress bar, which is on the console of errors
        screen = err if out.is_terminal and err.is_terminal else out
        screen.print(f"  {line}", style="red" if event.kind in WRONG else None, markup=False, highlight=False)

    return tell


def with_places(words: list[str]) -> list[str]:
    """Adds the default value to a bare `--foxglove` or `--cockpit`: Typer has no options with an optional value."""
    out = []
    for word, following in pairwise([*words, ""]):
        alone = word in PLACES and not re.fullmatch(r"([^/\s]+:)?\d+", following)
        out.append(f"{word}={PLACES[word]}" if alone else word)
    return out


def data_only(allow_code: bool) -> AbstractContextManager[None]:
    """While a recording is read: only the world of its scenario could name code."""
    return nullcontext() if allow_code else without_code("a recording is data; give --allow-code if it is yours")


def tell_cockpit(url: str) -> None:
    log.info("the cockpit is at %s", url)


def links_from(
    given: list[str] | None,
    *,
    foxglove: str | None = None,
    cockpit: str | None = None,
    ros2: bool = False,
    lockstep: str | None = None,
    autopilot: str | None = None,
    commands: Path | None = None,
) -> list[LinkConfig]:
    """The links that `--link` and its short forms ask for."""
    if not (given or foxglove or cockpit or ros2 or lockstep or autopilot or commands):
        return []
    from skyloop.links.registry import link_from

    if lockstep is not None and not ros2:
        raise ScenarioError("--ros2-lockstep is for --ros2; give both")
    links = [link_from(text) for text in given or ()]
    if ros2:
        links.append(link_from("ros2" if lockstep is None else f"ros2:lockstep={lockstep}", "--ros2"))
    if autopilot is not None:
        links.append(_autopilot(autopilot))
    for kind, value in (("foxglove", foxglove), ("cockpit", cockpit), ("commands", commands)):
        if value is not None:
            links.append(link_from(f"{kind}:{value}", f"--{kind}"))
    return links


def _autopilot(text: str) -> LinkConfig:
    from skyloop.links.autopilots.configs import AutopilotConfig
    from skyloop.links.registry import LINKS, link_from

    kind = text.partition(":")[0]
    known = [name for name in LINKS if name == kind and issubclass(LINKS[name], AutopilotConfig)]
    if not known:
        usage = "give px4[:PATH], ardupilot[:PATH], betaflight[:PATH] or px4-serial:DEVICE"
        raise LinkError(f"--autopilot {text}: no autopilot named '{kind}'; {usage}")
    return link_from(text, "--autopilot")


def absolute(plugin: str) -> str:
    """`file.py:Name` with an absolute path, so that it does not depend on the scenario's folder."""
    file, colon, name = plugin.rpartition(":")
    return f"{Path(file).resolve()}:{name}" if colon and file.endswith(".py") else plugin


def load(scenario: str, sets: list[str] | None, seed: int | None, home: str | None = None) -> Scenario:
    """The scenario of a verb, with the changes that its options make."""
    from skyloop.sim.scenario import load_scenario

    changes = overrides(sets, seed)
    if home is not None:
        from skyloop.world.earth import home_from

        place = home_from(home)
        changes = {f"earth.{name}": value for name, value in asdict(place).items()} | changes
    return load_scenario(scenario, changes)


def overrides(sets: list[str] | None, seed: int | None = None) -> dict[str, object]:
    from skyloop.core.validation import parse_yaml

    overrides: dict[str, object] = {}
    for item in sets or []:
        path, equals, value = item.partition("=")
        if not equals or not path:
            raise ScenarioError(f"--set {item}: write PATH=VALUE, e.g. vehicles.drone.state=truth")
        overrides[path] = parse_yaml(value, f"--set {path}")
    if seed is not None:
        overrides["seed"] = seed
    return overrides


def load_with_pilot(
    scenario: str, pilot: str | None, sets: list[str] | None, seed: int | None, home: str | None
) -> Scenario:
    """`--pilot` is the first of the changes, so that `--set vehicles.NAME.pilot.options=...` adds to it."""
    if pilot is None:
        return load(scenario, sets, seed, home)
    kind = absolute(pilot)
    loaded = load(scenario, [f"vehicles.0.pilot={{kind: '{kind}'}}", *(sets or ())], seed, home)
    chosen = loaded.vehicles[0].pilot
    if chosen is None or chosen.kind != kind:
        raise ScenarioError(f"--pilot {pilot} and --set both choose the pilot; leave one of them out")
    return loaded


def next_folder(name: str, root: Path = Path("runs")) -> Path:
    """Create the first of name-001, name-002... that does not exist. It is safe when processes start together."""
    made = [path for path in (root, *root.parents) if not path.exists()]
    for number in count(1):
        folder = root / f"{name}-{number:03d}"
        try:
            folder.mkdir(parents=True)
        except FileExistsError:
            continue
        except OSError as error:
            raise RunFolderError(f"cannot make folder '{folder}': {error}; give another with --out") from None
        _claimed.append([folder, *made])
        return folder
    raise AssertionError


_claimed: list[list[Path]] = []
"""Folders that `next_folder` made, innermost first."""


def give_back_empty_folders() -> None:
    """A command that failed leaves no empty folders behind."""
    while _claimed:
        with suppress(OSError):
            for folder in _claimed.pop():
                folder.rmdir()


@contextmanager
def telling_where(folder: Path) -> Iterator[None]:
    """After Ctrl-C, print the run folder if there is one."""
    try:
        yield
    except Interrupted as interruption:
        if not (folder / "summary.json").exists():
            raise
        raise Interrupted(f"{interruption}; run folder: {folder}") from None


@contextmanager
def shown_flight(
    scenario: Scenario, folder: Path, *, quiet: bool
) -> Iterator[tuple[Callable[[float], None], Callable[[str, Event], None]]]:
    """A bar and a line for each event while a scenario flies; after Ctrl-C it prints the run folder. Yields what
    `run_scenario` takes as `progress` and `tell`."""
    bar = progress_bar(f"flying {scenario.name}", scenario.duration, quiet=quiet)
    with telling_where(folder), bar as progress:
        yield progress, event_lines(scenario, quiet=quiet)


def print_summary(summary: Summary, folder: Path) -> None:
    """Print the results of a run. Its events were printed while it flew; whether it was a success comes last."""
    out.print(
        f"[bold]{summary['scenario']}[/] seed {summary['seed']}: {summary['simulated_s']:.1f} s simulated in "
        f"{summary['wall_s']:.2f} s, {summary['real_time_factor']:.2g} times real time"
    )
    for name, vehicle in summary["vehicles"].items():
        tracked, error = vehicle.get("tracking_error_rms_m"), vehicle.get("estimate_error_rms_m")
        out.print(
            f"  {name}: flew {vehicle['flown_m']:.1f} m, up to {vehicle['highest_m']:.1f} m high and "
            f"{vehicle['fastest_m_s']:.1f} m/s, battery {vehicle['battery_left']:.0%} left, {vehicle['mode']}"
            + ("" if tracked is None else f", tracking error {tracked:.2f} m RMS")
            + ("" if error is None else f", estimation error {error:.2f} m RMS")
        )
        several = vehicle.get("estimate_errors_rms_m", {})
        for stream, off in several.items() if len(several) > 1 else ():
            out.print(f"    {stream}: " + ("never valid" if off is None else f"error {off:.2f} m RMS"), highlight=False)
        if "mission_completed" in vehicle:
            done = "completed" if vehicle["mission_completed"] else "not completed"
            of = (
                f", {vehicle['waypoints_reached']} of {vehicle['waypoints']} waypoints"
                if "waypoints" in vehicle
                else ""
            )
            out.print(f"    mission {done}{of}", highlight=False)
        if "navigation" in vehicle:
            out.print(f"    {_navigated(vehicle['navigation'])}", highlight=False)
        if "landing" in vehicle:
            out.print(f"    {vehicle['landing']}", highlight=False)
        for line in _people(vehicle.get("people", {})):
            out.print(f"    {line}", highlight=False)
    if len(summary["vehicles"]) > MOST_WITH_EVENTS:
        out.print(f"  events of all vehicles: {_counted_events(summary)}", highlight=False)
    messages = sum(summary["messages"].values())
    out.print(f"  {messages} messages on {len(summary['messages'])} streams")
    held = [name for name in ("flight.png", "pictures.png", "summary.json", "streams") if (folder / name).exists()]
    held[1:1] = sorted(
        path.name
        for name in ("map-*.gif", "navigation-*.png", "landing-*", "people-*.png")
        for path in folder.glob(name)
    )
    out.print(f"run folder: {folder} ({', '.join(held)})")


def verdict(summary: Summary) -> str:
    return "succeeded" if summary["success"] else f"failed: {summary['cause']}"


def print_verdict(summary: Summary) -> None:
    """The last line about a run."""
    out.print(verdict(summary), style="green" if summary["success"] else "red", markup=False, highlight=False)


def _navigated(flown: Summary) -> str:
    """One line about a flight to goals."""
    ends = flown["goals"]
    off, clearance = flown["farthest_from_goal_m"], flown.get("least_clearance_m")
    words = [f"reached {flown['goals_reached']} of {len(ends)} goals"]
    words += [f"{off:.2f} m off at most"] if off is not None else []
    words += [f"{flown['fastest_m_s']:.2f} m/s at most", f"{flown['collisions']} collisions"]
    words += [f"clearance {clearance:.2f} m at least"] if clearance is not None else []
    lost = [f"goal {number} {end['state']}: {end['reason']}" for number, end in enumerate(ends, 1) if _is_lost(end)]
    return "; ".join([", ".join(words), *lost])


def _people(found: Summary) -> Iterator[str]:
    """A line for each detector and each tracker of people."""
    for stream, score in found.get("boxes", {}).items():
        what = [f"{name} {score[key]:.2f}" for name, key in BOX_FIGURES if score[key] is not None]
        yield f"{stream}: {score['looked_at']} of {score['images']} images; " + (
            ", ".join(what) or "nobody was in view"
        )
    for stream, score in found.get("tracks", {}).items():
        what = [f"{name} {score[key]:.2f}{unit}" for name, key, unit in TRACK_FIGURES if score[key] is not None]
        yield f"{stream}: " + (", ".join([*what, f"{score['switches']} switches"]) if what else "nobody was in range")


def _is_lost(end: Summary) -> bool:
    return bool(end["state"] != "reached")


def _counted_events(summary: Summary) -> str:
    """ "armed ×64, landed ×63", in the order of the first ones. An event is a text such as "0.02 s armed: ..."."""
    kinds = Counter(
        event.partition(" s ")[2].partition(":")[0]
        for vehicle in summary["vehicles"].values()
        for event in vehicle["events"]
    )
    return ", ".join(f"{kind} ×{count}" for kind, count in kinds.items()) or "none"
