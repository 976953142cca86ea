"""What tracing costs workers: without the library, with OpenTelemetry's API alone, and with an SDK that keeps spans.

``python -m howdah.benchmarks.traced [--messages N] [--pairs N] [--dsn DSN]``; DSN: a server where databases may be
created. The runs are interleaved. The SDK needs the package opentelemetry-sdk.
"""

from __future__ import annotations

import argparse
import importlib
import os
from statistics import median

from . import listener
from .bench import QUEUE, fill, opened, settle
from .place import Place

CHOSEN = "HOWDAH_BENCH_TRACED"
CASES = ("nothing", "api", "sdk")


def prepare(case: str | None) -> None:
    """Set the process up as an application would. It holds for good, so only worker processes do it."""
    if case in ("api", "sdk"):
        importlib.import_module("opentelemetry.trace")
    if case == "sdk":
        from opentelemetry import trace
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import SimpleSpanProcessor
        from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(InMemorySpanExporter()))
        trace.set_tracer_provider(provider)
