"""Exit codes of the command line besides 0 (done) and 1 (a known error)."""

FAILED = 3
"""With `--strict`: it was flown to its end and is no success."""
INTERRUPTED = 130
"""Ended by Ctrl-C, the same code as in shells."""
