"""The table in README and on docs/reproductions/report.md: how the published numbers of each experiment came out."""

from __future__ import annotations

from collections.abc import Sequence

from skyloop.core.results import Result
from skyloop_papers import pages
from skyloop_papers.registry import REPRODUCTIONS
from skyloop_papers.report_tables import PAPERS, verdict_counts
from skyloop_papers.verdicts import WORDS

WITHOUT_RESULTS = True
"""It shows the results files of all experiments and has none of its own."""
SHOWN = WORDS[:-1]


def blocks(results: Sequence[Result]) -> dict[str, str]:
    rows = []
    for name in REPRODUCTIONS:
        published = pages.read(name)
        if published is None:
            rows.append([f"`{name}`", "", *[""] * len(SHOWN), "not flown yet"])
            continue
        counted = verdict_counts(name, published.results)
        papers = sorted({PAPERS[result.paper] for result in published.results})
        state = pages.state_in_a_word(name, published)
        rows.append([f"`{name}`", ", ".join(papers), *(str(counted[word]) for word in SHOWN), state])
    return {"summary": pages.table(("`skyloop reproduce`", "paper", *SHOWN, "code"), rows, right=2)}
