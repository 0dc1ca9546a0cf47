"""The one place of the version, of `skyloop` and `skyloop-client` alike."""

__version__ = "0.1.0"
