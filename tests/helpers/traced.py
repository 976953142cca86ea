"""Spans and metrics of the test's own process, in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import HistogramDataPoint, InMemoryMetricReader, NumberDataPoint
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import Tracer

from howdah.engine.tracing import switch
from howdah.engine.tracing.traces import Traces


class Recording:
    """What Howdah has told OpenTelemetry."""

    def __init__(self, *, create_spans: bool = True) -> None:
        self._exporter = InMemorySpanExporter()
        self._reader = InMemoryMetricReader()
        self._spans = TracerProvider()
        self._spans.add_span_processor(SimpleSpanProcessor(self._exporter))
        self.meters = MeterProvider([self._reader])
        self.traces = Traces(self._spans, self.meters, create_spans=create_spans)

    @property
    def tracer(self) -> Tracer:
        """A tracer for the test's own spans."""
        return self._spans.get_tracer("test")

    def spans(self, name: str) -> list[ReadableSpan]:
        """The ended spans of a name, in the order of their ends."""
        return [span for span in self._exporter.get_finished_spans() if span.name == name]

    def span(self, name: str) -> ReadableSpan:
        """The only span of a name."""
        (span,) = self.spans(name)
        return span

    def names(self) -> list[str]:
        """The names of all ended spans, in the order of their ends."""
        return [span.name for span in self._exporter.get_finished_spans()]

    def metric(self, name: str, **attributes: str) -> float:
        """What a counter counted or how often a histogram was told, of the points with these attributes."""
        data = self._reader.get_metrics_data()
        total: float = 0
        for resource in data.resource_metrics if data is not None else ():
            for scope in resource.scope_metrics:
                for metric in scope.metrics:
                    for point in metric.data.data_points if metric.name == name else ():
                        if attributes.items() <= _dotted(point.attributes or {}).items():
                            total += _amount(point)
        return total

    def close(self) -> None:
        """End the providers."""
        self._spans.shutdown()
        self.meters.shutdown()


def _dotted(attributes: Mapping[str, Any]) -> dict[str, Any]:
    return {name.replace(".", "_"): value for name, value in attributes.items()}


def _amount(point: object) -> float:
    if isinstance(point, HistogramDataPoint):
        return point.count
    return point.value if isinstance(point, NumberDataPoint) else 0


@contextmanager
def recording(*, create_spans: bool = True) -> Iterator[Recording]:
    """Have the engine trace into memory for the block."""
    made = Recording(create_spans=create_spans)
    switch.use(made.traces)
    try:
        yield made
    finally:
        switch.forget()
        made.close()


def trace_of(span: ReadableSpan) -> str:
    """The number of a span's trace, as headers and incidents have it."""
    return f"{span.context.trace_id:032x}" if span.context is not None else ""


def header_of(span: ReadableSpan) -> str:
    """The header ``traceparent`` that leads to a span."""
    assert span.context is not None
    return f"00-{span.context.trace_id:032x}-{span.context.span_id:016x}-{int(span.context.trace_flags):02x}"


def linked(span: ReadableSpan) -> list[int]:
    """The numbers of the spans that a span links to."""
    return [link.context.span_id for link in span.links]


def number_of(span: ReadableSpan) -> int:
    """The number of a span."""
    return span.context.span_id if span.context is not None else 0
