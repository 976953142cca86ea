"""Names of the messaging conventions, of the one version that is followed: they are still in development."""

from __future__ import annotations

from typing import Any

SCHEMA_URL = "https://opentelemetry.io/schemas/1.44.0"
"""The version of the conventions. Later versions may rename what is here."""

SYSTEM = "howdah"

#: The metrics, with unit and description.
OPERATION_DURATION = (
    "messaging.client.operation.duration",
    "s",
    "Duration of messaging operation initiated by a producer or consumer client.",
)
PROCESS_DURATION = ("messaging.process.duration", "s", "Duration of processing operation.")
SENT = ("messaging.client.sent.messages", "{message}", "Number of messages producer attempted to send to the broker.")
CONSUMED = (
    "messaging.client.consumed.messages",
    "{message}",
    "Number of messages that were delivered to the application.",
)
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10)
"""Upper bounds, in seconds, that the conventions name for both durations."""

BATCH = "messaging.batch.message_count"
MESSAGE_ID = "messaging.message.id"
CORRELATION_ID = "messaging.message.conversation_id"
DELIVERY = "howdah.delivery_count"
"""Which delivery of the message it is, from 1. The conventions have no name for it."""
ERROR = "error.type"

TEMPORARY = "_TEMP."
"""How the names of temporary queues begin."""


def attributes_of(name: str, kind: str, queue: str, address: str | None = None) -> dict[str, Any]:
    """The attributes that every span and metric has. name, kind: of the operation."""
    found: dict[str, Any] = {
        "messaging.system": SYSTEM,
        "messaging.operation.name": name,
        "messaging.operation.type": kind,
        "messaging.destination.name": place_of(queue),
    }
    if queue.startswith(TEMPORARY):
        found["messaging.destination.temporary"] = True
    elif ":" in queue and "//" not in queue:
        found["messaging.destination.subscription.name"] = queue
    if address:
        found["server.address"] = address
    return found


def place_of(queue: str) -> str:
    """The name of a destination as spans and metrics have it: all temporary queues share one."""
    return "(temporary)" if queue.startswith(TEMPORARY) else str(queue)
