"""The structures within a message: destinations and identities, as their first byte says."""

from __future__ import annotations

from collections.abc import Callable

from .reader import OpenWireError, Reader

#: Since this version a message's id may hold a text of another protocol, and a message has one flag more.
TEXT_OF_IDS = 10


def _plain(prefix: str) -> Callable[[Reader, int], str]:
    return lambda reader, version: f"{prefix}{reader.string() or ''}"


def _producer(reader: Reader, version: int) -> str:
    connection, number, session = reader.string(), reader.number("q"), reader.number("q")
    return f"{connection}:{session}:{number}"


def _consumer(reader: Reader, version: int) -> str:
    connection, session, number = reader.string(), reader.number("q"), reader.number("q")
    return f"{connection}:{session}:{number}"


def _message_id(reader: Reader, version: int) -> str:
    text = reader.string() if version >= TEXT_OF_IDS else None
    producer, number, _ = nested(reader, version), reader.number("q"), reader.number("q")
    if text is None:
        return f"{producer}:{number}"
    return text if text.startswith("ID:") else f"ID:{text}"


def _local_transaction(reader: Reader, version: int) -> str:
    return f"{reader.number('q')}:{nested(reader, version)}"


def _xa_transaction(reader: Reader, version: int) -> str:
    form, whole, branch = reader.number("i"), reader.sequence(), reader.sequence()
    return f"{form}:{(whole or b'').hex()}:{(branch or b'').hex()}"


_STRUCTURES: dict[int, Callable[[Reader, int], str]] = {
    100: _plain("queue://"),
    101: _plain("topic://"),
    102: _plain("temp-queue://"),
    103: _plain("temp-topic://"),
    110: _message_id,
    111: _local_transaction,
    112: _xa_transaction,
    120: _plain(""),
    122: _consumer,
    123: _producer,
    124: _plain(""),
}


def nested(reader: Reader, version: int) -> str | None:
    """Return the next structure as a text; None if there is none. Raises OpenWireError."""
    if not reader.boolean():
        return None
    kind = reader.number("B")
    if kind not in _STRUCTURES:
        raise OpenWireError(f"unknown structure of type {kind}")
    return _STRUCTURES[kind](reader, version)
