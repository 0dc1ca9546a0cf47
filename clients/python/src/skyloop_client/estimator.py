"""An estimator of your own: what it is made with, what it answers, and how it runs over a link.

    class Vio:
        def __init__(self, setup: EstimatorSetup, **options): ...
        def on_message(self, message: Message) -> Estimate | None: ...

A class that publishes no estimates but other records, such as maps, has an attribute `products`: names of streams and
of their records, such as {"map/voxels": "VoxelMap"}. These streams exist from the start, in place of that of estimates.
Where others have these streams as inputs, it also has a static method `products_of(name)` that gives the same before it
is made: then it may run outside while the others run inside.
The same class runs in the simulator's process (`estimators:` in a scenario), in another one and on a target
(`skyloop-client estimator my_vio.py:Vio`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from skyloop_client.errors import LinkEnded, LinkError, PartError, StreamError
from skyloop_client.messages import Estimate, Message, StartConditions
from skyloop_client.streams import NS_PER_S, StreamInfo
from skyloop_client.user_code import call_user_code

Answer = object
"""An Estimate, a pair (name of a stream, record) to publish as well, a list or tuple of these, or None."""


@dataclass(frozen=True, slots=True, eq=False)
class EstimatorSetup:
    """What an estimator may know before the first message: calibration and start conditions, as plain data."""

    vehicle: str
    name: str
    """Its name, such as "vio". Its estimates are on the stream `<vehicle>/<name>`."""
    infos: Mapping[str, StreamInfo]
    """Of its inputs, by the names they have in the scenario: rates, mounts, latencies, and under `details` intrinsics,
    noise densities... `infos["imu"].name` is the `stream` that messages of this input carry."""
    start: StartConditions


class Estimator(Protocol):
    def on_message(self, message: Message) -> Answer:
        """Called with every message of its inputs, in order of arrival."""


def answers_of(name: str, answer: Answer) -> list[tuple[str, object]]:
    """The result of `on_message` as pairs of a stream's name and a record."""
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


def run_estimator(session: Any, make: Callable[..., Estimator], say: Callable[[str], None] = lambda line: None) -> None:
    """Run an estimator over a session made with `connect(estimator=...)` until the flight is over.

    Each estimate takes effect at the execution time at which it was ready. `say` gets a line for each refusal."""
    setup: EstimatorSetup | None = session.setup
    if setup is None:
        raise LinkError("this session gives no estimates; connect with estimator=...")
    label = f"estimator '{setup.name}'"
    estimator = call_user_code(label, session.now(), lambda: make(setup, **session.options))
    session.forget_loading()
    inputs = [info.name for info in setup.infos.values()]
    reported: set[str] = set()
    try:
        bundle = session.ask(every=inputs, any_of=inputs)
        while True:
            for number, message in enumerate(bundle.arrived, start=1):
                pairs = answered(estimator, message, label, setup.name)
                for name, record in pairs:
                    session.publish(name, record)
                # finished results do not wait for the next computation
                if pairs and number < len(bundle.arrived):
                    report_once(session.ask().refused, reported, say)
            bundle = session.ask(every=inputs, any_of=inputs)
            report_once(bundle.refused, reported, say)
    except LinkEnded:
        return


def answered(estimator: Estimator, message: Message, label: str, name: str) -> list[tuple[str, object]]:
    """What an estimator says to a message, as pairs of a stream's name and a record."""
    answer = call_user_code(label, message.arrival_ns, estimator.on_message, message)
    try:
        return answers_of(name, answer)
    except StreamError as error:
        raise PartError(f"{label} at {message.arrival_ns / NS_PER_S:.3f} s: {error}") from error


def report_once(refused: tuple[str, ...], reported: set[str], say: Callable[[str], None]) -> None:
    """Each line is reported once, even if a mistake repeats 200 times a second."""
    for line in refused:
        if line not in reported:
            reported.add(line)
            say(line)
