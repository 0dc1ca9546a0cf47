"""What a checkout has beside the shipped package, as a plugin of skyloop."""

from skyloop.core.plugins import Plugin

PLUGIN = Plugin(
    verbs={"reproduce": "skyloop_papers.cli:app"},
    catalogues={"reproductions": "skyloop_papers.catalogue:listed"},
)
