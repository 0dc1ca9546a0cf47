"""Log lines of the client's commands on stderr: `-v` and `--quiet`. Importing the package sets up no handler."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Iterator
from contextlib import contextmanager

TREE = "skyloop_client"


def add_log_options(parser: argparse.ArgumentParser) -> None:
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("-v", "--verbose", action="store_true", help="log what is started and connected, on stderr")
    choice.add_argument("-q", "--quiet", action="store_true", help="no log lines; errors still come")


@contextmanager
def log_lines(program: str, options: argparse.Namespace) -> Iterator[None]:
    """Until the command ends, log lines go to stderr with the program's name before them."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter(f"{program}: %(message)s"))
    logger = logging.getLogger(TREE)
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG if options.verbose else logging.ERROR if options.quiet else logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before)
