"""Handlers of an application that has set an SDK up for its process, as applications do."""

from __future__ import annotations

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from workapp import effect  # type: ignore[import-not-found]  # found by the worker only

from howdah.workers import App, Message, Transaction

trace.set_tracer_provider(TracerProvider())
app = App("traced")


@app.handler("work")
def handle(message: Message, transaction: Transaction) -> None:
    """Fail at first, then send on and be done."""
    if not message.redelivered:
        raise ValueError("not yet")
    transaction.session.send("single", "next")
    effect(message, transaction)
