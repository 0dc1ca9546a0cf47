"""What the program ends with, besides 0 for success and 1 for a known error."""

INTERRUPTED = 130
"""By Ctrl-C, as shells say it."""
