"""Links by name: what `--link KIND[:OPTIONS]` means."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BeforeValidator

from skyloop.core.plugins import Registry
from skyloop.core.validation import validated
from skyloop.links.link_gate import LinkConfig
from skyloop_client.errors import LinkError, PluginError, SetupError, unknown_name

LINKS: Registry[type[LinkConfig]] = Registry("links", "link")


def _host_and_port(value: object) -> object:
    """Of `PORT` or `HOST:PORT`; what is no text is taken as it is."""
    if not isinstance(value, str):
        return value
    host, _, port = value.rpartition(":")
    if not port.isdecimal():
        raise ValueError("give PORT or HOST:PORT")
    return host.strip("[]") or "127.0.0.1", int(port)


Address = Annotated[tuple[str, int], BeforeValidator(_host_and_port)]
"""Host and port; `PORT` or `HOST:PORT` on the command line."""


def link_from(text: str, option: str = "--link") -> LinkConfig:
    """From `KIND`, `KIND:VALUE`, `KIND:name=value,name=value` or `KIND:VALUE,name=value`."""
    kind, _, rest = text.partition(":")
    if kind not in LINKS:
        raise unknown_name("link", kind, LINKS)
    try:
        config = LINKS[kind]
    except PluginError as error:
        # that an extra is missing has a message of its own
        raise error.__cause__ if isinstance(error.__cause__, SetupError) else error from None
    # a comma that no option follows belongs to the value, as in a path
    items = re.split(r",(?=\w+=)", rest) if rest else []
    options: dict[str, str] = {}
    for number, item in enumerate(items):
        name, equals, value = item.partition("=")
        if number == 0 and not (equals and name.isidentifier()):
            if not config.bare:
                raise LinkError(f"{option} {text}: {kind} takes options with a name only, such as pace=1")
            name, value = config.bare, item
        if name in options:
            raise LinkError(f"{option} {text}: {name} is given twice")
        options[name] = value
    built: LinkConfig = validated(config, options, f"{option} {kind}")
    return built
