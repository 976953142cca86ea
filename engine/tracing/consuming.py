"""Spans of receiving, processing and settling, which lead back to the spans that made the messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter, time_ns
from typing import Any

from opentelemetry.trace import SpanContext, SpanKind

from ..calls.message import Message
from . import conventions
from .headers import readable
from .library import Instruments, Operation, context_in, span_in, without_span

LINKS = 128
"""Messages of a batch that a span links to, which is what an SDK keeps by default."""


def links_of(messages: Sequence[Message]) -> list[SpanContext]:
    """The senders' spans, as far as messages carry them."""
    found = (span_in(context_in(readable(message))) for message in messages[:LINKS])
    return [one for one in found if one is not None]


def _counted(attributes: dict[str, Any], messages: Sequence[Message]) -> dict[str, Any]:
    one = {conventions.MESSAGE_ID: str(messages[0].message_id)} if len(messages) == 1 else {}
    return attributes | one | ({conventions.BATCH: len(messages)} if len(messages) > 1 else {})


class Consuming(Instruments):
    """What a consumer does."""

    @contextmanager
    def receiving(self, queue: str, address: str | None) -> Iterator[Callable[[list[Message]], list[Message]]]:
        """As ``points.receiving``."""
        begun, since = time_ns(), perf_counter()
        attributes = conventions.attributes_of("receive", "receive", queue, address)
        seen: list[Message] = []

        def found(messages: list[Message]) -> list[Message]:
            seen.extend(messages)
            return messages

        def operation() -> Operation:
            described = _counted(attributes, seen)
            span = self.start(described, SpanKind.CLIENT, links=links_of(seen), start_time=begun)
            return Operation(span, attributes, self.operations)

        try:
            yield found
        except Exception:
            with operation().lasting(since=since):
                raise
        if seen:
            with operation().lasting(since=since):
                self.consumed.add(len(seen), attributes)

    @contextmanager
    def processing(self, message: Message, queue: str, pushed: bool) -> Iterator[Operation]:
        """As ``points.processing``."""
        attributes = conventions.attributes_of("process", "process", queue)
        described = attributes | {
            conventions.MESSAGE_ID: str(message.message_id),
            conventions.DELIVERY: message.delivery_count,
        }
        if message.correlation_id is not None:
            described[conventions.CORRELATION_ID] = message.correlation_id
        carried = context_in(readable(message))
        sender = span_in(carried)
        again = message.delivery_count > 1
        parent = without_span(carried) if again else carried
        links = [sender] if again and sender is not None else []
        span = self.start(described, SpanKind.CONSUMER, parent=parent, links=links)
        operation = Operation(span, attributes, self.processes)
        if pushed:
            self.consumed.add(1, attributes)
        with operation.lasting(carried):
            yield operation

    @contextmanager
    def settling(
        self, how: str, queue: str, count: int, links: Sequence[SpanContext], address: str | None
    ) -> Iterator[None]:
        """As ``points.settling``."""
        attributes = conventions.attributes_of(how, "settle", queue, address)
        span = self.start(attributes | {conventions.BATCH: count}, SpanKind.CLIENT, links=links)
        with Operation(span, attributes, self.operations).lasting():
            yield
