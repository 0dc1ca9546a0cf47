"""The built-in pilots."""
