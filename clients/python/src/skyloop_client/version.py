"""The version of both `skyloop` and `skyloop-client`."""

__version__ = "0.1.0"
