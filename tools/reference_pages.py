"""The reference as pages of Markdown: sensors, airframes, worlds, pilots, scenario keys, messages, commands, Python."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import typer

from skyloop.cli import app
from skyloop.cli.reference.entries import SECTIONS, TOPICS, Entry, find, records, section
from skyloop.cli.reference.printing import default_words, value_words

ROOT = Path(__file__).resolve().parent.parent
PLURAL = {"sensor": "sensors", "airframe": "airframes", "world": "worlds"}
"""Topics whose entries have a page each, and the folder of these pages."""
ON_ONE_PAGE = ("pilot", "trajectory", "wind")
MESSAGE_GROUPS = {
    "skyloop_client.messages.states": "Vehicles",
    "skyloop_client.messages.samples": "Sensors",
    "skyloop_client.messages.events": "Events",
    "skyloop_client.messages.products": "What you publish",
    "skyloop_client.messages.commands": "Setpoints and requests",
}
PYTHON = {
    "simulation": ("Simulation", [
        "skyloop.sim.scenario.load_scenario", "skyloop.sim.scenario.make_scenario", "skyloop.sim.assembly.build",
        "skyloop.sim.simulation.Simulation", "skyloop.core.bus.Subscription",
    ]),
    "client": ("Client", ["skyloop_client.session.connect", "skyloop_client.session.Session",
                          "skyloop_client.session.fly", "skyloop_client.bundle.Bundle"]),
    "sensor": ("Sensors of your own", ["skyloop.sensors.sensor.Sensor", "skyloop.sensors.sensor.Scene",
                                       "skyloop.core.keyed_random.KeyedRandom"]),
    "estimator": ("Estimators of your own", ["skyloop_client.estimator.EstimatorSetup",
                                             "skyloop_client.estimator.Estimator",
                                             "skyloop_client.estimator.run_estimator"]),
    "errors": ("Errors", ["skyloop_client.errors"]),
}  # fmt: skip
"""Pages that mkdocstrings fills."""
FROM_SKYLOOP = "`load_scenario`, `make_scenario`, `build` and `Simulation` are imported from `skyloop` itself.\n\n"


@dataclass(frozen=True, slots=True)
class Page:
    path: str
    title: str
    group: str
    """Under which the menu has it; empty: directly under Reference."""
    text: str


@cache
def pages() -> list[Page]:
    made = []
    for topic, folder in PLURAL.items():
        heading = TOPICS[topic].heading
        for name in TOPICS[topic].names():
            made.append(Page(f"reference/{folder}/{name}.md", name, heading, entry_page(find(topic, name))))
    for topic in ON_ONE_PAGE:
        heading = TOPICS[topic].heading
        text = [f"# {heading}\n"] + [entry_text(find(topic, name), 2) for name in TOPICS[topic].names()]
        made.append(Page(f"reference/scenario/{PLURALS_ON_ONE[topic]}.md", heading, KEYS, "\n".join(text)))
    made.append(Page("reference/scenario/top-level.md", "Top level", KEYS, top_level()))
    for name in SECTIONS:
        made.append(Page(f"reference/scenario/{name}.md", name, KEYS, entry_page(find(name))))
    made.append(Page("reference/messages.md", "Messages", "", messages_page()))
    made.append(Page("reference/commands.md", "Command line", "", commands_page()))
    for name, (title, things) in PYTHON.items():
        body = "\n".join(f"::: {thing}\n" for thing in things)
        first = FROM_SKYLOOP if name == "simulation" else ""
        made.append(Page(f"reference/python/{name}.md", title, "Python", f"# {title}\n\n{first}{body}"))
    return made


KEYS = "Scenario keys"
PLURALS_ON_ONE = {"pilot": "pilots", "trajectory": "trajectories", "wind": "winds"}


def menu(made: list[Page]) -> list[dict[str, Any]]:
    """For the menu: groups in the order they come."""
    groups: dict[str, list[dict[str, str]]] = {}
    single = []
    for page in made:
        if page.group:
            groups.setdefault(page.group, []).append({page.title: page.path})
        else:
            single.append({page.title: page.path})
    return [*single, *({group: inside} for group, inside in groups.items())]


def overview() -> str:
    """All generated pages as a list, for the first page of the reference."""
    groups: dict[str, list[str]] = {}
    for page in pages():
        link = f"[{page.title}]({page.path.removeprefix('reference/')})"
        groups.setdefault(page.group or "Everything else", []).append(link)
    rows = [f"| {group} | {', '.join(links)} |" for group, links in groups.items()]
    return "\n".join(["| what | pages |", "|---|---|", *rows, ""])


# ---- entries


def entry_page(entry: Entry) -> str:
    topic = "" if entry.topic == "section" else f"{entry.topic} "
    shown = f"skyloop show {topic}{entry.name}"
    pictures = sorted((ROOT / "docs" / "gallery").glob(f"{entry.name}-[0-9].jpg")) if entry.topic == "world" else []
    seen = "".join(f"![{entry.name}](../../gallery/{path.name})\n" for path in pictures)
    title = f"# {entry.name}\n\n"
    return title + entry_text(entry, 1, heading=False) + f"\n{seen}\nOn the command line: `{shown}`.\n"


def entry_text(entry: Entry, level: int, *, heading: bool = True) -> str:
    lines = [f"{'#' * level} {entry.name}\n"] if heading else []
    lines.append(entry.summary.rstrip(".") + ".\n")
    if entry.example:
        lines.append(f"```yaml\n{entry.example}\n```\n")
    lines += [f"- {note}" for note in entry.notes]
    if entry.options:
        lines.append("\n" + options_table(entry))
    elif entry.topic == "world":
        lines.append("\nIt has no options.\n")
    if len(entry.presets) > 1:
        lines.append(f"{'#' * (level + 1)} Presets\n\n" + presets_table(entry))
    lines += [entry_text(part, level + 1) for part in entry.parts]
    return "\n".join(lines)


def options_table(entry: Entry) -> str:
    if entry.topic == "message":
        rows = [(code(each.name), each.type, each.shape, each.unit, each.meaning) for each in entry.options]
        return table(("field", "type", "shape", "unit", "meaning"), rows)
    rows = []
    for each in entry.options:
        default = code(default_words(each)) + (" (preset)" if each.from_preset else "")
        rows.append((code(each.name), each.type, default, each.unit, each.meaning))
    return table(("key", "type", "default", "unit", "meaning"), rows)


def presets_table(entry: Entry) -> str:
    keys = next(iter(entry.presets.values()))
    rows = [(code(key), *(value_words(values[key]) for values in entry.presets.values())) for key in keys]
    return table(("key", *map(code, entry.presets)), rows)


def table(columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [columns, ("---",) * len(columns), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines) + "\n"


def code(text: str) -> str:
    return f"`{text}`"


# ---- pages of many


def top_level() -> str:
    topic = TOPICS["scenario"]
    assert topic.keys is not None
    shipped = [(code(name), line) for name, line in topic.names().items()]
    keys = entry_text(section(topic.keys, "scenario"), 1, heading=False)
    return f"# Top level\n\n{keys}\n## Shipped scenarios\n\n{table(('name', 'what happens'), shipped)}"


def messages_page() -> str:
    first = (
        "# Messages\n\n"
        "`simulation.subscribe(stream)` yields `Message` objects. The record is in `.data`, the times beside it:\n\n"
        "```python\n"
        "import skyloop\n\n"
        'vehicle = {"name": "drone", "sensors": {"imu": {"kind": "imu"}}}\n'
        'sim = skyloop.build(skyloop.make_scenario({"vehicles": [vehicle]}))\n'
        'imu = sim.subscribe("drone/imu")\n'
        "sim.run_for(0.1)\n"
        "for message in imu:\n"
        "    print(message.index, message.t_ns, message.data.specific_force)\n"
        "```\n\n"
        "`simulation.latest(stream)` gives the newest record itself, without its `Message`. World axes are east, "
        "north, up; body axes are forward, left, up; SI units and radians unless the name of a field says otherwise. "
        "Setpoints and requests are what a pilot answers with and what `simulation.send` takes.\n"
    )
    groups: dict[str, list[str]] = {}
    for name, kind in records().items():
        groups.setdefault(kind.__module__, []).append(name)
    known = [module for module in MESSAGE_GROUPS if module in groups]
    lines = [first, "## Message\n", _message("Message")]
    for module in [*known, *sorted(set(groups) - set(known))]:
        title = MESSAGE_GROUPS.get(module) or (sys.modules[module].__doc__ or module).splitlines()[0].rstrip(".")
        lines.append(f"## {title}\n")
        lines += [f"### {name}\n\n{_message(name)}" for name in groups[module] if name != "Message"]
    return "\n".join(lines)


def _message(name: str) -> str:
    entry = find("message", name)
    return entry.summary + "\n\n" + (options_table(entry) if entry.options else "It has no fields.\n")


def commands_page() -> str:
    group: Any = typer.main.get_command(app)
    lines = ["# Command line\n", "`skyloop VERB --help` says the same in a terminal.\n"]
    for name, command in group.commands.items():
        arguments = [each for each in command.params if each.param_type_name == "argument"]
        usage = " ".join(["skyloop", name, *(each.metavar or each.name.upper() for each in arguments), "[OPTIONS]"])
        lines += [f"## {name}\n", f"```text\n{usage}\n```\n", command.help + "\n"]
        rows = []
        for each in command.params:
            if each.name == "help" or (each.param_type_name == "argument" and not each.help):
                continue
            names = ", ".join(code(word) for word in [*each.opts, *each.secondary_opts])
            default = "" if each.default in (None, False) or callable(each.default) else code(str(each.default))
            rows.append((names, default, each.help or ""))
        if rows:
            lines.append(table(("option", "default", "meaning"), rows))
    return "\n".join(lines)
