"""An estimator of your own: what it is made with, what it answers, and how it runs over a link.

    class Vio:
        def __init__(self, setup: EstimatorSetup, **options): ...
        def on_message(self, message: Message) -> Estimate | None: ...

The same class runs in the simulator's process (`estimators:` in a scenario), in another one and on a target
(`skyloop-client estimator my_vio.py:Vio`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from skyloop_client.errors import StreamError
from skyloop_client.messages import Estimate, Message, StartConditions
from skyloop_client.streams import StreamInfo

Answer = Any
"""An Estimate, a pair (name of a stream, record) to publish beside it, a list or tuple of these, or None."""


@dataclass(frozen=True, slots=True, eq=False)
class EstimatorSetup:
    """What an estimator may know before the first message: calibration and start conditions. Plain data."""

    vehicle: str
    name: str
    """Its own, such as "vio"; its estimates are on the stream `<vehicle>/<name>`."""
    infos: Mapping[str, StreamInfo]
    """Of its inputs, by the names they have in the scenario: rates, mounts, latencies, and under `details` intrinsics,
    noise densities... `infos["imu"].name` is the `stream` that messages of this input carry."""
    start: StartConditions


class Estimator(Protocol):
    def on_message(self, message: Message) -> Answer:
        """Called with every message of its inputs, in the order of their arrival."""


def answers_of(name: str, answer: Answer) -> list[tuple[str, Any]]:
    """What `on_message` has answered, as pairs of a stream's name and a record."""
    if answer is None:
        return []
    if isinstance(answer, Estimate):
        return [(name, answer)]
    if isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[0], str):
        return [answer]
    if isinstance(answer, list | tuple):
        return [pair for item in answer for pair in answers_of(name, item)]
    raise StreamError(
        f"on_message gives a {type(answer).__name__}; give an Estimate, a pair (name, record), a list of these, or None"
    )
