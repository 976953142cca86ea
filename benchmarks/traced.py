"""What tracing costs workers: without the library, with OpenTelemetry's API alone, and with an SDK that keeps spans.

``python -m howdah.benchmarks.traced [--messages N] [--pairs N] [--dsn DSN]``; DSN: a server where databases may be
created. The runs are interleaved. The SDK needs the package opentelemetry-sdk.
"""

from __future__ import annotations

import argparse
import importlib
import os
from contextlib import ExitStack
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


prepare(os.environ.get(CHOSEN))
best, default = listener.best, listener.default


def rate(place: Place, case: str, messages: int) -> float:
    """Messages a second of one worker process at its best settings."""
    with place.database() as dsn:
        with opened(dsn) as connection:
            connection.execute("select howdah.create_queue(%s)", (QUEUE,))
            fill(connection, QUEUE, messages)
            settle(connection)
        os.environ[CHOSEN] = case
        try:
            begin, end = listener.drained(dsn, messages, 1, True, "howdah.benchmarks.traced")
        finally:
            del os.environ[CHOSEN]
    return messages / (end - begin)


def main() -> None:
    """Measure and print: each case's median, and its share of the first one's with the range of all pairs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dsn")
    parser.add_argument("--messages", type=int, default=100_000)
    parser.add_argument("--pairs", type=int, default=5)
    options = parser.parse_args()
    rates: dict[str, list[float]] = {case: [] for case in CASES}
    with ExitStack() as stack:
        place = Place(options.dsn) if options.dsn else stack.enter_context(Place.own())
        for _ in range(options.pairs):
            for case in CASES:
                rates[case].append(rate(place, case, options.messages))
    for case in CASES:
        shares = [one / bare for one, bare in zip(rates[case], rates["nothing"], strict=True)]
        spread = f"{min(shares):.3f} to {max(shares):.3f}"
        print(f"{case:8} {median(rates[case]):9,.0f}/s   {median(shares):.3f} of nothing ({spread})")


if __name__ == "__main__":
    main()
