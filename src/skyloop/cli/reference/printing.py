"""Prints entries of the reference as tables on a terminal."""

from __future__ import annotations

import json

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from skyloop.cli.reference.entries import SECTIONS, TOPICS, Entry, section
from skyloop.cli.reference.fields import REQUIRED, Option


def default_words(option: Option) -> str:
    """A default in the form of a scenario file."""
    if option.default == REQUIRED and isinstance(option.default, str):
        return REQUIRED
    return value_words(option.default)


def value_words(value: object) -> str:
    if value is None:
        return "null"
    if value == "":
        return "empty"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {value_words(part)}" for key, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(value_words(part) for part in value) + "]"
    if isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, float):
        exact = f"{value:.12g}"
        words = exact if len(exact) <= 12 else f"{value:.6g}"
        # YAML reads 5e-05 as text
        return words if "." in words or "e" not in words else words.replace("e", ".0e")
    return str(value)


def print_entry(entry: Entry, out: Console) -> None:
    """Options with type, default, unit and meaning; then presets and parts."""
    title = entry.name if entry.topic in ("section", entry.name) else f"{entry.topic} {entry.name}"
    out.print(f"[bold]{title}[/]: {escape(entry.summary)}", highlight=False)
    if entry.example:
        out.print(f"  in a scenario: {escape(entry.example)}", highlight=False)
    for note in entry.notes:
        out.print(f"  {escape(note)}", highlight=False)
    if entry.options:
        out.print(_table(entry))
    if len(entry.presets) > 1:
        out.print(_presets(entry))
    for part in entry.parts:
        out.print()
        print_entry(part, out)


def _table(entry: Entry) -> Table:
    record = entry.topic == "message"
    columns = ("field", "type", "shape", "unit", "meaning") if record else ("key", "type", "default", "unit", "meaning")
    table = Table(*columns, box=None, pad_edge=False, header_style="dim")
    for option in entry.options:
        default = default_words(option) + (" *" if option.from_preset else "")
        middle = option.shape if record else default
        cells = (option.name, option.type, middle, option.unit, option.meaning)
        table.add_row(*(escape(cell) for cell in cells))
    if any(option.from_preset for option in entry.options):
        table.caption = "* from the default preset"
    return table


def _presets(entry: Entry) -> Table:
    table = Table("preset", *entry.presets, box=None, pad_edge=False, header_style="dim")
    for key in next(iter(entry.presets.values())):
        row = [value_words(values[key]) for values in entry.presets.values()]
        table.add_row(key, *(escape(cell) for cell in row))
    return table


def print_topic(topic: str, out: Console) -> None:
    """All names of a topic, and the keys they share."""
    what = TOPICS[topic]
    table = Table(title=what.heading.lower(), title_justify="left", title_style="bold", show_header=False, box=None)
    for name, line in what.names().items():
        table.add_row(f"  {name}", escape(line))
    out.print(table)
    out.print(f"`skyloop show {topic} NAME` shows one of them.", highlight=False)
    if what.keys is not None:
        out.print()
        shared = {"sensor": "every sensor", "airframe": "airframe file", "scenario": "scenario file"}
        print_entry(section(what.keys, shared.get(topic, topic)), out)


def print_topics(out: Console) -> None:
    """What `skyloop show` can show."""
    table = Table(show_header=False, box=None)
    for topic, what in TOPICS.items():
        table.add_row(f"  {topic} NAME", ", ".join(what.names()))
    for name, model in SECTIONS.items():
        table.add_row(f"  {name}", escape(section(model, name).summary))
    out.print(table)
