"""A whole stack on one computer: an estimator, and the pilot that flies on it, in one program and over one session."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from skyloop_client.bundle import Bundle
from skyloop_client.errors import LinkEnded, LinkError
from skyloop_client.estimator import Estimator, EstimatorSetup, answered, report_once
from skyloop_client.messages import Estimate, Event
from skyloop_client.session import Session, is_done, items_of
from skyloop_client.streams import Rate
from skyloop_client.user_code import call_user_code


def run_onboard(
    session: Session,
    make: Callable[..., Estimator],
    pilot: Callable[[Bundle], object],
    rate_hz: float | str = 50.0,
    say: Callable[[str], None] = lambda line: None,
) -> None:
    """Estimate and fly until the pilot is done or the flight is over.

    The session is made with `connect(estimator=..., role="pilot")`. The pilot gets the newest records of this
    program's own estimator, and its `state` is that estimator's newest estimate. All of it shares one execution time:
    while the estimator computes, the pilot waits. `say` gets a line for each refusal."""
    setup = session.setup
    if setup is None:
        raise LinkError("this session gives no estimates; connect with estimator=... and role='pilot'")
    label = f"estimator '{setup.name}'"
    estimator = call_user_code(label, session.now(), lambda: make(setup, **session.options))
    session.forget_loading()
    stack = _Stack(session, setup, estimator, label, say)
    rate, due_ns = Rate.from_hz(rate_hz), 0
    items: list[object] = []
    try:
        while not is_done(pilot):
            stack.take(items)
            items = []
            now_ns = session.now()
            if now_ns >= due_ns:
                due_ns = rate.due_ns(rate.count_until(now_ns + 1))
                reply = call_user_code("pilot", now_ns, pilot, stack.bundle(now_ns))
                items = items_of(reply)
    except LinkEnded:
        return


class _Stack:
    """The estimator at work, and what the pilot may know of it."""

    def __init__(
        self, session: Session, setup: EstimatorSetup, estimator: Estimator, label: str, say: Callable[[str], None]
    ) -> None:
        self._session, self._estimator, self._label, self._say = session, estimator, label, say
        self._name, self._inputs = setup.name, [info.name for info in setup.infos.values()]
        self._own: dict[str, object] = {}
        """By full name, the newest record of each stream of the estimator."""
        self._state: Estimate | None = None
        self._newest: Bundle
        self._events: tuple[Event, ...] = ()
        self._reported: set[str] = set()

    def take(self, items: list[object]) -> None:
        """Send setpoints, wait for new messages of the inputs, and give them to the estimator."""
        session = self._session
        arrived = self._asked(session.ask(*items, every=self._inputs, any_of=self._inputs)).arrived
        for number, message in enumerate(arrived, start=1):
            pairs = answered(self._estimator, message, self._label, self._name)
            for stream, record in pairs:
                session.publish(stream, record)
                self._own[f"{session.vehicle}/{stream}"] = record
                if stream == self._name and isinstance(record, Estimate):
                    self._state = record
            # finished results do not wait for the next computation
            if pairs and number < len(arrived):
                self._asked(session.ask())

    def _asked(self, bundle: Bundle) -> Bundle:
        self._newest, self._events = bundle, self._events + bundle.events
        report_once(bundle.refused, self._reported, self._say)
        return bundle

    def bundle(self, now_ns: int) -> Bundle:
        """For the pilot, at this instant of execution time."""
        newest, events = self._newest, self._events
        self._events = ()
        state = newest.state if self._state is None else self._state
        return replace(newest, t_ns=now_ns, latest={**newest.latest, **self._own}, state=state, events=events)
