"""Scenarios flown and judged; the experiments of the papers."""
