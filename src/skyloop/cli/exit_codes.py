"""Exit codes of the command line besides 0 (done) and 1 (a known error)."""

INTERRUPTED = 130
"""Ended by Ctrl-C, as shells have it."""
