"""What is used of OpenTelemetry: a tracer, four metrics and the propagators of W3C. It needs the extra ``otel``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter
from typing import Any

from opentelemetry import context, metrics, trace
from opentelemetry.baggage.propagation import W3CBaggagePropagator
from opentelemetry.context import Context
from opentelemetry.propagators.composite import CompositePropagator
from opentelemetry.trace import Link, Span, SpanContext, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from ..errors import safe_str
from . import conventions
from .headers import carried_by

_PROPAGATOR = CompositePropagator([TraceContextTextMapPropagator(), W3CBaggagePropagator()])


class Instruments:
    """The tracer and the metrics of a process."""

    def __init__(
        self,
        tracer_provider: trace.TracerProvider | None = None,
        meter_provider: metrics.MeterProvider | None = None,
        *,
        create_spans: bool = True,
    ) -> None:
        """None: the global provider. create_spans: whether each message of a batch gets a span of its own."""
        self.create_spans = create_spans
        self.tracer = trace.get_tracer("howdah", None, tracer_provider, conventions.SCHEMA_URL)
        meter = metrics.get_meter("howdah", "", meter_provider, conventions.SCHEMA_URL)
        buckets = conventions.BUCKETS
        self.operations = meter.create_histogram(
            *conventions.OPERATION_DURATION, explicit_bucket_boundaries_advisory=buckets
        )
        self.processes = meter.create_histogram(
            *conventions.PROCESS_DURATION, explicit_bucket_boundaries_advisory=buckets
        )
        self.sent = meter.create_counter(*conventions.SENT)
        self.consumed = meter.create_counter(*conventions.CONSUMED)

    def start(
        self,
        attributes: Mapping[str, Any],
        kind: SpanKind,
        *,
        parent: Context | None = None,
        links: Iterable[SpanContext] = (),
        start_time: int | None = None,
    ) -> Span:
        """Start a span, named after its operation and destination. parent: None is the current one."""
        name = f"{attributes['messaging.operation.name']} {attributes['messaging.destination.name']}"
        linked = [Link(one) for one in links]
        return self.tracer.start_span(name, parent, kind, attributes, linked, start_time)


class Operation:
    """A span that is current until its end, with the duration that is recorded of it."""

    def __init__(self, span: Span, attributes: Mapping[str, Any], duration: metrics.Histogram) -> None:
        self.span = span
        #: Its attributes in metrics.
        self.attributes = dict(attributes)
        self._duration = duration
        self._failed = False

    def failed(self, error: BaseException) -> None:
        """Note the error with which it ends. The first one counts."""
        if not self._failed:
            self._failed = True
            self.attributes[conventions.ERROR] = type(error).__name__
            self.span.set_attribute(conventions.ERROR, type(error).__name__)
            self.span.record_exception(error)
            self.span.set_status(Status(StatusCode.ERROR, safe_str(error)))

    @contextmanager
    def lasting(self, under: Context | None = None, since: float | None = None) -> Iterator[None]:
        """The time that it takes. under: the context in which it is current; None: the caller's."""
        started = perf_counter() if since is None else since
        token = context.attach(trace.set_span_in_context(self.span, under))
        try:
            yield
        except BaseException as error:
            self.failed(error)
            raise
        finally:
            context.detach(token)
            self.span.end()
            self._duration.record(perf_counter() - started, self.attributes)


def headers_of(span: Span | None = None) -> dict[str, str]:
    """The headers that carry a span's context, or the current one's, with the baggage of now."""
    carrier: dict[str, str] = {}
    _PROPAGATOR.inject(carrier, None if span is None else trace.set_span_in_context(span))
    return carrier


def context_in(headers: Mapping[str, Any] | None) -> Context:
    """The context that a message carries, and nothing else."""
    return _PROPAGATOR.extract(carried_by(headers), Context())


def span_in(carried: Context) -> SpanContext | None:
    """The span of a context, if there is one."""
    found = trace.get_current_span(carried).get_span_context()
    return found if found.is_valid else None


def without_span(carried: Context) -> Context:
    """The same baggage under no span: what starts here begins a trace."""
    return trace.set_span_in_context(trace.INVALID_SPAN, carried)


def current_ids() -> dict[str, str]:
    """The trace and span of now, as hexadecimal digits; empty: there is none."""
    found = span_in(context.get_current())
    if found is None:
        return {}
    return {"trace_id": trace.format_trace_id(found.trace_id), "span_id": trace.format_span_id(found.span_id)}
