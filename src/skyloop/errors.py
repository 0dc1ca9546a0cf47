"""Every error skyloop raises on purpose: the names of `skyloop_client.errors`, under this one too."""

from skyloop_client.errors import *  # noqa: F403
