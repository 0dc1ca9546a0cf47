"""The command line: each verb parses, calls one function, prints."""

from skyloop.cli.verbs import app, main

__all__ = ["app", "main"]
