"""Estimators as parts of a simulation: the built-in EKF, and classes of the user's own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from skyloop.sim.parts import Context, StatelessPart, UserPart
from skyloop_client.errors import PartError, StreamError
from skyloop_client.estimator import Estimator, EstimatorSetup, answers_of
from skyloop_client.messages import Estimate, Message
from skyloop_client.streams import NS_PER_S, StreamInfo
from skyloop_client.user_code import call_user_code


class Localiser(Protocol):
    """What turns a vehicle's messages into estimates."""

    def on_message(self, message: Message) -> Estimate | None: ...

    def snapshot(self) -> Any: ...

    def restore(self, saved: Any) -> None: ...


class EkfPart:
    """Runs the built-in localiser on the vehicle's streams and publishes what it believes."""

    def __init__(self, localiser: Localiser, inputs: Sequence[str], info: StreamInfo, context: Context) -> None:
        self._localiser = localiser
        self.name = info.name
        self._info = info
        self._context = context
        self._index = 0
        context.bus.advertise(info)
        for stream in inputs:
            context.bus.on(stream, self._on_message)

    def _on_message(self, message: Message) -> None:
        estimate = self._localiser.on_message(message)
        if estimate is not None:
            self._context.bus.publish(
                Message(self._info.name, self._index, estimate.t_ns, message.arrival_ns, estimate)
            )
            self._index += 1

    def memory(self) -> Any:
        return self._localiser.snapshot(), self._index

    def remember(self, memory: Any) -> None:
        saved, self._index = memory
        self._localiser.restore(saved)

    def close(self) -> None:
        pass


class UserEstimatorPart(UserPart):
    """Gives an estimator of the user's every message of its inputs as it arrives, and publishes what it answers.

    A snapshot holds the estimator's attributes, or what its `snapshot` gives where it has one.
    """

    def __init__(self, estimator: Estimator, setup: EstimatorSetup, latency_ns: int, context: Context) -> None:
        super().__init__(f"estimator '{setup.name}' of '{setup.vehicle}'", estimator, context)
        self._setup = setup
        self._latency_ns = latency_ns
        for name, record in getattr(estimator, "products", {setup.name: "Estimate"}).items():
            info = StreamInfo(f"{setup.vehicle}/{name}", record, None, setup.vehicle, latency_ns)
            context.user_streams.reserve(info, self.name)
        for source in setup.infos.values():
            context.bus.on(source.name, self._on_message)

    def _on_message(self, message: Message) -> None:
        now_ns = message.arrival_ns
        answer = call_user_code(self.name, now_ns, self._own.on_message, message)
        try:
            for name, record in answers_of(self._setup.name, answer):
                self._context.user_streams.publish(
                    self._setup.vehicle, name, record, now_ns, sender=self.name, latency_ns=self._latency_ns
                )
        except StreamError as error:
            raise PartError(f"{self.name} at {now_ns / NS_PER_S:.3f} s: {error}") from error

    def memory(self) -> Any:
        return self._own.snapshot() if hasattr(self._own, "snapshot") else super().memory()

    def remember(self, memory: Any) -> None:
        if hasattr(self._own, "restore"):
            self._own.restore(memory)
        else:
            super().remember(memory)


@dataclass(frozen=True, slots=True, eq=False)
class OutsideEstimator:
    """An estimator that runs at the other end of a link: what its process is told when it connects."""

    setup: EstimatorSetup
    options: dict[str, Any]
    products: dict[str, str] = field(default_factory=dict)
    """Streams and the names of their records, in place of a stream of estimates."""

    def publishes(self, name: str) -> bool:
        """Whether a stream, with or without the vehicle's name, is one that is kept for it."""
        own = name.removeprefix(f"{self.setup.vehicle}/") if isinstance(name, str) else ""
        return own in (self.products or {self.setup.name: "Estimate"})

    @property
    def sender(self) -> str:
        return f"estimator '{self.setup.name}' on the link"


class OutsideEstimatorPart(StatelessPart):
    """Keeps the stream of an estimator whose records come over a link."""

    def __init__(self, outside: OutsideEstimator, context: Context) -> None:
        setup = outside.setup
        self.name = f"{setup.vehicle}/{setup.name}"
        for name, record in (outside.products or {setup.name: "Estimate"}).items():
            info = StreamInfo(f"{setup.vehicle}/{name}", record, None, setup.vehicle)
            context.user_streams.reserve(info, outside.sender)
        context.user_streams.outside[self.name] = outside
