"""What a checkout has beside the shipped package, as a plugin of skyloop."""

from skyloop.core.plugins import Plugin

PLUGIN = Plugin(
    verbs={"reproduce": "skyloop_papers.cli:app", "bench": "skyloop_papers.benchmarks.verb:app"},
    catalogues={
        "benches": "skyloop_papers.benchmarks.benches:listed",
        "reproductions": "skyloop_papers.catalogue:listed",
    },
)
