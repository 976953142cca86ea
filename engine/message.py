"""A message as a consumer holds it."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any
from uuid import UUID

from .typed_map import TypedMap


@dataclass(frozen=True, slots=True)
class Message:
    """One delivered or browsed message; the fields are those of the SQL type ``howdah.message``."""

    #: Identity of the message for its whole life.
    message_id: int
    #: Name of the queue it was received from.
    queue: str
    #: str for text and JSON, bytes for everything else: exactly what was sent.
    body: str | bytes
    #: MIME type of the body.
    content_type: str
    #: Application properties.
    headers: dict[str, Any]
    #: 0 to 9.
    priority: int
    correlation_id: str | None
    reply_to: str | None
    message_type: str | None
    conversation_id: UUID | None
    #: "persistent" or "non-persistent".
    delivery_mode: str
    sent_at: datetime
    expires_at: datetime | None
    #: 1 on the first delivery; grows with each recorded failure.
    delivery_count: int
    #: Whether a delivery of it has failed before.
    redelivered: bool
    #: Place in the queue, among messages of its priority.
    position: int
    #: How often it was moved or replayed.
    stage: int
    #: The queue it came from, in an exception destination.
    origin_queue: str | None
    dead_reason: str | None
    dead_at: datetime | None

    @property
    def data(self) -> Any:
        """The body, parsed if its content type says that it is JSON. Raises ValueError if it is none after all."""
        kind = self.content_type.split(";")[0].strip().lower()
        if kind == TypedMap.CONTENT_TYPE:
            return TypedMap.from_tagged(json.loads(self.body))
        if kind == "application/json" or kind.endswith("+json"):
            return json.loads(self.body)
        return self.body

    @classmethod
    def from_row(cls, row: tuple[Any, ...]) -> Message:
        """From a row of COLUMNS."""
        text, raw = row[2], row[3]
        return cls(row[0], row[1], text if text is not None else raw, row[4], row[5] or {}, *row[6:])


#: The columns to select, in the order that from_row expects.
COLUMNS = ", ".join(
    '"position"' if name == "position" else name
    for field in fields(Message)
    for name in (("body", "bytes") if field.name == "body" else (field.name,))
)
