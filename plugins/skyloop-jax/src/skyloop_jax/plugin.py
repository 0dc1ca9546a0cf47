"""What this plugin brings: nothing that a scenario can name. It is used from Python, as `skyloop_jax`."""

from skyloop.core.plugins import Plugin

PLUGIN = Plugin()
