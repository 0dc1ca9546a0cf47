"""Measures every performance figure in the documentation."""
