"""Pilots that plan their way."""
