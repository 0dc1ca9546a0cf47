"""Makes runs in a pool: what was lost is made again, and each outcome is told as soon as it is there."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from dataclasses import replace

from skyloop.campaigns.pools import Pool
from skyloop.campaigns.run_process import Outcome, Work

AHEAD = 2
"""Runs handed to the pool for each one that it can make at once, so that no worker waits for the next."""
WORKERS_LOST = 20
"""How many workers one run may cost. A run is not to blame for a worker or machine that is killed, but it may be."""
PATIENCE_S = 0.5
"""Between two looks at how many machines there are."""


def outcomes(works: Iterable[tuple[int, Work]], pool: Pool, retries: int) -> Generator[tuple[int, Outcome], None, None]:
    """By number, in the order in which they end. One that is lost is made again so many times.

    Whoever stops reading drops the rest."""
    waiting = iter(works)
    again: list[tuple[int, Work]] = []
    asked: dict[int, Work] = {}
    attempts: dict[int, int] = {}
    blamed: dict[int, int] = {}
    try:
        while True:
            room = AHEAD * pool.slots
            while len(asked) < room and (following := again.pop() if again else next(waiting, None)) is not None:
                asked[following[0]] = following[1]
                pool.submit(*following)
            if not asked:
                return
            for number, outcome in pool.ended(PATIENCE_S):
                work = asked.pop(number)
                attempts[number] = attempts.get(number, 0) + 1
                if outcome.lost:
                    blamed[number] = blamed.get(number, 0) + (not outcome.worker_lost)
                    if blamed[number] <= retries and attempts[number] - blamed[number] <= WORKERS_LOST:
                        again.append((number, work))
                        continue
                yield number, replace(outcome, attempts=attempts[number])
    finally:
        pool.drop()
