"""A stored message: what its header says, and the bytes of its properties and body.

No version stands in the bytes. The fields of all versions are known, and one only makes use of every byte.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .reader import OpenWireError, Reader
from .structures import TEXT_OF_IDS, nested
from .values import named

KINDS = {
    23: "message",
    24: "bytes message",
    25: "map message",
    26: "object message",
    27: "stream message",
    28: "text message",
    29: "blob message",
}
#: The versions that added fields, latest first: ActiveMQ 5.9, 5.0, 4.1 and 4.0 began to write them.
LAYOUTS = (TEXT_OF_IDS, 3, 2, 1)


@dataclass(frozen=True)
class StoredMessage:
    """A message as the broker knew it. Times are milliseconds since 1970; 0 means none."""

    kind: str
    message_id: str
    destination: str | None
    original: str | None
    priority: int
    persistent: bool
    timestamp: int
    expiration: int
    correlation_id: str | None
    reply_to: str | None
    message_type: str | None
    group_id: str | None
    group_sequence: int
    user_id: str | None
    properties: dict[str, Any]
    content: bytes | None
    compressed: bool


def decode(data: bytes) -> StoredMessage:
    """Read the column MSG of a row. Raises OpenWireError, with what the latest version did not understand."""
    reasons = []
    for version in LAYOUTS:
        try:
            return _message(Reader(data), version)
        except OpenWireError as error:
            reasons.append(str(error))
    raise OpenWireError(reasons[0])


def _message(reader: Reader, version: int) -> StoredMessage:
    length = reader.number("i")
    if length != reader.left:
        raise OpenWireError(f"its length is {length}, not {reader.left}: it is cut off, or of another wire format")
    kind = reader.number("B")
    if kind not in KINDS:
        raise OpenWireError(f"command {kind} is no message")
    reader.number("i")  # the number of the command
    reader.boolean()  # whether it asked for a response
    nested(reader, version)  # the producer, which is part of the id
    destination = nested(reader, version)
    nested(reader, version)  # the transaction
    original = nested(reader, version)  # before the broker passed it on: to a queue of dead messages, or to several
    message_id = nested(reader, version)
    nested(reader, version)  # the transaction of a message that another broker forwarded
    group_id, group_sequence, correlation_id = reader.string(), reader.number("i"), reader.string()
    persistent, expiration, priority = reader.boolean(), reader.number("q"), reader.number("b")
    reply_to, timestamp, message_type = nested(reader, version), reader.number("q"), reader.string()
    content, properties = reader.sequence(), reader.sequence()
    if reader.boolean():
        raise OpenWireError("it carries a command of the broker")
    nested(reader, version)  # the consumer it was meant for
    compressed = reader.boolean()
    reader.number("i")  # deliveries: Howdah counts failures that it has recorded itself
    _brokers(reader, version)
    reader.number("q")
    user_id = reader.string()
    _tail(reader, version)
    if message_id is None:
        raise OpenWireError("it has no id")
    return StoredMessage(
        KINDS[kind],
        message_id,
        destination,
        original,
        priority,
        persistent,
        timestamp,
        expiration,
        correlation_id,
        reply_to,
        message_type,
        group_id,
        group_sequence,
        user_id,
        named(properties),
        content,
        compressed,
    )


def _brokers(reader: Reader, version: int) -> None:
    """Pass a list of brokers."""
    if reader.boolean():
        for _ in range(reader.number("h")):
            nested(reader, version)


def _tail(reader: Reader, version: int) -> None:
    """Pass what only brokers use, and make sure that nothing is left."""
    reader.boolean()
    if version >= 2:
        reader.boolean()
    if version >= 3:
        _brokers(reader, version)
        reader.number("q")
        reader.number("q")
    if version >= TEXT_OF_IDS:
        reader.boolean()
    if reader.left:
        raise OpenWireError(f"{reader.left} bytes are left over")
