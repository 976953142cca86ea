"""Spans of sending, and the context that messages carry away with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar, cast

from opentelemetry.trace import SpanKind

from . import conventions
from .headers import TRACEPARENT, joined
from .library import Instruments, Operation, context_in, headers_of, span_in

Options = TypeVar("Options")


def _carrying(own: Mapping[str, Any] | None, context: Mapping[str, str]) -> Mapping[str, Any] | None:
    return joined(own, context) if context else own


class Producing(Instruments):
    """What a producer does."""

    @contextmanager
    def sending(self, queue: str, options: Options, bodies: int | None, address: str | None) -> Iterator[Options]:
        """As ``points.sending``."""
        given = cast("dict[str, Any]", options)
        attributes = conventions.attributes_of("send", "send", queue, address)
        headers = list(given.get("headers") or [None] * bodies) if bodies is not None else [given.get("headers")]
        single = bodies is None
        if not single and self.create_spans:
            creating = conventions.attributes_of("create", "create", queue, address)
            for index, own in enumerate(headers):
                if not own or TRACEPARENT not in own:
                    span = self.start(creating, SpanKind.PRODUCER)
                    headers[index] = _carrying(own, headers_of(span))
                    span.end()
        links = [found for own in headers if own and (found := span_in(context_in(own)))]
        creates = any(not own or TRACEPARENT not in own for own in headers)
        described = attributes if single else attributes | {conventions.BATCH: len(headers)}
        span = self.start(described, SpanKind.PRODUCER if creates else SpanKind.CLIENT, links=links)
        operation = Operation(span, attributes, self.operations)
        with operation.lasting():
            context = headers_of(span)
            carrying = [_carrying(own, context) for own in headers]
            try:
                yield cast("Options", {**given, "headers": carrying[0] if single else carrying})
            except BaseException as error:
                operation.failed(error)
                raise
            finally:
                self.sent.add(len(headers), operation.attributes)

    @contextmanager
    def loading(self, queue: str, address: str | None) -> Iterator[Callable[[int], int]]:
        """As ``points.loading``."""
        attributes = conventions.attributes_of("load", "send", queue, address)
        span = self.start(attributes, SpanKind.CLIENT)

        def counted(messages: int) -> int:
            span.set_attribute(conventions.BATCH, messages)
            self.sent.add(messages, attributes)
            return messages

        with Operation(span, attributes, self.operations).lasting():
            yield counted
