"""The output of `skyloop show`: a scenario with all defaults, or the options of something that a scenario can name."""

from __future__ import annotations

import json

import yaml

from skyloop.cli.console import load, out
from skyloop_client.errors import ScenarioError, UnknownNameError


def show_topic(what: str | None, name: str | None, json_: bool, *, changed: bool) -> bool:
    """Print the options of a topic. Returns False if `what` is a scenario. `changed`: --set or --seed is given."""
    from skyloop.cli.reference.entries import SECTIONS, TOPICS, as_data, find
    from skyloop.cli.reference.printing import print_entry, print_topic, print_topics

    if what == "scenario" and name is not None:
        return False
    if what is not None and what not in TOPICS and what not in SECTIONS:
        if name is None:
            return False
        if what in TOPICS["scenario"].names() or what.endswith((".yaml", ".yml")):
            raise ScenarioError(f"'{what}' is a scenario and takes no further name; leave out '{name}'")
        find(what, name)  # the error names the nearest topic
    if changed:
        raise ScenarioError(f"--set and --seed are for scenarios, not for 'show {what}'; leave them out")
    if what is None or (name is None and what in TOPICS):
        names = {topic: TOPICS[topic].names() for topic in TOPICS if what in (None, topic)}
        if json_:
            print(json.dumps(names, indent=2))
        elif what is None:
            print_topics(out)
        else:
            print_topic(what, out)
        return True
    entry = find(what, name)
    if json_:
        print(json.dumps(as_data(entry), indent=2, ensure_ascii=False))
    else:
        print_entry(entry, out)
    return True


def show_scenario(scenario: str, sets: list[str] | None, seed: int | None, json_: bool) -> None:
    """Print a scenario with every default filled in."""
    from skyloop.cli.reference.entries import elsewhere

    try:
        resolved = load(scenario, sets, seed).model_dump(mode="json")
    except UnknownNameError:
        raise UnknownNameError(f"no scenario named '{scenario}'; {elsewhere(scenario)}") from None
    print(json.dumps(resolved, indent=2) if json_ else yaml.safe_dump(resolved, sort_keys=False).rstrip("\n"))
