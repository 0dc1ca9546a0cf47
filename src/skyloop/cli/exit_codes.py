"""Exit codes of the command line besides 0 (done) and 1 (a known error)."""

INTERRUPTED = 130
"""Ended by Ctrl-C, the same code as in shells."""
