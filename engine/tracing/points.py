"""The points of the engine where something may be traced. Without a provider each costs a lookup."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from ..calls.message import Message
from .headers import joined, readable, trace_id_of
from .place import address_of
from .switch import current

if TYPE_CHECKING:
    from opentelemetry.trace import SpanContext

Found = Callable[[list[Message]], list[Message]]
Options = TypeVar("Options")


class Process(Protocol):
    """A message in its handler."""

    def failed(self, error: BaseException) -> None:
        """Note the error with which it ends."""


class _Unseen:
    """The process in a program that traces nothing."""

    def failed(self, error: BaseException) -> None:
        """Nothing is noted."""


def _as_it_is(messages: list[Message]) -> list[Message]:
    return messages


def _as_counted(messages: int) -> int:
    return messages


_UNSEEN = _Unseen()


def sending(
    queue: str, options: Options, bodies: int | None = None, *, connection: object = None
) -> AbstractContextManager[Options]:
    """The time of a send, with the options to send with. bodies: how many, of a send of many.

    The headers carry the context. Those that a message has already stay as they are.
    """
    traces = current()
    if traces is None:
        return nullcontext(options)
    return traces.sending(queue, options, bodies, address_of(connection))


def loading(queue: str, *, connection: object = None) -> AbstractContextManager[Callable[[int], int]]:
    """The time of a stream or a load. Its messages carry no context: millions of them would make one trace.

    What it gives is told how many were sent.
    """
    traces = current()
    return nullcontext(_as_counted) if traces is None else traces.loading(queue, address_of(connection))


def carrying(options: Options) -> Options:
    """The options of a send whose end nobody waits for: its message carries the context of now."""
    traces = current()
    if traces is None or not (context := traces.current_headers()):
        return options
    given = cast("dict[str, Any]", options)
    return cast("Options", {**given, "headers": joined(given.get("headers"), context)})


def receiving(queue: str, *, connection: object = None) -> AbstractContextManager[Found]:
    """The time of a receive. What it gives is told which messages were found; without any there is no span."""
    traces = current()
    return nullcontext(_as_it_is) if traces is None else traces.receiving(queue, address_of(connection))


def processing(message: Message, queue: str | None = None, *, pushed: bool = False) -> AbstractContextManager[Process]:
    """The time that a handler has a message.

    On the first delivery the span continues the sender's trace. Later ones begin a trace that links to it. pushed:
    whether the application asked for no message, so that none was counted as received.
    """
    traces = current()
    if traces is None:
        return nullcontext(_UNSEEN)
    return traces.processing(message, queue or message.queue, pushed)


def settling(how: str, queue: str, messages: Sequence[Message]) -> AbstractContextManager[None]:
    """The time of what ends a delivery: ``ack`` of a lease, say."""
    traces = current()
    if traces is None or not messages:
        return nullcontext()
    return traces.settling(how, queue, len(messages), traces.links_of(messages), None)


class Unsettled:
    """What a session has received in its transaction, for the span of the transaction's end."""

    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self._queue = ""
        self._count = 0
        self._links: list[SpanContext] = []

    def note(self, queue: str, messages: Sequence[Message]) -> None:
        """Add messages, if they are traced."""
        traces = current()
        if messages and traces is not None:
            self._queue = self._queue or queue
            self._count += len(messages)
            self._links += traces.links_of(messages)

    def settling(self, how: str, *, connection: object = None) -> AbstractContextManager[None]:
        """The time of the transaction's end. Afterwards nothing is unsettled."""
        traces = current()
        if not self._count or traces is None:
            return nullcontext()
        queue, count, links = self._queue, self._count, self._links
        self._clear()
        return traces.settling(how, queue, count, links, address_of(connection))


def identity_of(message: Message) -> dict[str, str]:
    """The trace of a message's failure, for its incident: the handler's or else the sender's. Empty: there is none."""
    traces = current()
    if traces is not None and (ids := traces.current_ids()):
        return ids
    found = trace_id_of(readable(message))
    return {} if found is None else {"trace_id": found}
